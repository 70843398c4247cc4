//! A technology out of a data file.

mod cell;
mod device;
mod wire;

use super::file::NodeFile;
use crate::quantity::Length;
use crate::rules;
use crate::technology::{Fin, Kind, Layout, Technology, WireStack, Wires};
use crate::{Flavour, Sourced, TechError};

/// The values of `file` for a feature size of `feature` (that of the file, or of a node to be interpolated: rules in F follow the target).
pub(super) fn technology(
    library: &str,
    file: &NodeFile,
    feature: Length,
    flavour: Flavour,
) -> Result<Technology, TechError> {
    if !file.flavours().any(|has| has == flavour) {
        let names: Vec<&str> = file.flavours().map(Flavour::name).collect();
        return Err(TechError::Flavour {
            library: library.to_owned(),
            node: feature,
            flavour,
            flavours: names.join(", "),
        });
    }
    let mine = |defect: &&crate::Defect| defect.name.starts_with(&format!("{flavour}."));
    let layout = layout(file, feature)?;
    let vdd = file.get(&format!("{flavour}.vdd"))?;
    Ok(Technology {
        library: library.into(),
        feature,
        flavour,
        device: device::read(file, flavour, &layout)?,
        cell: cell::read(file, feature, vdd)?,
        cells: cell::family(file)?,
        layout,
        wires: Wires {
            aggressive: stack(file, feature, "aggressive")?,
            conservative: stack(file, feature, "conservative")?,
        },
        interpolation: None,
        defects: file.defects.iter().filter(mine).cloned().collect(),
        sketch: file.sketch.clone(),
    })
}

fn layout(file: &NodeFile, feature: Length) -> Result<Layout, TechError> {
    let Some(kind) = file.kind else {
        let rule = |count: f64| {
            let source = "layout rules of CACTI 5.1 TR, section 3";
            Sourced::assumed(
                feature * count,
                source,
                "the rules of the method, in F",
                0.3,
            )
        };
        return Ok(Layout {
            kind: Kind::Planar,
            unit: rule(1.0),
            gate_pitch: rule(rules::GATE_PITCH),
            row_height: rule(rules::CELL_HEIGHT),
            fin: None,
        });
    };
    let fin = (kind != Kind::Planar).then(|| {
        Ok(Fin {
            pitch: file.get("fin.pitch")?,
            effective_width: file.get("fin.effective_width")?,
        })
    });
    Ok(Layout {
        kind,
        unit: file.get("layout.unit")?,
        gate_pitch: file.get("layout.gate_pitch")?,
        row_height: file.get("layout.row_height")?,
        fin: fin.transpose()?,
    })
}

fn stack(file: &NodeFile, feature: Length, projection: &str) -> Result<WireStack, TechError> {
    let layer = |name: &str| wire::read(file, feature, &format!("{projection}.{name}"));
    Ok(WireStack {
        local: layer("local")?,
        semi_global: layer("semi_global")?,
        global: layer("global")?,
    })
}

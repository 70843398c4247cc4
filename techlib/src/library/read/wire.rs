//! Wires out of a data file.

use super::NodeFile;
use crate::quantity::{CapacitancePerLength, Length, Resistivity};
use crate::technology::WireLayer;
use crate::{Sourced, TechError, rules, size_effect};

/// Resistance and capacitance from the cross-section (CACTI 6.0 TR, section on wires; CACTI 7, basic_circuit.cc:945-962).
pub(super) fn read(file: &NodeFile, feature: Length, name: &str) -> Result<WireLayer, TechError> {
    let ratio = |field: &str| file.get::<f64>(&format!("{name}.{field}"));
    let length = |field: &str| file.get::<Length>(&format!("{name}.{field}"));
    let pitch = pitch(file, feature, name)?;
    let (aspect_ratio, miller) = (ratio("aspect_ratio")?, ratio("miller")?);
    let (k_horizontal, k_vertical) = (ratio("k_horizontal")?, ratio("k_vertical")?);
    let (barrier, ild) = (length("barrier")?, length("ild")?);
    let dishing = match file.has(&format!("{name}.dishing")) {
        true => length("dishing")?.value,
        false => Length::ZERO,
    };
    let fringe = file.get::<CapacitancePerLength>(&format!("{name}.fringe"))?;
    let width = pitch.value / 2.0;
    let thickness = width * aspect_ratio.value;
    let (high, wide) = (
        thickness - barrier.value - dishing,
        width - barrier.value * 2.0,
    );
    if high <= Length::ZERO || wide <= Length::ZERO {
        let message = format!("`{name}`: the barrier leaves no metal in a wire of this pitch");
        return Err(file.problem(message));
    }
    let resistivity = resistivity(file, name, wide, high)?;
    let resistance = resistivity.value / (high * wide);
    let spacing = pitch.value - width;
    let vertical = 2.0 * k_vertical.value * (width / ild.value);
    let sidewall = 2.0 * miller.value * k_horizontal.value * (thickness / spacing);
    let plates = rules::VACUUM_PERMITTIVITY * (vertical + sidewall);
    let capacitance = plates + fringe.value;
    // Each part errs by its own measure; the dielectric is common to all plates.
    let uncertainty =
        (plates * k_horizontal.uncertainty + fringe.value * fringe.uncertainty) / capacitance;
    Ok(WireLayer {
        resistance: resistivity.derived("cross-section less barrier and dishing", resistance),
        capacitance: Sourced {
            uncertainty,
            ..fringe.derived(
                "parallel plates with Miller factor, plus fringe",
                capacitance,
            )
        },
        pitch,
        aspect_ratio,
        miller,
        k_horizontal,
        k_vertical,
        ild,
        barrier,
        fringe,
    })
}

fn pitch(file: &NodeFile, feature: Length, name: &str) -> Result<Sourced<Length>, TechError> {
    if !file.has(&format!("{name}.pitch_f")) {
        return file.get(&format!("{name}.pitch"));
    }
    let in_f = file.get::<f64>(&format!("{name}.pitch_f"))?;
    Ok(in_f.derived("pitch in F", feature * in_f.value))
}

/// The metal's resistivity: stated for the layer, or that of a line of this core by the law of the node.
fn resistivity(
    file: &NodeFile,
    name: &str,
    wide: Length,
    high: Length,
) -> Result<Sourced<Resistivity>, TechError> {
    let stated = format!("{name}.resistivity");
    if !file.has(&stated) {
        let metal = size_effect::Metal {
            bulk: file.get("wires.bulk_resistivity")?,
            mean_free_path: file.get("wires.mean_free_path")?,
            specularity: file.get("wires.specularity")?,
            reflectivity: file.get("wires.reflectivity")?,
            uncertainty: file.get::<Length>(&format!("{name}.barrier"))?.uncertainty,
        };
        return Ok(metal.line(wide, high));
    }
    let stated = file.get::<Resistivity>(&stated)?;
    let scatter = format!("{name}.alpha_scatter");
    if !file.has(&scatter) {
        return Ok(stated);
    }
    let scatter = file.get::<f64>(&scatter)?.value;
    Ok(Sourced {
        value: stated.value * scatter,
        ..stated
    })
}

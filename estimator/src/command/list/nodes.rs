//! Technology nodes.

use comfy_table::Table;
use serde_json::json;
use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Library, TechError};

use super::{Entry, Listed, table};
use crate::diag::{Diag, Rejection};

/// The nodes of the libraries.
pub(super) fn nodes() -> Result<Listed, Rejection> {
    let mut entries = Vec::new();
    for library in [Library::silicon(), Library::itrs()] {
        let library = library.map_err(defect)?;
        for node in library.nodes() {
            entries.push(entry(&library, node).map_err(defect)?);
        }
    }
    Ok(Listed {
        heading: vec!["node", "library", "flavours", "Vdd"],
        entries,
        foot: "A node between two of these is interpolated (for example 40nm, 28nm); reports say so. `warpwatt tech show NODE` has every value.\n"
            .to_owned(),
    })
}

/// A node of a library; in full a line for every flavour.
fn entry(library: &Library, node: Length) -> Result<Entry, TechError> {
    let name = format!("{:.0}nm", node.as_nm());
    let mut rows = Table::new();
    let mut values = Vec::new();
    let (mut flavours, mut supplies) = (Vec::new(), Vec::new());
    for flavour in library.flavours(node)? {
        let technology = library.at(node, flavour)?;
        let vdd = technology.device.vdd.value;
        let source = &technology.device.i_on_n.source;
        rows.add_row([
            library.name(),
            &name,
            flavour.name(),
            &vdd.to_string(),
            technology.sketch.as_deref().unwrap_or(source),
        ]);
        flavours.push(flavour.name());
        supplies.push(vdd.to_string());
        values.push(json!({
            "library": library.name(), "node": name, "flavour": flavour.name(), "vdd_v": vdd.si(), "sketch": technology.sketch.as_deref(),
            "source": source.to_string(),
            "defects": technology.defects.iter().map(|defect| json!({ "value": defect.name, "at": defect.at, "note": defect.note })).collect::<Vec<_>>(),
        }));
    }
    let heading = [
        "library",
        "node",
        "flavour",
        "Vdd",
        "source of the on-current",
    ];
    Ok(Entry {
        line: vec![
            name.clone(),
            library.name().to_owned(),
            flavours.join(", "),
            supplies.join(", "),
        ],
        full: table(rows, heading),
        name,
        values,
    })
}

fn defect(error: TechError) -> Diag {
    Diag::error("techlib::defect", error.to_string())
}

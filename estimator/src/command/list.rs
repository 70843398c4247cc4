//! `warpwatt list`: what there is to choose from.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use serde_json::{Value, json};
use warpwatt_techlib::{Flavour, Library};

use super::arguments::{ListArguments, Listing};
use super::console::{Exit, out, out_json, reject};
use crate::diag::{Diag, Rejection};

/// Shows a listing.
pub fn run(arguments: &ListArguments) -> Exit {
    let listed = match arguments.what {
        Listing::Kernels => kernels(),
        Listing::Nodes => nodes(),
        Listing::Presets => Ok(presets()),
        Listing::Techniques => Ok(techniques()),
    };
    match listed {
        Ok(listed) if arguments.json => out_json(&listed.value),
        Ok(listed) => out(&listed.text),
        Err(rejection) => return reject(&rejection, arguments.json),
    }
    Exit::Done
}

/// Presets with the TOML that defines them: every setting, its value and where it comes from.
fn presets() -> Listed {
    let mut text = String::new();
    let mut values = Vec::new();
    for preset in warpwatt_gpu::presets() {
        let _ = write!(
            text,
            "{}\n  {}\n  source: {}\n\n{}\n",
            preset.name, preset.summary, preset.citation, preset.source
        );
        values.push(json!({ "name": preset.name, "summary": preset.summary, "source": preset.citation, "settings": preset.table() }));
    }
    Listed {
        value: Value::Array(values),
        text,
    }
}

fn techniques() -> Listed {
    let mut text = String::new();
    let mut values = Vec::new();
    for definition in warpwatt_techniques::ALL {
        let _ = write!(
            text,
            "{}: {}\n  source: {}\n",
            definition.name, definition.summary, definition.citation
        );
        let mut rows = Table::new();
        let mut parameters = Vec::new();
        for parameter in definition.parameters {
            rows.add_row([
                &format!("  {}", parameter.name),
                parameter.default,
                parameter.range,
                parameter.meaning,
            ]);
            parameters.push(json!({
                "name": parameter.name, "default": parameter.default, "range": parameter.range, "meaning": parameter.meaning,
            }));
        }
        let _ = writeln!(
            text,
            "{}",
            table(rows, ["  parameter", "default", "range", "meaning"])
        );
        let counters: Vec<Value> = definition
            .counters
            .iter()
            .map(|(name, meaning)| json!({ "name": name, "meaning": meaning }))
            .collect();
        values.push(json!({
            "name": definition.name, "summary": definition.summary, "source": definition.citation,
            "parameters": parameters, "counters": counters,
        }));
    }
    Listed {
        value: Value::Array(values),
        text,
    }
}

/// A listing as data and as text.
struct Listed {
    value: Value,
    text: String,
}

fn kernels() -> Result<Listed, Rejection> {
    let mut rows = Table::new();
    let mut values = Vec::new();
    for kernel in warpwatt_suite::kernels() {
        let file = kernel
            .launch_file()
            .map_err(|error| Diag::error("suite::defect", error.to_string()))?;
        let cases: Vec<&str> = file
            .cases
            .iter()
            .map(|case| case.name.get_ref().as_str())
            .collect();
        let papers: Vec<String> = kernel
            .paper
            .iter()
            .map(|row| format!("{} {}", row.paper, row.benchmark))
            .collect();
        rows.add_row([
            kernel.name,
            &cases.join(", "),
            &kernel.class.to_string(),
            kernel.origin,
            &papers.join(", "),
            kernel.summary,
        ]);
        values.push(json!({
            "name": kernel.name, "title": kernel.title, "cases": cases, "class": kernel.class.to_string(), "origin": kernel.origin,
            "papers": kernel.paper.iter().map(|row| json!({ "paper": row.paper, "benchmark": row.benchmark, "case": row.case })).collect::<Vec<_>>(),
            "summary": kernel.summary,
        }));
    }
    let heading = [
        "kernel",
        "cases",
        "class",
        "origin",
        "paper's row",
        "what it does",
    ];
    Ok(Listed {
        value: Value::Array(values),
        text: table(rows, heading),
    })
}

fn nodes() -> Result<Listed, Rejection> {
    let library =
        Library::itrs().map_err(|error| Diag::error("techlib::defect", error.to_string()))?;
    let mut rows = Table::new();
    let mut values = Vec::new();
    for node in library.nodes() {
        for flavour in Flavour::ALL {
            let technology = library
                .at(node, flavour)
                .map_err(|error| Diag::error("techlib::defect", error.to_string()))?;
            let name = format!("{:.0}nm", node.as_nm());
            let vdd = technology.device.vdd.value;
            rows.add_row([
                library.name(),
                &name,
                flavour.name(),
                &format!("{vdd}"),
                &technology.device.vdd.source,
            ]);
            values.push(json!({
                "library": library.name(), "node": name, "flavour": flavour.name(), "vdd_v": vdd.si(),
                "source": technology.device.vdd.source.to_string(),
                "defects": technology.defects.iter().map(|defect| json!({ "value": defect.name, "at": defect.at, "note": defect.note })).collect::<Vec<_>>(),
            }));
        }
    }
    let text = table(rows, ["library", "node", "flavour", "Vdd", "source"])
        + "A node between two of these is interpolated (for example 40nm, 28nm); reports say so.\n";
    Ok(Listed {
        value: Value::Array(values),
        text,
    })
}

/// A table without rules, as wide as the terminal.
pub(super) fn table<const N: usize>(mut rows: Table, heading: [&str; N]) -> String {
    rows.load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(heading);
    let lines: Vec<String> = rows
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n") + "\n"
}

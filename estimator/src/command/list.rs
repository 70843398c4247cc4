//! `warpwatt list`: what there is to choose from.

mod counters;

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use serde_json::{Value, json};
use warpwatt_suite::{Case, Counts, Kernel};
use warpwatt_techlib::{Library, TechError};

use super::arguments::{ListArguments, Listing};
use super::console::{Exit, out, out_json, reject};
use crate::diag::{Diag, Rejection};
use crate::report::metric::{Better, Metrics};

/// Shows a listing.
pub fn run(arguments: &ListArguments) -> Exit {
    let listed = match arguments.what {
        Listing::Kernels => kernels(),
        Listing::Nodes => nodes(),
        Listing::Presets => Ok(presets()),
        Listing::Techniques => Ok(techniques()),
        Listing::Metrics => Ok(metrics()),
        Listing::Counters => Ok(counters::counters()),
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
            let (default, range) = (parameter.default(), parameter.range());
            rows.add_row([
                &format!("  {}", parameter.name),
                &default,
                &range,
                parameter.meaning,
            ]);
            parameters.push(json!({
                "name": parameter.name, "default": default, "range": range, "meaning": parameter.meaning,
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

/// Metrics with unit and direction, and how those are called that only points have.
fn metrics() -> Listed {
    let mut rows = Table::new();
    let mut values = Vec::new();
    for metric in Metrics::known().iter() {
        let better = match metric.better() {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "",
        };
        rows.add_row([metric.name(), metric.unit(), better, metric.meaning()]);
        values.push(json!({
            "name": metric.name(), "unit": metric.unit(), "better": (!better.is_empty()).then_some(better), "meaning": metric.meaning(),
            "needs_baseline": metric.needs_baseline(),
        }));
    }
    let text = table(rows, ["metric", "unit", "better", "meaning"])
        + "Also `activity.COUNTER`, every counter of a run, and `structures.NAME.FIGURE`, figures of a structure as `report.json` has them: \
           `activity.fetches`, `structures.icache.data.dynamic_j`.\n";
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

/// Kernels, a line for every case: what it launches and executes, and which rows of papers it stands for.
fn kernels() -> Result<Listed, Rejection> {
    let mut text = String::new();
    let mut values = Vec::new();
    for kernel in warpwatt_suite::kernels() {
        let defect = |message: String| Diag::error("suite::defect", message);
        let file = kernel
            .launch_file()
            .map_err(|error| defect(error.to_string()))?;
        let module = warpwatt_ptx::load(kernel.ptx)
            .map_err(|_| defect(format!("the PTX of `{}` cannot be read", kernel.name)))?;
        let registers = module.entries.iter().map(|entry| entry.registers).max();
        let registers = registers.unwrap_or(0);
        let Kernel {
            name,
            title,
            origin,
            class,
            summary,
            ..
        } = kernel;
        let mut rows = Table::new();
        let mut cases = Vec::new();
        for case in &file.cases {
            let case = kernel_case(kernel, case);
            rows.add_row(case.cells());
            cases.push(case.value());
        }
        let heading = [
            "  case",
            "grid x block",
            "launches",
            "warp instructions",
            "thread instructions",
            "stands for",
        ];
        let _ = write!(
            text,
            "{name}: {title} ({origin}, {class}, {registers} registers)\n  {summary}\n{}\n",
            table(rows, heading)
        );
        values.push(json!({
            "name": name, "title": title, "origin": origin, "class": class.to_string(), "summary": summary, "registers": registers,
            "cases": cases,
        }));
    }
    Ok(Listed {
        value: Value::Array(values),
        text: text + &paper_lines(),
    })
}

/// A case as it is listed.
struct ListedCase {
    name: String,
    shapes: String,
    counts: Option<Counts>,
    /// Papers and their rows.
    rows: Vec<(&'static str, &'static str)>,
}

fn kernel_case(kernel: &Kernel, case: &Case) -> ListedCase {
    let name = case.name.get_ref().as_str();
    let rows = kernel
        .paper_rows()
        .filter(|(_, row)| row.stands == Some((kernel.name, name)))
        .map(|(paper, row)| (paper.name, row.abbreviation));
    ListedCase {
        name: name.to_owned(),
        shapes: case.shapes(),
        counts: kernel.counts(name),
        rows: rows.collect(),
    }
}

impl ListedCase {
    fn cells(&self) -> [String; 6] {
        let count = |of: fn(&Counts) -> u64| {
            self.counts
                .as_ref()
                .map_or(String::new(), |counts| of(counts).to_string())
        };
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(paper, row)| format!("{paper}/{row}"))
            .collect();
        [
            format!("  {}", self.name),
            self.shapes.clone(),
            count(|counts| counts.launches),
            count(|counts| counts.warp_instructions),
            count(|counts| counts.thread_instructions),
            rows.join(" "),
        ]
    }

    fn value(&self) -> Value {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(paper, row)| json!({ "paper": paper, "benchmark": row }))
            .collect();
        json!({
            "name": self.name, "shapes": self.shapes, "papers": rows,
            "launches": self.counts.map(|counts| counts.launches),
            "warp_instructions": self.counts.map(|counts| counts.warp_instructions),
            "thread_instructions": self.counts.map(|counts| counts.thread_instructions),
        })
    }
}

/// How papers' tables are selected, and what they name that the suite does not have.
fn paper_lines() -> String {
    let mut text =
        String::from("papers, for `kernels = \"paper:NAME\"` or `\"paper:NAME/ROW\"`:\n");
    for paper in warpwatt_suite::papers() {
        let missing: Vec<&str> = paper.missing().map(|row| row.abbreviation).collect();
        let there = paper.benchmarks.len() - missing.len();
        let _ = write!(
            text,
            "  paper:{}  {there} of {} rows",
            paper.name,
            paper.benchmarks.len()
        );
        if !missing.is_empty() {
            let _ = write!(text, "; no kernel for {}", missing.join(", "));
        }
        text.push('\n');
    }
    text
}

fn nodes() -> Result<Listed, Rejection> {
    let mut rows = Table::new();
    let mut values = Vec::new();
    for library in [Library::silicon(), Library::itrs()] {
        let library = library.map_err(defect)?;
        for node in library.nodes() {
            for flavour in library.flavours(node).map_err(defect)? {
                let technology = library.at(node, flavour).map_err(defect)?;
                let name = format!("{:.0}nm", node.as_nm());
                let vdd = technology.device.vdd.value;
                rows.add_row([
                    library.name(),
                    &name,
                    flavour.name(),
                    &format!("{vdd}"),
                    technology
                        .sketch
                        .as_deref()
                        .unwrap_or(&technology.device.i_on_n.source),
                ]);
                values.push(json!({
                    "library": library.name(), "node": name, "flavour": flavour.name(), "vdd_v": vdd.si(), "sketch": technology.sketch.as_deref(),
                    "source": technology.device.i_on_n.source.to_string(),
                    "defects": technology.defects.iter().map(|defect| json!({ "value": defect.name, "at": defect.at, "note": defect.note })).collect::<Vec<_>>(),
                }));
            }
        }
    }
    let text = table(
        rows,
        [
            "library",
            "node",
            "flavour",
            "Vdd",
            "source of the on-current",
        ],
    ) + "A node between two of these is interpolated (for example 40nm, 28nm); reports say so. `warpwatt tech show NODE` has every value.\n";
    Ok(Listed {
        value: Value::Array(values),
        text,
    })
}

fn defect(error: TechError) -> Diag {
    Diag::error("techlib::defect", error.to_string())
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

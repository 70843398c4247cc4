//! `warpwatt list`: what there is to choose from.

mod boards;
mod counters;
mod kernels;
mod nodes;

use std::fmt::Write as _;

use clap::ValueEnum;
use comfy_table::{ContentArrangement, Row, Table, presets::NOTHING};
use serde_json::{Value, json};
use warpwatt_techniques::Definition;

use super::arguments::{ListArguments, Listing};
use super::console::{Exit, out, out_json, reject};
use super::present::known_width;
use crate::diag::{Diag, Rejection, nearest};
use crate::report::metric::{Better, Metrics};

/// Shows a listing, or what it has under one name.
pub fn run(arguments: &ListArguments) -> Exit {
    let listed = match arguments.what {
        Listing::Kernels => kernels::kernels(),
        Listing::Nodes => nodes::nodes(),
        Listing::Presets => Ok(presets()),
        Listing::Boards => Ok(boards::boards()),
        Listing::Techniques => Ok(techniques()),
        Listing::Metrics => Ok(metrics()),
        Listing::Counters => Ok(counters::counters()),
    };
    let shown = listed.and_then(|listed| match &arguments.name {
        Some(name) => listed.named(name, arguments),
        None => Ok(listed.all(arguments)),
    });
    match shown {
        Ok(Shown::Text(text)) => out(&text),
        Ok(Shown::Json(value)) => out_json(&value),
        Err(rejection) => return reject(&rejection, arguments.json),
    }
    Exit::Done
}

/// What there is of one kind.
struct Listed {
    /// Over the columns of the entries' lines.
    heading: Vec<&'static str>,
    entries: Vec<Entry>,
    /// What else there is to say below all lines.
    foot: String,
}

/// One thing to choose. A name can stand several times, as a node does that two libraries have.
struct Entry {
    name: String,
    /// It in one line, a column each.
    line: Vec<String>,
    full: String,
    values: Vec<Value>,
}

enum Shown {
    Text(String),
    Json(Value),
}

impl Listed {
    fn all(self, arguments: &ListArguments) -> Shown {
        if arguments.json {
            return json_of(self.entries);
        }
        let lines = lines(self.heading, self.entries);
        let what = word(arguments.what);
        let hint = format!("`warpwatt list {what} NAME` prints one in full.\n");
        Shown::Text(lines + "\n" + &self.foot + &hint)
    }

    fn named(self, name: &str, arguments: &ListArguments) -> Result<Shown, Rejection> {
        let (chosen, others): (Vec<Entry>, Vec<Entry>) = self
            .entries
            .into_iter()
            .partition(|entry| entry.name == name);
        if chosen.is_empty() {
            return Err(unknown(name, arguments.what, &others).into());
        }
        if arguments.json {
            return Ok(json_of(chosen));
        }
        Ok(Shown::Text(
            chosen.into_iter().map(|entry| entry.full).collect(),
        ))
    }
}

fn json_of(entries: Vec<Entry>) -> Shown {
    let values = entries.into_iter().flat_map(|entry| entry.values);
    Shown::Json(Value::Array(values.collect()))
}

fn unknown(name: &str, what: Listing, entries: &[Entry]) -> Diag {
    let what = word(what);
    let near = nearest(name, entries.iter().map(|entry| entry.name.as_str()));
    let help = match near {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    let message = format!("none of the {what} is called `{name}`");
    Diag::error("list::unknown", message)
        .help(format!("{help}`warpwatt list {what}` has all of them"))
}

/// How the command line calls it.
fn word(what: Listing) -> String {
    let word = what.to_possible_value();
    word.map_or_else(String::new, |word| word.get_name().to_owned())
}

/// Presets; in full with the TOML that defines them: every setting, its value and where it comes from.
fn presets() -> Listed {
    let entries = warpwatt_gpu::presets().iter().map(|preset| Entry {
        name: preset.name.to_owned(),
        line: vec![preset.name.to_owned(), preset.summary.to_owned()],
        full: format!(
            "{}\n  {}\n  source: {}\n\n{}\n",
            preset.name, preset.summary, preset.citation, preset.source
        ),
        values: vec![json!({
            "name": preset.name, "summary": preset.summary, "source": preset.citation, "settings": preset.table(),
        })],
    });
    Listed {
        heading: vec!["preset", "what it is"],
        entries: entries.collect(),
        foot: String::new(),
    }
}

fn techniques() -> Listed {
    Listed {
        heading: vec!["technique", "what it is"],
        entries: warpwatt_techniques::ALL
            .iter()
            .copied()
            .map(technique)
            .collect(),
        foot: String::new(),
    }
}

/// A technique; in full with its parameters.
fn technique(definition: &Definition) -> Entry {
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
    let mut full = String::new();
    let _ = writeln!(
        full,
        "{}: {}\n  source: {}\n{}",
        definition.name,
        definition.summary,
        definition.citation,
        table(rows, ["  parameter", "default", "range", "meaning"])
    );
    let counters: Vec<Value> = definition
        .counters
        .iter()
        .map(|(name, meaning)| json!({ "name": name, "meaning": meaning }))
        .collect();
    Entry {
        name: definition.name.to_owned(),
        line: vec![definition.name.to_owned(), definition.summary.to_owned()],
        full,
        values: vec![json!({
            "name": definition.name, "summary": definition.summary, "source": definition.citation,
            "parameters": parameters, "counters": counters,
        })],
    }
}

/// Metrics with unit and direction, and how those are called that only points have.
fn metrics() -> Listed {
    let known = Metrics::known();
    let entries = known.iter().map(|metric| {
        let better = match metric.better() {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "",
        };
        let line = [metric.name(), metric.unit(), better, metric.meaning()];
        let line = line.map(str::to_owned);
        Entry {
            name: metric.name().to_owned(),
            full: described(metric.name(), metric.meaning(), &[
                ("unit", metric.unit()),
                ("better", better),
                ("needs a baseline", if metric.needs_baseline() { "yes" } else { "" }),
            ]),
            line: line.to_vec(),
            values: vec![json!({
                "name": metric.name(), "unit": metric.unit(), "better": (!better.is_empty()).then_some(better), "meaning": metric.meaning(),
                "needs_baseline": metric.needs_baseline(),
            })],
        }
    });
    Listed {
        heading: vec!["metric", "unit", "better", "meaning"],
        entries: entries.collect(),
        foot: "Also `activity.COUNTER`, every counter of a run, and `structures.NAME.FIGURE`, figures of a structure as `report.json` has them: \
               `activity.fetches`, `structures.icache.data.dynamic_j`.\n"
            .to_owned(),
    }
}

/// A name with its meaning and what else is known of it; what is empty is left out.
fn described(name: &str, meaning: &str, facts: &[(&str, &str)]) -> String {
    let facts = facts.iter().filter(|(_, fact)| !fact.is_empty());
    let facts: String = facts
        .map(|(what, fact)| format!("  {what}: {fact}\n"))
        .collect();
    format!("{name}: {meaning}\n{facts}")
}

/// Entries a line each, which ends where the terminal does.
fn lines(heading: Vec<&str>, entries: Vec<Entry>) -> String {
    let mut rows = Table::new();
    for entry in entries {
        rows.add_row(entry.line);
    }
    rows.load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(heading);
    let width = known_width().unwrap_or(usize::MAX);
    let lines = rows.lines().map(|line| cut(line.trim_end(), width) + "\n");
    lines.collect()
}

fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    line.chars().take(width - 1).chain(['…']).collect()
}

/// A table without rules, as wide as the terminal.
pub(super) fn table(mut rows: Table, heading: impl Into<Row>) -> String {
    rows.load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(heading);
    let lines: Vec<String> = rows
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n") + "\n"
}

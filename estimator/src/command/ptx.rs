//! `warpwatt ptx`: what is in a PTX file, without running it.

use std::fmt::Write as _;

use comfy_table::Table;
use serde_json::{Value, json};
use warpwatt_ptx::Spills;
use warpwatt_ptx::inspect::{EntryFacts, FunctionFacts, Inspection, inspect};
use warpwatt_suite::launch::{demangled, readable};

use super::arguments::PtxArguments;
use super::console::{Exit, out, out_json, reject};
use super::list::table;
use crate::diag::{Diag, Rejection, Sink};
use crate::input;

/// Opcodes that the text shows of a mix; JSON has them all.
const SHOWN: usize = 6;

/// Inspects the file and prints what is in it.
pub fn run(arguments: &PtxArguments) -> Exit {
    let found = match read(arguments) {
        Ok(found) => found,
        Err(rejection) => return reject(&rejection, arguments.json),
    };
    if arguments.json {
        out_json(&document(&found));
    } else {
        out(&text(&found));
    }
    if found.unsupported.is_empty() {
        Exit::Done
    } else {
        Exit::NotMet
    }
}

fn read(arguments: &PtxArguments) -> Result<Inspection, Rejection> {
    let path = &arguments.file;
    let mut sink = Sink::default();
    let source = input::text(path, input::KERNEL).map_err(|error| {
        let message = format!("cannot read the PTX file `{}`: {error}", path.display());
        Diag::error("input::unreadable", message)
    })?;
    let found = inspect(&source, arguments.registers);
    let id = sink.sources.add(path.display().to_string(), source);
    if found.as_ref().is_ok_and(is_empty) {
        let message = format!("there is no PTX in `{}`", path.display());
        let help = "a module begins with `.version` and `.target`: is it the right file, and was it written to its end?";
        return Err(Diag::error("ptx::empty", message).help(help).into());
    }
    found.map_err(|errors| {
        for error in errors {
            sink.push(
                Diag::error("ptx::invalid", error.message)
                    .at(id, error.span, "")
                    .maybe_help(error.help),
            );
        }
        Rejection(sink)
    })
}

/// Whether nothing was said, but in comments perhaps.
fn is_empty(found: &Inspection) -> bool {
    *found == Inspection::default()
}

fn document(found: &Inspection) -> Value {
    let unsupported = found.unsupported.iter().map(|item| {
        json!({
            "form": item.form, "line": item.line, "column": item.column, "function": item.function,
            "message": item.error.message, "help": item.error.help,
        })
    });
    json!({
        "version": found.version,
        "target": found.target,
        "entries": found.entries.iter().map(entry).collect::<Vec<_>>(),
        "functions": found.functions.iter().map(function).collect::<Vec<_>>(),
        "instructions": found.instructions,
        "unsupported": unsupported.collect::<Vec<_>>(),
        "coverage": coverage(found),
    })
}

fn entry(entry: &EntryFacts) -> Value {
    let params = entry.params.iter().map(|param| {
        json!({ "name": param.name, "type": param.element, "offset": param.offset, "bytes": param.bytes })
    });
    json!({
        "name": entry.body.name,
        "demangled": demangled(&entry.body.name),
        "parameters": params.collect::<Vec<_>>(),
        "registers": {
            "before_allocation": entry.registers.before,
            "after_allocation": entry.registers.after,
            "predicates": entry.registers.predicates,
            "live_at_once": entry.registers.live,
            "spills": spills(&entry.registers.spills),
        },
        "instructions": entry.body.instructions,
        "mix": entry.body.mix,
        "shared_bytes": entry.shared_bytes,
        "local_bytes": entry.local_bytes,
        "calls": entry.calls,
        "supported": entry.runs,
    })
}

fn spills(spills: &Spills) -> Value {
    json!({
        "values": spills.values, "loads": spills.loads, "stores": spills.stores, "bytes": spills.bytes,
        "recomputations": spills.recomputations, "predicate_moves": spills.predicate_moves,
    })
}

fn function(function: &FunctionFacts) -> Value {
    json!({ "name": function.name, "demangled": demangled(&function.name), "instructions": function.instructions, "mix": function.mix })
}

/// Share of the instructions that are supported, if there are any.
fn coverage(found: &Inspection) -> Option<f64> {
    (found.instructions > 0).then(|| found.coverage())
}

fn text(found: &Inspection) -> String {
    let supported = match coverage(found) {
        // What is left is not rounded away.
        Some(share) if share < 1.0 => {
            let percent = (share * 1e4).floor() / 100.0;
            format!("{percent:.2} % of them supported")
        }
        Some(_) => "100.00 % of them supported".to_owned(),
        None => "so there is nothing in it to run".to_owned(),
    };
    let mut text = format!(
        "PTX {} for {}: {} entries, {} device functions, {} instructions, {supported}\n\n",
        found.version.as_deref().unwrap_or("of no version"),
        found.target.as_deref().unwrap_or("no target"),
        found.entries.len(),
        found.functions.len(),
        found.instructions,
    );
    if !found.entries.is_empty() {
        let _ = writeln!(text, "{}", entries(&found.entries));
    }
    if !found.unsupported.is_empty() {
        let mut rows = Table::new();
        for item in &found.unsupported {
            let place = format!("{}:{}", item.line, item.column);
            let function = item.function.as_deref().map_or("-".to_owned(), readable);
            rows.add_row([&item.form, &place, &function, &item.error.message]);
        }
        let heading = ["not supported", "line:column", "in", "why"];
        let _ = writeln!(text, "{}", table(rows, heading));
    }
    text
}

fn entries(entries: &[EntryFacts]) -> String {
    let mut rows = Table::new();
    for entry in entries {
        let registers = &entry.registers;
        let after = registers.after.map_or("-".to_owned(), |n| n.to_string());
        rows.add_row([
            readable(&entry.body.name),
            entry.params.len().to_string(),
            registers.before.to_string(),
            after,
            registers.spills.bytes.to_string(),
            entry.shared_bytes.to_string(),
            entry.local_bytes.to_string(),
            entry.body.instructions.to_string(),
            mix(&entry.body),
        ]);
    }
    let heading = [
        "entry",
        "parameters",
        "virtual registers",
        "registers",
        "spilled bytes",
        "shared bytes",
        "local bytes",
        "instructions",
        "most of them",
    ];
    table(rows, heading)
}

/// The most frequent opcodes, of equals the first by name.
fn mix(body: &FunctionFacts) -> String {
    let mut counts: Vec<(&String, u64)> = body.mix.iter().map(|(name, &n)| (name, n)).collect();
    counts.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let shown = counts.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|(name, n)| format!("{name} {n}")).collect();
    shown.join(", ")
}

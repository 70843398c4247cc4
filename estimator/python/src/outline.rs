//! What a host must know of an entry to launch it.

use pyo3::prelude::*;
use warpwatt_input::diag::{Diag, Sink};
use warpwatt_ptx::outline::outline;
use warpwatt_suite::launch::{demangled, matching_entries};

use crate::errors::{Error, rejected};

/// Entries that a message lists.
const LISTED: usize = 12;

/// A parameter: its name, the type of its elements, its bytes.
type Parameter = (String, String, u32);

/// The entry of `ptx` that `wanted` means, or its only one: its name, and its parameters in order.
#[pyfunction]
#[pyo3(signature = (ptx, wanted, name))]
pub fn entry(
    py: Python<'_>,
    ptx: &str,
    wanted: Option<&str>,
    name: &str,
) -> PyResult<(String, Vec<Parameter>)> {
    let outline = py.detach(|| outline(ptx)).map_err(|errors| {
        let mut sink = Sink::default();
        let id = sink.sources.add(name, ptx);
        for error in errors {
            let diag = Diag::error("ptx::invalid", error.message);
            sink.push(diag.at(id, error.span, "").maybe_help(error.help));
        }
        rejected(&sink)
    })?;
    let names: Vec<&str> = outline.entries.iter().map(|it| it.name.as_str()).collect();
    let found = match wanted {
        Some(wanted) => matching_entries(wanted, &names),
        None => names.clone(),
    };
    let only = match found[..] {
        [only] => outline.entries.iter().find(|entry| entry.name == only),
        _ => None,
    };
    let entry = only.ok_or_else(|| unclear(wanted, name, &names))?;
    let params = entry.params.iter();
    let params = params.map(|param| (param.name.clone(), param.element.clone(), param.bytes));
    Ok((entry.name.clone(), params.collect()))
}

fn unclear(wanted: Option<&str>, name: &str, known: &[&str]) -> PyErr {
    let what = match (wanted, known.is_empty()) {
        (_, true) => {
            return Error::new_err(format!("`{name}` has no entry that could be launched"));
        }
        (Some(wanted), _) => format!("`{wanted}` is not one entry of `{name}`"),
        (None, _) => format!("`{name}` has {} entries", known.len()),
    };
    let shown = known.iter().take(LISTED).map(|name| match demangled(name) {
        Some(text) => format!("{name} ({text})"),
        None => (*name).to_owned(),
    });
    let shown: Vec<String> = shown.collect();
    let more = match known.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Error::new_err(format!(
        "{what}: choose with `entry=`: {}{more}",
        shown.join(", ")
    ))
}

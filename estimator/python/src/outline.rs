//! What a host must know of an entry to launch it.

use pyo3::prelude::*;
use warpwatt_input::diag::{Diag, Sink, Sources};
use warpwatt_ptx::outline::outline;
use warpwatt_ptx::program::Param;
use warpwatt_suite::launch::{demangled, matching_entries};
use warpwatt_suite::machine_code::object_view;

use crate::errors::{Error, refused, rejected};

/// Entries that a message lists.
const LISTED: usize = 12;

/// A parameter: its name, the type of its elements, its bytes.
type Parameter = (String, String, u32);

/// An entry: its name, and its parameters in order.
type Entry = (String, Vec<Parameter>);

/// The entry of `ptx` that `wanted` means, or its only one: its name, and its parameters in order.
#[pyfunction]
#[pyo3(signature = (ptx, wanted, name))]
pub fn entry(py: Python<'_>, ptx: &str, wanted: Option<&str>, name: &str) -> PyResult<Entry> {
    let outline = py.detach(|| outline(ptx)).map_err(|errors| {
        let mut sink = Sink::default();
        let id = sink.sources.add(name, ptx);
        for error in errors {
            let diag = Diag::error("ptx::invalid", error.message);
            sink.push(diag.at(id, error.span, "").maybe_help(error.help));
        }
        rejected(&sink)
    })?;
    let entries = outline.entries.into_iter();
    let entries = entries.map(|entry| told(entry.name, entry.params));
    chosen(entries.collect(), wanted, name)
}

/// As [`entry`], of a code object.
#[pyfunction]
#[pyo3(signature = (object, wanted, name))]
pub fn object_entry(
    py: Python<'_>,
    object: &[u8],
    wanted: Option<&str>,
    name: &str,
) -> PyResult<Entry> {
    let module = py.detach(|| object_view(object));
    let module = module.map_err(|message| {
        let help = "compile with `clang -x cl -target amdgcn-amd-amdhsa -mcpu=gfx600 -nogpulib -c`";
        let diag = Diag::error("code::invalid", format!("`{name}`: {message}")).help(help);
        refused(diag, &Sources::default())
    })?;
    let entries = module.entries.into_iter();
    let entries = entries.map(|entry| told(entry.name, entry.params));
    chosen(entries.collect(), wanted, name)
}

fn told(name: String, params: Vec<Param>) -> Entry {
    let params = params.into_iter();
    let params = params.map(|param| (param.name, param.element, param.bytes));
    (name, params.collect())
}

/// The entry that is meant.
fn chosen(entries: Vec<Entry>, wanted: Option<&str>, name: &str) -> PyResult<Entry> {
    let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
    let found = match wanted {
        Some(wanted) => matching_entries(wanted, &names),
        None => names.clone(),
    };
    let [only] = found[..] else {
        return Err(unclear(wanted, name, &names));
    };
    let place = names.iter().position(|name| *name == only);
    let mut entries = entries.into_iter();
    place
        .and_then(|place| entries.nth(place))
        .ok_or_else(|| Error::new_err(format!("`{name}` lost an entry")))
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

//! Single memory arrays, tables of them, and technologies.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use warpwatt_analysis::logic::{self as blocks, Wanted};
use warpwatt_analysis::run::threads;
use warpwatt_array::batch::{Batch, Model};
use warpwatt_array::{Libraries, LibraryName, Refusal, Request, parse_profile};
use warpwatt_input::diag::{Diag, Sink};
use warpwatt_study::technology::{Sheet, is_file, load, load_file};
use warpwatt_techlib::Flavour;
use warpwatt_techlib::quantity::{Temperature, Voltage};

use crate::at_work::at_work;
use crate::errors::rejected;
use crate::table::Table;

/// One array: the document of `warpwatt array --json`, and its text. `texts`: options by name.
#[pyfunction]
pub fn array(py: Python<'_>, texts: BTreeMap<String, String>) -> PyResult<(String, String)> {
    at_work(py, |_| {
        let mut sink = Sink::default();
        let Some((request, model)) = request(texts, &mut sink) else {
            return Err(rejected(&sink));
        };
        let answer = request.query(model).map_err(|faults| {
            faults
                .into_iter()
                .for_each(|fault| refuse(&mut sink, fault));
        });
        let answer = answer.and_then(|query| {
            let mut libraries = Libraries::default();
            query.read_into(&mut libraries);
            query
                .answer(&libraries)
                .map_err(|refusal| refuse(&mut sink, refusal))
        });
        match answer {
            Ok(answer) => Ok((answer.json().to_string(), answer.table())),
            Err(()) => Err(rejected(&sink)),
        }
    })
}

/// A table of arrays, as CSV: the same with figures added (docs/arrays.md), as a table.
#[pyfunction]
pub fn arrays(
    py: Python<'_>,
    csv: Vec<u8>,
    model: [Option<String>; 2],
    jobs: Option<usize>,
) -> PyResult<Table> {
    at_work(py, |_| {
        let mut sink = Sink::default();
        let model = whose(model, &mut sink);
        let batch = Batch::read(&mut sink, "the table", &csv);
        let (Some(model), Some(batch)) = (model, batch) else {
            return Err(rejected(&sink));
        };
        let jobs = jobs.unwrap_or_else(|| threads(None));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs);
        let priced = match pool.build() {
            Ok(pool) => batch.price(model, &pool).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match priced {
            Ok(priced) => Table::of_csv(&priced.csv, &["note", "error"]),
            Err(error) => {
                let message = format!("the table cannot be made: {error}");
                sink.push(Diag::error("batch::defect", message));
                Err(rejected(&sink))
            }
        }
    })
}

/// A block of logic, a functional unit, an interconnect or a memory device: the document of `warpwatt logic --json`, and its text. `words`: those of the command.
#[pyfunction]
pub fn logic(py: Python<'_>, words: Vec<String>) -> PyResult<(String, String)> {
    at_work(py, |_| {
        let wanted = blocks::read(&words).map_err(|rejection| rejected(&rejection.0))?;
        let Wanted::Price(request) = wanted else {
            return Ok((String::new(), blocks::list()));
        };
        let priced = request.priced();
        let priced = priced.map_err(|rejection| rejected(&rejection.0))?;
        let document = blocks::json(&request, &priced).to_string();
        Ok((document, blocks::text(&request, &priced)))
    })
}

/// A technology node, or a node file: the document of `warpwatt tech show --json`.
#[pyfunction]
pub fn technology(
    py: Python<'_>,
    node: &str,
    library: &str,
    flavour: &str,
    temperature: &str,
    vdd: Option<&str>,
) -> PyResult<String> {
    at_work(py, |_| {
        let mut sink = Sink::default();
        let mut wrong = |message: String| sink.push(Diag::error("tech::refused", message));
        let flavour = flavour.parse::<Flavour>();
        let flavour = flavour.map_err(|error| wrong(error.to_string())).ok();
        let temperature = temperature.parse::<Temperature>();
        let temperature = temperature.map_err(|error| wrong(error.to_string())).ok();
        let vdd = vdd.map(str::parse::<Voltage>).transpose();
        let vdd = vdd.map_err(|error| wrong(error.to_string())).ok();
        let (Some(flavour), Some(temperature), Some(vdd)) = (flavour, temperature, vdd) else {
            return Err(rejected(&sink));
        };
        let refused = |error: warpwatt_techlib::TechError| {
            warpwatt_input::diag::Rejection::from(Diag::error("tech::refused", error.to_string()))
        };
        let technology = match is_file(node) {
            true => {
                load_file(node.as_ref()).and_then(|own| own.technology(flavour).map_err(refused))
            }
            false => load(node, library, flavour),
        };
        let told = technology.and_then(|technology| {
            let sheet = Sheet::new(&technology, vdd, temperature).map_err(refused)?;
            Ok(sheet.json().to_string())
        });
        told.map_err(|rejection| rejected(&rejection.0))
    })
}

fn refuse(sink: &mut Sink, refusal: Refusal) {
    sink.push(Diag::error("array::refused", refusal.message).maybe_help(refusal.help));
}

/// Library and profile by their names.
fn whose([library, profile]: [Option<String>; 2], sink: &mut Sink) -> Option<Model> {
    let library = library.map(|text| text.parse::<LibraryName>()).transpose();
    let library = library.map_err(|fault| refuse(sink, fault)).ok();
    let profile = profile.as_deref().map(parse_profile).transpose();
    let profile = profile.map_err(|fault| refuse(sink, fault)).ok();
    let (library, profile) = LibraryName::with_profile(library?, profile?);
    Some(Model { library, profile })
}

/// The options by their names.
fn request(mut texts: BTreeMap<String, String>, sink: &mut Sink) -> Option<(Request, Model)> {
    let model = whose([texts.remove("library"), texts.remove("profile")], sink);
    let mut request = Request::default();
    for (key, value) in texts {
        let slot = match key.as_str() {
            "capacity" => &mut request.capacity,
            "word" => &mut request.word,
            "ports" => &mut request.ports,
            "kind" => &mut request.kind,
            "assoc" => &mut request.assoc,
            "line" => &mut request.line,
            "access" => &mut request.access,
            "node" => &mut request.node,
            "temperature" => &mut request.temperature,
            "vdd" => &mut request.vdd,
            "flavour" => &mut request.flavour,
            "cell_flavour" => &mut request.cell_flavour,
            "periphery_flavour" => &mut request.periphery_flavour,
            "optimize" => &mut request.optimize,
            "weights" => &mut request.weights,
            "deviations" => &mut request.deviations,
            "wires" => &mut request.wires,
            "gating" => &mut request.gating,
            "ecc" => {
                request.ecc = value == "true";
                continue;
            }
            _ => {
                count(&mut request, &key, &value, sink);
                continue;
            }
        };
        *slot = Some(value);
    }
    (!sink.has_errors()).then_some((request, model?))
}

/// An option that is a whole number.
fn count(request: &mut Request, key: &str, value: &str, sink: &mut Sink) {
    let Ok(number) = value.parse::<u64>() else {
        refuse(
            sink,
            Refusal::new(format!("{key}={value} is no whole number")),
        );
        return;
    };
    let small = u32::try_from(number).ok();
    match key {
        "words" => request.words = Some(number),
        "bits" => request.bits = Some(number),
        "banks" => request.banks = small,
        "tag_bits" => request.tag_bits = small,
        _ => refuse(
            sink,
            Refusal::new(format!("an array has no option `{key}`")),
        ),
    }
}

//! A table of arrays.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::super::console::{Exit, err, out_data, out_json, show};
use super::super::files::write_one;
use super::super::formulas::escaped;
use super::ArrayArguments;
use crate::array::batch::{Batch, MOST_BYTES, Model, Results};
use crate::diag::{Diag, Sink};

/// Prices the table and writes it whole, or not at all.
pub fn run(
    arguments: &ArrayArguments,
    table: &Path,
    model: Model,
    sink: &mut Sink,
) -> Option<Exit> {
    let bytes = if table == Path::new("-") {
        standard_input(sink)?
    } else {
        super::read(table, MOST_BYTES, "the table", sink)?
    };
    let batch = Batch::read(sink, &table.display().to_string(), &bytes)?;
    drop(bytes);
    let pool = pool(arguments.jobs, sink)?;
    // The time is told to the user alone and decides nothing.
    #[expect(clippy::disallowed_methods, reason = "a duration for the user's eyes")]
    let start = Instant::now();
    let results = batch.price(model, &pool);
    let seconds = start.elapsed().as_secs_f64();
    let results = results.map_err(|error| {
        sink.push(Diag::error(
            "batch::defect",
            format!("the table cannot be made: {error}"),
        ));
    });
    let mut results = results.ok()?;
    if arguments.csv_safe {
        let safe = escaped(&results.csv).map_err(|error| {
            let message = format!("the table cannot be made: {error}");
            sink.push(Diag::error("batch::defect", message));
        });
        results.csv = safe.ok()?;
    }
    match arguments
        .out
        .as_deref()
        .filter(|path| *path != Path::new("-"))
    {
        Some(path) => {
            if let Err(rejection) = write_one(path, &results.csv) {
                sink.diags.extend(rejection.0.diags);
                return None;
            }
        }
        None => out_data(&results.csv),
    }
    show(sink);
    tell(arguments, model, &results, seconds);
    Some(Exit::Done)
}

fn standard_input(sink: &mut Sink) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes);
    let read = read.map_err(|error| {
        let message = format!("cannot read the table from standard input: {error}");
        sink.push(
            Diag::error("input::unreadable", message).help("send it a table, or name a file"),
        );
    });
    read.ok().map(|_| bytes)
}

fn pool(jobs: Option<u16>, sink: &mut Sink) -> Option<rayon::ThreadPool> {
    let jobs = warpwatt_run::threads(jobs);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| {
        let message = format!("cannot start {jobs} threads: {error}");
        sink.push(Diag::error("run::threads", message).help("ask for fewer with `--jobs N`"));
    });
    pool.ok()
}

fn tell(arguments: &ArrayArguments, model: Model, results: &Results, seconds: f64) {
    let Results {
        rows,
        refused,
        noted,
        ..
    } = results;
    if arguments.json {
        out_json(&json!({
            "library": model.library.name(), "profile": model.profile.to_string(),
            "rows": rows, "refused": refused, "noted": noted, "out": arguments.out,
        }));
        return;
    }
    let place = arguments
        .out
        .as_ref()
        .map_or_else(String::new, |path| format!("wrote {}: ", path.display()));
    let rate = if seconds > 0.0 {
        *rows as f64 / seconds
    } else {
        0.0
    };
    err(&format!(
        "{place}{rows} arrays, {refused} refused (column error), {noted} beyond the limits of the tool (column note), {rate:.0} a second; library {}, profile {}\n",
        model.library, model.profile
    ));
}

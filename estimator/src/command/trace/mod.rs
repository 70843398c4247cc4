//! `warpwatt trace`: what a kernel's trace shows, and what it takes.

use std::fs;
use std::io::Read;
use std::path::Path;

use warpwatt_simt::trace::file::{MAGIC, Stored, decode, encode};
use warpwatt_simt::trace::statistics::Statistics;
use warpwatt_simt::trace::{KernelTrace, Store};
use warpwatt_suite::RunOptions;

use super::arguments::TraceArguments;
use super::cache::show_notes;
use super::console::{Exit, out, out_json, reject};
use super::files::write_one;
use super::subject::request;
use crate::cache::{MEMORY_LIMIT, TraceCache, key};
use crate::diag::{Diag, Rejection, Sink};
use crate::input;
use crate::run::execute::{first_mismatch, trace};
use crate::run::kernel::load;
use crate::run::recorded::needless;
use crate::run::trace_store::unstored;

mod show;

use show::Shown;

/// Shows the statistics.
pub fn run(arguments: &TraceArguments) -> Exit {
    let mut sink = Sink::default();
    let cache = arguments.cache.open(&mut sink);
    let shown = cache.and_then(|cache| match read_stored(arguments, &mut sink) {
        Found::Trace(stored, bytes) => Some((stored, bytes)),
        Found::Other => executed(arguments, &mut sink, &cache),
        Found::Unreadable => None,
    });
    let Some((stored, file)) = shown else {
        return reject(&Rejection(sink), arguments.json);
    };
    if let Some(path) = &arguments.out
        && let Err(rejection) = write_one(path, &file)
    {
        return reject(&rejection, arguments.json);
    }
    let traces: Vec<&KernelTrace> = traces(&stored).collect();
    let statistics = match Statistics::of(traces.iter().copied()) {
        Ok(statistics) => statistics,
        Err(error) => {
            sink.push(unstored(&error));
            return reject(&Rejection(sink), arguments.json);
        }
    };
    let shown = Shown::new(&stored.label, &traces, &statistics, file.len() as u64);
    if arguments.json {
        out_json(&shown.json());
    } else {
        out(&shown.text());
    }
    Exit::Done
}

fn traces(stored: &Stored) -> impl Iterator<Item = &KernelTrace> {
    let launches = stored.executions.iter();
    launches.filter_map(|launch| launch.trace.as_ref())
}

/// What a name on the command line is.
enum Found {
    /// A trace file, with its bytes.
    Trace(Stored, Vec<u8>),
    /// Something else: a launch file, or the name of a kernel.
    Other,
    /// A trace file that cannot be used; the reason is in the sink.
    Unreadable,
}

fn read_stored(arguments: &TraceArguments, sink: &mut Sink) -> Found {
    let path = Path::new(&arguments.file);
    if !begins_as_trace(path) {
        return Found::Other;
    }
    let asked = [
        ("--case", arguments.case.is_some()),
        ("--ptx", arguments.ptx.is_some()),
        ("--warp-width", arguments.warp_width.is_some()),
    ];
    let needless = needless(path, "a trace", &asked);
    if !needless.is_empty() {
        needless.into_iter().for_each(|diag| sink.push(diag));
        return Found::Unreadable;
    }
    let refuse = |sink: &mut Sink, problem: String| {
        let message = format!("cannot use the trace `{}`: {problem}", path.display());
        let help = "make it again: `warpwatt trace KERNEL --out FILE`";
        sink.push(Diag::error("trace::unusable", message).help(help));
        Found::Unreadable
    };
    match input::bytes(path, MEMORY_LIMIT) {
        Err(error) => refuse(sink, error.to_string()),
        Ok(bytes) => match decode(&bytes, MEMORY_LIMIT, &Store::new(arguments.cache.memory())) {
            Ok(stored) => Found::Trace(stored, bytes),
            Err(error) => refuse(sink, error.to_string()),
        },
    }
}

/// Only regular files are looked into: what is read of a pipe is gone.
fn begins_as_trace(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut first = [0; MAGIC.len()];
    let file = fs::File::open(path);
    file.and_then(|mut file| file.read_exact(&mut first))
        .is_ok()
        && first == MAGIC
}

/// The trace of a launch file or of a kernel of the suite, and the file that it makes.
fn executed(
    arguments: &TraceArguments,
    sink: &mut Sink,
    cache: &TraceCache,
) -> Option<(Stored, Vec<u8>)> {
    let request = request(
        &arguments.file,
        arguments.ptx.as_deref(),
        arguments.case.as_deref(),
        sink,
    )?;
    let kernel = load(sink, &request, None)?;
    let options = RunOptions {
        warp_width: match arguments.warp_width.as_deref() {
            Some("64") => 64,
            _ => 32,
        },
        limit: arguments.limit,
        record: true,
        threads: warpwatt_run::threads(None),
        listed: 1,
        ..RunOptions::default()
    };
    let traced = trace(&kernel, options, &sink.sources, Some(cache));
    show_notes(cache);
    let run = traced.map_err(|diag| sink.push(diag)).ok()?.run;
    if let Some(mismatch) = first_mismatch(&run) {
        let message = format!("`{}` computes a wrong result: {mismatch}", kernel.name.name);
        sink.push(
            Diag::error("kernel::wrong_result", message).help("`warpwatt kernel` shows more of it"),
        );
        return None;
    }
    let stored = Stored {
        key: key(&kernel, options),
        label: kernel.label(),
        executions: run
            .executions
            .into_iter()
            .map(|launch| launch.execution)
            .collect(),
    };
    let launches: Vec<&KernelTrace> = traces(&stored).collect();
    let bytes = encode(&stored.key, &stored.label, &launches);
    let bytes = bytes.map_err(|error| sink.push(unstored(&error))).ok()?;
    Some((stored, bytes))
}

//! `warpwatt work`: units of a queue, done here.

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::super::console::{Exit, err, out, out_json, reject, show};
use super::{Known, WorkArguments};
use crate::diag::{Diag, Rejection, Sink};
use crate::run::fleet::{Ended, Kind, State, Worked, Worker};

/// Works at the queue.
pub fn run(arguments: &WorkArguments) -> Exit {
    let mut sink = Sink::default();
    let Some(known) = Known::open(&arguments.queue, &mut sink) else {
        return reject(&Rejection(sink), arguments.json);
    };
    if !arguments.quiet {
        show(&sink);
    }
    sink.diags.clear();
    match worked(arguments, &known, &sink) {
        Ok(exit) => exit,
        Err(diag) => {
            sink.push(diag);
            reject(&Rejection(sink), arguments.json)
        }
    }
}

fn worked(arguments: &WorkArguments, known: &Known, sink: &Sink) -> Result<Exit, Diag> {
    let worker = Worker {
        queue: &known.queue,
        resolved: &known.resolved,
        sources: &sink.sources,
        jobs: warpwatt_run::threads(arguments.jobs),
    };
    // Threads tell one after the other.
    let telling = Mutex::new(());
    let ended = worker.work(|worked| {
        let _one = telling.lock().unwrap_or_else(PoisonError::into_inner);
        tell(&worked, sink, arguments.quiet);
    })?;
    let state = State::of(&known.queue)?;
    match arguments.json {
        true => out_json(&json!({
            "done": ended.done,
            "failed": ended.failed,
            "units": state.units,
            "units_done": state.done,
            "complete": state.complete,
        })),
        false => out(&text(arguments, ended, &state)),
    }
    Ok(match state.complete {
        true => Exit::Done,
        false => Exit::NotMet,
    })
}

fn text(arguments: &WorkArguments, ended: Ended, state: &State) -> String {
    let place = arguments.queue.display();
    let next = match (state.complete, state.failed) {
        (true, _) => format!(": `warpwatt merge {place}` puts them together"),
        (false, 0) => ": the others are with workers that live".to_owned(),
        (false, failed) => format!(", {failed} have failed: `warpwatt status {place}` says why"),
    };
    format!(
        "{} units done here, {} of {} in all{next}\n",
        ended.done, state.done, state.units
    )
}

fn tell(worked: &Worked<'_>, sink: &Sink, quiet: bool) {
    if let Some(diag) = &worked.failure {
        let mut told = sink.clone();
        told.push(diag.clone());
        show(&told);
    } else if !quiet {
        let what = match worked.job.kind {
            Kind::Execution => "executed",
            Kind::Timing => "timed",
        };
        err(&format!(
            "{what} {}, {:.2} s\n",
            worked.job.label, worked.seconds
        ));
    }
}

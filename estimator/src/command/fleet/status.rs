//! `warpwatt status`: how far a queue has come.

use std::fmt::Write as _;

use serde_json::json;

use super::super::console::{Exit, out, out_json, reject};
use super::super::dry_run::duration;
use super::StatusArguments;
use crate::run::fleet::{Hand, Queue, State};

/// Shows it.
pub fn run(arguments: &StatusArguments) -> Exit {
    let state = Queue::open(&arguments.queue).and_then(|queue| State::of(&queue));
    let state = match state {
        Ok(state) => state,
        Err(diag) => return reject(&diag.into(), arguments.json),
    };
    match arguments.json {
        true => out_json(&json!(state)),
        false => out(&text(&state)),
    }
    match state.failed {
        0 => Exit::Done,
        _ => Exit::NotMet,
    }
}

fn text(state: &State) -> String {
    let mut text = format!(
        "{}: {} of {} units done, {} taken, {} left, {} failed\n",
        state.title, state.done, state.units, state.taken, state.todo, state.failed
    );
    if !state.complete {
        let left = state
            .seconds_left
            .map_or_else(|| "not known how much".to_owned(), duration);
        let _ = writeln!(text, "left to do: {left} of one thread");
    }
    for worker in &state.workers {
        text.push_str(&worker_text(worker));
    }
    for (unit, why) in &state.failures {
        let _ = write!(text, "\n{unit} has failed:\n{why}");
    }
    text
}

fn worker_text(worker: &Hand) -> String {
    let done = worker.sign.as_ref().map_or(0, |sign| sign.done);
    let seen = match worker.silent_s {
        Some(silent) => format!("seen {silent:.0} s ago"),
        None => "gone".to_owned(),
    };
    let taken = match worker.taken.is_empty() {
        true => String::new(),
        false => format!(": {}", worker.taken.join("; ")),
    };
    format!("{}, {seen}, {done} units done{taken}\n", worker.worker)
}

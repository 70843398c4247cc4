//! `warpwatt merge DIR` of a queue: what its units came to, put together and reported as if one machine had run the study.

use std::path::{Path, PathBuf};

use super::super::console::{Exit, err, reject, show};
use super::super::present::Formats;
use super::super::run::finish;
use super::Known;
use crate::diag::{Diag, Rejection, Sink};
use crate::report::Details;
use crate::run::fleet::{AGAIN, Gathered, Queue, State};
use crate::run::kept::{self, Begin, Keeping, Whole};
use crate::run::{Means, parameters};

/// Where results go, and what is shown of them.
#[derive(Clone, Copy, Debug)]
pub struct Into<'m> {
    /// The directory that gets them.
    pub directory: &'m Path,
    /// Throw away what it holds.
    pub fresh: bool,
    /// Print one document.
    pub json: bool,
    /// Say nothing on standard error.
    pub quiet: bool,
}

/// The queue that is to be merged, if that is what was asked for: the only part, or without parts the place itself.
pub fn queue_of<'p>(out: &'p Path, parts: &'p [PathBuf]) -> Option<&'p Path> {
    match parts {
        [] => Some(out),
        [part] if Queue::is_there(part) => Some(part),
        _ => None,
    }
}

/// Merges a queue.
pub fn merge(queue: &Path, into: Into<'_>) -> Exit {
    let mut sink = Sink::default();
    let Some(known) = Known::open(queue, &mut sink) else {
        return reject(&Rejection(sink), into.json);
    };
    if !into.quiet {
        show(&sink);
    }
    sink.diags.clear();
    match merged(&known, into, &sink) {
        Ok(exit) => exit,
        Err(faults) => {
            sink.diags.extend(faults);
            reject(&Rejection(sink), into.json)
        }
    }
}

fn merged(known: &Known, into: Into<'_>, sink: &Sink) -> Result<Exit, Vec<Diag>> {
    let Known { queue, resolved } = known;
    let one = |diag| vec![diag];
    let gathered = Gathered::of(queue, &resolved.plan).map_err(one)?;
    let state = State::of(queue).map_err(one)?;
    if state.failed > 0 {
        return Err(one(failed(&state)));
    }
    if !state.complete {
        err(&format!(
            "{} of {} units are not done: let a worker go on, and merge again\n",
            state.units - state.done,
            state.units
        ));
        return Ok(Exit::NotMet);
    }
    gathered.check()?;
    let manifest = kept::manifest(resolved, &sink.sources, parameters(&resolved.plan));
    let study = Whole {
        resolved,
        sources: &sink.sources,
        manifest: &manifest,
    };
    let keeping = Keeping {
        directory: into.directory,
        begin: if into.fresh {
            Begin::Fresh
        } else {
            Begin::Resume
        },
        shard: None,
        means: Means {
            elsewhere: Some(&gathered),
            ..Means::default()
        },
    };
    let formats = Formats {
        directory: into.directory.to_path_buf(),
        files: resolved.study.output.formats.clone(),
        json: into.json,
        quiet: into.quiet,
        details: Details::default(),
    };
    finish(study, keeping, &formats).map_err(one)
}

/// What is said of a queue in which units have failed: what was said of the first.
fn failed(state: &State) -> Diag {
    let first = state.failures.values().next();
    let first = first.and_then(|why| why.lines().next()).unwrap_or_default();
    let message = format!(
        "{} of {} units have failed; the first: {first}",
        state.failed, state.units
    );
    Diag::error("fleet::failed", message).help(format!(
        "mend what `warpwatt status` tells of each. {AGAIN}"
    ))
}

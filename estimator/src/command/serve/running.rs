//! Studies that a page asks for, run here; what becomes of them goes back line by line.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use warpwatt_page::MOST_POINTS;

use super::Served;
use super::http::{head, refuse};
use crate::diag::{Diag, Sink, render};
use crate::outcome::Outcome;
use crate::run::drive::News;
use crate::run::{Means, Resolved, resolve_text, run_points};

/// Runs what of the study was not counted: lines of JSON with progress, and at the end all counts or what is wrong.
pub fn run(stream: &mut TcpStream, served: &Served, study: &str) -> io::Result<()> {
    let Ok(_alone) = served.running.try_lock() else {
        return refuse(stream, ("409 Conflict", "a study is being run already"));
    };
    head(stream, "200 OK", "application/x-ndjson")?;
    served.stop.store(false, Ordering::Relaxed);
    let mut sink = Sink::default();
    let there = stream.try_clone()?;
    let over = AtomicBool::new(false);
    let counted = thread::scope(|scope| {
        scope.spawn(|| stop_when_gone(&there, served, &over));
        let counted = counted(stream, served, study, &mut sink);
        over.store(true, Ordering::Relaxed);
        counted
    });
    if served.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let counts = counted.unwrap_or_else(|diag| {
        sink.push(diag);
        None
    });
    let said = match counts {
        Some(counts) => json!({ "counts": counts }),
        None => json!({ "faults": render(&sink, false) }),
    };
    say(stream, &said)
}

/// Ends the run when whoever asked for it has gone: nobody waits for the rest.
fn stop_when_gone(stream: &TcpStream, served: &Served, over: &AtomicBool) {
    const OFTEN: Duration = Duration::from_millis(100);
    let _ = stream.set_read_timeout(Some(OFTEN));
    while !over.load(Ordering::Relaxed) {
        match stream.peek(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // It says more than was asked for.
            Ok(1..) => thread::sleep(OFTEN),
            _ => return served.stop.store(true, Ordering::Relaxed),
        }
    }
}

/// All counts, with those of the study. Nothing: what is wrong is in `sink`.
fn counted(
    stream: &mut TcpStream,
    served: &Served,
    study: &str,
    sink: &mut Sink,
) -> Result<Option<Value>, Diag> {
    let Some(resolved) = resolve_text("study.toml", study, Path::new(""), sink) else {
        return Ok(None);
    };
    let all = resolved.plan.points.len();
    if all > MOST_POINTS {
        let message = format!("the study has {all} points, and a page turns {MOST_POINTS} at most");
        return Err(Diag::error("serve::too_many", message).help("`warpwatt run` runs it"));
    }
    let points = ran(stream, served, &resolved, sink)?;
    let mut counts = served.counts();
    if !counts.add(study, &resolved, &points) {
        let message = "a page cannot price this study: it looks at time or at bits on the way, or names files of its own";
        return Err(Diag::error("serve::no_counts", message).help("`warpwatt run` runs it"));
    }
    Ok(Some(json!(*counts)))
}

/// The points of which not all is counted, each with its number.
fn ran(
    stream: &mut TcpStream,
    served: &Served,
    resolved: &Resolved,
    sink: &Sink,
) -> Result<Vec<(usize, Outcome)>, Diag> {
    let finished = served.counts().counted(&resolved.plan);
    let of = finished.iter().filter(|finished| !**finished).count();
    let means = Means {
        jobs: served.jobs,
        cache: Some(&served.cache),
        interrupt: Some(crate::run::Interrupt(served.stop)),
        ..Means::default()
    };
    let mut done = 0;
    let mut outcomes = Vec::new();
    let news = |news: News| {
        if let News::Finished { points } = news {
            done += points;
        }
        if say(stream, &json!({ "points": done, "of": of })).is_err() {
            served.stop.store(true, Ordering::Relaxed);
        }
    };
    run_points(
        (resolved, &sink.sources),
        &finished,
        means,
        news,
        Ok,
        |batch| {
            outcomes.extend(batch);
            Ok(())
        },
    )?;
    Ok(outcomes)
}

fn say(stream: &mut TcpStream, value: &Value) -> io::Result<()> {
    writeln!(stream, "{value}")?;
    stream.flush()
}

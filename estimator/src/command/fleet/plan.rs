//! `warpwatt plan`: what there is to do, and the queue of it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::console::{Exit, err, out, out_json, reject, show};
use super::super::dry_run::duration;
use super::{PlanArguments, laid_text, sheet};
use crate::diag::{Diag, Rejection, Sink};
use crate::run::fleet::{Kind, Laid, Queue, Sheet, schedules};
use crate::run::resolve;

/// Plans the study.
pub fn run(arguments: &PlanArguments) -> Exit {
    let mut sink = Sink::default();
    let Some(resolved) = resolve(&arguments.study, &mut sink) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    let sheet = sheet(&arguments.study, &resolved, arguments.lease);
    match sheet.and_then(|sheet| laid(arguments, sheet)) {
        Ok((sheet, laid)) => {
            told(arguments, &sheet, laid);
            Exit::Done
        }
        Err(diag) => reject(&diag.into(), arguments.json),
    }
}

/// The sheet, laid out if there is a place for it.
fn laid(arguments: &PlanArguments, sheet: Sheet) -> Result<(Sheet, Option<Laid>), Diag> {
    let Some(directory) = &arguments.out else {
        return Ok((sheet, None));
    };
    let (queue, laid) = Queue::lay(directory, sheet)?;
    Ok((queue.sheet, Some(laid)))
}

fn told(arguments: &PlanArguments, sheet: &Sheet, laid: Option<Laid>) {
    if arguments.json {
        let mut document = document(sheet);
        document["queue"] = json!(arguments.out);
        out_json(&document);
    } else {
        out(&text(sheet));
    }
    if let (Some(directory), Some(laid)) = (&arguments.out, laid) {
        err(&laid_text(directory, laid));
    }
}

/// What the study takes, as data.
pub(super) fn document(sheet: &Sheet) -> Value {
    json!({
        "title": sheet.title,
        "executions": executions(sheet),
        "timing_runs": sheet.units.len() - executions(sheet),
        "points": sheet.units.iter().map(|unit| unit.points).sum::<usize>(),
        "seconds": seconds(sheet),
        "units": sheet.units,
        "schedules": schedules(&sheet.units),
    })
}

fn executions(sheet: &Sheet) -> usize {
    let units = sheet.units.iter();
    units.filter(|unit| unit.kind == Kind::Execution).count()
}

/// What all units take one thread.
fn seconds(sheet: &Sheet) -> Option<f64> {
    sheet.units.iter().map(|unit| unit.seconds).sum()
}

/// Units that are shown.
const SHOWN: usize = 20;

fn text(sheet: &Sheet) -> String {
    let executions = executions(sheet);
    let runs = sheet.units.len() - executions;
    let mut text =
        format!("{executions} executions and {runs} timing runs, the longest first:\n\n");
    let time = |seconds: Option<f64>| match seconds {
        Some(seconds) => format!("{seconds:.1} s"),
        None => "not known".to_owned(),
    };
    for unit in sheet.units.iter().take(SHOWN) {
        let what = match unit.kind {
            Kind::Execution => "execute".to_owned(),
            Kind::Timing => format!("time, {} points", unit.points),
        };
        let _ = writeln!(
            text,
            "{:>10}  {what:<18}  {}",
            time(unit.seconds),
            unit.label
        );
    }
    if sheet.units.len() > SHOWN {
        let _ = writeln!(text, "{:>10}  and {} more", "", sheet.units.len() - SHOWN);
    }
    text.push('\n');
    let found = schedules(&sheet.units);
    if found.is_empty() {
        text.push_str(
            "how long that takes is not known: of kernels of your own nothing was counted before\n",
        );
    }
    for schedule in found {
        let _ = writeln!(
            text,
            "{:>5} workers  about {}, {:.1} % of the ideal",
            schedule.workers,
            duration(schedule.seconds),
            100.0 * schedule.efficiency
        );
    }
    text
}

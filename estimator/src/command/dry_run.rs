//! `warpwatt run --dry-run`: what there is to do, and what it may take.

use std::path::Path;

use serde_json::json;

use super::arguments::RunArguments;
use super::console::{Exit, out, out_json, reject, show};
use crate::diag::{Diag, Rejection, Sink};
use crate::run::forecast::Forecast;
use crate::run::{Resolved, resolve};
use crate::store::{PointKey, Store, StoreError};

/// Says what the study would take. Writes nothing.
pub fn run(arguments: &RunArguments) -> Exit {
    let mut sink = Sink::default();
    let Some(resolved) = resolve(&arguments.study, &mut sink) else {
        return reject(&Rejection(sink), arguments.json);
    };
    show(&sink);
    let default = &resolved.study.output.directory;
    let directory = arguments.out.as_ref().unwrap_or(default);
    match forecast(arguments, &resolved, directory) {
        Ok(forecast) if arguments.json => out_json(&json!(forecast)),
        Ok(forecast) => out(&text(&forecast, directory)),
        Err(diag) => return reject(&diag.into(), arguments.json),
    }
    Exit::Done
}

fn forecast(
    arguments: &RunArguments,
    resolved: &Resolved,
    directory: &Path,
) -> Result<Forecast, Diag> {
    let plan = &resolved.plan;
    let keys: Vec<PointKey> = plan.points.iter().map(|point| point.key).collect();
    let store = Store::open_existing(directory);
    let held = store.and_then(|store| {
        store.check_owner(&resolved.study.title)?;
        store.held(&keys).map_err(|error| error.numbered(&keys))
    });
    let held = match held {
        Ok(held) => held,
        Err(StoreError::Missing { .. }) => vec![false; keys.len()],
        Err(error) => return Err(error.diag()),
    };
    let wanted = match arguments.shard {
        Some(shard) => shard.of(plan),
        None => vec![true; keys.len()],
    };
    let jobs = warpwatt_run::threads(arguments.jobs);
    Ok(Forecast::of(plan, &wanted, &held, jobs))
}

fn text(forecast: &Forecast, directory: &Path) -> String {
    let millions = |count: Option<u64>| match count {
        Some(count) => format!("{:.1} million warp instructions", count as f64 / 1e6),
        None => format!(
            "instructions of {} not known",
            forecast.unrecorded.join(", ")
        ),
    };
    let time = match forecast.seconds {
        Some(seconds) => format!("about {} on {} threads", duration(seconds), forecast.jobs),
        None => "not known".to_owned(),
    };
    let basis = forecast.basis;
    format!(
        "points       {}, {} of them in {} already\n\
         executions   {}, {}\n\
         timing runs  {}, {}\n\
         time         {time}\n\
         disk         about {}\n\n\
         from recorded counts of the suite's cases, and rates of one core: {:.0} million warp instructions a second executed, {:.1} million timed, {:.0} million\n\
         told to a hook of a technique, {:.1} million requests to memory and {:.0} million sectors that they bring; {:.0} GPUs laid out a second and their circuits at {:.0} operating points, {:.0} points a second priced, kept and reported; {} bytes a point, {} a timing run, {} a GPU in a technology\n",
        forecast.points,
        forecast.held,
        directory.display(),
        forecast.executions,
        millions(forecast.executed_instructions),
        forecast.timing_runs,
        millions(forecast.timed_instructions),
        size(forecast.store_bytes),
        basis.executed_instructions_per_s / 1e6,
        basis.timed_instructions_per_s / 1e6,
        basis.followed_instructions_per_s / 1e6,
        basis.requests_per_s / 1e6,
        basis.sectors_per_s / 1e6,
        basis.layouts_per_s,
        basis.operating_points_per_s,
        basis.pricings_per_s,
        basis.bytes_per_point,
        basis.bytes_per_timing_run,
        basis.bytes_per_layout,
    )
}

/// An estimate of time in words.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".to_owned(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e6 => format!("{:.0} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

//! `warpwatt serve`: a report's page on this machine, which also runs what it has no counts for.

mod http;
mod running;

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::Args;
use warpwatt_page::{MOST_POINTS, counts, turnable};

use super::cache::CacheArguments;
use super::console::{Exit, arrived, out, reject, show};
use super::open::open_address;
use super::present::defect;
use super::report::opened;
use super::results::recipes;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink, Sources};
use crate::outcome::Outcome;
use crate::recipe::Recipes;
use crate::run::again::Counts;
use crate::run::{
    Means, Resolved, catalogue, kept, parameters, reported, resolve_text, run_in_memory,
};
use crate::study::Question;
use http::Door;

/// Serve a report's page to the browser on this machine: what is turned is priced there, what was not counted is run here.
///
/// The page is that of report.html, of a results directory or of kernels that are run first. Only this machine can reach it, and only with the address that
/// is printed, which holds a token. Nothing is written but kernels' traces; Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt serve results
  warpwatt serve results --open
  warpwatt serve --kernel hotspot --technique filter_cache --node 7nm
  warpwatt serve -k my.toml -t power_gating --preset v100 --node 12nm --port 8000

Exit codes: 0 ended; 2 there is nothing to serve, or the port is taken.")]
pub struct ServeArguments {
    /// The directory that `warpwatt run` wrote its results to
    #[arg(value_name = "RESULTS_DIR", required_unless_present = "kernels")]
    pub results: Option<PathBuf>,
    /// Instead of results: a kernel of the suite, or a launch file (repeatable)
    #[arg(
        long = "kernel",
        short = 'k',
        value_name = "KERNEL|LAUNCH.toml",
        conflicts_with = "results"
    )]
    pub kernels: Vec<String>,
    /// A technique that the kernels are compared with, or several joined by + (repeatable)
    #[arg(
        long = "technique",
        short = 't',
        value_name = "TECHNIQUE",
        conflicts_with = "results"
    )]
    pub techniques: Vec<String>,
    /// A parameter of the techniques, entries=16, or a setting of the GPU, sm.threads=512 (repeatable)
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "results")]
    pub set: Vec<String>,
    /// The GPU of the kernels [default: tesla-16sm]
    #[arg(long, value_name = "NAME", conflicts_with = "results")]
    pub preset: Option<String>,
    /// The technology node of the kernels [default: 7nm]
    #[arg(long, value_name = "NODE", conflicts_with = "results")]
    pub node: Option<String>,
    /// The port [default: one that is free]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub port: u16,
    /// Show the page in the browser: the program that BROWSER names, or the system's
    #[arg(long)]
    pub open: bool,
    /// Threads to use for runs [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// What is served.
struct Served {
    /// The report, without what turns it.
    report: String,
    /// What was counted so far.
    counts: Mutex<Counts>,
    /// One study is run at a time.
    running: Mutex<()>,
    /// Ends the one that is run.
    stop: &'static AtomicBool,
    jobs: Option<u16>,
    cache: TraceCache,
}

/// Serves until it is stopped.
pub fn run(arguments: &ServeArguments) -> Exit {
    let mut sink = Sink::default();
    let Some(served) = served(arguments, &mut sink) else {
        return reject(&Rejection(sink), false);
    };
    show(&sink);
    match serve(arguments, &served) {
        Ok(()) => Exit::Done,
        Err(diag) => reject(&diag.into(), false),
    }
}

fn serve(arguments: &ServeArguments, served: &Served) -> Result<(), Diag> {
    let shut = |error: io::Error| {
        let message = format!("cannot listen on port {}: {error}", arguments.port);
        Diag::error("serve::port", message).help("leave `--port` out to take one that is free")
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).map_err(shut)?;
    let address = listener.local_addr().map_err(shut)?;
    let door = Door::new(address).map_err(|problem| {
        let message = format!("this machine gives no random numbers for a token: {problem}");
        Diag::error("serve::token", message)
    })?;
    out(&format!("{}\n", door.address()));
    // Nobody finds a page whose address is not known.
    if !arrived() {
        return Ok(());
    }
    if arguments.open {
        open_address(OsStr::new(&door.address()));
    }
    http::answer(&listener, &door, served);
    Ok(())
}

/// What the arguments ask for. Nothing: what is wrong is in `sink`.
fn served(arguments: &ServeArguments, sink: &mut Sink) -> Option<Served> {
    let cache = arguments.cache.open(sink)?;
    let found = match &arguments.results {
        Some(results) => of_results(results),
        None => {
            let text = question(arguments).study(sink)?;
            let resolved = resolve_text("the question, as a study", &text, Path::new(""), sink)?;
            let means = Means {
                jobs: arguments.jobs,
                cache: Some(&cache),
                ..Means::default()
            };
            of_study(&text, &resolved, &sink.sources, means)
        }
    };
    match found {
        Ok((report, counts)) => Some(Served {
            report,
            counts: Mutex::new(counts),
            running: Mutex::new(()),
            // A run outlives the connection that asked for it by a moment.
            stop: Box::leak(Box::new(AtomicBool::new(false))),
            jobs: arguments.jobs,
            cache,
        }),
        Err(diag) => {
            sink.push(diag);
            None
        }
    }
}

fn question(arguments: &ServeArguments) -> Question {
    let or = |given: &Option<String>, usual: &str| given.clone().unwrap_or(usual.to_owned());
    Question {
        kernels: arguments.kernels.clone(),
        techniques: arguments.techniques.clone(),
        settings: arguments.set.clone(),
        gpu: vec![
            ("preset", or(&arguments.preset, "tesla-16sm")),
            ("node", or(&arguments.node, "7nm")),
        ],
        ..Question::default()
    }
}

fn of_results(results: &Path) -> Result<(String, Counts), Diag> {
    let (manifest, store) = opened(results)?;
    if manifest.points.len() > MOST_POINTS {
        let message = format!(
            "the results have {} points, and a page turns {MOST_POINTS} at most",
            manifest.points.len()
        );
        return Err(Diag::error("serve::too_many", message).help("run a study of some of them"));
    }
    let outcomes = store.collect(&manifest).map_err(|error| error.diag())?;
    let counts = counts(&manifest, &outcomes).ok_or_else(no_counts)?;
    let report = reported(&manifest, &outcomes, &manifest.pareto, || recipes(&store))?;
    Ok((report.html().map_err(defect)?, counts))
}

fn of_study(
    text: &str,
    resolved: &Resolved,
    sources: &Sources,
    means: Means<'_>,
) -> Result<(String, Counts), Diag> {
    let none = vec![false; resolved.plan.points.len()];
    let outcomes = run_in_memory(resolved, sources, &none, means, |_| ())?;
    let manifest = kept::manifest(resolved, sources, parameters(&resolved.plan));
    let recipes = || Ok(Recipes::from(&resolved.plan));
    let report = reported(&manifest, &outcomes, &manifest.pareto, recipes)?;
    let points: Vec<(usize, Outcome)> = outcomes.into_iter().enumerate().collect();
    let counts = Counts::begun((text, resolved), &points, &catalogue()).ok_or_else(no_counts)?;
    Ok((report.html().map_err(defect)?, counts))
}

impl Served {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page, which has what is not counted run at the address `run`.
    fn page(&self, run: &str) -> String {
        turnable(self.report.clone(), &self.counts(), Some(run))
    }
}

fn no_counts() -> Diag {
    let message = "what was counted does not follow from these results";
    Diag::error("serve::no_counts", message).help(
        "the study follows bits, has a peak of power, draws kernels, names technology files of its own, or another version ran it",
    )
}

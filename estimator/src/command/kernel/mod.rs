//! `warpwatt kernel`: one kernel, checked and timed.

mod ran;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{
    Control, GpuError, GpuSpec, Hooks, Run, Watcher, Watchers, Way, simulate_under,
};
use warpwatt_suite::launch::file_contents;
use warpwatt_suite::{CaseRun, FinalBuffer, RunOptions};

use ran::Ran;

use super::arguments::KernelArguments;
use super::cache::show_notes;
use super::console::{Exit, first, out, out_json, reject};
use super::energy::show_power;
use super::files::write_one;
use super::races::Races;
use super::registers_over_time::of_kernel;
use super::timeline::{Timeline, Written};
use crate::by_sm::MOST_ROWS;
use crate::cache::TraceCache;
use crate::diag::{Diag, Rejection, Sink, did_you_mean};
use crate::foreign::write_neutral;
use crate::outcome::Samples;
use crate::peak::MOST_WINDOWS;
use crate::run::execute::{execute, trace, untimed};
use crate::run::kernel::{Form, LoadedKernel, load};
use crate::single::{Drawn, Facts, Look, Seen, Told};
use crate::study::Configuration;

/// Mismatches that are shown; all are counted.
const LISTED: usize = 10;

/// Runs the kernel and says how it went.
pub fn run(arguments: &KernelArguments) -> Exit {
    let mut sink = Sink::default();
    match run_checked(arguments, &mut sink) {
        Ok(report) if arguments.json => {
            out_json(&report.value);
            report.exit
        }
        Ok(report) => {
            out(&report.text);
            report.exit
        }
        Err(Some(diag)) => {
            sink.push(diag);
            reject(&Rejection(sink), arguments.json)
        }
        Err(None) => reject(&Rejection(sink), arguments.json),
    }
}

/// What the command prints and how it ends.
struct Report {
    value: Value,
    text: String,
    exit: Exit,
}

impl From<Told> for Report {
    fn from(told: Told) -> Self {
        Self {
            value: told.value,
            text: told.text,
            exit: if told.passed {
                Exit::Done
            } else {
                Exit::NotMet
            },
        }
    }
}

impl Report {
    /// Adds registers over time, if they were asked for.
    fn live(mut self, live: Option<(Value, String)>) -> Self {
        if let Some((value, text)) = live {
            self.value["registers_over_time"] = value;
            self.text += &text;
        }
        self
    }

    /// Adds where the timeline is, if there is one.
    fn with_timeline(mut self, timeline: Option<&Written>) -> Self {
        if let Some(timeline) = timeline {
            self.value["timeline"] = timeline.value();
            self.text += &timeline.text();
        }
        self
    }

    /// Adds what was found of races, if they were looked for.
    fn with(mut self, races: Option<&Races>) -> Self {
        let Some(races) = races else { return self };
        self.value["races"] = races.value();
        self.text += &races.text();
        if races.matter() {
            self.exit = Exit::NotMet;
        }
        self
    }
}

/// `Err(None)`: the findings are in the sink already.
fn run_checked(arguments: &KernelArguments, sink: &mut Sink) -> Result<Report, Option<Diag>> {
    let board = arguments.board.open(sink);
    let preset = board.as_ref().ok().and_then(Option::as_ref);
    let preset = preset.map(|board| board.facts.preset.as_str());
    let gpu = arguments.gpu.or(preset);
    let width = arguments.warp_width.as_deref();
    // Machine code is of wavefronts of 64.
    let width = width.or(arguments.kernel.code.as_ref().map(|_| "64"));
    let spec = arguments.kernel.gpu(&gpu, width, sink);
    let request = arguments.kernel.request(spec.as_ref(), sink);
    let dumps = dumps(arguments, sink);
    let kernel = request.and_then(|request| load(sink, &request, None));
    let cache = arguments.cache.open(sink);
    let timeline = (spec.as_ref()).and_then(|spec| arguments.timeline.open(spec, sink));
    let circuits = arguments.conditions.circuits(sink);
    let manages = arguments.live.configuration(sink);
    let (Some(spec), Some(kernel), Some(dumps), Some(cache), Some(mut timeline), Ok(board)) =
        (spec, kernel, dumps, cache, timeline, board)
    else {
        return Err(None);
    };
    if sink.has_errors() {
        return Err(None);
    }
    check_dumps(&dumps, &kernel)?;
    check_races(arguments, &kernel)?;
    let options = options(arguments, &spec);
    // What a buffer holds in the end is not kept, nor what is printed, and races show only in an execution.
    let kept = dumps.is_empty() && !arguments.check_races && !kernel.module.prints();
    let mut run = executed(&kernel, options, sink, kept.then_some(&cache))?;
    let facts = Facts::of(&kernel, &run, (gpu.name(), &spec));
    let races = arguments.check_races.then(|| Races::of(&run));
    let passed = run.passed();
    let buffers = std::mem::take(&mut run.buffers);
    let traces = run.into_traces();
    let (timing, seen) = timing(arguments, &spec, &traces, timeline.as_mut())?;
    let source = source(arguments, &kernel, sink)?;
    let ran = Ran {
        kernel: &kernel,
        gpu: (gpu.name(), &spec),
        traces: &traces,
        source: (&source.0, &source.1),
        passed,
    };
    let mut energy = match (&circuits, &timing) {
        (Some(circuits), Some(Ok(run))) => Some(ran.energy(arguments, run, &seen, circuits)?),
        _ => None,
    };
    let drawn = match (&board, &timing) {
        (Some(board), Some(Ok(run))) => {
            let gpu = (gpu.name(), &spec);
            Some(Drawn::of(&kernel.name.name, gpu, run, board)?)
        }
        _ => None,
    };
    if let (Some(timeline), Some(energy)) = (&mut timeline, &energy) {
        show_power(energy, timeline.watcher());
    }
    let timeline = timeline.map(Timeline::finish).transpose().map_err(first)?;
    write_dumps(&dumps, &buffers)?;
    if let (Some(path), Some(Ok(run))) = (&arguments.activity, &timing) {
        write_activity(path, &kernel.name.name, &spec, run)?;
    }
    let run = (kernel.name.name.as_str(), &spec, &traces[..]);
    let live = live(arguments, manages.as_ref(), run)?;
    if let Some(energy) = &mut energy {
        ran.write(&arguments.conditions, &seen, energy)
            .map_err(first)?;
    }
    let told = facts.told(&spec, timing.as_ref()).priced(energy);
    let report = Report::from(told.drawn(drawn.as_ref())).live(live);
    Ok(report.with_timeline(timeline.as_ref()).with(races.as_ref()))
}

/// Name and text of the program: of what was recorded a listing, where anything is told of single instructions.
fn source<'s>(
    arguments: &KernelArguments,
    kernel: &LoadedKernel,
    sink: &'s Sink,
) -> Result<(String, Cow<'s, str>), Option<Diag>> {
    let conditions = &arguments.conditions;
    let wanted = arguments.json || conditions.show.is_some() || conditions.drawn();
    Ok(match &kernel.form {
        Form::Recorded(recording) if wanted && arguments.conditions.node.is_some() => {
            let listing = recording.listing(arguments.limit)?;
            (kernel.name.name.clone(), Cow::Owned(listing))
        }
        _ => {
            let name = sink.sources.name(kernel.ptx).to_owned();
            (name, Cow::Borrowed(sink.sources.text(kernel.ptx)))
        }
    })
}

/// Registers over time, if they are asked for: what the document has and what the text has.
fn live(
    arguments: &KernelArguments,
    manages: Option<&Configuration>,
    run: (&str, &GpuSpec, &[KernelTrace]),
) -> Result<Option<(Value, String)>, Option<Diag>> {
    let (Some(path), Some(manages)) = (&arguments.live.live, manages) else {
        return Ok(None);
    };
    let control = Control {
        cycle_limit: arguments.cycle_limit,
        ..Control::default()
    };
    let live = of_kernel(&arguments.live, (manages, path), run, control);
    live.map(Some).map_err(first)
}

/// Races are looked for in PTX only.
fn check_races(arguments: &KernelArguments, kernel: &LoadedKernel) -> Result<(), Option<Diag>> {
    if !arguments.check_races || matches!(kernel.form, Form::Ptx) {
        return Ok(());
    }
    let message = "data races of machine code are not looked for";
    let help = "look for them in the PTX of the same kernel";
    Err(Some(Diag::error("kernel::races", message).help(help)))
}

/// What buffers hold in the end, into the files that are asked for.
fn write_dumps(dumps: &[(String, PathBuf)], buffers: &[FinalBuffer]) -> Result<(), Option<Diag>> {
    for (name, path) in dumps {
        if let Some(buffer) = buffers.iter().find(|buffer| buffer.name == *name) {
            let contents = file_contents(path, buffer.element, &buffer.bytes);
            write_one(path, &contents).map_err(first)?;
        }
    }
    Ok(())
}

/// What was counted, in the neutral form that other commands read.
fn write_activity(
    path: &Path,
    kernel: &str,
    spec: &GpuSpec,
    run: &Run,
) -> Result<(), Option<Diag>> {
    let clock_hz = f64::from(spec.sm.clock_mhz) * 1e6;
    let text = write_neutral(kernel, clock_hz, &run.activity);
    write_one(path, text.as_bytes()).map_err(first)
}

fn options(arguments: &KernelArguments, spec: &GpuSpec) -> RunOptions {
    RunOptions {
        warp_width: spec.sm.warp_width,
        limit: arguments.limit,
        record: !arguments.no_timing,
        trace_memory: arguments.cache.memory(),
        threads: warpwatt_run::threads(arguments.jobs),
        races: arguments.check_races,
        listed: LISTED,
        ..RunOptions::default()
    }
}

/// The run: from the trace cache where it is needed for its trace alone.
fn executed(
    kernel: &LoadedKernel,
    options: RunOptions,
    sink: &Sink,
    cache: Option<&TraceCache>,
) -> Result<CaseRun, Diag> {
    if !options.record {
        return execute(kernel, options, &sink.sources);
    }
    let traced = trace(kernel, options, &sink.sources, cache)?;
    if let Some(cache) = cache {
        show_notes(cache);
    }
    Ok(traced.run)
}

/// The timing run, or why the GPU that nobody asked for cannot time this kernel, where nothing was asked for that needs it; nothing with `--no-timing`.
fn timing(
    arguments: &KernelArguments,
    spec: &GpuSpec,
    traces: &[KernelTrace],
    timeline: Option<&mut Timeline>,
) -> Result<(Option<Timed>, Seen), Diag> {
    if arguments.no_timing {
        return Ok((None, Seen::default()));
    }
    let wanted = timeline.is_some()
        || arguments.activity.is_some()
        || arguments.conditions.node.is_some()
        || !arguments.board.is_none();
    let by_default = arguments.gpu.is_default() && !wanted;
    let sms = timeline.as_ref().map(|_| &arguments.timeline.timeline_sms);
    let sampler = arguments.conditions.sampler(sms.is_some());
    let mut look = Look::new(sampler, arguments.conditions.by_sm(spec, sms));
    let mut watchers: Vec<&mut dyn Watcher> = Vec::new();
    watchers.extend(timeline.map(|timeline| timeline.watcher() as _));
    watchers.extend(look.watchers());
    let mut watchers = (!watchers.is_empty()).then_some(Watchers(watchers));
    let control = Control {
        cycle_limit: arguments.cycle_limit,
        watcher: watchers.as_mut().map(|watchers| watchers as _),
        threads: warpwatt_run::threads(arguments.jobs),
        ..Control::default()
    };
    let timed = match arguments.sample.goal(Way::Any) {
        // Nobody looks on then.
        Some(goal) => {
            let under = |sampling| {
                let control = Control {
                    cycle_limit: arguments.cycle_limit,
                    sampling,
                    threads: warpwatt_run::threads(arguments.jobs),
                    ..Control::default()
                };
                simulate_under(spec, traces, Hooks::default(), control)
            };
            goal.meet(under, |run| {
                Samples::of(run).map(|samples| samples.cycles_sigma(run.cycles))
            })
        }
        None => simulate_under(spec, traces, Hooks::default(), control),
    };
    match timed {
        Ok(run) => {
            let seen = look.finish(&run);
            let wanted = &arguments.conditions;
            let lacks_sms = seen.by_sm.is_none() && (wanted.is_by_sm() || wanted.drawn());
            if wanted.watched() && (seen.windows.is_none() || lacks_sms) {
                return Err(too_many());
            }
            Ok((Some(Ok(run)), seen))
        }
        // The buffers were checked all the same, which is what the command is for.
        Err(error @ GpuError::CtaTooLarge { .. }) if by_default => {
            Ok((Some(Err(error.to_string())), Seen::default()))
        }
        Err(error) => Err(not_timed(&error)),
    }
}

/// Why the kernel cannot be timed. Code that was compiled for other warps than the GPU has runs on it all the same once the GPU's are made as wide.
fn not_timed(error: &GpuError) -> Diag {
    let diag = untimed("kernel::timing", error);
    match error {
        GpuError::WarpWidth { trace, .. } => diag.help(format!("pass `--warp-width {trace}`")),
        _ => diag,
    }
}

/// A timing run, or why there is none.
type Timed = Result<Run, String>;

fn too_many() -> Diag {
    let message = format!(
        "the run has more than {MOST_WINDOWS} windows, or {MOST_ROWS} of all SMs that are asked for"
    );
    Diag::error("kernel::windows", message).help("choose a larger `--power-window`")
}

/// Buffers to write, and where to.
fn dumps(arguments: &KernelArguments, sink: &mut Sink) -> Option<Vec<(String, PathBuf)>> {
    let split = |dump: &String| {
        dump.split_once('=')
            .map(|(name, path)| (name.to_owned(), PathBuf::from(path)))
    };
    let dumps: Vec<Option<(String, PathBuf)>> = arguments.dump.iter().map(split).collect();
    for (dump, _) in arguments
        .dump
        .iter()
        .zip(&dumps)
        .filter(|(_, split)| split.is_none())
    {
        sink.push(
            Diag::error("kernel::dump", format!("`--dump {dump}` names no file"))
                .help("write for example `--dump c=c.bin`"),
        );
    }
    dumps.into_iter().collect()
}

fn check_dumps(dumps: &[(String, PathBuf)], kernel: &LoadedKernel) -> Result<(), Option<Diag>> {
    let buffers: Vec<&str> = kernel
        .prepared
        .buffers
        .iter()
        .flatten()
        .map(|buffer| buffer.name.as_str())
        .collect();
    match dumps
        .iter()
        .find(|(name, _)| !buffers.contains(&name.as_str()))
    {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("`{}` has no buffer `{name}` to dump", kernel.name.name);
            Err(Some(
                Diag::error("kernel::dump", message).help(did_you_mean(name, buffers)),
            ))
        }
    }
}

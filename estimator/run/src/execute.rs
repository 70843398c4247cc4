//! Functional execution of a loaded kernel, with faults shown in its PTX.

use std::ops::Range;

use warpwatt_gpu::{GpuError, Lack};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_simt::{Cause, ExecError};
use warpwatt_suite::{CaseRun, RunError, RunOptions, run_case, run_machine_code};

use super::kernel::{Form, LoadedKernel};
use crate::cache::{self, TraceCache};
use crate::diag::{Diag, SourceId, Sources};
use crate::trace_store::{ROOM, unstored};

/// Executes all launches of the kernel's case.
///
/// # Errors
/// A launch stopped, or a loop of the launch file does not end.
pub fn execute(
    kernel: &LoadedKernel,
    options: RunOptions,
    sources: &Sources,
) -> Result<CaseRun, Diag> {
    let run = match &kernel.form {
        Form::Ptx => run_case(&kernel.module, &kernel.case, &kernel.prepared, options),
        Form::MachineCode(code) => {
            let program = (code.as_ref(), &kernel.module);
            run_machine_code(program, &kernel.case, &kernel.prepared, options)
        }
        Form::Recorded(recording) => return recording.replay(options),
    };
    run.map_err(|error| explain(&error, kernel, sources))
}

/// A run for its traces, and whether it was kept from an earlier time: then it passed, and has no contents of buffers.
#[derive(Debug)]
pub struct Traced {
    /// The run.
    pub run: CaseRun,
    /// Nothing was executed.
    pub kept: bool,
}

/// Takes the kernel's traces from `cache`, or else executes it and keeps them there if it passes.
///
/// # Errors
/// As [`execute`].
pub fn trace(
    kernel: &LoadedKernel,
    options: RunOptions,
    sources: &Sources,
    cache: Option<&TraceCache>,
) -> Result<Traced, Diag> {
    let options = RunOptions {
        record: true,
        trace_memory: cache.map_or(options.trace_memory, TraceCache::memory),
        ..options
    };
    // What decides an execution is worth hashing only where it names something.
    let Some(cache) = cache.filter(|cache| cache.keeps()) else {
        let run = execute(kernel, options, sources)?;
        return Ok(Traced { run, kept: false });
    };
    let key = cache::key(kernel, options);
    if let Some(executions) = cache.load(&key) {
        let run = CaseRun::kept(executions, &kernel.prepared);
        return Ok(Traced { run, kept: true });
    }
    let run = execute(kernel, options, sources)?;
    if run.passed() {
        let launches = run.executions.iter();
        let traces: Vec<&KernelTrace> = launches
            .filter_map(|launch| launch.execution.trace.as_ref())
            .collect();
        cache.store(&key, &kernel.label(), &traces);
    }
    Ok(Traced { run, kept: false })
}

/// Why a run could not be timed, with what to do about it.
pub fn untimed(code: &'static str, error: &GpuError) -> Diag {
    let help = match error {
        GpuError::CtaTooLarge { lacks, .. } => {
            let larger: Vec<String> = lacks
                .iter()
                .map(Lack::remedy)
                .map(|(setting, least)| format!("{setting} to at least {least}"))
                .collect();
            let larger = larger.join(" and ");
            Some(format!("set {larger}, or choose a GPU with larger SMs"))
        }
        GpuError::CycleLimit { .. } => {
            Some("raise --cycle-limit if the kernel is meant to take as long".to_owned())
        }
        GpuError::Deadlock { .. } | GpuError::Past { .. } => Some(
            "this is a fault of warpwatt: please report it with the kernel and the GPU's settings"
                .to_owned(),
        ),
        GpuError::Store(_) => Some(ROOM.to_owned()),
        GpuError::WarpWidth { .. } | GpuError::Refused { .. } | GpuError::Interrupted { .. } => {
            None
        }
    };
    Diag::error(code, error.to_string()).maybe_help(help)
}

/// Why a case could not be executed, shown in its PTX.
pub fn explain(error: &RunError, kernel: &LoadedKernel, sources: &Sources) -> Diag {
    if let RunError::MachineCode { launch, source } = error {
        return explain_code(source, place(*launch), kernel, sources);
    }
    let RunError::Launch { launch, source } = error else {
        return Diag::error(
            "kernel::endless",
            format!("`{}`: {error}", kernel.name.name),
        )
        .help("raise `max` of the loop in the launch file if more rounds are right");
    };
    let message = format!("{source}{}", place(*launch));
    match source {
        ExecError::Fault(fault) => {
            let diag = Diag::error("kernel::fault", message).at(
                kernel.ptx,
                line(sources, kernel.ptx, fault.line),
                "",
            );
            if matches!(fault.cause, Cause::Limit(_) | Cause::NoProgress(_)) {
                diag.help(RAISE_LIMIT)
            } else {
                diag
            }
        }
        ExecError::Limit { .. } => Diag::error("kernel::launch", message).help(RAISE_LIMIT),
        ExecError::Store { .. } => unstored(&message),
        _ => Diag::error("kernel::launch", message),
    }
}

/// Which launch it was, if there may be several.
fn place(launch: usize) -> String {
    match launch {
        0 => String::new(),
        _ => format!(" (launch {launch} of the case, counted from 0)"),
    }
}

/// The same of machine code, shown in its listing.
fn explain_code(
    error: &warpwatt_gcn::ExecError,
    place: String,
    kernel: &LoadedKernel,
    sources: &Sources,
) -> Diag {
    let message = format!("{error}{place}");
    let fault = match error {
        warpwatt_gcn::ExecError::Fault(fault) => fault,
        warpwatt_gcn::ExecError::Store { .. } => return unstored(&message),
        _ => return Diag::error("kernel::launch", message),
    };
    let line = line(sources, kernel.ptx, fault.line);
    let diag = Diag::error("kernel::fault", message).at(kernel.ptx, line, "");
    match fault.cause {
        warpwatt_gcn::Cause::Limit(_) => diag.help(RAISE_LIMIT),
        _ => diag,
    }
}

const RAISE_LIMIT: &str = "if the kernel is not endless, raise the limit: `--limit N`, or `warp_instructions = N` under `[limits]` in a study";

/// The bytes of a line, counted from 1, without the white space around it.
fn line(sources: &Sources, source: SourceId, number: u32) -> Range<usize> {
    let text = sources.text(source);
    let mut start = 0;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        if place + 1 == number as usize {
            let indent = line.len() - line.trim_start().len();
            return start + indent..start + line.trim_end().len().max(indent);
        }
        start += line.len();
    }
    text.len()..text.len()
}

/// The first mismatch of a run, in words; `None` if it passed.
pub fn first_mismatch(run: &CaseRun) -> Option<String> {
    let first = run.mismatches.first()?;
    Some(format!(
        "{} elements of {} compared buffers differ, first {}[{}]: got {}, want {}",
        run.mismatch_count, run.outputs_compared, first.buffer, first.index, first.got, first.want
    ))
}

//! `warpwatt exec`: a CUDA program, run without a GPU, its kernels timed and priced.

mod arguments;
mod start;
mod tables;
mod text;
mod told;
mod value;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use warpwatt_cudart::device::Device;
use warpwatt_cudart::protocol::Setup;
use warpwatt_gpu::GpuSpec;
use warpwatt_suite::launch::demangled;

pub use arguments::ExecArguments;

use super::console::{Exit, err, first, reject, show};
use super::files::{PartFile, writable, write_one};
use crate::diag::{Diag, Rejection, Sink};
use crate::run::program::{Bounds, Heard, Timer, listen, write_timeline};
use crate::run::{Resolved, resolve_text};
use crate::study::lowering;
use start::{Place, started};
use told::Told;

/// Runs the program; its exit code is the command's.
pub fn run(arguments: &ExecArguments) -> Exit {
    let mut sink = Sink::default();
    match run_checked(arguments, &mut sink) {
        Ok(exit) => exit,
        Err(diag) => {
            sink.diags.extend(diag);
            reject(&Rejection(sink), false)
        }
    }
}

/// `Err(None)`: the findings are in the sink already.
fn run_checked(arguments: &ExecArguments, sink: &mut Sink) -> Result<Exit, Option<Diag>> {
    let program = arguments.program()?;
    start::check(&program)?;
    let library = start::library()?;
    for file in arguments.files() {
        writable(file).map_err(first)?;
    }
    let gpu = arguments.gpu();
    let resolved = resolved(arguments, &gpu, sink).ok_or(None)?;
    show(sink);
    sink.diags.clear();
    let spec = &resolved.plan.timings[0].spec;
    let place = Place::new(&library)?;
    let setup = setup((arguments, &gpu), &resolved, spec, &place);
    let bounds = Bounds {
        traces: arguments.launches,
        waiting_bytes: arguments.trace_memory << 20,
        trace_bytes: arguments.trace_bytes << 20,
        error: resolved.plan.axes.sampling,
    };
    let timer = Timer::new(&resolved, &sink.sources, bounds);
    let heard = Mutex::new(Heard::default());
    let over = AtomicBool::new(false);
    let listener = place.listen()?;
    let ended = thread::scope(|scope| {
        let ear = scope.spawn(|| listen(&listener, &timer, &heard, &over));
        for _ in 0..warpwatt_run::threads(arguments.jobs) {
            scope.spawn(|| timer.run());
        }
        let ended = started(&program, arguments.words(), &place, &setup);
        over.store(true, Ordering::SeqCst);
        place.knock();
        // What the program told before it ended is heard to its end.
        let _ = ear.join();
        timer.close();
        ended
    });
    let exit = ended?;
    let heard = heard.into_inner().unwrap_or_default();
    let told = Told::new((arguments, &gpu), &resolved, &heard, &timer.into_answers());
    report(arguments, &told).map_err(first)?;
    Ok(exit)
}

/// Text to standard error or a file; the others to files, where they are asked for.
fn report(arguments: &ExecArguments, told: &Told<'_>) -> Result<(), Rejection> {
    let text = text::text(told);
    match &arguments.report {
        Some(path) => write_one(path, text.as_bytes())?,
        None => err(&text),
    }
    if let Some(path) = &arguments.json {
        let text = format!("{:#}\n", value::value(told));
        write_one(path, text.as_bytes())?;
    }
    if let Some(path) = &arguments.csv {
        write_one(path, tables::sheet(told).csv().as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        let page = tables::page(told)
            .html()
            .map_err(|error| Rejection::from(Diag::error("report::defect", error.to_string())))?;
        write_one(path, page.as_bytes())?;
    }
    if let Some(path) = &arguments.timeline {
        let name = |kernel: &str| demangled(kernel).unwrap_or_else(|| kernel.to_owned());
        let file = PartFile::create(path)?;
        let (file, _) = write_timeline(&told.heard.items, &told.launches, name, file);
        file.commit()?;
    }
    Ok(())
}

/// The GPU with and without techniques, as a plan with one kernel in whose place the program's stand.
fn resolved(arguments: &ExecArguments, gpu: &str, sink: &mut Sink) -> Option<Resolved> {
    let text = arguments.question(gpu).study(sink)?;
    let resolved = resolve_text("the options, as a study", &text, Path::new(""), sink)?;
    let plan = &resolved.plan;
    let message = match (plan.axes.technologies.len(), plan.executions.len()) {
        (1, 1) if plan.axes.gpus.len() == 1 => return Some(resolved),
        (1, 1) => "a program is timed on one GPU at a time",
        (1, _) => {
            "a technique changes what is executed (its registers, its warps), and a program is executed once"
        }
        _ => "a program is priced in one technology at a time",
    };
    sink.push(Diag::error("exec::several", message).help("run the program once for each"));
    None
}

fn setup(
    (arguments, gpu): (&ExecArguments, &str),
    resolved: &Resolved,
    spec: &GpuSpec,
    place: &Place,
) -> Setup {
    let execution = &resolved.plan.executions[0];
    Setup {
        socket: Some(place.socket().display().to_string()),
        save: (arguments.save.as_ref()).map(|path| absolute(path)),
        lower: lowering(spec).name().to_owned(),
        warp_width: execution.warp_width,
        record: !arguments.functional,
        values: execution.values,
        limit: arguments.limit,
        threads: warpwatt_run::threads(arguments.jobs),
        trace_bytes: arguments.trace_bytes << 20,
        sanitize: arguments.sanitize,
        device: device(gpu, arguments.memory << 20, spec),
    }
}

/// As it is, wherever the program goes.
fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path);
    absolute
        .unwrap_or_else(|_| path.to_path_buf())
        .display()
        .to_string()
}

/// What a program is told of the preset.
fn device(gpu: &str, memory_bytes: u64, spec: &GpuSpec) -> Device {
    let controllers = spec.dram.controllers;
    // A bus that moves so many bytes in a cycle has two transfers in it.
    let bits = controllers * spec.dram.bytes_per_cycle * 4;
    Device {
        name: gpu.to_owned(),
        capability: capability(gpu),
        sms: spec.sm.count,
        clock_khz: spec.sm.clock_mhz * 1000,
        memory_clock_khz: spec.dram.clock_mhz * 1000,
        memory_bits: bits,
        memory_bytes,
        l2_bytes: u64::from(spec.l2.kb) << 10,
        sm_threads: spec.sm.threads,
        sm_blocks: spec.sm.ctas,
        sm_registers: spec.sm.registers_bytes / 4,
        sm_shared_bytes: u64::from(spec.sm.shared_bytes),
    }
}

/// The compute capability of a preset's GPU; 8.0 of those that are of no product, as most programs are compiled for.
fn capability(preset: &str) -> u32 {
    match preset {
        "gtx285" | "gtx285-16lane" => 13,
        "gtx480" => 20,
        "gtx-titan-x" => 52,
        "titan-x-pascal" | "titan-xp" => 61,
        "v100" | "titan-v" => 70,
        "rtx2060s" => 75,
        "h100" | "h200" => 90,
        _ => 80,
    }
}

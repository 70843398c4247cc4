//! A kernel with its launch, its runs, and what they showed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpwatt_analysis::run::execute::{execute, untimed};
use warpwatt_analysis::run::kernel::{From, InMemory, KernelRequest, LoadedKernel, load};
use warpwatt_analysis::run::plain::TimedKernel;
use warpwatt_analysis::run::threads;
use warpwatt_analysis::single::{Drawn, Energy, Facts, Look, Program, Seen, Shown};
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{Control, Hooks, Watchers, simulate_under};
use warpwatt_input::diag::{Diag, Sink, Sources, did_you_mean};
use warpwatt_pricing::pricing::NodeCircuits;
use warpwatt_ptx::Lower;
use warpwatt_report::Picture;
use warpwatt_simt::Interrupt;
use warpwatt_study::lowering;
use warpwatt_suite::{Build, CaseRun, RunOptions};

use crate::at_work::at_work;
use crate::errors::{refused, rejected};
use crate::gpu::Gpu;
use crate::study::{Pictures, pictures};

/// Mismatches that are listed; all are counted.
const LISTED: usize = 10;

/// A kernel with its launch. It is executed once and timed as often as one likes: the last execution is kept.
#[pyclass(frozen, module = "warpwatt._native")]
pub struct Kernel {
    request: KernelRequest,
    kept: Mutex<Option<Arc<Executed>>>,
}

/// What decides an execution, besides the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
struct How {
    lower: Lower,
    warp_width: u32,
    limit: u64,
}

impl How {
    /// As a GPU has it executed.
    fn on(gpu: &Gpu, limit: u64) -> Self {
        Self {
            lower: lowering(&gpu.spec),
            warp_width: gpu.spec.sm.warp_width,
            limit,
        }
    }
}

/// A kernel after its execution.
struct Executed {
    how: How,
    kernel: LoadedKernel,
    sources: Sources,
    /// Without its traces, which are beside it.
    run: CaseRun,
    traces: Vec<KernelTrace>,
}

#[pymethods]
impl Kernel {
    /// A launch file that is no file: its text, the program (PTX, or a code object) with its name, and the contents of buffers.
    #[staticmethod]
    fn memory(
        launch: String,
        program: (String, Vec<u8>),
        files: BTreeMap<String, Vec<u8>>,
        registers: Option<u32>,
    ) -> Self {
        let (program_name, program) = program;
        let memory = InMemory {
            name: "the launch".to_owned(),
            launch,
            program_name,
            program,
            files,
        };
        Self::of(From::Memory(Arc::new(memory)), None, registers)
    }

    /// A launch file on disk.
    #[staticmethod]
    fn file(path: PathBuf, case: Option<String>, registers: Option<u32>) -> Self {
        Self::of(From::File(path), case, registers)
    }

    /// A kernel of the suite.
    #[staticmethod]
    fn suite(
        name: &str,
        case: Option<String>,
        build: Option<&str>,
        registers: Option<u32>,
    ) -> PyResult<Self> {
        let mut sink = Sink::default();
        let found = warpwatt_suite::kernel(name);
        if found.is_none() {
            let known = warpwatt_suite::kernels().iter().map(|kernel| kernel.name);
            let message = format!("`{name}` is no kernel of the suite");
            sink.push(Diag::error("kernel::unknown", message).help(did_you_mean(name, known)));
        }
        let build = build.map_or(Some(Build::default()), |name| built(name, &mut sink));
        let (Some(kernel), Some(build)) = (found, build) else {
            return Err(rejected(&sink));
        };
        let mut kernel = Self::of(From::Suite(kernel), case, registers);
        kernel.request.build = build;
        Ok(kernel)
    }

    /// Executes, times and prices the launch.
    fn run(&self, py: Python<'_>, gpu: &Gpu, limit: u64, cycle_limit: u64) -> PyResult<Run> {
        at_work(py, |stop| {
            let executed = self.executed(How::on(gpu, limit), stop)?;
            let told = executed.timed(gpu, cycle_limit, stop);
            let (document, text, passed) = told.map_err(|diag| refused(diag, &executed.sources))?;
            Ok(Run {
                executed,
                document,
                text,
                passed,
            })
        })
    }

    /// Only executes the launch: no cycles, no energy.
    fn execute(&self, py: Python<'_>, gpu: &Gpu, limit: u64) -> PyResult<Run> {
        at_work(py, |stop| {
            let executed = self.executed(How::on(gpu, limit), stop)?;
            let facts = Facts::of(&executed.kernel, &executed.run, (&gpu.preset, &gpu.spec));
            let told = facts.told(&gpu.spec, None);
            Ok(Run {
                executed,
                document: told.value.to_string(),
                text: told.text,
                passed: told.passed,
            })
        })
    }
}

/// A build of the suite by its name.
fn built(name: &str, sink: &mut Sink) -> Option<Build> {
    let found = Build::ALL.into_iter().find(|build| build.name() == name);
    if found.is_none() {
        let known = Build::ALL.into_iter().map(|build| build.name());
        let message = format!("no build of the suite is called `{name}`");
        sink.push(Diag::error("kernel::build", message).help(did_you_mean(name, known)));
    }
    found
}

impl Kernel {
    fn of(from: From, case: Option<String>, registers: Option<u32>) -> Self {
        Self {
            request: KernelRequest {
                from,
                build: Build::default(),
                lower: Lower::default(),
                ptx: None,
                case,
                registers,
            },
            kept: Mutex::default(),
        }
    }

    /// The execution that is kept, or a new one.
    fn executed(&self, how: How, stop: Interrupt) -> PyResult<Arc<Executed>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.how == how) {
            return Ok(Arc::clone(kept));
        }
        drop(kept);
        let request = KernelRequest {
            lower: how.lower,
            ..self.request.clone()
        };
        let mut sink = Sink::default();
        let kernel = load(&mut sink, &request, None);
        let Some(kernel) = kernel.filter(|_| !sink.has_errors()) else {
            return Err(rejected(&sink));
        };
        let options = RunOptions {
            warp_width: how.warp_width,
            limit: how.limit,
            listed: LISTED,
            threads: threads(None),
            interrupt: Some(stop),
            ..RunOptions::default()
        };
        let mut run = execute(&kernel, options, &sink.sources)
            .map_err(|diag| refused(diag, &sink.sources))?;
        let launches = run.executions.iter_mut();
        let traces = launches.filter_map(|launch| launch.execution.trace.take());
        let executed = Arc::new(Executed {
            traces: traces.collect(),
            how,
            kernel,
            sources: sink.sources,
            run,
        });
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::clone(&executed));
        Ok(executed)
    }
}

impl Executed {
    /// What is told of the launch on `gpu`: the document, the text, and whether buffers hold what they must.
    fn timed(
        &self,
        gpu: &Gpu,
        cycle_limit: u64,
        stop: Interrupt,
    ) -> Result<(String, String, bool), Diag> {
        let (kernel, spec) = (&self.kernel, &gpu.spec);
        let control = Control {
            cycle_limit,
            interrupt: Some(stop.0),
            threads: threads(None),
            ..Control::default()
        };
        let run = simulate_under(spec, &self.traces, Hooks::default(), control)
            .map_err(|error| untimed("kernel::timing", &error))?;
        let energy = gpu.circuits.as_ref();
        let energy = energy.map(|circuits| self.energy(gpu, circuits, &run, &Seen::default()));
        let energy = energy.transpose()?;
        let board = gpu.board.as_ref().map(|board| &board.board);
        let named = (gpu.preset.as_str(), spec);
        let drawn = board.map(|board| Drawn::of(&kernel.name.name, named, &run, board));
        let drawn = drawn.transpose()?;
        let facts = Facts::of(kernel, &self.run, named);
        let told = facts.told(spec, Some(&Ok(run))).priced(energy);
        let told = told.drawn(drawn.as_ref());
        Ok((told.value.to_string(), told.text, told.passed))
    }

    /// The name and the text of the program.
    fn source(&self) -> (&str, &str) {
        let ptx = self.kernel.ptx;
        (self.sources.name(ptx), self.sources.text(ptx))
    }

    /// What a run on `gpu` takes, of which so much was seen over time.
    fn energy(
        &self,
        gpu: &Gpu,
        circuits: &NodeCircuits,
        run: &warpwatt_gpu::Run,
        seen: &Seen,
    ) -> Result<Energy, Diag> {
        let timed = TimedKernel {
            kernel: &self.kernel.name,
            preset: &gpu.preset,
            gpu: &gpu.spec,
            run,
            windows: seen.windows.as_ref(),
            by_sm: seen.by_sm.as_ref(),
        };
        let program = Program {
            traces: &self.traces,
            source: self.source(),
            show: None,
        };
        Energy::of(timed, circuits, Some(&program))
    }

    /// The page of the launch on `gpu`, and its pictures.
    fn drawn(&self, gpu: &Gpu, stop: Interrupt) -> Result<(String, Vec<Picture>), Diag> {
        let Some(circuits) = &gpu.circuits else {
            let message = "there is no page to draw: its GPU has no node";
            return Err(Diag::error("kernel::page", message));
        };
        let mut look = Look::at(&gpu.spec);
        let mut watchers = Watchers(look.watchers());
        let control = Control {
            watcher: Some(&mut watchers),
            interrupt: Some(stop.0),
            threads: threads(None),
            ..Control::default()
        };
        let run = simulate_under(&gpu.spec, &self.traces, Hooks::default(), control)
            .map_err(|error| untimed("kernel::timing", &error))?;
        let seen = look.finish(&run);
        let energy = self.energy(gpu, circuits, &run, &seen)?;
        let shown = Shown {
            kernel: &self.kernel.name,
            preset: &gpu.preset,
            passed: self.run.passed(),
            seen: &seen,
            source: self.source(),
        };
        let page = shown.page(&energy)?;
        let html = page.html();
        let html = html.map_err(|error| Diag::error("kernel::page", error.to_string()))?;
        Ok((html, page.pictures()))
    }
}

/// What a run showed.
#[pyclass(frozen, module = "warpwatt._native")]
pub struct Run {
    executed: Arc<Executed>,
    /// The document of `warpwatt kernel --json`.
    #[pyo3(get)]
    document: String,
    /// The text of `warpwatt kernel`.
    #[pyo3(get)]
    text: String,
    /// Whether every buffer that the launch file says something about holds what it must.
    #[pyo3(get)]
    passed: bool,
}

#[pymethods]
impl Run {
    /// Names and element types of its buffers.
    fn buffers(&self) -> Vec<(String, &'static str)> {
        let buffers = self.executed.run.buffers.iter();
        buffers
            .map(|buffer| (buffer.name.clone(), buffer.element.name()))
            .collect()
    }

    /// The page of `warpwatt kernel --page`, and the pictures on it: the launch is timed once more and looked at.
    fn page(&self, py: Python<'_>, gpu: &Gpu) -> PyResult<(String, Pictures)> {
        at_work(py, |stop| {
            let drawn = self.executed.drawn(gpu, stop);
            let (page, all) = drawn.map_err(|diag| refused(diag, &self.executed.sources))?;
            Ok((page, pictures(all)))
        })
    }

    /// What the buffer with this number holds in the end.
    fn buffer<'py>(&self, py: Python<'py>, number: usize) -> Option<Bound<'py, PyBytes>> {
        let buffer = self.executed.run.buffers.get(number)?;
        Some(PyBytes::new(py, &buffer.bytes))
    }
}

//! Execution of a case: its launches in order, its loops, and the comparison of its buffers.

use warpwatt_gcn::Code;
use warpwatt_ptx::Module;
use warpwatt_simt::trace::{DEFAULT_MEMORY, KernelTrace, Store};
use warpwatt_simt::{DeviceMemory, Execution, Interrupt, Launch, Nested, Options, execute};

use crate::launch::{Case, ElementType, Mismatch, Prepared};
use crate::machine_code::machine_launch;
use crate::session::{Progress, RunError, Session};

/// How a case is executed.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Lanes of a warp: 32 or 64.
    pub warp_width: u32,
    /// Warp instructions that all launches may execute together.
    pub limit: u64,
    /// Whether traces are kept.
    pub record: bool,
    /// Bytes of traces that are held in memory; what is more lies compressed in a file of the system's folder for such.
    pub trace_memory: u64,
    /// Whether traces show where all lanes of a computation have the same operands.
    pub values: bool,
    /// Threads that may execute a launch; results do not depend on them.
    pub threads: usize,
    /// Whether data races are looked for.
    pub races: bool,
    /// Mismatches that are listed; all are counted.
    pub listed: usize,
    /// What may end the execution before its time.
    pub interrupt: Option<Interrupt>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            warp_width: 32,
            limit: 1_000_000_000,
            record: true,
            trace_memory: DEFAULT_MEMORY,
            values: false,
            threads: 1,
            races: false,
            listed: 10,
            interrupt: None,
        }
    }
}

/// What a case's execution left.
#[derive(Debug)]
pub struct CaseRun {
    /// One entry a launch, in order.
    pub executions: Vec<Executed>,
    /// Every buffer after the last launch, in the order of the case's arguments.
    pub buffers: Vec<FinalBuffer>,
    /// The first elements that are not what they must be.
    pub mismatches: Vec<Mismatch>,
    /// How many such elements there are.
    pub mismatch_count: u64,
    /// Buffers with known contents that were compared; inputs, which must not change, are not among them.
    pub outputs_compared: usize,
    /// What the kernels printed, as far as the device keeps it; nothing of a run whose traces were kept.
    pub printed: String,
}

impl CaseRun {
    /// Whether every element that was compared is what it must be.
    pub fn passed(&self) -> bool {
        self.mismatch_count == 0
    }

    /// The recorded traces of its launches, in order.
    pub fn into_traces(self) -> Vec<KernelTrace> {
        self.executions
            .into_iter()
            .filter_map(|executed| executed.execution.trace)
            .collect()
    }

    /// A run that passed before, from what was kept of it: launches with their counts and traces, but no contents of buffers.
    pub fn kept(executions: Vec<Execution>, prepared: &Prepared) -> Self {
        let executions = executions.into_iter().map(|execution| Executed {
            kernel: execution
                .trace
                .as_ref()
                .map_or_else(String::new, |trace| trace.kernel.clone()),
            execution,
        });
        let buffers = prepared.buffers.iter().flatten();
        Self {
            executions: executions.collect(),
            buffers: Vec::new(),
            mismatches: Vec::new(),
            mismatch_count: 0,
            outputs_compared: buffers.filter(|buffer| buffer.expected.is_some()).count(),
            printed: String::new(),
        }
    }

    /// Dynamic warp instructions of all launches.
    pub fn warp_instructions(&self) -> u64 {
        let counts = self.executions.iter();
        counts
            .map(|executed| executed.execution.warp_instructions)
            .sum()
    }

    /// Dynamic thread instructions of all launches, those whose guard was false included.
    pub fn thread_instructions(&self) -> u64 {
        let counts = self.executions.iter();
        counts
            .map(|executed| executed.execution.thread_instructions)
            .sum()
    }
}

/// One launch after its execution.
#[derive(Debug)]
pub struct Executed {
    /// The entry.
    pub kernel: String,
    /// What it left.
    pub execution: Execution,
}

/// A buffer after the last launch.
#[derive(Clone, Debug)]
pub struct FinalBuffer {
    /// The argument's name.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Executes the launches of a case on the contents of its buffers and compares what must be known.
///
/// # Errors
/// If a launch stops (an illegal access, the limit of instructions) or a loop does not end.
pub fn run_case(
    module: &Module,
    case: &Case,
    prepared: &Prepared,
    options: RunOptions,
) -> Result<CaseRun, RunError> {
    run_launches((module, case, prepared), options, |turn| {
        let execution = execute(turn.module, turn.launch, turn.memory, &turn.options);
        execution.map_err(|source| RunError::Launch {
            launch: turn.number,
            source,
        })
    })
}

/// As [`run_case`], of machine code; `module` is the [host's view](crate::machine_code::host_view) of it.
///
/// # Errors
/// If a launch stops (an illegal access, the limit of instructions) or a loop does not end.
pub fn run_machine_code(
    (code, module): (&Code, &Module),
    case: &Case,
    prepared: &Prepared,
    options: RunOptions,
) -> Result<CaseRun, RunError> {
    run_launches((module, case, prepared), options, |turn| {
        let launch = machine_launch(code, turn.launch);
        let execution = code.execute(&launch, turn.memory, &turn.options);
        execution.map_err(|source| RunError::MachineCode {
            launch: turn.number,
            source,
        })
    })
}

/// A launch whose turn it is.
struct Turn<'t> {
    number: usize,
    module: &'t Module,
    launch: &'t Launch<'t>,
    memory: &'t mut DeviceMemory,
    options: Options,
}

/// Runs a case whose launches are executed by `each`.
fn run_launches(
    (module, case, prepared): (&Module, &Case, &Prepared),
    options: RunOptions,
    each: impl Fn(Turn<'_>) -> Result<Execution, RunError>,
) -> Result<CaseRun, RunError> {
    let (session, mut memory) = Session::new(module, case, prepared);
    let store = Store::new(options.trace_memory);
    let mut executions = Vec::new();
    let (mut at, mut left) = (Progress::default(), options.limit);
    while let Some((launch, next)) = session.next(at, &mut memory)? {
        let mut nested = Nested::default();
        let mut now = Some(launch);
        while let Some(launch) = now {
            let execution = each(Turn {
                number: executions.len(),
                module: session.module(),
                launch: &launch,
                memory: &mut memory,
                options: Options {
                    warp_width: options.warp_width,
                    limit: left,
                    record: options.record,
                    store: store.clone(),
                    values: options.values,
                    threads: options.threads,
                    races: options.races,
                    interrupt: options.interrupt,
                    ..Options::default()
                },
            })?;
            left = left.saturating_sub(execution.warp_instructions);
            executions.push(Executed {
                kernel: launch.entry.to_owned(),
                execution,
            });
            let next = nested.next(&mut memory, session.module());
            now = next.map_err(|source| RunError::Launch {
                launch: executions.len(),
                source,
            })?;
        }
        at = next;
    }
    let left = (prepared, memory);
    Ok(CaseRun::finish(&session, left, executions, options.listed))
}

impl CaseRun {
    /// What the last launch left.
    fn finish(
        session: &Session<'_>,
        (prepared, mut memory): (&Prepared, DeviceMemory),
        executions: Vec<Executed>,
        listed: usize,
    ) -> Self {
        let mut run = Self {
            executions,
            buffers: Vec::new(),
            mismatches: Vec::new(),
            mismatch_count: 0,
            outputs_compared: 0,
            printed: String::from_utf8_lossy(&memory.take_printed()).into_owned(),
        };
        for (argument, buffer) in prepared.buffers.iter().enumerate() {
            let Some(buffer) = buffer else { continue };
            let left = listed.saturating_sub(run.mismatches.len());
            if let Some((list, total)) = session.judge(&memory, argument, left) {
                run.mismatches.extend(list);
                run.mismatch_count += total;
                run.outputs_compared += usize::from(buffer.expected.is_some());
            }
            run.buffers.push(FinalBuffer {
                name: buffer.name.clone(),
                element: buffer.element,
                bytes: session.take(&mut memory, argument),
            });
        }
        run
    }
}

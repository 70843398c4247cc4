//! The run without a flip: what each launch begins with, how long each CTA takes, and who touches what.

use rustc_hash::FxHashMap;
use warpwatt_gpu::trace::{KernelTrace, Space};
use warpwatt_gpu::{Control, GpuError, GpuSpec, Run, simulate_under};
use warpwatt_reliability::inject::{Recorder, Timeline};
use warpwatt_simt::{BLOCK_BYTES, DeviceMemory, ExecError, Launch, Options};
use warpwatt_suite::{Progress, RunError, Session};

use super::program::Program;
use super::{HANG_FACTOR, HANG_LEAST};
use crate::kernel::{Form, LoadedKernel};

/// Memory images that are kept together: beyond that, launches begin where an earlier one ended.
const IMAGES: u64 = 512 << 20;

/// The run that others are compared with.
pub struct Golden<'k> {
    /// The host's side.
    pub session: Session<'k>,
    /// What is executed.
    pub(super) program: Program<'k>,
    /// Its launches.
    pub launches: Vec<GoldenLaunch<'k>>,
    /// What each left; the timing run replays them.
    pub traces: Vec<KernelTrace>,
    /// Memory before the first launch.
    pub first: DeviceMemory,
    /// Memory in the end.
    pub last: DeviceMemory,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Whether a launch file's tolerance says more than equality.
    pub has_tolerance: bool,
    /// The last CTA that touches each block, counted over all launches; nothing if the traces do not tell.
    touches: Option<FxHashMap<u64, usize>>,
}

/// One launch of it.
pub struct GoldenLaunch<'k> {
    /// What was launched.
    pub launch: Launch<'k>,
    /// How far the host was behind it.
    pub after: Progress,
    /// Memory before it, if it was kept.
    pub before: Option<DeviceMemory>,
    /// Warp instructions of each CTA.
    pub instructions: Vec<u64>,
    /// CTAs of the launches before it.
    pub first: usize,
    /// Whether the trace does not tell all that the kernel does in memory.
    pub opaque: bool,
}

impl GoldenLaunch<'_> {
    /// What a CTA may execute before it hangs.
    pub fn limit(&self, cta: usize) -> u64 {
        (HANG_FACTOR * self.instructions[cta]).max(HANG_LEAST)
    }
}

impl<'k> Golden<'k> {
    /// Executes the kernel; at most `limit` warp instructions.
    ///
    /// # Errors
    /// A launch stops, or a loop does not end.
    pub fn run(kernel: &'k LoadedKernel, warp_width: u32, limit: u64) -> Result<Self, RunError> {
        let program = match &kernel.form {
            Form::MachineCode(code) => Program::Code(code),
            _ => Program::Ptx,
        };
        let (session, first_memory) = Session::new(&kernel.module, &kernel.case, &kernel.prepared);
        let mut memory = first_memory.clone();
        let (mut launches, mut traces) = (Vec::new(), Vec::new());
        let (mut at, mut left, mut first, mut kept) = (Progress::default(), limit, 0, 0);
        while let Some((launch, after)) = session.next(at, &mut memory)? {
            kept += memory.bytes();
            let before = (launches.is_empty() || kept <= IMAGES).then(|| memory.clone());
            let options = Options {
                warp_width,
                limit: left,
                ..Options::default()
            };
            let of = (session.module(), &launch);
            let executed = program.execute(of, &mut memory, &options);
            let executed = executed.map_err(|stopped| stopped.at(launches.len()))?;
            if !memory.take_launches().is_empty() {
                let source = nested(launch.entry);
                return Err(RunError::Launch {
                    launch: launches.len(),
                    source,
                });
            }
            left = left.saturating_sub(executed.warp_instructions);
            let trace = executed.trace.into_iter();
            traces.extend(trace);
            let trace = &traces[launches.len()];
            let opaque = program.is_opaque(session.module(), launch.entry);
            let instructions = (0..trace.launch.ctas()).map(|cta| of_cta(trace, cta));
            launches.push(GoldenLaunch {
                launch,
                after,
                before,
                instructions: instructions.collect(),
                first,
                opaque,
            });
            first += trace.launch.ctas();
            at = after;
        }
        let hosted = kernel.case.host_acts();
        let clear = !hosted && !launches.iter().any(|launch| launch.opaque);
        Ok(Self {
            has_tolerance: session.has_tolerance(),
            touches: clear.then(|| touches(program, &launches, &traces)),
            session,
            program,
            launches,
            traces,
            first: first_memory,
            last: memory,
            warp_width,
        })
    }

    /// Scalar registers of a wavefront of a launch; none of PTX.
    pub fn scalar_registers(&self, launch: usize) -> u64 {
        let Program::Code(code) = self.program else {
            return 0;
        };
        let kernel = code.object().kernel(self.launches[launch].launch.entry);
        kernel.map_or(0, |kernel| u64::from(kernel.descriptor.scalar_registers()))
    }

    /// Whether the launch file is content with the run.
    pub fn passes(&self) -> bool {
        self.session.tolerates(&self.last, &self.last)
    }

    /// Warp instructions of all launches.
    pub fn warp_instructions(&self) -> u64 {
        self.traces.iter().map(KernelTrace::warp_instructions).sum()
    }

    /// Whether nothing that runs after a CTA touches any of `blocks`, as far as that is known.
    pub fn untouched_after(&self, launch: usize, cta: usize, blocks: &[u64]) -> bool {
        let position = self.launches[launch].first + cta;
        let untouched = |touches: &FxHashMap<u64, usize>| {
            let mut last = blocks.iter().map(|block| touches.get(block));
            last.all(|last| last.is_none_or(|last| *last <= position))
        };
        self.touches.as_ref().is_some_and(untouched)
    }
}

/// The timing run of a golden run, with the times of everything.
///
/// # Errors
/// It cannot be timed on `spec`.
pub fn timed(spec: &GpuSpec, golden: &Golden<'_>) -> Result<(Run, Timeline), GpuError> {
    let recorder = Recorder::new(spec);
    let run = simulate_under(spec, &golden.traces, recorder.hooks(), Control::default())?;
    Ok((run, recorder.finish()))
}

fn nested(kernel: &str) -> ExecError {
    ExecError::Launch {
        kernel: kernel.to_owned(),
        message: "it launches kernels: faults are not injected into such a program".to_owned(),
    }
}

/// Warp instructions of a CTA.
fn of_cta(trace: &KernelTrace, cta: usize) -> u64 {
    let warps = 0..trace.launch.warps_per_cta();
    warps.map(|warp| u64::from(trace.steps(cta, warp))).sum()
}

/// The last CTA that reads or writes each block of global memory.
fn touches(
    program: Program<'_>,
    launches: &[GoldenLaunch<'_>],
    traces: &[KernelTrace],
) -> FxHashMap<u64, usize> {
    let mut last = FxHashMap::default();
    for (launch, trace) in launches.iter().zip(traces) {
        for cta in 0..trace.launch.ctas() {
            for warp in 0..trace.launch.warps_per_cta() {
                for step in trace.warp_held(cta, warp) {
                    let memory = trace.code[step.inst as usize].memory;
                    let (Some(memory), Some(addresses)) = (memory, step.addresses) else {
                        continue;
                    };
                    addresses.for_each(step.executed, |_, address| {
                        let space = match memory.space {
                            Space::Generic => Space::of(address),
                            space => space,
                        };
                        if program.is_global(space) {
                            let end = address + u64::from(memory.bytes) - 1;
                            for block in address / BLOCK_BYTES..=end / BLOCK_BYTES {
                                last.insert(block, launch.first + cta);
                            }
                        }
                    });
                }
            }
        }
    }
    last
}

//! What flips are executed in: PTX, or machine code.

use warpwatt_gcn::Code;
use warpwatt_gpu::trace::{RegisterKind, Space};
use warpwatt_ptx::Module;
use warpwatt_reliability::inject::Class;
use warpwatt_simt::{
    Cause, DeviceMemory, ExecError, Execution, Launch, Options, Replay, Upset, execute,
};
use warpwatt_suite::{RunError, machine_launch};

use super::golden::is_opaque;
use super::plan::What;

/// A program.
#[derive(Clone, Copy)]
pub enum Program<'k> {
    /// PTX, as the session has it with its variables.
    Ptx,
    /// Machine code of Southern Islands.
    Code(&'k Code),
}

impl<'k> Program<'k> {
    /// Executes a launch and keeps its trace.
    pub fn execute(
        self,
        (module, launch): (&Module, &Launch<'_>),
        memory: &mut DeviceMemory,
        options: &Options,
    ) -> Result<Execution, Stopped> {
        match self {
            Self::Ptx => execute(module, launch, memory, options).map_err(Stopped::Ptx),
            Self::Code(code) => {
                let launch = machine_launch(code, launch);
                let executed = code.execute(&launch, memory, options);
                executed.map_err(|error| Stopped::Code(Box::new(error)))
            }
        }
    }

    /// A launch whose CTAs can be executed one by one.
    pub fn replay<'m>(
        self,
        module: &'m Module,
        launch: &Launch<'_>,
        warp_width: u32,
    ) -> Result<Machine<'m>, Stopped>
    where
        'k: 'm,
    {
        match self {
            Self::Ptx => Replay::new(module, launch, warp_width)
                .map(|replay| Machine::Ptx(Box::new(replay)))
                .map_err(Stopped::Ptx),
            Self::Code(code) => {
                warpwatt_gcn::Replay::new(code, &machine_launch(code, launch), false)
                    .map(|replay| Machine::Code(Box::new(replay)))
                    .map_err(|error| Stopped::Code(Box::new(error)))
            }
        }
    }

    /// Whether a kernel does more in memory than its trace tells.
    pub fn is_opaque(self, module: &Module, entry: &str) -> bool {
        match self {
            Self::Ptx => module.entry(entry).is_none_or(is_opaque),
            Self::Code(code) => code.accesses_pairs(),
        }
    }

    /// Whether an access goes to buffers. Scalar reads of machine code do.
    pub fn is_global(self, space: Space) -> bool {
        space == Space::Global || matches!(self, Self::Code(_)) && space == Space::Const
    }
}

/// A launch whose CTAs are executed one by one.
pub enum Machine<'m> {
    /// Of PTX.
    Ptx(Box<Replay<'m>>),
    /// Of machine code.
    Code(Box<warpwatt_gcn::Replay<'m>>),
}

/// A flip in a CTA.
pub enum Blow<'u> {
    /// Of PTX.
    Ptx(Upset<'u>),
    /// Of machine code.
    Code(warpwatt_gcn::Upset<'u>),
}

impl Machine<'_> {
    /// CTAs of the launch.
    pub fn ctas(&self) -> usize {
        match self {
            Self::Ptx(replay) => replay.shape().ctas(),
            Self::Code(replay) => replay.groups() as usize,
        }
    }

    /// Executes a CTA in at most `limit` warp instructions; how many there were.
    pub fn run(
        &mut self,
        cta: usize,
        memory: &mut DeviceMemory,
        blow: Option<&Blow<'_>>,
        limit: u64,
    ) -> Result<u64, Stopped> {
        match self {
            Self::Ptx(replay) => {
                let upset = blow.and_then(|blow| match blow {
                    Blow::Ptx(upset) => Some(upset),
                    Blow::Code(_) => None,
                });
                let done = replay.run(cta, memory, upset, limit);
                done.map_err(Stopped::Ptx)
            }
            Self::Code(replay) => {
                let upset = blow.and_then(|blow| match blow {
                    Blow::Code(upset) => Some(upset),
                    Blow::Ptx(_) => None,
                });
                let done = replay.run(cta as u64, memory, upset, limit);
                done.map_err(|error| Stopped::Code(Box::new(error)))
            }
        }
    }
}

/// A flip as machine code has it: scalar registers stand beside the vector ones in traces, as predicates do, and the condition code behind them.
pub fn in_code(what: &What) -> warpwatt_gcn::Upset<'_> {
    use warpwatt_gcn::{Flip, Upset};
    let wave = |warp: u32, executed: u64, what| Upset::Wave {
        wave: warp as usize,
        executed,
        what,
    };
    match *what {
        What::Register {
            warp,
            step,
            register,
            lane,
            bit,
        } => {
            let number = register.number;
            let flip = match (register.kind, number) {
                (RegisterKind::Predicate, SCC) => Flip::Condition,
                (RegisterKind::Predicate, _) => Flip::Scalar {
                    register: number as u8,
                    bit: bit as u8,
                },
                _ => Flip::Vector {
                    register: number as u8,
                    lane: lane as u8,
                    bit: bit as u8,
                },
            };
            wave(warp, step, flip)
        }
        What::Instruction { warp, step, bit } => wave(warp, step, Flip::Word { bit: bit as u8 }),
        What::Shared { bit, ref cut } => Upset::Share { cut, bit },
    }
}

/// The number of the condition code in traces.
const SCC: u16 = 128;

/// Why an execution stopped.
#[derive(Debug)]
pub enum Stopped {
    /// Of PTX.
    Ptx(ExecError),
    /// Of machine code.
    Code(Box<warpwatt_gcn::ExecError>),
}

impl Stopped {
    /// What it is in a launch.
    pub fn at(self, launch: usize) -> RunError {
        match self {
            Self::Ptx(source) => RunError::Launch { launch, source },
            Self::Code(source) => RunError::MachineCode {
                launch,
                source: *source,
            },
        }
    }

    /// What a flip that stops a run so is: hardware notices everything but that it takes too long.
    pub fn class(&self) -> Class {
        let is_hang = match self {
            Self::Ptx(ExecError::Fault(fault)) => matches!(
                fault.cause,
                Cause::Limit(_) | Cause::NoProgress(_) | Cause::Hang { .. }
            ),
            Self::Code(error) => matches!(
                error.as_ref(),
                warpwatt_gcn::ExecError::Fault(fault)
                    if matches!(fault.cause, warpwatt_gcn::Cause::Limit(_))
            ),
            Self::Ptx(_) => false,
        };
        if is_hang { Class::Hang } else { Class::Due }
    }
}

//! What flips are executed in: PTX, or machine code.

use warpwatt_gcn::Code;
use warpwatt_gpu::trace::Space;
use warpwatt_ptx::program::Op;
use warpwatt_ptx::{Entry, Module};
use warpwatt_reliability::inject::Class;
use warpwatt_simt::{
    Cause, DeviceMemory, ExecError, Execution, Launch, Options, Replay, Upset, execute,
};
use warpwatt_suite::{RunError, machine_launch};

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

/// Whether instructions do more in memory than their trace records tell; those of matrices count as if all did.
fn is_opaque(entry: &Entry) -> bool {
    entry
        .code
        .iter()
        .any(|inst| inst.op.traits().is_opaque() || matches!(inst.op, Op::Matrix(_)))
}

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

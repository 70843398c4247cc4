//! A run that is to be priced, and what is written of it.

use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{GpuSpec, Run};

use super::super::arguments::KernelArguments;
use super::super::energy::{Conditions, draw, write_power};
use crate::diag::{Diag, Rejection};
use crate::pricing::NodeCircuits;
use crate::run::kernel::LoadedKernel;
use crate::run::plain::TimedKernel;
use crate::single::{Energy, Program, Seen, Shown};

/// A run that is to be priced.
pub struct Ran<'r> {
    pub kernel: &'r LoadedKernel,
    pub gpu: (&'r str, &'r GpuSpec),
    pub traces: &'r [KernelTrace],
    pub source: (&'r str, &'r str),
    pub passed: bool,
}

impl Ran<'_> {
    /// Its energy, by windows of time and by instruction where that is asked for.
    ///
    /// # Errors
    /// A structure cannot be built.
    pub fn energy(
        &self,
        arguments: &KernelArguments,
        run: &Run,
        seen: &Seen,
        circuits: &NodeCircuits,
    ) -> Result<Energy, Diag> {
        let (preset, gpu) = self.gpu;
        let timed = TimedKernel {
            kernel: &self.kernel.name,
            preset,
            gpu,
            run,
            windows: seen.windows.as_ref(),
            by_sm: seen.by_sm.as_ref(),
        };
        let show = arguments.conditions.show.map(Into::into);
        let program = Program {
            traces: self.traces,
            source: self.source,
            show,
        };
        let wanted = arguments.json || show.is_some() || arguments.conditions.drawn();
        Energy::of(timed, circuits, wanted.then_some(&program))
    }

    /// Power over time and the page, where they are asked for.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(
        &self,
        conditions: &Conditions,
        seen: &Seen,
        energy: &mut Energy,
    ) -> Result<(), Rejection> {
        if let Some(path) = &conditions.power {
            write_power(energy, path, conditions.power_by)?;
        }
        if !conditions.drawn() {
            return Ok(());
        }
        let shown = Shown {
            kernel: &self.kernel.name,
            preset: self.gpu.0,
            passed: self.passed,
            seen,
            source: self.source,
        };
        draw(energy, &shown, conditions)
    }
}

//! Which CTA is executed on which SM.

use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, simulate_under};
use warpwatt_reliability::inject::{LaunchLine, Recorder};
use warpwatt_techniques::Copies;

use crate::inject::Golden;

/// The SMs of the CTAs, launch by launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement(Vec<Vec<u32>>);

/// The placement of the two copies where everything is executed twice.
pub type Copied = [Placement; 2];

impl Placement {
    /// Where a run on `spec` has them.
    ///
    /// # Errors
    /// It cannot be timed.
    pub fn of(golden: &Golden<'_>, spec: &GpuSpec) -> Result<Self, GpuError> {
        Ok(Self(timed(golden, spec, Hooks::default())?))
    }

    /// Where a run has them that executes everything twice.
    ///
    /// # Errors
    /// It cannot be timed.
    pub fn twice(golden: &Golden<'_>, spec: &GpuSpec, copies: Copies) -> Result<Copied, GpuError> {
        let mut hooks = Hooks::default();
        match copies {
            Copies::Launches => hooks.twice = true,
            Copies::Ctas => {
                let rewrite = |trace: &KernelTrace| Ok(trace.with_ctas_twice());
                hooks.rewrites.push(Box::new(rewrite));
            }
        }
        let mut first = timed(golden, spec, hooks)?;
        let second = match copies {
            Copies::Launches => first.split_off(first.len() / 2),
            Copies::Ctas => {
                let halves = first.iter_mut();
                halves.map(|ctas| ctas.split_off(ctas.len() / 2)).collect()
            }
        };
        Ok([Self(first), Self(second)])
    }

    /// The CTAs on an SM, by launch and number.
    pub(super) fn on(&self, sm: u32) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (launch, ctas) in self.0.iter().enumerate() {
            let here = ctas.iter().enumerate().filter(|(_, on)| **on == sm);
            found.extend(here.map(|(cta, _)| (launch, cta)));
        }
        found
    }
}

fn timed(golden: &Golden<'_>, spec: &GpuSpec, mut hooks: Hooks) -> Result<Vec<Vec<u32>>, GpuError> {
    let recorder = Recorder::new(spec);
    hooks.storage = recorder.hooks().storage;
    simulate_under(spec, &golden.traces, hooks, Control::default())?;
    let sms = |line: &LaunchLine| line.ctas.iter().map(|cta| cta.sm).collect();
    Ok(recorder.finish().launches.iter().map(sms).collect())
}

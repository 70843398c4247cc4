//! How often operations of a compute unit's blocks come late below its supply, and at which supply its work takes the least energy.
//!
//! The period is as long as the longest path of all blocks on the slowest die that it is made for; at a lower supply every gate is slower by one factor, the alpha-power law's
//! (Sakurai and Newton, JSSC 1990). An operation is late where an output of its block still changes when the slower clock would be over ([`Arrivals`]).

use std::sync::Arc;

use warpwatt_circuit::logic::Arrivals;
use warpwatt_circuit::{CircuitError, Spec};
use warpwatt_gpu::trace::Unit;
use warpwatt_gpu::{GpuSpec, LateOperations};
use warpwatt_structures::compute_unit;
use warpwatt_techlib::published::variation;
use warpwatt_techlib::quantity::{Temperature, Time, Voltage};
use warpwatt_techlib::{Sigma, TechError, Technology};

use super::chances::{Chances, PARTS};
use crate::Circuits;

/// Supplies that are tried for the best one, apart in millivolt.
const TRIED: u32 = 5;
/// No best supply lies beyond an error in every tenth instruction.
const MOST_ERRORS: f64 = 0.1;
/// Instructions of a region when the best supply is chosen: the mean of MIAOW's six benchmarks, `timing_speculation.region_length` of the study `timing_speculation.toml`.
const REGION: f64 = 3.3;
/// Instructions by which a warp goes back.
const RETURN: f64 = 3.0;

/// The unit of the instruction by which supplies are compared.
pub(super) const REFERENCE: Unit = Unit::Int;

/// Blocks in the order of [`LateOperations`].
const BLOCKS: [&str; 9] = [
    "fetch", "wavepool", "decode", "issue", "exec", "salu", "simd", "simf", "lsu",
];

/// What is chosen of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// The cycle, in percent of the period at which nothing is late.
    pub period: u32,
    /// Standard deviations of the slowest die for which the period is enough.
    pub slowest_die: u32,
    /// Cycles that going back takes.
    pub penalty: u32,
}

/// The blocks of a compute unit in time.
pub(super) struct Blocks<'c> {
    technology: &'c Technology,
    supply: Voltage,
    temperature: Temperature,
    each: Vec<Arc<Arrivals>>,
    /// The cycle at the full supply.
    cycle: Time,
    penalty: f64,
    lanes: u32,
}

impl<'c> Blocks<'c> {
    /// Those of `gpu`; none where nothing is known of a technology.
    ///
    /// # Errors
    /// If a block is not built of gates.
    pub fn of(
        gpu: &GpuSpec,
        circuits: &'c dyn Circuits,
        settings: Settings,
    ) -> Result<Option<Self>, CircuitError> {
        let Some((technology, at)) = circuits.conditions() else {
            return Ok(None);
        };
        let specs = specs(gpu);
        let each = specs.iter().map(|spec| circuits.arrivals(spec));
        let each: Vec<Arc<Arrivals>> = each.collect::<Result<_, _>>()?;
        let longest = each.iter().map(|it| it.longest());
        let longest = longest.fold(Time::ZERO, Time::max);
        let supply = at.vdd.unwrap_or(technology.device.vdd.value);
        let slowest = slowest_die(technology, supply, settings.slowest_die)?;
        Ok(Some(Self {
            technology,
            supply,
            temperature: at.temperature,
            each,
            cycle: longest * slowest * (f64::from(settings.period) / 100.0),
            penalty: f64::from(settings.penalty),
            lanes: gpu.sm.warp_width,
        }))
    }

    /// The supply that is lower by so many millivolt.
    pub fn lowered(&self, millivolt: u32) -> Voltage {
        self.supply - Voltage::from_mv(f64::from(millivolt))
    }

    /// How often operations are late there.
    ///
    /// # Errors
    /// If that is below where the delay law holds.
    pub fn late(&self, millivolt: u32) -> Result<LateOperations, TechError> {
        let lowered = self.lowered(millivolt);
        let slower = self
            .technology
            .delay_at(lowered, self.supply, self.temperature)?;
        let each = |place: usize| parts(self.each[place].after(self.cycle / slower));
        Ok(LateOperations {
            fetch: each(0),
            wavepool: each(1),
            decode: each(2),
            issue: each(3),
            exec: each(4),
            salu: each(5),
            simd: each(6),
            simf: each(7),
            lsu: each(8),
            reduction: millivolt,
        })
    }

    /// The millivolt below the supply at which an instruction takes the least energy, errors and all.
    ///
    /// # Errors
    /// If not even the full supply is within the delay law.
    pub fn best(&self) -> Result<u32, TechError> {
        let mut best = (0, self.energy(0)?.0);
        for millivolt in (TRIED..).step_by(TRIED as usize) {
            let Ok((energy, errors)) = self.energy(millivolt) else {
                break;
            };
            if errors > MOST_ERRORS {
                break;
            }
            if energy < best.1 {
                best = (millivolt, energy);
            }
        }
        Ok(best.0)
    }

    /// Energy of an integer instruction of all lanes over that at the full supply without errors, and the chance of an error: it goes with the square of the supply, and each error
    /// costs half a region and going back, of which a cycle costs as much as an instruction.
    pub fn energy(&self, millivolt: u32) -> Result<(f64, f64), TechError> {
        let errors = Chances::new(&self.late(millivolt)?).of(REFERENCE, self.lanes);
        let again =
            errors / (1.0 - errors).max(f64::EPSILON) * (REGION / 2.0 + RETURN + self.penalty);
        let supply = self.lowered(millivolt) / self.supply;
        Ok((supply * supply * (1.0 + again), errors))
    }

    /// The block with the longest path, and how long that is.
    pub fn slowest(&self) -> (&'static str, Time) {
        let all = BLOCKS.into_iter().zip(&self.each);
        let all = all.map(|(name, it)| (name, it.longest()));
        all.fold(
            ("", Time::ZERO),
            |best, it| if it.1 > best.1 { it } else { best },
        )
    }
}

/// What the blocks are made of.
fn specs(gpu: &GpuSpec) -> Vec<Spec> {
    let structures = compute_unit::structures(gpu);
    let of = |name: &&str| structures.iter().find(|it| it.name == *name);
    let found = BLOCKS.iter().filter_map(of);
    found.map(|it| it.spec.clone()).collect()
}

/// Delay of a die so many standard deviations slower than the typical one, over that one's, to first order.
fn slowest_die(
    technology: &Technology,
    supply: Voltage,
    deviations: u32,
) -> Result<f64, TechError> {
    let varied = variation(technology)?;
    let sigma = Sigma {
        vth: varied.vth_die_to_die.value,
        log_length: varied.length_die_to_die.value,
    };
    Ok(1.0 + f64::from(deviations) * technology.delay_sigma(sigma, supply))
}

/// A chance in parts of 2^32.
fn parts(chance: f64) -> u32 {
    (chance * PARTS) as u32
}

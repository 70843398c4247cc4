//! Flips of single bits of single results.

use std::collections::BTreeMap;

use warpwatt_gpu::trace::{KernelTrace, LaneMask, Register, lanes};
use warpwatt_reliability::inject::registers::result;
use warpwatt_reliability::inject::{Class, Random, Tally};
use warpwatt_techniques::LaneCheck;

use super::{Campaign, Checker};
use crate::inject::{Golden, Plan, Strike, Unfinished, What, campaign};

/// All bits of all results of all lanes.
pub struct Transients<'g> {
    golden: &'g Golden<'g>,
    /// Launch, CTA and warp, with the bits up to their end.
    warps: Vec<(usize, usize, usize, u64)>,
}

/// A bit of a lane's result.
struct Bit {
    step: u64,
    executed: LaneMask,
    register: Register,
    lane: u32,
    bit: u32,
}

impl<'g> Transients<'g> {
    /// Those of a run.
    pub fn of(golden: &'g Golden<'g>) -> Self {
        let (mut warps, mut end) = (Vec::new(), 0);
        for (launch, trace) in golden.traces.iter().enumerate() {
            for cta in 0..trace.launch.ctas() {
                for warp in 0..trace.launch.warps_per_cta() {
                    end += results(trace, cta, warp).map(|it| it.bits()).sum::<u64>();
                    warps.push((launch, cta, warp, end));
                }
            }
        }
        Self { golden, warps }
    }

    /// How many there are.
    pub fn population(&self) -> u64 {
        self.warps.last().map_or(0, |(.., end)| *end)
    }

    /// Draws with replacement: executions in order, with the lanes that executed the instruction, the lane, and how often it was drawn.
    fn draw(&self, samples: u64, seed: u64) -> BTreeMap<Strike, Drawn> {
        let mut random = Random::new(seed);
        let population = u128::from(self.population());
        let draws = (0..samples).map(|fault| random.site(fault, population) as u64);
        let mut draws: Vec<u64> = draws.collect();
        draws.sort_unstable();
        let mut strikes: BTreeMap<Strike, Drawn> = BTreeMap::new();
        let mut warp = None;
        for draw in draws {
            let at = self.warps.partition_point(|(.., end)| *end <= draw);
            let first = at.checked_sub(1).map_or(0, |before| self.warps[before].3);
            let (launch, cta, number, _) = self.warps[at];
            if warp.as_ref().is_none_or(|(known, _)| *known != at) {
                let trace = &self.golden.traces[launch];
                warp = Some((at, results(trace, cta, number).collect::<Vec<_>>()));
            }
            let found = warp.iter().find_map(|(_, all)| nth(all, draw - first));
            let Some(bit) = found else { continue };
            let what = What::Register {
                warp: number as u32,
                step: bit.step + 1,
                register: bit.register,
                lane: bit.lane,
                bit: bit.bit,
            };
            let drawn = strikes.entry(Strike { launch, cta, what });
            drawn.or_insert(Drawn::of(&bit)).count += 1;
        }
        strikes
    }
}

/// What was drawn besides an execution.
struct Drawn {
    executed: LaneMask,
    lane: u32,
    count: u64,
}

impl Drawn {
    fn of(bit: &Bit) -> Self {
        Self {
            executed: bit.executed,
            lane: bit.lane,
            count: 0,
        }
    }
}

/// The results of an instruction: so many bits in each of some lanes.
struct Results {
    step: u64,
    executed: LaneMask,
    register: Register,
    of_lane: u32,
}

impl Results {
    fn bits(&self) -> u64 {
        u64::from(self.of_lane * self.executed.count_ones())
    }
}

/// Those of a warp, in order.
fn results(trace: &KernelTrace, cta: usize, warp: usize) -> impl Iterator<Item = Results> {
    let steps = (0..).zip(trace.warp_held(cta, warp));
    steps.filter_map(|(number, step)| {
        let (register, of_lane) = result(&trace.code[step.inst as usize])?;
        Some(Results {
            step: number,
            executed: step.executed,
            register,
            of_lane,
        })
    })
}

/// The bit of a number, of those of all results.
fn nth(all: &[Results], mut number: u64) -> Option<Bit> {
    for results in all {
        if let Some(left) = number.checked_sub(results.bits()) {
            number = left;
            continue;
        }
        let of_lane = u64::from(results.of_lane);
        let lane = lanes(results.executed).nth((number / of_lane) as usize)?;
        return Some(Bit {
            step: results.step,
            executed: results.executed,
            register: results.register,
            lane,
            bit: (number % of_lane) as u32,
        });
    }
    None
}

/// Executes so many transient faults and asks who finds them. `seen` is told of each execution.
///
/// # Errors
/// The golden run does not run again as it did: a defect.
pub fn transient(
    golden: &Golden<'_>,
    checkers: &[Checker],
    (samples, seed): (u64, u64),
    jobs: usize,
    mut seen: impl FnMut(),
) -> Result<Campaign, Unfinished> {
    let transients = Transients::of(golden);
    let drawn = transients.draw(samples, seed);
    let mut plan = Plan {
        known: Tally::default(),
        strikes: Vec::new(),
    };
    let mut asked = Vec::new();
    for (strike, drawn) in drawn {
        plan.strikes.push((strike, drawn.count));
        asked.push(drawn);
    }
    let mut classes = vec![Class::Masked; asked.len()];
    campaign(golden, &plan, &[], jobs, |number, class| {
        classes[number] = class;
        seen();
        true
    })?;
    let mut sum = Campaign::new(transients.population(), asked.len(), checkers.len());
    for (drawn, class) in asked.iter().zip(classes) {
        let found = checkers.iter().map(|it| finds(&it.check, drawn, class));
        sum.add(class, drawn.count, found);
    }
    Ok(sum)
}

/// Only one of two executions is struck.
fn finds(check: &LaneCheck, drawn: &Drawn, class: Class) -> bool {
    match check {
        LaneCheck::Results(check) => {
            let compared = check.compared(drawn.executed, drawn.lane);
            compared.elsewhere || compared.here
        }
        LaneCheck::Memory(_) => class != Class::Masked,
    }
}

//! Flips in the flip-flops of a compute unit, classed as RTL injection classes them: by what becomes of the architectural state, instruction by instruction, in a window behind
//! the flip, and by what the flip-flops hold in its end.
//!
//! R. Balasubramanian et al., ACM TACO 12(2), 2015, section 7. What a flip-flop holds in the cycle of the flip the timing run tells. Registers, masks, program counters and
//! instruction words are then executed with the flip in them; what else the functional model cannot express is classed by a declared rule ([`front_end`], [`units`]).

mod execute;
mod front_end;
mod lines;
mod registers;
mod units;

use std::collections::BTreeMap;

use warpwatt_gcn::Flip;
use warpwatt_gpu::{GpuSpec, Run};
use warpwatt_reliability::inject::{Random, Timeline};
use warpwatt_structures::compute_unit::{FlipFlops, Holds, flip_flops};
use warpwatt_suite::RunError;

use super::Golden;
use lines::{Lines, Wave};

/// Cycles behind a flip in which its effect is looked for (section 7).
pub const WINDOW: u64 = 5_000;

/// What a flip did within the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Every flip-flop is as without it, and so was every change of architectural state.
    Match,
    /// A change of architectural state differs.
    Sdc,
    /// A wavefront does not go on.
    Terminated,
    /// Changes are the same so far, and a flip-flop is not.
    Gray,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Match, Self::Sdc, Self::Terminated, Self::Gray];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Sdc => "sdc",
            Self::Terminated => "terminated",
            Self::Gray => "gray",
        }
    }
}

/// How many flips did what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes([u64; Outcome::ALL.len()]);

impl Outcomes {
    /// Counts a flip.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    /// Flips of an outcome.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// All flips.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// What is known of a flip before anything is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// All.
    Known(Outcome),
    /// It is executed.
    Struck(Strike),
}

/// A flip in a wavefront, and the instructions that may show it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Strike {
    wave: Wave,
    from: usize,
    until: usize,
    flip: Flip,
    /// Whether what differs in the wavefront's end is written over within the window, behind its end.
    rewritten: bool,
}

/// A flip-flop in a cycle.
#[derive(Clone, Copy, Debug)]
struct Site {
    sm: usize,
    /// Its number among those of its kind in the SM.
    bit: u64,
    cycle: u64,
    /// The last cycle of the window.
    end: u64,
}

/// The run that flips strike.
pub struct Struck<'r> {
    golden: &'r Golden<'r>,
    spec: &'r GpuSpec,
    cycles: u64,
    lines: Lines<'r>,
    fields: Vec<FlipFlops>,
}

/// What came of the flips of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Campaign {
    /// Of all of them.
    pub all: Outcomes,
    /// By block, with its flip-flops.
    pub blocks: BTreeMap<&'static str, (u64, Outcomes)>,
    /// Flips that were executed; the others were known without.
    pub executed: u64,
}

/// The blocks that have flip-flops.
pub fn blocks(spec: &GpuSpec) -> Vec<&'static str> {
    let mut blocks: Vec<&str> = flip_flops(spec).iter().map(|it| it.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

impl<'r> Struck<'r> {
    /// A golden run, its timing, and the flip-flops of blocks that are not among `without`.
    pub fn new(
        golden: &'r Golden<'r>,
        spec: &'r GpuSpec,
        (run, timeline): (&Run, &'r Timeline),
        without: &[String],
    ) -> Self {
        let slots = spec.warps_per_sm() as usize;
        let mut fields = flip_flops(spec);
        fields.retain(|it| !without.iter().any(|name| name == it.block));
        Self {
            golden,
            spec,
            cycles: run.cycles,
            lines: Lines::new(timeline, &golden.traces, spec.sm.count as usize, slots),
            fields,
        }
    }

    /// Flip-flops of the whole GPU.
    pub fn bits(&self) -> u64 {
        u64::from(self.spec.sm.count) * self.fields.iter().map(|it| it.bits).sum::<u64>()
    }

    /// Flip-flops times cycles.
    pub fn population(&self) -> u128 {
        u128::from(self.bits()) * u128::from(self.cycles)
    }

    /// So many flips, drawn with replacement. `seen` is told of each.
    ///
    /// # Errors
    /// The golden run does not run again as it did: a defect.
    pub fn campaign(
        &self,
        (samples, seed): (u64, u64),
        mut seen: impl FnMut(),
    ) -> Result<Campaign, RunError> {
        let mut random = Random::new(seed);
        let mut campaign = Campaign::default();
        let count = u64::from(self.spec.sm.count);
        for field in &self.fields {
            campaign.blocks.entry(field.block).or_default().0 += field.bits * count;
        }
        let mut strikes = Vec::new();
        for flip in 0..samples {
            let (field, site) = self.site(random.site(flip, self.population()));
            match self.fate(field.holds, &site) {
                Fate::Known(outcome) => {
                    campaign.count(field.block, outcome);
                    seen();
                }
                Fate::Struck(strike) => strikes.push((strike, field.block)),
            }
        }
        // Those of one work-group together, so that memory before it is made once.
        strikes.sort_unstable();
        let mut executor = execute::Executor::new(self.golden, &self.lines);
        for (strike, block) in strikes {
            campaign.executed += 1;
            campaign.count(block, executor.outcome(&strike)?);
            seen();
        }
        Ok(campaign)
    }

    fn site(&self, site: u128) -> (&FlipFlops, Site) {
        let bits = u128::from(self.bits());
        let (cycle, bit) = ((site / bits) as u64, (site % bits) as u64);
        let of_sm = self.bits() / u64::from(self.spec.sm.count);
        let (sm, mut bit) = ((bit / of_sm) as usize, bit % of_sm);
        let mut fields = self.fields.iter();
        let field = fields.find(|field| {
            let here = bit < field.bits;
            if !here {
                bit -= field.bits;
            }
            here
        });
        let site = Site {
            sm,
            bit,
            cycle,
            end: (cycle + WINDOW).min(self.cycles),
        };
        (field.unwrap_or(&self.fields[0]), site)
    }

    fn fate(&self, holds: Holds, site: &Site) -> Fate {
        match holds {
            Holds::VectorRegisters => self.vector_register(site),
            Holds::ScalarRegisters => self.scalar_register(site),
            Holds::Special => self.special(site),
            Holds::Counters => self.counter(site),
            Holds::Queues => self.queue(site),
            Holds::Halves => self.half(site),
            Holds::Stage => self.stage(site),
            Holds::Decoded => self.decoded(site),
            Holds::GroupTags => Fate::Known(self.group_tag(site)),
            Holds::Vacancies => Fate::Known(self.vacancy(site)),
            Holds::Dispatch => Fate::Known(self.dispatch(site)),
            Holds::Turns => Fate::Known(self.turn(site)),
            Holds::Bases => Fate::Known(self.base(site)),
            Holds::Pointers => Fate::Known(self.pointer(site)),
            Holds::Ready => Fate::Known(self.ready(site)),
            Holds::BusyVector | Holds::BusyScalar | Holds::BusySpecial => {
                Fate::Known(self.busy(holds, site))
            }
            Holds::Flags => Fate::Known(self.flag(site)),
            Holds::Groups => Fate::Known(self.group(site)),
            Holds::Scalar => Fate::Known(self.scalar_unit(site)),
            Holds::Integer => Fate::Known(self.vector_unit(site, lines::Port::Integer)),
            Holds::Float => Fate::Known(self.vector_unit(site, lines::Port::Float)),
            Holds::Access => Fate::Known(self.access(site)),
        }
    }

    /// What is nobody's: as it was if a wavefront is placed there, which writes it.
    fn unless_placed(&self, sm: usize, slot: usize, site: &Site) -> Outcome {
        let mut placed = self.lines.stays((sm, slot), (site.cycle, site.end), true);
        Site::rewritten(placed.next().is_some())
    }
}

impl Site {
    fn window(&self) -> (u64, u64) {
        (self.cycle, self.end)
    }

    /// What comes of a flip that nobody uses.
    fn rewritten(is: bool) -> Outcome {
        if is { Outcome::Match } else { Outcome::Gray }
    }
}

impl Campaign {
    fn count(&mut self, block: &'static str, outcome: Outcome) {
        self.all.add(outcome);
        self.blocks.entry(block).or_default().1.add(outcome);
    }
}

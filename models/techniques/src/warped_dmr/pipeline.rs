//! Verification in one SM: which lanes repeat which, and what is executed again.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::{KernelTrace, LaneMask};
use warpwatt_gpu::{
    Chosen, Extent, GpuSpec, IssueEvent, IssueHook, IssuePlan, Port, Reexecution, Reexecutor,
};

use super::WarpedDmr;
use super::checker::{Checker, IssueSlot, Waiting};
use super::code::{Inst, instructions};
use super::counts::{Counts, Way};
use super::lanes::{Clusters, Pairing};

/// What one SM knows.
pub(super) struct Pipeline {
    settings: WarpedDmr,
    clusters: Clusters,
    schedulers: u32,
    code: Vec<Inst>,
    checker: Checker,
    counts: Counts,
    /// The lanes of the last instruction, which change seldom, and what becomes of them.
    pairing: (LaneMask, Pairing),
}

impl Pipeline {
    pub fn new(settings: WarpedDmr, gpu: &GpuSpec) -> Self {
        let clusters = settings.clusters(gpu);
        Self {
            checker: Checker::new(units(gpu), settings.replayq_entries),
            settings,
            clusters,
            schedulers: gpu.scheduler.count,
            code: Vec::new(),
            counts: Counts::default(),
            pairing: (0, Pairing::default()),
        }
    }

    fn pair(&mut self, lanes: LaneMask) -> Pairing {
        if self.pairing.0 != lanes {
            self.pairing = (lanes, self.clusters.pair(lanes));
        }
        self.pairing.1
    }

    /// How lanes that execute are verified.
    fn way(&mut self, lanes: LaneMask) -> Way {
        let pairs = self.pair(lanes);
        let within = self.settings.within(pairs);
        let whole = lanes == self.clusters.all();
        if self.settings.repeats(whole, within) {
            Way::Inter(pairs)
        } else {
            Way::Intra(within)
        }
    }

    /// One lane does the work of all, and an idle lane beside it may repeat it; a technique that has a second one do it already has verified it.
    fn way_of_one(&mut self, lanes: u32) -> Way {
        let one = self.pair(1);
        match self.way(1) {
            Way::Intra(pairs) if lanes > 1 => Way::Intra(Pairing {
                verified: pairs.active,
                repeating: 0,
                ..one
            }),
            Way::Intra(pairs) => Way::Intra(Pairing {
                repeating: pairs.repeating.min(1),
                ..pairs
            }),
            inter @ Way::Inter(_) => inter,
        }
    }

    fn slot(&self, port: Port, warp: u8) -> IssueSlot {
        let scheduler = u32::from(warp) % self.schedulers;
        IssueSlot { port, scheduler }
    }
}

/// The units that the schedulers of an SM issue to.
fn units(gpu: &GpuSpec) -> impl Iterator<Item = (Port, Option<u32>)> {
    let (units, parts) = (&gpu.units, gpu.back_ends());
    let of_ports = [
        (Port::Sp, units.sp.count),
        (Port::Int, units.int.count),
        (Port::Sfu, units.sfu.count),
        (Port::Fp64, units.fp64.count),
        (Port::Tensor, units.tensor.count),
    ];
    let arithmetic = of_ports.into_iter().flat_map(move |(port, count)| {
        let owner = move |part| (parts > 1).then_some(part);
        (0..parts).flat_map(move |part| (0..count / parts).map(move |_| (port, owner(part))))
    });
    // All schedulers share these.
    let scalar = (0..units.scalar.count).map(|_| (Port::Scalar, None));
    arithmetic.chain(scalar).chain([(Port::Ldst, None)])
}

impl IssueHook for Pipeline {
    fn begin(&mut self, trace: &KernelTrace) {
        self.code = instructions(trace);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let slot = self.slot(event.port, event.warp);
        let copies = u64::from(plan.copies) * event.interval;
        let (interval, way) = match plan.extent {
            Extent::Warp => (event.interval, self.way(event.step.executed)),
            Extent::OnePass { lanes } => (event.pass, self.way_of_one(lanes)),
            Extent::Skipped => {
                self.checker.issued(event.cycle, slot, copies, None);
                return;
            }
        };
        let inst = &self.code[event.step.inst as usize];
        let mut again = None;
        if let Some(kind) = inst.kind
            && event.step.executed != 0
        {
            self.counts.instruction(kind, way);
            let words = plan.count_reads(inst.source_words);
            self.counts.operands(words, self.clusters.count());
            match way {
                Way::Intra(pairs) => plan.repeats += pairs.repeating,
                Way::Inter(pairs) => {
                    self.counts.operands(words, self.clusters.count());
                    again = Some(Waiting {
                        warp: Some(event.warp),
                        slot,
                        inst: event.step.inst,
                        lanes: pairs.active,
                        interval,
                        wide: inst.wide,
                    });
                }
            }
        }
        self.checker
            .issued(event.cycle, slot, copies + interval, again);
    }

    fn retired(&mut self, _: u64, warp: u8) {
        self.checker.retired(warp);
    }

    fn reexecutor(&mut self) -> Option<&mut dyn Reexecutor> {
        Some(self)
    }

    fn report(&self, activity: &mut Activity) {
        self.counts.report(&self.checker.counts, activity);
    }
}

impl Reexecutor for Pipeline {
    fn admits(&mut self, chosen: &Chosen<'_>) -> bool {
        let slot = self.slot(chosen.port, chosen.warp);
        let (code, reader) = (&self.code, &self.code[chosen.step.inst as usize]);
        let of_warp = |waiting: &Waiting| waiting.warp == Some(chosen.warp);
        self.checker.admits(chosen.cycle, slot, |waiting| {
            of_warp(waiting) && reader.wants(&code[waiting.inst as usize])
        })
    }

    fn ends(&mut self, cycle: u64) -> u64 {
        let end = self.checker.finish(cycle);
        self.counts.tail += end - cycle;
        end
    }

    fn next(&mut self) -> Option<Reexecution> {
        self.checker.next()
    }
}

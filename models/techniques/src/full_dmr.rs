//! Dual modular redundancy as it is without Warped-DMR: what `warped_dmr` is compared with.
//!
//! H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015, sections 4.3.1 and 4.7. `lanes`: every lane
//! has a second one that does the same, and a comparator: all is verified, no time is lost, and the execution units are there twice. `kernel`: R-Naive (M.
//! Dimitrov, M. Mantor, H. Zhou, "Understanding Software Approaches for GPGPU Reliability", GPGPU-2, 2009): all launches run, and then all run again, without
//! any hardware; copies to and from the device, and the comparison by the host at the end, are not in the model. `threads`: R-Thread, of the same work: every
//! launch has each CTA twice, and the host compares what the two halves leave. Both halves have the same addresses here, so that the second finds in caches
//! what the first has brought.
//!
//! ```
//! let technique = warpwatt_techniques::full_dmr::DEFINITION.parse(&"design = \"kernel\"".parse().unwrap());
//! assert_eq!(technique.unwrap().label(), "full_dmr(design=kernel)");
//! ```

use warpwatt_activity::Activity;
use warpwatt_circuit::Spec;
use warpwatt_circuit::logic::{LogicBlock, LogicSpec};
use warpwatt_gpu::trace::{KernelTrace, LaneMask};
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan};
use warpwatt_reliability::{
    Journals, Outcome, ProtectionFactory, Structure as Storage, Whole, whole_structures,
};

use crate::parameter::{Choice, choice};
use crate::{Claim, Compared, Copies, Definition, LaneCheck, ResultCheck, Structure, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "full_dmr",
    summary: "comparison: a second lane beside every lane, or every launch or CTA a second time",
    citation: "H. Jeon, \"Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor\", USC 2015, sections 4.3.1 and 4.7",
    parameters: &[DESIGN.declared()],
    counters: &[
        (
            "full_dmr_lanes",
            "design = \"lanes\": lanes that executed, each beside its second",
        ),
        (
            "full_dmr.comparator.read",
            "design = \"lanes\": comparisons of two lanes' results",
        ),
    ],
    metrics: &[],
    configure: |values| {
        Ok(Box::new(FullDmr {
            design: values.get(&DESIGN),
            label: values.label(),
        }))
    },
};

const DESIGN: Choice<Design, 3> = choice(
    "design",
    [
        ("lanes", Design::Lanes),
        ("kernel", Design::Kernel),
        ("threads", Design::Threads),
    ],
    "lanes",
    "what there is twice: the lanes, the launches (R-Naive), or the CTAs of each launch (R-Thread)",
);

/// The units of which there are twice as many.
const UNITS: [&str; 5] = ["int_add", "int_mul", "fp32_mul", "fp64", "sfu"];

/// Storage whose contents one launch leaves to the next.
const LEFT: [Storage; 2] = [Storage::InstructionCache, Storage::L2];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Design {
    Lanes,
    Kernel,
    Threads,
}

/// The configured technique.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FullDmr {
    design: Design,
    label: String,
}

impl Technique for FullDmr {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn attach(&self, _: &GpuSpec, hooks: &mut Hooks) {
        match self.design {
            Design::Lanes => hooks.issue.push(Box::new(|_| Box::new(Second::default()))),
            Design::Kernel => hooks.twice = true,
            Design::Threads => {
                let twice = |trace: &KernelTrace| Ok(trace.with_ctas_twice());
                hooks.rewrites.push(Box::new(twice));
            }
        }
    }

    /// What is executed twice has a flip in either of the two show up when their results are compared; not one in what the first leaves to the second.
    /// Second lanes compare results that were computed from the same stored bits, which tells nothing about those.
    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        self.attach(gpu, hooks);
        let own = Storage::ALL.into_iter().filter(|it| !LEFT.contains(it));
        let each = own.map(|structure| Whole {
            structure,
            outcome: Outcome::Detected,
        });
        (self.design != Design::Lanes).then(|| whole_structures(each.collect()))
    }

    fn alter(&self, _: &GpuSpec, structures: &mut [Structure]) {
        let doubled = |it: &&mut Structure| UNITS.contains(&it.name);
        if self.design == Design::Lanes {
            structures
                .iter_mut()
                .filter(doubled)
                .for_each(|it| it.count = it.count.times(2));
        }
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        if self.design != Design::Lanes {
            return Vec::new();
        }
        let comparator = Spec::Logic(LogicSpec {
            block: LogicBlock::Equality { bits: 32 },
            activity: 50,
        });
        let lanes = gpu.units.sp.count * gpu.units.sp.lanes;
        vec![Structure::execution(
            "full_dmr.comparator",
            comparator,
            lanes,
        )]
    }

    fn lane_check(&self, _: &GpuSpec) -> Option<LaneCheck> {
        Some(match self.design {
            Design::Lanes => LaneCheck::Results(Box::new(Beside)),
            Design::Kernel => LaneCheck::Memory(Copies::Launches),
            Design::Threads => LaneCheck::Memory(Copies::Ctas),
        })
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::SecondExecution]
    }
}

/// Every lane has another one that does the same.
struct Beside;

impl ResultCheck for Beside {
    fn compared(&self, executed: LaneMask, lane: u32) -> Compared {
        Compared {
            elsewhere: executed >> lane & 1 != 0,
            ..Compared::default()
        }
    }
}

/// The second lanes of one SM.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    lanes: u64,
}

impl IssueHook for Second {
    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let lanes = plan.executing(u64::from(event.step.executed.count_ones()));
        plan.repeats += lanes as u32;
        self.lanes += lanes;
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("full_dmr_lanes", self.lanes);
        activity.add("full_dmr.comparator.read", self.lanes);
    }
}

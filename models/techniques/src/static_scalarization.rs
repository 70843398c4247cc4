//! What a compiler for a scalar unit would find: statistics beside those of hardware that detects uniform vectors.
//!
//! AMD's GCN has its compiler mark the instructions that a scalar unit executes; P. Xiang et al., "Exploiting Uniform Vector Instructions for GPGPU
//! Performance, Energy Efficiency, and Opportunistic Reliability Enhancement", ICS 2013, section 2, argue that hardware finds more, and show no number. Here a
//! divergence analysis of the program marks instructions ([`warpwatt_gpu::trace::StaticInst::uniform`]), and their executions are counted as the paper
//! counts those of its tokens: 31 redundant operations each.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::{KernelTrace, Unit};
use warpwatt_gpu::{GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, Run};

use crate::compiled::needs_facts;
use crate::{Definition, Judged, Metric, Technique};

/// The registry's entry.
pub static DEFINITION: Definition = Definition {
    name: "static_scalarization",
    summary: "statistics: computations that a compiler knows to be the same in all lanes",
    citation: "B. Coutinho, D. Sampaio, F. Pereira, W. Meira, \"Divergence Analysis and Optimizations\", PACT 2011; the question is section 2 of P. Xiang et al., ICS 2013",
    parameters: &[],
    counters: &[
        (
            "static_scalarization_computations",
            "computations of whole warps that a compiler knows to be the same in all lanes",
        ),
        (
            "static_scalarization_equal",
            "computations of whole warps whose operands are the same in all lanes, known or not",
        ),
        ("static_scalarization_all", "computations of whole warps"),
    ],
    metrics: &[Judged::headline("redundant.computations")],
    configure: |_| Ok(Box::new(StaticScalarization)),
};

/// The statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticScalarization;

impl Technique for StaticScalarization {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn adds_up(&self) -> bool {
        true
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn attach(&self, _: &GpuSpec, hooks: &mut Hooks) {
        needs_facts(hooks, "digests of operands");
        hooks.issue.push(Box::new(|_| Box::new(Counter::default())));
    }

    fn needs_values(&self) -> bool {
        true
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let threads = run.activity.get("thread_instructions");
        let share = |name: &str| {
            let count = run.activity.get(&format!("static_scalarization_{name}"));
            Metric::ratio(
                format!("static_scalarization.redundant.{name}"),
                31 * count,
                threads,
            )
        };
        vec![share("computations"), share("equal")]
    }
}

/// One SM.
#[derive(Clone, Debug, Default)]
struct Counter {
    insts: Vec<Inst>,
    width: u32,
    uniform: u64,
    equal: u64,
    all: u64,
}

#[derive(Clone, Copy, Debug)]
struct Inst {
    computation: bool,
    uniform: bool,
}

impl IssueHook for Counter {
    fn begin(&mut self, trace: &KernelTrace) {
        self.width = trace.launch.warp_width;
        let insts = trace.code.iter().map(|inst| Inst {
            computation: matches!(inst.unit, Unit::Int | Unit::Fp32 | Unit::Fp64 | Unit::Sfu),
            uniform: inst.uniform,
        });
        self.insts = insts.collect();
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        let inst = self.insts[event.step.inst as usize];
        if inst.computation && event.step.executed.count_ones() == self.width {
            self.all += 1;
            self.uniform += u64::from(inst.uniform);
            self.equal += u64::from(event.step.values.is_some());
        }
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("static_scalarization_computations", self.uniform);
        activity.add("static_scalarization_equal", self.equal);
        activity.add("static_scalarization_all", self.all);
    }
}

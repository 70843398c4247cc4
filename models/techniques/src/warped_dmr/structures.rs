//! What the verification adds to an SM, and whether it fits the clock.

use warpwatt_circuit::logic::{LogicBlock, LogicSpec};
use warpwatt_circuit::{CircuitError, Spec};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Time;

use super::WarpedDmr;
use crate::{Circuits, Fit, Path, Structure};

/// Bits of an operand.
const WORD_BITS: u64 = 32;
/// Source operands and the result of an instruction (section 4.4.4).
const WORDS: u64 = 4;
/// Opcode and the numbers of warp and destination: 4 bytes, the larger of the paper's sizes.
const OPCODE_BITS: u64 = 32;

impl WarpedDmr {
    pub(super) fn structures_of(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let clusters = self.clusters(gpu).count();
        let mut found = vec![
            Structure::execution("warped_dmr.rfu", self.forwarding(), clusters),
            Structure::execution("warped_dmr.comparator", self.comparator(), clusters),
        ];
        if self.inter {
            found.push(Structure::execution(
                "warped_dmr.latch",
                self.latch(),
                clusters,
            ));
        }
        if let Some(queue) = self.queue(gpu) {
            found.push(Structure::added("warped_dmr.replayq", queue));
        }
        found
    }

    /// One for each cluster, behind its register bank.
    pub(super) fn forwarding(&self) -> Spec {
        logic(LogicBlock::ForwardingUnit {
            lanes: u64::from(self.cluster_lanes),
            bits: WORD_BITS,
        })
    }

    /// All results of a cluster with those of its second execution.
    pub(super) fn comparator(&self) -> Spec {
        logic(LogicBlock::Equality {
            bits: WORD_BITS * u64::from(self.cluster_lanes),
        })
    }

    /// Results of a cluster's first execution, which the second one follows a cycle or more later: the comparator sees both at once.
    fn latch(&self) -> Spec {
        logic(LogicBlock::Register {
            bits: WORD_BITS * u64::from(self.cluster_lanes),
        })
    }

    /// Operands and result of all lanes beside an opcode.
    pub(super) fn queue(&self, gpu: &GpuSpec) -> Option<Spec> {
        let lanes = u64::from(gpu.sm.warp_width);
        (self.inter && self.replayq_entries > 0).then(|| {
            logic(LogicBlock::ReplayQueue {
                entries: u64::from(self.replayq_entries),
                bits: lanes * WORDS * WORD_BITS + OPCODE_BITS,
                lanes,
            })
        })
    }

    /// The forwarding unit lies between register bank and operand collector, the comparator behind the lanes; both within a cycle.
    pub(super) fn fit_of(
        &self,
        gpu: &GpuSpec,
        circuits: &dyn Circuits,
    ) -> Result<Fit, CircuitError> {
        let delay = |spec: &Spec| circuits.cost(spec).map(|cost| cost.access_time);
        let paths = vec![
            Path {
                name: "register forwarding",
                parts: vec![("forwarding unit", delay(&self.forwarding())?)],
            },
            Path {
                name: "comparison of results",
                parts: vec![("comparator", delay(&self.comparator())?)],
            },
        ];
        let period = Time::from_ps(1e6 / f64::from(gpu.sm.clock_mhz));
        let notes = paths.iter().map(|path| path.against(period, "warped_dmr"));
        let notes = notes.collect();
        Ok(Fit {
            paths,
            notes,
            ..Fit::default()
        })
    }
}

fn logic(block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: 50,
    })
}

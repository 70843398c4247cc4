//! The units: which flip-flops of a lane hold a part of an instruction under way.
//!
//! Declared: a bit that belongs to a batch of work-items on its way shows in that lane's result, whatever the logic between them makes of it: shares of corruption are upper
//! bounds there. Instructions go to a unit's instances in turn. Other flip-flops hold what is left of the last instruction, until the next one comes to that instance.

use warpwatt_gpu::trace::{MemoryOpKind, Space};

use super::lines::{At, Port};
use super::{Outcome, Site, Struck};

/// Lanes of an instance.
const LANES: u64 = 16;
/// Batches of a wavefront.
const BATCHES: u64 = 4;
/// Registers of a lane around its pipeline, as the RTL declares them for a unit (`alu`; `models/structures/src/compute_unit/counts.rs`), by sixteen: operands and masks of four batches, results and masks of
/// four, and the lane's share of the instruction's own and of the queue for results.
const WORD: u64 = 32;
const SOURCES: u64 = 3;
const OPERAND_WORDS: u64 = BATCHES * SOURCES * WORD;
const OPERAND_MASKS: u64 = 2;
const OPERANDS: u64 = OPERAND_WORDS + BATCHES * OPERAND_MASKS;
const RESULT: u64 = WORD + 3;
const RESULTS: u64 = BATCHES * RESULT;
const CONTROL: u64 = 13;
/// Of the queue's 2,301 bits, rounded up, a batch's.
const QUEUED: u64 = 36;
const QUEUE: u64 = BATCHES * QUEUED;

impl Struck<'_> {
    /// The instruction that came last to an instance, and whether another comes within the window.
    fn last(&self, site: &Site, port: Port, (instance, of): (usize, usize)) -> (Option<At>, bool) {
        let list = self.lines.unit(site.sm, port);
        let behind = list.partition_point(|at| at.issued <= site.cycle);
        let here = |at: &usize| at % of == instance;
        let last = (behind.saturating_sub(of)..behind).find(here);
        let next = (behind..behind + of).find(here).and_then(|at| list.get(at));
        (
            last.map(|at| list[at]),
            next.is_some_and(|at| at.issued <= site.end),
        )
    }

    pub(super) fn vector_unit(&self, site: &Site, port: Port) -> Outcome {
        let lanes = match port {
            Port::Integer => self.spec.chip.int_lanes,
            _ => self.spec.chip.fp32_lanes,
        };
        let lanes = u64::from(lanes.max(1));
        let of_lane = self.flops_of(port) / lanes;
        let (lane, bit) = (site.bit / of_lane, site.bit % of_lane);
        let instances = lanes.div_ceil(LANES) as usize;
        let (last, comes) = self.last(site, port, ((lane / LANES) as usize, instances));
        let idle = Site::rewritten(comes);
        let Some(at) = last else { return idle };
        let (age, latency) = (site.cycle - at.issued, self.latency(at));
        if age >= latency {
            return idle;
        }
        let pipeline = of_lane.saturating_sub(OPERANDS + RESULTS + CONTROL + QUEUE);
        match part(
            bit,
            pipeline,
            age,
            latency,
            self.lines.inst(at).sources.len() as u64,
        ) {
            Part::Batch(batch) if self.executes(at, batch * LANES + lane % LANES) => Outcome::Sdc,
            Part::Instruction => Outcome::Sdc,
            _ => idle,
        }
    }

    fn flops_of(&self, port: Port) -> u64 {
        let block = match port {
            Port::Integer => "simd",
            _ => "simf",
        };
        let field = self.fields.iter().find(|field| field.block == block);
        field.map_or(1, |field| field.bits)
    }

    fn latency(&self, at: At) -> u64 {
        let moments = self.lines.moments(at);
        (moments.written - moments.issued).max(1)
    }

    fn executes(&self, at: At, lane: u64) -> bool {
        let step = self.lines.step(at);
        step.is_some_and(|step| step.executed >> lane & 1 != 0)
    }

    /// The scalar unit holds an instruction's operands and results for as long as it is under way.
    pub(super) fn scalar_unit(&self, site: &Site) -> Outcome {
        let (last, comes) = self.last(site, Port::Scalar, (0, 1));
        match last {
            Some(at) if site.cycle - at.issued < self.latency(at) => Outcome::Sdc,
            _ => Site::rewritten(comes),
        }
    }

    /// Addresses go out batch by batch, what is stored with them; what was loaded comes back in the last cycles.
    pub(super) fn access(&self, site: &Site) -> Outcome {
        const OF_LANE: u64 = 32 + 4 * 32;
        let (lane, bit) = (site.bit / OF_LANE, site.bit % OF_LANE);
        let (last, comes) = self.last(site, Port::Memory, (0, 1));
        let idle = Site::rewritten(comes);
        let Some(at) = last else { return idle };
        let Some(memory) = self.lines.inst(at).memory else {
            return idle;
        };
        let is_scalar = memory.space == Space::Const;
        if !self.executes(at, lane) || is_scalar && lane > 0 {
            return idle;
        }
        let age = site.cycle - at.issued;
        let goes_out = age <= lane / LANES;
        let back = self.latency(at).saturating_sub(BATCHES)..self.latency(at);
        let is_loaded = memory.kind != MemoryOpKind::Store && back.contains(&age);
        let is_data = (32..32 + 8 * u64::from(memory.bytes)).contains(&bit);
        let is_needed = match memory.kind {
            _ if bit < 32 => goes_out,
            MemoryOpKind::Store => is_data && goes_out,
            _ => is_data && is_loaded,
        };
        if is_needed { Outcome::Sdc } else { idle }
    }
}

/// What a flip-flop of a lane holds a part of.
enum Part {
    /// A work-item of a batch.
    Batch(u64),
    /// The whole instruction.
    Instruction,
    /// Nothing that is used any more, or not yet.
    Nothing,
}

/// By its number in the lane; `age` cycles after the issue of an instruction that takes `latency`.
fn part(bit: u64, pipeline: u64, age: u64, latency: u64, sources: u64) -> Part {
    let batch = |batch: Option<u64>| match batch {
        Some(batch) if batch < BATCHES => Part::Batch(batch),
        _ => Part::Nothing,
    };
    // Stages of the pipeline are the cycles between the first batch's operands and its result.
    let stages = latency.saturating_sub(2).max(1);
    if bit < pipeline {
        let stage = bit * stages / pipeline;
        return batch(age.checked_sub(1 + stage));
    }
    let bit = bit - pipeline;
    if bit < OPERANDS {
        let (of, source) = match bit {
            0..OPERAND_WORDS => (bit / WORD / SOURCES, bit / WORD % SOURCES),
            _ => ((bit - OPERAND_WORDS) / OPERAND_MASKS, 0),
        };
        return batch((of >= age && source < sources).then_some(of));
    }
    let bit = bit - OPERANDS;
    if bit < RESULTS {
        let of = bit / RESULT;
        return batch((age > of + 1).then_some(of));
    }
    let bit = bit - RESULTS;
    if bit < CONTROL {
        return Part::Instruction;
    }
    let of = (bit - CONTROL) / QUEUED;
    batch((age + 1 >= latency).then_some(of))
}

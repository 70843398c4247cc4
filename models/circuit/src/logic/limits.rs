//! What sizes blocks may have.

use super::{Carry, LogicBlock};
use crate::CircuitError;

/// Stages beyond which a tree would be little but flip-flops.
const MOST_STAGES: u64 = 4;

/// One size and its bounds.
fn within(what: &'static str, got: u64, least: u64, most: u64) -> Result<(), CircuitError> {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    let constraint = if got < least {
        "that is too few to need the block"
    } else {
        "that is more than this model covers"
    };
    Err(CircuitError::Size {
        what,
        got,
        constraint,
        nearest: got.clamp(least, most),
    })
}

/// Whether `got` is a power of two; the nearest one up to `most` is told if not.
fn power_of_two(what: &'static str, got: u64, most: u64) -> Result<(), CircuitError> {
    if got.is_power_of_two() {
        return Ok(());
    }
    Err(CircuitError::Size {
        what,
        got,
        constraint: "it must be a power of two",
        nearest: got.next_power_of_two().clamp(2, most),
    })
}

/// Whether a block can be built.
pub(crate) fn check(block: &LogicBlock) -> Result<(), CircuitError> {
    match *block {
        LogicBlock::Parity { bits, stages } => {
            within("bits", bits, 2, 4096).and(within("stages", u64::from(stages), 1, MOST_STAGES))
        }
        LogicBlock::Equality { bits } | LogicBlock::Magnitude { bits } => {
            within("bits", bits, 2, 4096)
        }
        LogicBlock::Register { bits } => within("bits", bits, 1, 65_536),
        LogicBlock::FlopFile { words, bits, reads } => within("words", words, 2, 4096)
            .and(within("bits", bits, 1, 64))
            .and(within("reads", u64::from(reads), 1, 8)),
        LogicBlock::Counted { gates } => {
            within("gates", gates.total(), 2, 1 << 18).and(within("flops", gates.flops, 0, 1 << 17))
        }
        LogicBlock::Secded {
            bits, code, stages, ..
        } => {
            // Syndromes of all pairs of errors are decoded.
            let most = if code.corrects_two() { 128 } else { 1024 };
            within("bits", bits, 1, most).and(within("stages", u64::from(stages), 1, MOST_STAGES))
        }
        LogicBlock::PriorityEncoder { inputs } => within("inputs", inputs, 2, 4096),
        LogicBlock::Decoder { bits } => within("bits", bits, 1, 12),
        LogicBlock::Multiplexer { inputs, bits } => {
            within("inputs", inputs, 2, 1024).and(within("bits", bits, 1, 4096))
        }
        LogicBlock::ForwardingUnit { lanes, bits } => power_of_two("lanes", lanes, 32)
            .and(within("lanes", lanes, 2, 32))
            .and(within("bits", bits, 1, 1024)),
        LogicBlock::Adder {
            bits,
            carry: Carry::Ripple | Carry::Prefix,
        } => within("bits", bits, 1, 1024),
        LogicBlock::Shifter { bits } => within("bits", bits, 2, 1024),
        LogicBlock::Counter { bits } => within("bits", bits, 1, 256),
        LogicBlock::Arbiter { inputs, .. } => within("inputs", inputs, 2, 256),
        LogicBlock::Scheduler { warps, active, .. } => {
            within("warps", warps, 2, 128).and(within("active", active, 2, 128))
        }
        LogicBlock::Scoreboard {
            entries,
            operands,
            register_bits,
        } => within("entries", entries, 1, 256)
            .and(within("operands", operands, 1, 8))
            .and(within("register_bits", register_bits, 1, 16)),
        LogicBlock::FreeList { entries, ports } => {
            within("entries", entries, 2, 4096).and(within("ports", ports, 1, 8))
        }
        LogicBlock::RenamingTable {
            entries,
            bits,
            reads,
            writes,
        } => within("entries", entries, 1, 1024)
            .and(within("bits", bits, 1, 64))
            .and(within("reads", u64::from(reads), 1, 32))
            .and(within("writes", u64::from(writes), 1, 32)),
        LogicBlock::ReplayQueue {
            entries,
            bits,
            lanes,
        } => within("entries", entries, 1, 64)
            .and(within("bits", bits, 1, 65_536))
            .and(within("lanes", lanes, 1, bits.clamp(1, 1024))),
        LogicBlock::OperandCollector {
            units,
            operands,
            bits,
            banks,
        } => within("units", units, 1, 32)
            .and(within("operands", operands, 1, 4))
            .and(within("bits", bits, 1, 4096))
            .and(within("banks", banks, 1, 64)),
    }
}

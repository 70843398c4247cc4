//! Blocks of logic that can be priced.

use serde::{Deserialize, Serialize};

use super::{Carry, Code, Fairness, GateCounts, Policy};

/// A block of static gates, and how busy its inputs are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicSpec {
    /// Which block.
    pub block: LogicBlock,
    /// Share of the input bits that change from one operation to the next, in percent. Random data: 50.
    #[serde(default = "half")]
    pub activity: u8,
}

/// The blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LogicBlock {
    /// Parity of a word.
    Parity {
        /// Bits of the word.
        bits: u64,
        /// Cycles in which it works, a word each.
        #[serde(default = "one")]
        stages: u32,
    },
    /// One side of a code that corrects one error and mostly detects two.
    Secded {
        /// Data bits.
        bits: u64,
        /// Which code.
        #[serde(default)]
        code: Code,
        /// Which side.
        #[serde(default)]
        side: Side,
        /// Cycles in which it works, a word each.
        #[serde(default = "one")]
        stages: u32,
    },
    /// Whether two words are equal.
    Equality {
        /// Bits of each.
        bits: u64,
    },
    /// Which of two numbers is greater.
    Magnitude {
        /// Bits of each.
        bits: u64,
    },
    /// Number of the lowest request.
    PriorityEncoder {
        /// Requests.
        inputs: u64,
    },
    /// One line of two to the power of its bits.
    Decoder {
        /// Address bits.
        bits: u64,
    },
    /// One of several words.
    Multiplexer {
        /// Words.
        inputs: u64,
        /// Bits of each.
        bits: u64,
    },
    /// Register forwarding unit of Warped-DMR: each lane's operand or that of an active neighbour.
    ForwardingUnit {
        /// Lanes of a cluster, a power of two.
        lanes: u64,
        /// Bits of an operand.
        bits: u64,
    },
    /// Sum of two words.
    Adder {
        /// Bits of each.
        bits: u64,
        /// How carries travel.
        #[serde(default)]
        carry: Carry,
    },
    /// A word shifted by any distance.
    Shifter {
        /// Bits.
        bits: u64,
    },
    /// A register that counts.
    Counter {
        /// Bits.
        bits: u64,
    },
    /// A fair arbiter.
    Arbiter {
        /// Requests.
        inputs: u64,
        /// How it keeps fair.
        #[serde(default)]
        fairness: Fairness,
    },
    /// Which ready warp issues.
    Scheduler {
        /// Warps.
        warps: u64,
        /// By which rule.
        #[serde(default)]
        policy: Policy,
        /// Active warps of the two-level rule.
        #[serde(default = "eight")]
        active: u64,
    },
    /// Scoreboard of one warp, with the check of one instruction.
    Scoreboard {
        /// Registers that may be waited for at once.
        entries: u64,
        /// Registers of an instruction.
        operands: u64,
        /// Bits of a register's number.
        register_bits: u64,
    },
    /// Free registers as a bit vector.
    FreeList {
        /// Registers.
        entries: u64,
        /// Registers handed out in one cycle.
        ports: u64,
    },
    /// Renaming table in flip-flops.
    RenamingTable {
        /// Names.
        entries: u64,
        /// Bits of what they stand for.
        bits: u64,
        /// Names looked up in one cycle.
        reads: u32,
        /// Names changed in one cycle.
        writes: u32,
    },
    /// ReplayQ of Warped-DMR: instructions with their operands and results that wait for their second execution.
    ReplayQueue {
        /// Instructions.
        entries: u64,
        /// Bits of each; 514 bytes for a warp of 32 with three operands and a result.
        bits: u64,
        /// Lanes that each keep their slice of every entry beside them.
        #[serde(default = "warp")]
        lanes: u64,
    },
    /// Operand collectors: operand registers with their readiness, and the arbiters in front of the register banks.
    OperandCollector {
        /// Collectors.
        units: u64,
        /// Operands of an instruction.
        operands: u64,
        /// Bits of an operand of a whole warp.
        bits: u64,
        /// Register banks.
        banks: u64,
    },
    /// A pipeline register.
    Register {
        /// Bits.
        bits: u64,
    },
    /// A register file in flip-flops that are clocked in every cycle, with one write port.
    FlopFile {
        /// Words.
        words: u64,
        /// Bits of each.
        bits: u64,
        /// Read ports.
        reads: u32,
    },
    /// Logic of which only the gates are counted.
    Counted {
        /// How many of each kind.
        gates: GateCounts,
    },
}

/// Which side of a code.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Check bits out of data.
    Generator,
    /// Whether a word has an error; who corrects it stands elsewhere.
    Detector,
    /// Data corrected, errors flagged.
    #[default]
    Checker,
}

const fn one() -> u32 {
    1
}

const fn half() -> u8 {
    50
}

const fn warp() -> u64 {
    32
}

const fn eight() -> u64 {
    8
}

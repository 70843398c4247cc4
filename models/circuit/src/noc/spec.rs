//! Interconnect that can be priced.

use serde::{Deserialize, Serialize};

/// A piece of interconnect, and how many of its bits change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NocSpec {
    /// Which.
    pub block: NocBlock,
    /// Share of the bits that differ from the transfer before, in percent. Random data: 50.
    #[serde(default = "half")]
    pub activity: u8,
}

/// The pieces.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NocBlock {
    /// Any input to any output.
    Crossbar {
        /// Input ports.
        inputs: u64,
        /// Output ports.
        outputs: u64,
        /// Bits of a port.
        bits: u64,
    },
    /// Wires from one place to another.
    Link {
        /// Bits.
        bits: u64,
        /// Length in micrometres.
        micrometres: u64,
    },
    /// A router with buffers at its inputs.
    Router {
        /// Ports, each in and out.
        ports: u64,
        /// Bits of a flit.
        bits: u64,
        /// Virtual channels of a port.
        channels: u64,
        /// Flits of a channel's buffer.
        depth: u64,
    },
    /// A clock tree with the clock inputs of its flip-flops; never gated.
    Clock {
        /// Flip-flops.
        sinks: u64,
        /// Area that it spans, in square micrometres.
        square_micrometres: u64,
    },
}

const fn half() -> u8 {
    50
}

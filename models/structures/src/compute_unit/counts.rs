//! Gates of MIAOW's blocks.
//!
//! Counted: yosys on the released RTL, a block at a time (proc, opt, memory, techmap, abc to generic gates and flip-flops; no library, no sizing, no clock tree).
//! Latches count as flip-flops. A lane of SIMD or SIMF is one 32-bit lane of a unit; wavepool and exec are for 40 wavefronts.

use warpwatt_circuit::logic::GateCounts;

/// The wavefronts that the counted blocks are for.
pub(super) const WAVEFRONTS: u32 = 40;

pub(super) const WAVEPOOL: GateCounts = GateCounts {
    and: 20_808,
    aoi: 12_357,
    mux: 22_320,
    nand: 4_084,
    nor: 719,
    not: 331,
    oai: 577,
    or: 293,
    xnor: 1_280,
    xor: 40,
    flops: 22_392,
};

pub(super) const EXEC: GateCounts = GateCounts {
    and: 13_483,
    aoi: 8_247,
    mux: 6_440,
    nand: 17_973,
    nor: 149,
    not: 133,
    oai: 0,
    or: 2,
    xnor: 0,
    xor: 0,
    flops: 6_440,
};

pub(super) const SALU: GateCounts = GateCounts {
    and: 1_764,
    aoi: 892,
    mux: 586,
    nand: 3_452,
    nor: 357,
    not: 941,
    oai: 654,
    or: 159,
    xnor: 392,
    xor: 836,
    flops: 1_027,
};

/// A lane's share of the registers that a SIMD or a SIMF has around its sixteen lanes, as the RTL declares them (`alu`): three operands and two masks of 64 work-items, shifted out
/// by sixteen; results and masks, shifted in; 143 bits of the instruction and 61 at its end; 2,301 bits that wait to be written. Each takes one of two values: a multiplexer.
const UNIT_SHARE: u64 = (3 * 2_048 + 2 * 64 + 2_048 + 3 * 64 + 143 + 61 + 2_301_u64).div_ceil(16);

pub(super) const SIMD_LANE: GateCounts = GateCounts {
    and: 2_018,
    aoi: 903,
    mux: 1_081 + UNIT_SHARE,
    nand: 1_785,
    nor: 359,
    not: 335,
    oai: 801,
    or: 444,
    xnor: 979,
    xor: 1_215,
    flops: 2 + UNIT_SHARE,
};

pub(super) const SIMF_LANE: GateCounts = GateCounts {
    and: 2_178,
    aoi: 873,
    mux: 1_501 + UNIT_SHARE,
    nand: 1_194,
    nor: 955,
    not: 494,
    oai: 735,
    or: 457,
    xnor: 398,
    xor: 255,
    flops: 1_452 + UNIT_SHARE,
};

/// Of blocks without a count, LUTs on the paper's FPGA in percent of those of the wavepool (Table VI: 27,833): gates of the wavepool's mix in the same proportion. Their flip-flops are in `flip_flops.rs`.
/// How many gates a LUT stands for differs from block to block: 3.0 (SIMF), 3.1 (wavepool), 4.3 (SIMD), 6.1 (exec), 8.9 (SALU).
pub(super) const FETCH_PERCENT: u64 = 80; // 22,290
pub(super) const DECODE_PERCENT: u64 = 12; // 3,474
pub(super) const ISSUE_PERCENT: u64 = 130; // 36,142

/// Of a lane of the load-store unit neither is known. Assumed: a prefix adder of 32 bits with five levels (Kogge and Stone), a multiplexer for each flip-flop, and room
/// for an address and four words to store.
pub(super) const LSU_LANE: GateCounts = GateCounts {
    and: 32 + 2 * 5 * 32,
    aoi: 0,
    mux: 32 + 4 * 32,
    nand: 0,
    nor: 0,
    not: 0,
    oai: 0,
    or: 5 * 32,
    xnor: 0,
    xor: 2 * 32,
    flops: 32 + 4 * 32,
};

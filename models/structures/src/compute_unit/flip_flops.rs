//! The flip-flops of the blocks, by what they hold.
//!
//! Widths of fields are those that the released RTL declares (VerticalResearchGroup/miaow, `src/verilog/rtl`: fetch, wavepool, decode, issue, alu), per wavefront or once;
//! those of `exec`, `salu`, and the lanes' pipelines are counted as their gates are.

use warpwatt_gpu::GpuSpec;

use super::counts::{LSU_LANE, SALU, SIMD_LANE, SIMF_LANE};
use super::{LANE_BITS, SCALAR_WORDS, row_count};

/// What flip-flops hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holds {
    /// Where a wavefront is fetched at, and whether it is its first fetch.
    Counters,
    /// A wavefront's work-group, and how many wavefronts that has.
    GroupTags,
    /// Whether a wavefront's place is vacant.
    Vacancies,
    /// The wavefront that is being dispatched.
    Dispatch,
    /// Whose turn it is to be fetched.
    Turns,
    /// Fetched words with their addresses: eight entries a wavefront.
    Queues,
    /// Where a wavefront's local data share, vector and scalar registers begin.
    Bases,
    /// Head, tail and next tail of a queue.
    Pointers,
    /// An instruction on its way from one stage to the next, clocked in every cycle.
    Stage,
    /// The first half of a long instruction.
    Halves,
    /// The decoded instruction of a wavefront that waits for issue.
    Decoded,
    /// Which of its operands are ready.
    Ready,
    /// Vector registers that are written by instructions under way.
    BusyVector,
    /// Scalar registers, likewise.
    BusyScalar,
    /// EXEC, M0, SCC and VCC of a wavefront, likewise.
    BusySpecial,
    /// What else keeps a wavefront from issuing: barriers, branches, memory, its end, instructions under way.
    Flags,
    /// The members of a work-group.
    Groups,
    /// EXEC, VCC, M0 and SCC of a wavefront.
    Special,
    /// Operands and results of the scalar unit.
    Scalar,
    /// A lane of a SIMD with its share of the unit's registers.
    Integer,
    /// A lane of a SIMF, likewise.
    Float,
    /// An address and four words of a lane.
    Access,
    /// Vector registers.
    VectorRegisters,
    /// Scalar registers.
    ScalarRegisters,
}

/// Flip-flops of a block that hold one kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipFlops {
    /// The block, as its structure is called.
    pub block: &'static str,
    /// What they hold.
    pub holds: Holds,
    /// How many there are in a compute unit.
    pub bits: u64,
}

/// Of the front end: block, contents, bits a wavefront, bits beside.
const FRONT_END: [(&str, Holds, u64, u64); 18] = [
    ("fetch", Holds::Counters, 33, 0),
    ("fetch", Holds::GroupTags, 22, 0),
    ("fetch", Holds::Vacancies, 1, 0),
    ("fetch", Holds::Dispatch, 0, 93),
    ("fetch", Holds::Turns, 0, 12),
    ("wavepool", Holds::Queues, 8 * 64, 0),
    ("wavepool", Holds::Bases, 16 + 10 + 9, 0),
    ("wavepool", Holds::Pointers, 3 * 3, 0),
    ("wavepool", Holds::Stage, 0, 152),
    ("decode", Holds::Stage, 0, 106),
    ("decode", Holds::Halves, 65, 0),
    ("issue", Holds::Stage, 0, 342),
    ("issue", Holds::Decoded, 214, 0),
    ("issue", Holds::Ready, 18 + 4 + 1, 0),
    ("issue", Holds::BusySpecial, 4, 0),
    ("issue", Holds::Flags, 14, 0),
    ("issue", Holds::Groups, 40 + 16, 0),
    ("exec", Holds::Special, 64 + 64 + 32 + 1, 0),
];

/// The flip-flops of a block of the front end, for so many wavefronts and rows of vector registers.
pub(super) fn of_front_end(block: &str, wavefronts: u64, rows: u64) -> u64 {
    let of_block = FRONT_END.iter().filter(|(name, ..)| *name == block);
    let fields: u64 = of_block
        .map(|(_, _, each, once)| each * wavefronts + once)
        .sum();
    fields
        + if block == "issue" {
            rows + SCALAR_WORDS
        } else {
            0
        }
}

/// All flip-flops of a compute unit; `gpu` is one that is priced by its blocks.
pub fn flip_flops(gpu: &GpuSpec) -> Vec<FlipFlops> {
    let wavefronts = u64::from(gpu.warps_per_sm());
    let rows = row_count(gpu);
    let lanes = u64::from(gpu.sm.warp_width);
    let chip = &gpu.chip;
    let flops = |block, holds, bits| FlipFlops { block, holds, bits };
    let front = FRONT_END
        .iter()
        .map(|(block, holds, each, once)| flops(block, *holds, each * wavefronts + once));
    let rest = [
        flops("issue", Holds::BusyVector, rows),
        flops("issue", Holds::BusyScalar, SCALAR_WORDS),
        flops(
            "salu",
            Holds::Scalar,
            SALU.flops * u64::from(gpu.units.scalar.count),
        ),
        flops(
            "simd",
            Holds::Integer,
            SIMD_LANE.flops * u64::from(chip.int_lanes),
        ),
        flops(
            "simf",
            Holds::Float,
            SIMF_LANE.flops * u64::from(chip.fp32_lanes),
        ),
        flops("lsu", Holds::Access, LSU_LANE.flops * lanes),
        flops(
            "register_file",
            Holds::VectorRegisters,
            rows * lanes * LANE_BITS,
        ),
        flops(
            "scalar_registers",
            Holds::ScalarRegisters,
            SCALAR_WORDS * LANE_BITS,
        ),
    ];
    front.chain(rest).filter(|it| it.bits > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::counts::{EXEC, WAVEFRONTS, WAVEPOOL};
    use super::*;

    /// The widths that the RTL declares are those that its synthesis counted, where it did.
    #[test]
    fn fields_are_what_was_counted() {
        let wavefronts = u64::from(WAVEFRONTS);
        assert_eq!(of_front_end("wavepool", wavefronts, 1024), WAVEPOOL.flops);
        assert_eq!(of_front_end("exec", wavefronts, 1024), EXEC.flops);
        assert_eq!(of_front_end("issue", wavefronts, 1024), 14_318);
    }

    /// What flips is what is clocked.
    #[test]
    fn every_flip_flop_has_its_clock() {
        let gpu = GpuSpec::preset("miaow").unwrap();
        let all: u64 = flip_flops(&gpu).iter().map(|it| it.bits).sum();
        assert_eq!(
            all,
            super::super::blocks(&gpu)
                .iter()
                .map(|it| it.flops * u64::from(it.count))
                .sum::<u64>()
        );
    }
}

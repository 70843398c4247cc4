//! A compute unit as synthesis makes it of a description without memories: register files in flip-flops, all logic in gates, every flip-flop clocked in every cycle
//! in which the unit holds a wavefront. Blocks are those of MIAOW (Balasubramanian et al., ACM TACO 12(2), 2015), its local data share and caches, which are no
//! part of what was synthesised, left out.

mod counts;
mod flip_flops;

use warpwatt_circuit::Spec;
use warpwatt_circuit::logic::{GateCounts, LogicBlock, LogicSpec};
use warpwatt_circuit::noc::{NocBlock, NocSpec};
use warpwatt_gpu::GpuSpec;

use crate::{ACTIVE, Charge, Group, Region, Structure};
use counts::{
    DECODE_PERCENT, EXEC, FETCH_PERCENT, ISSUE_PERCENT, LSU_LANE, SALU, SIMD_LANE, SIMF_LANE,
    WAVEFRONTS, WAVEPOOL,
};
pub use flip_flops::{FlipFlops, Holds, flip_flops};

/// Share of the inputs' bits that change from one operation to the next, in percent: random data.
const RANDOM: u8 = 50;
/// Read ports of a register file.
const READ_PORTS: u32 = 3;
/// Bits of a register of a lane.
const LANE_BITS: u64 = 32;
/// Scalar registers of a compute unit (section 2.3).
const SCALAR_WORDS: u64 = 512;

/// A block: its gates, how many of it there are, and what makes it work.
struct Block {
    name: &'static str,
    clock: &'static str,
    group: Group,
    spec: Spec,
    /// Flip-flops of one.
    flops: u64,
    count: u32,
    /// Actions, with the counters of what causes them.
    charges: Vec<(&'static str, Vec<(&'static str, u32)>)>,
}

fn logic(block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: RANDOM,
    })
}

fn counted(
    (name, clock): (&'static str, &'static str),
    group: Group,
    (gates, count): (GateCounts, u32),
    events: &[&'static str],
) -> Block {
    Block {
        name,
        clock,
        group,
        spec: logic(LogicBlock::Counted { gates }),
        flops: gates.flops,
        count,
        charges: vec![("read", events.iter().map(|event| (*event, 1)).collect())],
    }
}

/// Fetch, queues, decode, schedule. They grow with the wavefronts.
fn front_end(gpu: &GpuSpec) -> [Block; 5] {
    let wavefronts = u64::from(gpu.warps_per_sm());
    let sized = |gates: GateCounts, percent: u64| {
        gates.percent((percent * wavefronts).div_ceil(u64::from(WAVEFRONTS)))
    };
    let rows = row_count(gpu);
    let block = |names: (&'static str, &'static str), gates, events: &[&'static str]| {
        let flops = flip_flops::of_front_end(names.0, wavefronts, rows);
        let gates = GateCounts { flops, ..gates };
        counted(names, Group::FrontEnd, (gates, 1), events)
    };
    [
        block(
            ("fetch", "clock.fetch"),
            sized(WAVEPOOL, FETCH_PERCENT),
            &["fetches"],
        ),
        block(
            ("wavepool", "clock.wavepool"),
            sized(WAVEPOOL, 100),
            &["instruction_buffer.write", "instruction_buffer.read"],
        ),
        block(
            ("decode", "clock.decode"),
            WAVEPOOL.percent(DECODE_PERCENT),
            &["fetches"],
        ),
        block(
            ("issue", "clock.issue"),
            sized(WAVEPOOL, ISSUE_PERCENT),
            &["warp_instructions"],
        ),
        block(
            ("exec", "clock.exec"),
            sized(EXEC, 100),
            &["warp_instructions"],
        ),
    ]
}

/// Vector registers of all wavefronts, each one word of every lane.
fn row_count(gpu: &GpuSpec) -> u64 {
    u64::from(gpu.registers_per_sm() / gpu.sm.warp_width).max(2)
}

/// A page of vector registers for each lane, and the scalar registers. A scalar instruction reads two and writes one.
fn registers(gpu: &GpuSpec) -> [Block; 2] {
    let file = |(name, clock), words, count, charges| Block {
        name,
        clock,
        group: Group::Storage,
        spec: logic(LogicBlock::FlopFile {
            words,
            bits: LANE_BITS,
            reads: READ_PORTS,
        }),
        flops: words * LANE_BITS,
        count,
        charges,
    };
    let pages = gpu.sm.warp_width;
    let words = row_count(gpu);
    [
        file(
            ("register_file", "clock.register_file"),
            words,
            pages,
            vec![
                ("read", vec![("register_words_read", 1)]),
                ("write", vec![("register_words_written", 1)]),
            ],
        ),
        file(
            ("scalar_registers", "clock.scalar_registers"),
            SCALAR_WORDS,
            1,
            vec![
                ("read", vec![("issued_scalar", 2)]),
                ("write", vec![("issued_scalar", 1)]),
            ],
        ),
    ]
}

/// What computes and what reaches memory. Reciprocals and double precision are the SIMFs' work.
fn units(gpu: &GpuSpec) -> [Block; 4] {
    let chip = &gpu.chip;
    let block = |names, gates, lanes: u32, events: &[&'static str]| {
        counted(names, Group::Execution, (gates, lanes), events)
    };
    [
        block(
            ("salu", "clock.salu"),
            SALU,
            gpu.units.scalar.count,
            &["issued_scalar"],
        ),
        block(
            ("simd", "clock.simd"),
            SIMD_LANE,
            chip.int_lanes,
            &["int_add.read", "int_mul.read"],
        ),
        block(
            ("simf", "clock.simf"),
            SIMF_LANE,
            chip.fp32_lanes,
            &["fp32_add.read", "fp32_mul.read", "sfu.read", "fp64.read"],
        ),
        block(
            ("lsu", "clock.lsu"),
            LSU_LANE,
            gpu.sm.warp_width,
            &["address_lanes"],
        ),
    ]
}

fn blocks(gpu: &GpuSpec) -> Vec<Block> {
    let all = front_end(gpu)
        .into_iter()
        .chain(registers(gpu))
        .chain(units(gpu));
    let mut blocks: Vec<Block> = all.filter(|block| block.count > 0).collect();
    for (name, parts) in HELD {
        let of = blocks.iter_mut().filter(|block| block.name == name);
        let charges = of.flat_map(|block| &mut block.charges);
        charges.for_each(|(_, events)| events.extend(parts.map(|event| (event, 0))));
    }
    blocks
}

/// What other GPUs have as structures of their own is a part of these blocks, and in the price of what they are charged for: the scoreboard's busy registers lie in
/// the issue stage, and operands in the lanes' registers, as there are no collectors.
const HELD: [(&str, [&str; 2]); 2] = [
    ("issue", ["scoreboard.read", "scoreboard.write"]),
    ("simd", ["operand_buffer.read", "operand_buffer.write"]),
];

/// Everything that is priced of `gpu`.
pub fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let blocks = blocks(gpu);
    let flops = |block: &Block| block.flops * u64::from(block.count);
    let all: u64 = blocks.iter().map(flops).sum();
    let mut found = Vec::new();
    for block in &blocks {
        let share = (100 * flops(block)).div_ceil(all) as u32;
        let tree = NocBlock::Clock {
            sinks: flops(block),
            square_micrometres: 1,
        };
        let spec = Spec::Noc(NocSpec {
            block: tree,
            activity: 100,
        });
        let clock = Structure::new(block.clock, Group::Clock, spec);
        let clock = clock.spanning(Region::Sm, share);
        found.push(clock.charged(Charge::any("read", &ACTIVE)));
    }
    for block in blocks {
        let structure = Structure::new(block.name, block.group, block.spec).per_sm(block.count);
        let charges = block.charges.into_iter();
        found.push(charges.fold(structure, |structure, (action, events)| {
            structure.charged(Charge::weighted(action, events))
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn miaow() -> Vec<Structure> {
        structures(&GpuSpec::preset("miaow").unwrap())
    }

    /// The paper says about 95 %; the difference is what the released RTL has around its vector units, the queue for results among it.
    #[test]
    fn most_flip_flops_are_registers() {
        let sinks = |prefix: &str| -> u64 {
            let all = miaow();
            let of = all.iter().filter(|it| it.name.starts_with(prefix));
            of.filter_map(|it| match &it.spec {
                Spec::Noc(NocSpec {
                    block: NocBlock::Clock { sinks, .. },
                    ..
                }) => Some(*sinks),
                _ => None,
            })
            .sum()
        };
        let registers = sinks("clock.register_file") + sinks("clock.scalar_registers");
        assert_eq!(registers, 1024 * 64 * 32 + 512 * 32);
        let share = registers as f64 / sinks("clock.") as f64;
        assert!((share - 0.898).abs() < 0.001, "{share}");
        let without_queues = registers as f64 / (sinks("clock.") - 8 * 2_301) as f64;
        assert!((without_queues - 0.905).abs() < 0.001, "{without_queues}");
    }

    #[test]
    fn every_block_has_a_clock() {
        let all = miaow();
        let clocks = all.iter().filter(|it| it.group == Group::Clock).count();
        assert_eq!(2 * clocks, all.len());
    }
}

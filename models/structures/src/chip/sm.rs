//! What an SM holds.

use warpwatt_circuit::logic::{LogicBlock, LogicSpec, Policy};
use warpwatt_circuit::noc::{NocBlock, NocSpec};
use warpwatt_circuit::units::{Operation, Precision, UnitSpec};
use warpwatt_circuit::{BufferSpec, CamSpec, Ports, RamSpec, Spec};
use warpwatt_gpu::{BackEnd, Carveout, GpuSpec, Policy as Order, TexturePath};

use super::{ADDRESS_BITS, array, sectors, tags};
use crate::{Charge, Group, Structure, banks, plain};

/// Bits of an opcode that the decoder turns into control lines. Assumed.
const OPCODE_BITS: u64 = 8;
/// Bits of an entry of a SIMT stack: program counter, meeting point, and a lane's bit each (Fung et al., MICRO 2007).
const STACK_ADDRESSES: u64 = 2 * 32;
/// Bits of a data word of a lane.
const LANE_BITS: u32 = 32;
/// Share of the bits that change from one operation to the next, in percent: random data.
pub(super) const RANDOM: u8 = 50;
/// Bytes that a constant access broadcasts.
const CONSTANT_WORD_BITS: u32 = 64;

/// Fetch, decode, issue, operand collection.
pub(super) fn front_end(gpu: &GpuSpec) -> Vec<Structure> {
    let own = plain::structures(gpu).into_iter();
    let mut found: Vec<Structure> = own
        .filter(|it| it.group == Group::FrontEnd && it.name != "operand_buffer")
        .collect();
    let schedulers = gpu.scheduler.count;
    found.extend([
        Structure::front_end("decoder", logic(LogicBlock::Decoder { bits: OPCODE_BITS }))
            .per_sm(schedulers)
            .charged(Charge::each("read", "fetches")),
        Structure::front_end("scheduler", scheduler(gpu))
            .per_sm(schedulers)
            .charged(Charge::each("read", "warp_instructions")),
        Structure::front_end("simt_stack", simt_stack(gpu))
            .charged(Charge::each("read", "warp_instructions")),
        Structure::front_end("operand_buffer", operand_buffer(gpu)),
        operand_crossbar(gpu),
    ]);
    found
}

fn logic(block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: RANDOM,
    })
}

fn scheduler(gpu: &GpuSpec) -> Spec {
    let warps = gpu.warps_per_sm().div_ceil(gpu.scheduler.count);
    let policy = match gpu.scheduler.policy {
        Order::Gto | Order::Oldest => Policy::Gto,
        Order::TwoLevel | Order::ActivePool => Policy::TwoLevel,
        Order::RoundRobin | Order::Fair | Order::FirstReady => Policy::Lrr,
    };
    logic(LogicBlock::Scheduler {
        warps: u64::from(warps.max(2)),
        policy,
        active: u64::from(gpu.scheduler.active_warps.max(2)),
    })
}

/// One entry is read at each issue: where the warp is, and which lanes.
fn simt_stack(gpu: &GpuSpec) -> Spec {
    Spec::Ram(RamSpec {
        words: u64::from(gpu.warps_per_sm() * gpu.chip.stack_entries),
        bits: STACK_ADDRESSES + u64::from(gpu.sm.warp_width),
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: 1,
    })
}

/// Warp-wide operands of all collectors; an access moves one of them.
fn operand_buffer(gpu: &GpuSpec) -> Spec {
    Spec::Buffer(BufferSpec {
        entries: u64::from(gpu.operands.collectors * gpu.operands.sources),
        bits: u64::from(LANE_BITS * gpu.sm.warp_width),
        ports: Ports::READ_AND_WRITE,
    })
}

/// From the register banks to the collectors. A lane's words never leave the lane: there is a crossbar for each, in each sub-core.
fn operand_crossbar(gpu: &GpuSpec) -> Structure {
    let parts = match gpu.scheduler.back_end {
        BackEnd::Shared => 1,
        BackEnd::Split => gpu.scheduler.count,
    };
    let share = |count: u32| u64::from(count.div_ceil(parts).max(1));
    let spec = crossbar(
        share(gpu.operands.banks),
        share(gpu.operands.collectors),
        LANE_BITS,
    );
    Structure::front_end("operand_crossbar", spec)
        .per_sm(parts * gpu.sm.warp_width)
        .charged(Charge::each("read", "register_words_read"))
}

pub(super) fn crossbar(inputs: u64, outputs: u64, bits: u32) -> Spec {
    Spec::Noc(NocSpec {
        block: NocBlock::Crossbar {
            inputs,
            outputs,
            bits: u64::from(bits),
        },
        activity: RANDOM,
    })
}

/// Register file and memories.
pub(super) fn storage(gpu: &GpuSpec) -> Vec<Structure> {
    let mut found = vec![banks::register_file(gpu)];
    found.extend(shared_memory(gpu));
    if gpu.has_l1() {
        found.extend(l1(gpu));
    }
    found.extend(constant_cache(gpu));
    if gpu.texture.path == TexturePath::Own {
        found.extend(texture_cache(gpu));
    }
    found
}

fn memory(name: &'static str, spec: Spec) -> Structure {
    Structure::new(name, Group::Storage, spec)
}

/// Whether the first-level data cache and shared memory are one memory.
fn is_unified(gpu: &GpuSpec) -> bool {
    gpu.has_l1() && gpu.l1.carveout != Carveout::None
}

/// One bank of shared memory, or of the memory that it is a part of.
fn shared_bank(gpu: &GpuSpec) -> Spec {
    let bytes = if is_unified(gpu) {
        1024 * u64::from(gpu.l1.kb)
    } else {
        u64::from(gpu.sm.shared_bytes)
    };
    array(bytes / u64::from(gpu.shared.banks), LANE_BITS, Ports::ONE)
}

/// The banks, and the crossbar between them and the lanes. Which of its accesses are stores is not counted: all are priced as loads.
fn shared_memory(gpu: &GpuSpec) -> [Structure; 2] {
    let banks = gpu.shared.banks;
    let wires = crossbar(
        u64::from(gpu.shared.pass_lanes),
        u64::from(banks),
        LANE_BITS,
    );
    [
        memory("shared_memory", shared_bank(gpu))
            .per_sm(banks)
            .charged(Charge::each("read", "shared_words")),
        memory("shared_memory.crossbar", wires).charged(Charge::each("read", "shared_words")),
    ]
}

/// Its data lie in the banks of shared memory where the two are one: then only accesses are its own.
fn l1(gpu: &GpuSpec) -> Vec<Structure> {
    let bytes = 1024 * u64::from(gpu.l1.kb);
    let (data, per_sm, banks) = if is_unified(gpu) {
        let banks = 8 * warpwatt_gpu::SECTOR_BYTES / LANE_BITS;
        (shared_bank(gpu), 0, banks)
    } else {
        (sectors(bytes), 1, 1)
    };
    let sector = |action, counters: &[&'static str]| {
        Charge::weighted(action, counters.iter().map(|counter| (*counter, banks)))
    };
    let misses = Spec::Cam(CamSpec {
        entries: u64::from(gpu.l1.mshrs.min(MOST_MSHRS)),
        bits: u64::from(ADDRESS_BITS - gpu.l1.line_bytes.ilog2()),
        ports: Ports::ONE,
        banks: 1,
    });
    vec![
        memory("l1.tag", tags(bytes, gpu.l1.line_bytes, gpu.l1.ways))
            .charged(Charge::each("read", "l1_lookups"))
            .charged(Charge::each("write", "l1_read_misses")),
        memory("l1.data", data)
            .per_sm(per_sm)
            .charged(sector("read", &["l1_read_hits"]))
            .charged(sector("write", &["l1_writes", "l1_read_misses"])),
        memory("l1.mshr", misses)
            .charged(Charge::any("search", &["l1_read_misses", "l1_read_merges"]))
            .charged(Charge::each("write", "l1_read_misses")),
    ]
}

/// Outstanding misses that are searched at once; simulators allow more than anybody builds. Assumed.
const MOST_MSHRS: u32 = 128;

/// An access broadcasts a word; a miss brings a line of them.
fn constant_cache(gpu: &GpuSpec) -> [Structure; 2] {
    let constant = &gpu.constant;
    let bytes = u64::from(constant.cache_bytes);
    let words = (8 * constant.cache_line_bytes / CONSTANT_WORD_BITS).max(1);
    let fill = Charge::weighted("write", [("constant_misses", words)]);
    [
        memory(
            "constant_cache.tag",
            tags(bytes, constant.cache_line_bytes, constant.cache_ways),
        )
        .charged(Charge::each("read", "constant_accesses"))
        .charged(Charge::each("write", "constant_misses")),
        memory(
            "constant_cache",
            array(bytes, CONSTANT_WORD_BITS, Ports::ONE),
        )
        .charged(Charge::each("read", "constant_accesses"))
        .charged(fill),
    ]
}

fn texture_cache(gpu: &GpuSpec) -> [Structure; 2] {
    let texture = &gpu.texture;
    let bytes = u64::from(texture.cache_bytes);
    let line_bits = 8 * texture.cache_line_bytes;
    [
        memory(
            "texture_cache.tag",
            tags(bytes, texture.cache_line_bytes, texture.cache_ways),
        )
        .charged(Charge::each("read", "texture_reads"))
        .charged(Charge::each("write", "texture_misses")),
        memory("texture_cache", array(bytes, line_bits, Ports::ONE))
            .charged(Charge::each("read", "texture_reads"))
            .charged(Charge::each("write", "texture_misses")),
    ]
}

/// Lanes and units. Additions share the area of the multiply-add that stands beside them.
pub(super) fn execution(gpu: &GpuSpec) -> Vec<Structure> {
    let unit = |name, operation, precision, macs, per_sm| {
        let spec = UnitSpec {
            operation,
            precision,
            macs,
        };
        Structure::execution(name, Spec::Unit(spec), per_sm)
    };
    let chip = &gpu.chip;
    let ints = match chip.int_lanes {
        0 => chip.fp32_lanes,
        lanes => lanes,
    };
    let mut found = vec![
        unit("int_add", Operation::Add, Precision::Int32, 1, ints),
        unit("int_mul", Operation::Mad, Precision::Int32, 1, ints),
        unit("fp32_add", Operation::Add, Precision::Fp32, 1, 0),
        unit(
            "fp32_mul",
            Operation::Fma,
            Precision::Fp32,
            1,
            chip.fp32_lanes,
        ),
        unit("fp64", Operation::Fma, Precision::Fp64, 1, chip.fp64_lanes),
        unit("sfu", Operation::Sfu, Precision::Fp32, 1, chip.sfu_lanes),
        unit(
            "address_generation",
            Operation::Address,
            Precision::Int64,
            1,
            gpu.ldst.lanes,
        )
        .charged(Charge::each("read", "address_lanes")),
        Structure::execution("coalescer", coalescer(gpu), gpu.ldst.lanes)
            .charged(Charge::each("read", "address_lanes")),
    ];
    let units = gpu.units.tensor.count.max(1);
    // Without matrix units the multiply-adds of single precision do their work.
    let (macs, count) = match chip.tensor_macs / units {
        0 => (1, 0),
        each => (each, units),
    };
    found.push(
        unit("tensor", Operation::Mma, Precision::Fp16, macs, count)
            .charged(Charge::each("read", "tensor_multiply_adds").at_once(macs)),
    );
    found
}

/// A lane's segment is compared with that of the transaction which is formed.
fn coalescer(gpu: &GpuSpec) -> Spec {
    logic(LogicBlock::Equality {
        bits: u64::from(ADDRESS_BITS - gpu.ldst.segment_bytes.ilog2()),
    })
}

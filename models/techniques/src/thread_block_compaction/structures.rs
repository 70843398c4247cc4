//! What it takes: the stack, the encoders that form warps, and for every lane of every warp where its registers begin.

use warpwatt_circuit::logic::{Carry, LogicBlock, LogicSpec};
use warpwatt_circuit::{BufferSpec, Ports, RamSpec, Spec};
use warpwatt_gpu::{GpuSpec, Inventory};
use warpwatt_structures::Charge;

use crate::{Group, Structure};

/// Bits of an entry beside a bit a warp: program counter and meeting point.
const ADDRESSES: u64 = 2 * 32;
/// Registers of a warp at the most (section 5: "256 registers for each re-formed wavefront").
const MOST_REGISTERS: u64 = 256;
/// Words of a lane that an instruction reads and writes at once: three and one (section 2.5).
const PORTS: u32 = 4;
/// Warps of a CTA at the most.
const MOST_WARPS: u32 = 32;

fn logic(block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: 50,
    })
}

pub(super) fn structures(gpu: &GpuSpec, stack_entries: u32) -> Vec<Structure> {
    let warps = u64::from(gpu.warps_per_sm()).max(2);
    let lanes = gpu.sm.warp_width;
    let of_cta = u64::from(gpu.warps_per_sm().clamp(2, MOST_WARPS));
    // A row of the file holds a register of every lane.
    let rows = u64::from(gpu.registers_per_sm() / lanes).max(2);
    let row_bits = u64::from(u64::BITS - (rows - 1).leading_zeros());
    let stack = Spec::Ram(RamSpec {
        words: u64::from(gpu.sm.ctas * stack_entries),
        bits: ADDRESSES + of_cta,
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: 1,
    });
    let table = Spec::Buffer(BufferSpec {
        entries: warps,
        bits: row_bits,
        ports: Ports::READ_AND_WRITE,
    });
    let encoder = logic(LogicBlock::PriorityEncoder { inputs: of_cta });
    let adder = logic(LogicBlock::Adder {
        bits: row_bits,
        carry: Carry::Ripple,
    });
    let name = |name, spec, count| Structure::new(name, Group::FrontEnd, spec).per_sm(count);
    let mut found = vec![
        name("thread_block_compaction.stack", stack, 1),
        name("thread_block_compaction.formation", encoder, lanes),
        name("thread_block_compaction.base_table", table, lanes),
        name("thread_block_compaction.base_adder", adder, lanes * PORTS),
    ];
    // Where the issue stage knows registers by their rows, it must know them by warp and number instead.
    if gpu.chip.inventory == Inventory::ComputeUnit {
        let busy = logic(LogicBlock::FlopFile {
            words: warps,
            bits: BUSY_BITS,
            reads: 1,
        });
        let parts = (MOST_REGISTERS / BUSY_BITS) as u32;
        let busy = Structure::new("thread_block_compaction.busy_table", Group::FrontEnd, busy);
        found.push(
            busy.per_sm(parts)
                .charged(Charge::weighted("read", [("warp_instructions", parts)])),
        );
    }
    found
}

/// Bits of a part of the table of busy registers.
const BUSY_BITS: u64 = 64;

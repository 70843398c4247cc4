//! What SHARP adds to an SM (figure 8 and section 3.3.4).

use warpwatt_circuit::logic::{Code, LogicBlock};
use warpwatt_circuit::{BufferSpec, Ports, RamSpec, Spec};
use warpwatt_gpu::GpuSpec;

use super::ports::WAITING;
use crate::Structure;
use crate::protection::{Guard, beside, logic, seldom};
use warpwatt_structures::Charge;

/// One error is corrected, two are told from one: seven bits for a register of a lane (section 3.3.2.2).
const CODE: Guard = Guard::Correcting(Code::Hsiao);
/// Requests that wait.
const REQUESTS: u64 = 16;
/// Bits of a group's content: four registers.
const GROUP_BITS: u64 = 4 * 32;

/// Request queue with its warp-id table, waiting queue, and trees that make the check bits of a register of each lane: one request is served at a time, so that a
/// recording and a check share them. A check compares what they make with what was recorded; one corrector does for all. Of the bank of shared memory only
/// accesses count: it is there.
pub(super) fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let warps = u64::from(gpu.warps_per_sm());
    let warp_bits = number_bits(warps);
    let groups = u64::from(gpu.sm.registers_bytes) / 16;
    let of = |name, spec, per_sm| Structure::added(name, spec).per_sm(per_sm);
    let width = gpu.sm.warp_width;
    let compared = LogicBlock::Equality {
        bits: CODE.check_bits(32),
    };
    let mut found = vec![
        of("sharp.queue", buffer(REQUESTS, 1 + warp_bits), 1),
        of("sharp.warp_table", buffer(warps, warp_bits), 1),
        of(
            "sharp.waiting_queue",
            buffer(u64::from(WAITING), number_bits(groups) + GROUP_BITS),
            1,
        ),
        beside(gpu, of("sharp.generator", CODE.generator(32), width)).charged(Charge::any(
            "read",
            &["sharp.generator.read", "sharp.checker.read"],
        )),
        beside(gpu, of("sharp.checker", logic(compared), width)),
        of("sharp.shared_bank", bank(gpu), 0),
    ];
    let corrector = CODE.corrector(32);
    found.extend(corrector.map(|it| seldom(gpu, of("sharp.corrector", it, 1))));
    found
}

/// A bank of shared memory, with a valid bit a word.
fn bank(gpu: &GpuSpec) -> Spec {
    let words = u64::from(gpu.sm.shared_bytes / 4 / gpu.shared.banks);
    Spec::Ram(RamSpec {
        words: words.max(1),
        bits: 32 + 1,
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks: 1,
    })
}

/// Every word of shared memory gets its valid bit.
pub(super) fn widen(structures: &mut [Structure]) {
    for structure in structures {
        if let ("shared_memory", Spec::Ram(ram)) = (structure.name, &mut structure.spec) {
            ram.bits += ram.bits.div_ceil(32);
        }
    }
}

fn buffer(entries: u64, bits: u64) -> Spec {
    Spec::Buffer(BufferSpec {
        entries,
        bits,
        ports: Ports::READ_AND_WRITE,
    })
}

/// Bits that number so many things.
fn number_bits(count: u64) -> u64 {
    u64::from(count.next_power_of_two().trailing_zeros().max(1))
}

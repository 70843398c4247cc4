//! What SAWP adds to an SM (figure 5).

use warpwatt_circuit::logic::{Code, LogicBlock, LogicSpec};
use warpwatt_circuit::{BufferSpec, Ports, Spec};
use warpwatt_gpu::GpuSpec;

use super::Sawp;
use crate::Structure;
use crate::protection::{Guard, RANDOM};

/// One error is all that there is (section 3.2.2.1).
const CODE: Guard = Guard::Correcting(Code::Sec);
/// Bits of the counters of instructions that warps have issued: enough for the differences that matter.
const PROGRESS_BITS: u64 = 8;

impl Sawp {
    /// Comparators, generator and checker, parities, the table, and counters of how far warps are.
    pub(super) fn structures_of(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let (word, entries) = (word(gpu), self.entries());
        let of = |name, spec, per_sm| Structure::front_end(name, spec).per_sm(per_sm);
        let equality = logic(LogicBlock::Equality { bits: word });
        let table = Spec::Buffer(BufferSpec {
            entries: u64::from(entries),
            bits: CODE.check_bits(word) + 2 * number_bits(slots(gpu)),
            ports: Ports::READ_AND_WRITE,
        });
        // One makes parities, one checks them at issue, and one each compared instruction.
        let parities = 2 + entries;
        let mut found = vec![
            of("sawp.comparator", equality, entries),
            of("sawp.generator", CODE.generator(word), 1),
            of("sawp.checker", CODE.checker(word), 1),
            of("sawp.parity", Guard::Parity.checker(word), parities),
            of("sawp.table", table, 1),
        ];
        if self.counts_progress() {
            let counter = logic(LogicBlock::Counter {
                bits: PROGRESS_BITS,
            });
            found.push(of("sawp.progress", counter, gpu.warps_per_sm()));
        }
        found
    }

    /// Each slot of the buffer gets its parity, the existing bit, and the number of an entry.
    pub(super) fn widen(&self, structures: &mut [Structure]) {
        for structure in structures {
            if let ("instruction_buffer", Spec::Ram(ram)) = (structure.name, &mut structure.spec) {
                ram.bits += 2 + number_bits(self.entries());
            }
        }
    }
}

fn logic(block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: RANDOM,
    })
}

/// Bits of an instruction.
fn word(gpu: &GpuSpec) -> u64 {
    8 * u64::from(gpu.fetch.instruction_bytes)
}

/// Slots of an SM's buffer.
fn slots(gpu: &GpuSpec) -> u32 {
    gpu.warps_per_sm() * gpu.fetch.buffer_entries
}

/// Bits that number so many things.
fn number_bits(count: u32) -> u64 {
    u64::from(count.next_power_of_two().trailing_zeros().max(1))
}

//! What SAWP adds to an SM (figure 5).

use warpwatt_circuit::logic::{Carry, Code, LogicBlock};
use warpwatt_circuit::{BufferSpec, Ports, RamSpec, Spec};
use warpwatt_gpu::GpuSpec;

use super::Sawp;
use crate::Structure;
use crate::protection::{Guard, beside, columns, logic, seldom};

/// One error is all that there is (section 3.2.2.1).
const CODE: Guard = Guard::Correcting(Code::Sec);
/// Bits of the counts of instructions that warps have issued: enough for the differences that matter.
const PROGRESS_BITS: u64 = 8;

impl Sawp {
    /// Everything stands beside the pipeline, in steps that follow each other (section 3.2.3), and takes an instruction a cycle.
    pub(super) fn structures_of(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let mut found = self.codes(gpu);
        found.extend(self.entries_of(gpu));
        if self.counts_progress() {
            found.extend(self.progress_of(gpu));
        }
        found
    }

    /// One generator, one circuit that makes parities and one that checks them at issue, one corrector. What is compared needs no parity checked: a flip in it, or
    /// in its parity bit, is a difference.
    fn codes(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let word = word(gpu);
        let of = |name, spec, per_sm| Structure::front_end(name, spec).per_sm(per_sm);
        let mut found = vec![
            beside(gpu, of("sawp.generator", CODE.generator(word), 1)),
            beside(gpu, of("sawp.parity", Guard::Parity.detector(word), 2)),
        ];
        let corrector = CODE.corrector(word);
        found.extend(corrector.map(|it| seldom(gpu, of("sawp.corrector", it, 1))));
        found
    }

    /// The table, the instructions that its entries are compared by, and what finds an entry: the one that is the same, or that with the fewest instructions.
    fn entries_of(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let (word, entries) = (word(gpu), self.entries());
        let number = number_bits(slots(gpu));
        let of = |name, spec, per_sm| beside(gpu, Structure::front_end(name, spec).per_sm(per_sm));
        let equality = LogicBlock::Equality { bits: word + 1 };
        let mut found = vec![
            of("sawp.comparator", logic(equality), entries),
            of(
                "sawp.table",
                buffer(entries, CODE.check_bits(word) + 2 * number),
                1,
            ),
            // The number of an entry that makes way goes to all slots, each of which compares it with its own.
            of(
                "sawp.broadcast",
                logic(LogicBlock::Equality {
                    // A comparison of one bit is no block of gates.
                    bits: number_bits(entries).max(2),
                }),
                slots(gpu),
            ),
        ];
        if self.compare_reads {
            found.push(of("sawp.copies", buffer(entries, word + 1), 1));
        }
        if entries > 1 {
            let inputs = u64::from(entries);
            let analyser = LogicBlock::PriorityEncoder { inputs };
            let smaller = LogicBlock::Magnitude { bits: number };
            found.push(of("sawp.analyser", logic(analyser), 1));
            // A tree of comparisons finds the least of the counters.
            found.push(of("sawp.minimum", logic(smaller), entries - 1));
        }
        found
    }

    /// How far warps are: a store of a count each, of which one is read and written a cycle, their sum, and how far one is from the mean; and the threshold.
    fn progress_of(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let warps = gpu.warps_per_sm();
        let of = |name, spec| {
            let issues = gpu.scheduler.count * gpu.scheduler.width;
            beside(gpu, Structure::front_end(name, spec).per_sm(issues))
        };
        let one = |name, block| beside(gpu, Structure::front_end(name, logic(block)));
        let bits = PROGRESS_BITS;
        let store = Spec::Ram(RamSpec {
            words: u64::from(warps),
            bits,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        });
        let difference = LogicBlock::Adder {
            bits,
            carry: Carry::Prefix,
        };
        vec![
            of("sawp.progress", store),
            of("sawp.increment", logic(LogicBlock::Counter { bits })),
            one(
                "sawp.mean",
                LogicBlock::Counter {
                    bits: bits + number_bits(warps),
                },
            ),
            one("sawp.distance", difference),
            one("sawp.bound", LogicBlock::Magnitude { bits }),
            one(
                "sawp.threshold",
                LogicBlock::Magnitude {
                    bits: number_bits(slots(gpu)),
                },
            ),
        ]
    }

    /// Each slot of the buffer gets its parity, the existing bit, and the number of an entry.
    pub(super) fn widen(&self, structures: &mut [Structure]) {
        for structure in structures {
            if let ("instruction_buffer", Spec::Ram(ram)) = (structure.name, &mut structure.spec) {
                ram.bits = columns(ram.bits + 2 + number_bits(self.entries()));
            }
        }
    }
}

/// Entries in flip-flops.
fn buffer(entries: u32, bits: u64) -> Spec {
    Spec::Buffer(BufferSpec {
        entries: u64::from(entries),
        bits,
        ports: Ports::READ_AND_WRITE,
    })
}

/// Bits of an instruction.
pub(super) fn word(gpu: &GpuSpec) -> u64 {
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

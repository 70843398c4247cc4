//! The values of a launch's code that may lie in a small register file.

use std::collections::BTreeMap;

use warpwatt_gpu::trace::{KernelTrace, LatencyClass, StaticInst, Unit};

use crate::register_file::words;

/// Operand words of an instruction beyond which all come from the main register file: as many as a plan tells apart.
const OPERANDS: usize = 64;

/// A value: what writes it and what reads it, in the order of the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The instructions that write it, and whether the main register file needs what they write. None: the first read takes it from there.
    pub writes: Vec<(u32, bool)>,
    /// The instructions that read it.
    pub reads: Vec<u32>,
    /// The 32-bit register.
    pub word: u16,
    /// Only instructions of the lanes' own units write and read it.
    pub private: bool,
}

impl Value {
    /// The instruction that puts it into a small register file.
    pub fn first(&self) -> u32 {
        let write = self.writes.first().map(|(at, _)| *at);
        write.unwrap_or_else(|| self.reads[0])
    }

    /// Reads that a small register file can serve.
    pub fn served(&self) -> &[u32] {
        if self.writes.is_empty() {
            &self.reads[1..]
        } else {
            &self.reads
        }
    }

    /// The writes of which a small register file needs what they write to serve the first `reads` reads: those before the last of them, since a strand has no
    /// way back. None if the first read puts the value there.
    pub fn written_for(&self, reads: usize) -> impl Iterator<Item = (u32, bool)> {
        let last = self.served()[reads - 1];
        let writes = self.writes.iter().copied();
        writes.take_while(move |&(at, _)| at < last)
    }
}

/// The values of `trace`'s code.
pub fn values(trace: &KernelTrace) -> Vec<Value> {
    let mut values: BTreeMap<u32, Value> = BTreeMap::new();
    let private: Vec<bool> = trace.code.iter().map(is_private).collect();
    for (at, inst) in trace.code.iter().enumerate() {
        let marks = &inst.marks;
        let reads = marks.reads.iter().map(|read| (read.value, read.word));
        let writes = marks.writes.iter().map(|write| (write.value, write.word));
        for (value, word) in reads.chain(writes) {
            let value = values.entry(value).or_insert_with(|| Value {
                word,
                private: true,
                ..Value::default()
            });
            value.private &= private[at];
        }
        for read in &marks.reads {
            let value = values.entry(read.value).or_default();
            value.reads.push(at as u32);
        }
        for write in &marks.writes {
            let value = values.entry(write.value).or_default();
            value.writes.push((at as u32, write.outlives));
        }
    }
    let can_lie = |value: &Value| {
        let tells_apart = |&at: &u32| has_few_operands(&trace.code[at as usize]);
        let is_served = value.reads.len() > usize::from(value.writes.is_empty());
        is_served && value.reads.iter().all(tells_apart)
    };
    values.into_values().filter(can_lie).collect()
}

/// Whether the units of the lanes themselves execute it: the last result file is theirs, and no wires lead from it to the shared units.
fn is_private(inst: &StaticInst) -> bool {
    let shared = matches!(inst.latency, LatencyClass::Div | LatencyClass::Shuffle);
    matches!(inst.unit, Unit::Int | Unit::Fp32) && !shared
}

/// Barriers read their operands apart from the register file's ports.
fn has_few_operands(inst: &StaticInst) -> bool {
    let operands = inst.sources.iter().flat_map(|&source| words(source));
    inst.unit != Unit::Barrier && operands.count() <= OPERANDS
}

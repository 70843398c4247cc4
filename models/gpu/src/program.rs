//! A kernel's static instructions, prepared for the pipeline: units, timing, register regions, bank reads.

use std::ops::Range;

use warpwatt_simt::trace::{
    KernelTrace, LatencyClass, MemoryOp, Register, RegisterKind, StaticInst, Unit,
};

use crate::counters::Counter;
use crate::{ClassTiming, GpuSpec, OpTiming, TimingSpec, UnitsSpec};

/// The kernel that runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// Address of its first instruction.
    pub base: u64,
    pub insts: Vec<Inst>,
    keys: Vec<u32>,
    regions: Vec<Region>,
    reads: Vec<Read>,
    writes: Vec<u16>,
    /// Metadata instructions in front of each instruction, and instructions of both kinds before it; empty if there are no metadata.
    metadata: Vec<u8>,
    places: Vec<u32>,
}

/// A register that an instruction reads from the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// Number of the warp-wide 32-bit register.
    pub word: u16,
    /// How much later than the instruction's first its collector can take it, in reads of a bank.
    pub turn: u16,
}

/// A static instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub port: Port,
    /// Cycles for which it occupies its unit.
    pub interval: u64,
    /// Cycles for which one pass of it does.
    pub pass: u64,
    /// Cycles from its issue to the earliest issue of an instruction that needs its result, without conflicts.
    pub latency: u64,
    /// Whether its warp waits for it before the next fetch.
    pub control: bool,
    /// Whether it waits until its warp has nothing pending.
    pub fence: bool,
    /// What a lane's work counts as, if units of the lanes do it.
    pub operation: Option<Counter>,
    pub memory: Option<MemoryOp>,
    /// The bits of all that it reads and writes.
    pub touches: u64,
    keys: Range<u32>,
    regions: Range<u32>,
    reads: Range<u32>,
    writes: Range<u32>,
}

/// Where an instruction goes from the issue stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// Single-precision units; what has no units of its own on the GPU goes there too.
    Sp,
    /// Integer units, branches with them.
    Int,
    /// Special-function units.
    Sfu,
    /// Double-precision units.
    Fp64,
    /// Tensor units.
    Tensor,
    /// The load-store unit.
    Ldst,
    /// None: barriers.
    Barrier,
}

/// All ports.
pub(crate) const PORTS: usize = 7;

/// A run of consecutive registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub base: u32,
    pub count: u32,
}

impl Region {
    #[inline]
    pub fn holds(self, key: u32) -> bool {
        key.wrapping_sub(self.base) < self.count
    }

    /// A bit for each of its registers, by their number modulo 64: regions without a common bit do not overlap.
    #[inline]
    pub fn bits(self) -> u64 {
        let ones = 1u64.checked_shl(self.count).map_or(u64::MAX, |end| end - 1);
        ones.rotate_left(self.base % 64)
    }

    #[inline]
    pub fn overlaps(self, other: Self) -> bool {
        self.base < other.base + other.count && other.base < self.base + self.count
    }
}

impl Program {
    /// Prepares `trace`'s code for `spec`, placed at `base`.
    pub fn new(spec: &GpuSpec, trace: &KernelTrace, base: u64) -> Self {
        let mut program = Self {
            base,
            ..Self::default()
        };
        for inst in trace.code.iter() {
            let inst = program.prepare(spec, inst);
            program.insts.push(inst);
        }
        program
    }

    /// The same code with so many metadata instructions in front of each instruction.
    pub fn with_metadata(mut self, metadata: Vec<u8>) -> Self {
        let mut place = 0;
        self.places = Vec::with_capacity(metadata.len());
        for &count in &metadata {
            place += u32::from(count);
            self.places.push(place);
            place += 1;
        }
        self.metadata = metadata;
        self
    }

    /// Metadata instructions in front of an instruction.
    #[inline]
    pub fn metadata(&self, inst: u32) -> u8 {
        self.metadata.get(inst as usize).copied().unwrap_or(0)
    }

    /// The address of an instruction of `bytes` bytes.
    #[inline]
    pub fn address(&self, inst: u32, bytes: u32) -> u64 {
        let place = self.places.get(inst as usize).copied().unwrap_or(inst);
        self.base + u64::from(place) * u64::from(bytes)
    }

    fn prepare(&mut self, spec: &GpuSpec, inst: &StaticInst) -> Inst {
        let Timing {
            port,
            interval,
            pass,
            latency,
        } = timing(spec, inst);
        let keys = extend(
            &mut self.keys,
            inst.sources.iter().flat_map(|&register| keys(register)),
        );
        let regions = extend(
            &mut self.regions,
            regions(&inst.destinations, spec.scoreboard.regions as usize),
        );
        let reads = extend(&mut self.reads, reads(spec, &inst.sources));
        let results = inst.destinations.iter();
        let writes = extend(&mut self.writes, results.flat_map(|&it| bank_words(it)));
        Inst {
            port,
            interval: u64::from(interval),
            pass: u64::from(pass),
            latency: u64::from(latency),
            control: inst.unit == Unit::Control,
            fence: inst.unit == Unit::Fence,
            operation: operation(inst),
            memory: inst.memory,
            touches: self.touches(&keys, &regions),
            keys,
            regions,
            reads,
            writes,
        }
    }

    fn touches(&self, keys: &Range<u32>, regions: &Range<u32>) -> u64 {
        let keys = &self.keys[keys.start as usize..keys.end as usize];
        let regions = &self.regions[regions.start as usize..regions.end as usize];
        let read = keys.iter().map(|&base| Region { base, count: 1 });
        let all = read.chain(regions.iter().copied());
        all.fold(0, |bits, region| bits | region.bits())
    }

    /// Keys of the registers read.
    #[inline]
    pub fn sources(&self, inst: &Inst) -> &[u32] {
        &self.keys[inst.keys.start as usize..inst.keys.end as usize]
    }

    /// Regions written.
    #[inline]
    pub fn results(&self, inst: &Inst) -> &[Region] {
        &self.regions[inst.regions.start as usize..inst.regions.end as usize]
    }

    /// Warp-wide 32-bit registers read from the banks.
    #[inline]
    pub fn reads(&self, inst: &Inst) -> &[Read] {
        &self.reads[inst.reads.start as usize..inst.reads.end as usize]
    }

    /// Warp-wide 32-bit registers written to the banks.
    #[inline]
    pub fn writes(&self, inst: &Inst) -> &[u16] {
        &self.writes[inst.writes.start as usize..inst.writes.end as usize]
    }
}

/// Where an instruction goes, and how long that takes.
struct Timing {
    port: Port,
    interval: u32,
    pass: u32,
    latency: u32,
}

/// The unit, and how long it is occupied and takes. A division is a sequence on the special-function unit, whatever computes it in hardware.
fn timing(spec: &GpuSpec, inst: &StaticInst) -> Timing {
    let (units, timing) = (&spec.units, &spec.timing);
    let (port, op) = match (inst.unit, inst.latency) {
        (Unit::Memory, _) => {
            return Timing {
                port: Port::Ldst,
                interval: spec.interval(spec.ldst.lanes),
                pass: 1,
                latency: timing.control.latency,
            };
        }
        (Unit::Barrier, _) => {
            return Timing {
                port: Port::Barrier,
                interval: 0,
                pass: 0,
                latency: timing.control.latency,
            };
        }
        (Unit::Control | Unit::Fence, _) => (Port::Int, &timing.control),
        (Unit::Fp64, LatencyClass::Special) => (Port::Fp64, &timing.fp64.div),
        (Unit::Fp64, class) => (Port::Fp64, of_class(&timing.fp64, timing, class)),
        (Unit::Sfu, LatencyClass::Div) | (Unit::Int, LatencyClass::Div) => {
            (Port::Sfu, &timing.int.div)
        }
        (Unit::Fp32, LatencyClass::Div) => (Port::Sfu, &timing.fp32.div),
        (Unit::Sfu, _) => (Port::Sfu, &timing.special),
        (Unit::Matrix, _) => (Port::Tensor, &timing.tensor),
        (Unit::Int, class) => (Port::Int, of_class(&timing.int, timing, class)),
        (Unit::Fp32, class) => (Port::Sp, of_class(&timing.fp32, timing, class)),
    };
    let port = available(units, port);
    let lanes = match port {
        Port::Int => units.int.lanes,
        Port::Sfu => units.sfu.lanes,
        Port::Fp64 => units.fp64.lanes,
        Port::Tensor => units.tensor.lanes,
        Port::Sp | Port::Ldst | Port::Barrier => units.sp.lanes,
    };
    Timing {
        port,
        interval: spec.interval(lanes).max(op.interval),
        pass: op.interval,
        latency: op.latency,
    }
}

/// What the lanes do, by the unit that it takes; matrix work has units of its own.
fn operation(inst: &StaticInst) -> Option<Counter> {
    match (inst.unit, inst.latency) {
        (Unit::Int | Unit::Sfu | Unit::Fp32, LatencyClass::Div) | (Unit::Sfu, _) => {
            Some(Counter::Sfu)
        }
        (Unit::Int, LatencyClass::Mul | LatencyClass::Mad) => Some(Counter::IntMul),
        (Unit::Int, _) => Some(Counter::IntAdd),
        (Unit::Fp32, LatencyClass::Mul | LatencyClass::Mad) => Some(Counter::Fp32Mul),
        (Unit::Fp32, _) => Some(Counter::Fp32Add),
        (Unit::Fp64, _) => Some(Counter::Fp64),
        (Unit::Memory | Unit::Control | Unit::Barrier | Unit::Fence | Unit::Matrix, _) => None,
    }
}

fn of_class<'t>(
    class: &'t ClassTiming,
    timing: &'t TimingSpec,
    latency: LatencyClass,
) -> &'t OpTiming {
    match latency {
        LatencyClass::Add => &class.add,
        LatencyClass::MinMax => &class.minmax,
        LatencyClass::Mul => &class.mul,
        LatencyClass::Mad => &class.mad,
        LatencyClass::Div => &class.div,
        LatencyClass::Special => &timing.special,
        LatencyClass::Shuffle => &timing.shuffle,
        LatencyClass::Simple => &class.simple,
    }
}

/// The port itself, or the one that does its work on a GPU without such units.
fn available(units: &UnitsSpec, port: Port) -> Port {
    match port {
        Port::Int if units.int.count == 0 => Port::Sp,
        Port::Tensor if units.tensor.count == 0 => Port::Sp,
        Port::Fp64 if units.fp64.count == 0 => Port::Sfu,
        port => port,
    }
}

/// A word is its own number, a double the two words that it lies in; predicates are far from both.
fn keys(register: Register) -> Range<u32> {
    let number = u32::from(register.number);
    match register.kind {
        RegisterKind::Word => number..number + 1,
        RegisterKind::Double => 2 * number..2 * number + 2,
        RegisterKind::Predicate => PREDICATES + number..PREDICATES + number + 1,
    }
}

/// Key of the first predicate: no word has one so high, and few have its bit.
const PREDICATES: u32 = (1 << 20) + 48;

/// Consecutive registers share a region. If a scoreboard entry holds fewer regions than that gives, one region covers the rest with all between them.
fn regions(registers: &[Register], limit: usize) -> Vec<Region> {
    let mut keys: Vec<u32> = registers
        .iter()
        .flat_map(|&register| keys(register))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut regions: Vec<Region> = Vec::new();
    for key in keys {
        match regions.last_mut() {
            Some(last) if last.base + last.count == key => last.count = key - last.base + 1,
            _ => regions.push(Region {
                base: key,
                count: 1,
            }),
        }
    }
    while regions.len() > limit {
        if let (Some(last), Some(previous)) = (regions.pop(), regions.last_mut()) {
            previous.count = last.base + last.count - previous.base;
        }
    }
    regions
}

/// What a collector takes operand by operand, so many a cycle.
fn reads(spec: &GpuSpec, sources: &[Register]) -> Vec<Read> {
    let operands = &spec.operands;
    let vectors = sources.iter().filter(|register| register.kind.words() > 0);
    vectors
        .enumerate()
        .flat_map(|(operand, &register)| {
            let turn = operand as u32 / operands.collector_reads * operands.bank_reads
                + operand as u32 % operands.collector_reads * operands.bank_reads
                    / operands.collector_reads;
            bank_words(register).map(move |word| Read {
                word,
                turn: turn as u16,
            })
        })
        .collect()
}

/// A double-width register is two words of the register file; a predicate none.
fn bank_words(register: Register) -> impl Iterator<Item = u16> {
    let words = register.kind.words() as u16;
    let first = register.number.wrapping_mul(words.max(1));
    (0..words).map(move |word| first.wrapping_add(word))
}

fn extend<T>(pool: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Range<u32> {
    let start = pool.len() as u32;
    pool.extend(items);
    start..pool.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(number: u16) -> Register {
        Register {
            kind: RegisterKind::Word,
            number,
        }
    }

    #[test]
    fn neighbouring_results_share_a_region() {
        assert_eq!(
            regions(&[word(5), word(4), word(7)], 6),
            [Region { base: 4, count: 2 }, Region { base: 7, count: 1 }]
        );
        assert_eq!(
            regions(&[word(5), word(4), word(7)], 1),
            [Region { base: 4, count: 4 }]
        );
    }

    #[test]
    fn a_double_lies_in_two_words_and_predicates_apart() {
        let double = Register {
            kind: RegisterKind::Double,
            number: 3,
        };
        let predicate = Register {
            kind: RegisterKind::Predicate,
            number: 6,
        };
        assert_eq!(regions(&[double], 6), [Region { base: 6, count: 2 }]);
        assert!(regions(&[word(7)], 6)[0].overlaps(regions(&[double], 6)[0]));
        assert!(!regions(&[word(u16::MAX)], 6)[0].overlaps(regions(&[predicate], 6)[0]));
        assert!(!regions(&[word(6)], 6)[0].overlaps(regions(&[predicate], 6)[0]));
        assert_eq!(bank_words(double).collect::<Vec<_>>(), [6, 7]);
    }
}

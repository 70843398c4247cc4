//! A kernel's static instructions, prepared for the pipeline: units, timing, register regions, bank reads.

use std::ops::Range;

use warpwatt_simt::trace::{
    Asynchronous, Flow, KernelTrace, LatencyClass, MemoryOp, Register, StaticInst, TensorWork,
    Unit, run_lengths,
};

use crate::counters::Counter;
use crate::registers::{Numbering, Region, bank_words, keys, regions};
use crate::{ClassTiming, CountWaits, Exits, GpuSpec, Lowering, OpTiming, TimingSpec, UnitsSpec};

/// The kernel that runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// Address of its first instruction.
    pub base: u64,
    pub insts: Vec<Inst>,
    numbering: Numbering,
    keys: Vec<u32>,
    regions: Vec<Region>,
    /// The bits of each region.
    bits: Vec<u64>,
    reads: Vec<Read>,
    writes: Vec<u16>,
    /// Metadata instructions in front of each instruction, and instructions of both kinds before it; empty if there are no metadata.
    metadata: Vec<u8>,
    places: Vec<u32>,
    /// How many instructions from each one on only compute.
    computing: Vec<u32>,
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
    /// Whether it is a barrier of the CTA; others that take no unit only issue.
    pub barrier: bool,
    /// Fetches that it takes beyond its first.
    pub words: u8,
    /// Least cycles from the issue before it, of its warp.
    pub distance: u64,
    /// What a lane's work counts as, if units of the lanes do it.
    pub operation: Option<Counter>,
    /// Multiply-adds on matrices that a warp does with it.
    pub multiply_adds: u64,
    pub memory: Option<MemoryOp>,
    /// What it begins or awaits.
    pub asynchronous: Option<Asynchronous>,
    /// Registers that its unit reads and writes on its own.
    pub streamed: u64,
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
    /// Scalar units.
    Scalar,
    /// The load-store unit.
    Ldst,
    /// None: barriers; beside scalar units waits and ends too.
    Barrier,
}

/// All ports.
pub(crate) const PORTS: usize = 8;

impl Program {
    /// Prepares `trace`'s code for `spec`, placed at `base`.
    pub fn new(spec: &GpuSpec, trace: &KernelTrace, base: u64) -> Self {
        let mut program = Self {
            base,
            numbering: Numbering::new(&trace.code),
            ..Self::default()
        };
        for inst in trace.code.iter() {
            let inst = program.prepare(spec, inst);
            program.insts.push(inst);
        }
        program.computing = run_lengths(&trace.code, |inst| {
            inst.memory.is_none() && inst.asynchronous.is_none() && inst.unit != Unit::Barrier
        });
        if program.insts.iter().any(|inst| inst.words > 0) {
            return program.with_metadata(Vec::new());
        }
        program
    }

    /// The same code with so many metadata instructions in front of each instruction.
    pub fn with_metadata(mut self, metadata: Vec<u8>) -> Self {
        let metadata = self.fetched_before(&metadata);
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

    /// How many instructions from this one on only compute: they access no memory, await nothing, and meet nobody at a barrier.
    #[inline]
    pub fn computing(&self, inst: u32) -> u32 {
        self.computing.get(inst as usize).copied().unwrap_or(0)
    }

    /// What is fetched in front of an instruction: metadata, and its own first words if it is longer than a fetch.
    #[inline]
    pub fn metadata(&self, inst: u32) -> u8 {
        self.metadata.get(inst as usize).copied().unwrap_or(0)
    }

    /// Metadata instructions in front of each instruction, by what techniques put there.
    fn fetched_before(&self, metadata: &[u8]) -> Vec<u8> {
        let words = self.insts.iter().map(|inst| inst.words);
        let metadata = metadata.iter().copied().chain(std::iter::repeat(0));
        words
            .zip(metadata)
            .map(|(words, metadata)| words.saturating_add(metadata))
            .collect()
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
        let words = (fetches(spec, inst) - 1) as u8;
        // What a product that goes on alone adds to, the unit reads and writes on its own; whoever waits for it waits by name.
        let alone = matches!(inst.asynchronous, Some(Asynchronous::Product { .. }));
        let waits_for = |register: &&Register| !alone || !inst.destinations.contains(register);
        let sources: Vec<Register> = inst.sources.iter().filter(waits_for).copied().collect();
        let destinations = if alone { &[][..] } else { &inst.destinations };
        let keys = extend(
            &mut self.keys,
            sources.iter().flat_map(|&register| keys(register)),
        );
        let regions = extend(
            &mut self.regions,
            regions(destinations, spec.scoreboard.regions as usize),
        );
        let of_regions = &self.regions[regions.start as usize..];
        let bits = of_regions.iter().map(|&region| self.numbering.bits(region));
        self.bits.extend(bits);
        let reads = extend(&mut self.reads, reads(spec, &sources));
        let results = destinations.iter();
        let writes = extend(&mut self.writes, results.flat_map(|&it| bank_words(it)));
        Inst {
            port,
            interval: u64::from(interval),
            pass: u64::from(pass),
            latency: u64::from(latency),
            control: inst.unit == Unit::Control && (spec.units.scalar.count == 0 || branches(inst)),
            fence: inst.unit == Unit::Fence
                || inst.unit == Unit::Barrier && inst.asynchronous.is_some()
                || inst.flow == Some(Flow::Exit) && spec.scoreboard.exits == Exits::Drained,
            barrier: inst.unit == Unit::Barrier,
            words,
            distance: distance(spec, inst, words),
            operation: operation(inst),
            multiply_adds: u64::from(inst.multiply_adds),
            memory: inst.memory,
            asynchronous: inst.asynchronous,
            streamed: if alone {
                inst.destinations.len() as u64
            } else {
                0
            },
            touches: self.touches(&keys, &regions),
            keys,
            regions,
            reads,
            writes,
        }
    }

    fn touches(&self, keys: &Range<u32>, regions: &Range<u32>) -> u64 {
        let keys = &self.keys[keys.start as usize..keys.end as usize];
        let read = keys.iter().map(|&base| Region { base, count: 1 });
        let read = read.map(|region| self.numbering.bits(region));
        let written = &self.bits[regions.start as usize..regions.end as usize];
        read.chain(written.iter().copied())
            .fold(0, |all, bits| all | bits)
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

    /// The bits of each region written.
    #[inline]
    pub fn result_bits(&self, inst: &Inst) -> &[u64] {
        &self.bits[inst.regions.start as usize..inst.regions.end as usize]
    }

    /// Whether a bit in common is a register in common.
    #[inline]
    pub fn bits_are_exact(&self) -> bool {
        self.numbering.is_exact()
    }

    /// Whether `inst`, which has bits in common with `region`, reads or writes a register of it.
    #[inline]
    pub fn touches_region(&self, inst: &Inst, region: Region) -> bool {
        self.bits_are_exact()
            || self.sources(inst).iter().any(|&key| region.holds(key))
            || self.results(inst).iter().any(|it| it.overlaps(region))
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

/// Fetches that an instruction takes.
pub(crate) fn fetches(spec: &GpuSpec, inst: &StaticInst) -> u32 {
    u32::from(inst.bytes)
        .div_ceil(spec.fetch.instruction_bytes)
        .max(1)
}

/// Whether a warp waits for counts of accesses by an instruction, and its GPU heeds that.
fn only_waits(spec: &GpuSpec, inst: &StaticInst) -> bool {
    spec.scoreboard.counts == CountWaits::Honoured
        && matches!(inst.asynchronous, Some(Asynchronous::Outstanding(_)))
}

/// Least cycles from the issue before an instruction that takes so many fetches beyond its first.
fn distance(spec: &GpuSpec, inst: &StaticInst, words: u8) -> u64 {
    let scheduler = &spec.scheduler;
    u64::from(if only_waits(spec, inst) {
        scheduler.wait_interval
    } else {
        scheduler.warp_interval + scheduler.word_interval * u32::from(words)
    })
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
        (Unit::Barrier, _) => return without_unit(timing),
        // Beside scalar units what does not branch takes none.
        (Unit::Control, _) if units.scalar.count > 0 && !branches(inst) => {
            return without_unit(timing);
        }
        (Unit::Control | Unit::Fence, _) if units.scalar.count > 0 => {
            return scalar(timing.control.clone());
        }
        (Unit::Scalar, _) if units.scalar.count > 0 => return scalar(timing.scalar.clone()),
        (Unit::Control | Unit::Fence, _) => (Port::Int, timing.control.clone()),
        _ if only_waits(spec, inst) => return without_unit(timing),
        (Unit::Fp64, LatencyClass::Special) => (Port::Fp64, timing.fp64.div.clone()),
        (Unit::Fp64, class) => (Port::Fp64, of_class(&timing.fp64, timing, class).clone()),
        (Unit::Sfu, LatencyClass::Div) | (Unit::Int, LatencyClass::Div) => {
            (Port::Sfu, timing.int.div.clone())
        }
        (Unit::Fp32, LatencyClass::Div) => (Port::Sfu, timing.fp32.div.clone()),
        (Unit::Sfu, _) => (Port::Sfu, timing.special.clone()),
        (Unit::Matrix, _) => match inst.asynchronous {
            Some(Asynchronous::Product { .. }) => (Port::Tensor, of_warpgroup(timing, inst)),
            Some(Asynchronous::Tensor) => return of_work(units, timing),
            _ => (Port::Tensor, of_warp(timing, inst)),
        },
        // From Volta on the multiply-add pipe does them ("Nsight Compute", Kernel Profiling Guide, pipelines: fma).
        (Unit::Int, class @ (LatencyClass::Mul | LatencyClass::Mad))
            if spec.lower == Lowering::SassLike =>
        {
            (Port::Sp, of_class(&timing.int, timing, class).clone())
        }
        (Unit::Int | Unit::Scalar, class) => {
            (Port::Int, of_class(&timing.int, timing, class).clone())
        }
        (Unit::Fp32, class) => (Port::Sp, of_class(&timing.fp32, timing, class).clone()),
    };
    let port = available(units, port);
    let lanes = match port {
        Port::Int => units.int.lanes,
        Port::Sfu => units.sfu.lanes,
        Port::Fp64 => units.fp64.lanes,
        Port::Tensor => units.tensor.lanes,
        Port::Sp | Port::Scalar | Port::Ldst | Port::Barrier => units.sp.lanes,
    };
    Timing {
        port,
        interval: spec.interval(lanes).max(op.interval),
        pass: op.interval,
        latency: op.latency,
    }
}

/// What all tensor units do together; its record tells for how long.
fn of_work(units: &UnitsSpec, timing: &TimingSpec) -> Timing {
    Timing {
        port: available(units, Port::Tensor),
        interval: 0,
        pass: 0,
        latency: timing.warpgroup.latency,
    }
}

/// What takes no unit.
fn without_unit(timing: &TimingSpec) -> Timing {
    Timing {
        port: Port::Barrier,
        interval: 0,
        pass: 0,
        latency: timing.control.latency,
    }
}

/// What a scalar unit does: once for a warp, however wide that is.
fn scalar(op: OpTiming) -> Timing {
    Timing {
        port: Port::Scalar,
        interval: op.interval,
        pass: op.interval,
        latency: op.latency,
    }
}

/// Whether an instruction may go elsewhere and its warp goes on.
fn branches(inst: &StaticInst) -> bool {
    matches!(inst.flow, Some(Flow::Branch | Flow::Call | Flow::Return))
}

/// How long a tensor unit works on a product, if one of `whole` multiply-adds of 16-bit elements takes so long. Elements of twice the bits take twice as long;
/// doubles are multiplied at a sixteenth of the rate (data sheets of A100 and H100: 19.5 Tflop/s of 312, 67 of 989).
fn in_proportion(interval: u32, whole: u64, [multiply_adds, element_bits]: [u64; 2]) -> u64 {
    let cost = match element_bits {
        64 => 16 * 16,
        bits => bits,
    };
    (u64::from(interval) * multiply_adds * cost).div_ceil(whole * 16)
}

/// How long each unit of a port works on its share of what all do together, at the rate of products of warpgroups, and how many they are.
pub(crate) fn shared_work(spec: &GpuSpec, port: Port, work: &TensorWork) -> (u64, u64) {
    let units = match port {
        Port::Tensor => spec.units.tensor.count,
        _ => spec.units.sp.count,
    };
    let all = u64::from(units).max(1) * work.sms();
    let share = work.multiply_adds.div_ceil(all);
    let size = [share, work.element_bits];
    let interval = in_proportion(spec.timing.warpgroup.interval, WARPGROUP_SHARE, size);
    (interval, u64::from(units))
}

/// What a product is in proportion to.
fn size(inst: &StaticInst) -> [u64; 2] {
    [inst.multiply_adds.into(), inst.element_bits.into()]
}

/// A product of a warp, in proportion to one of m16n16k16. Other matrix instructions are moves between lanes, and take what the whole takes.
fn of_warp(timing: &TimingSpec, inst: &StaticInst) -> OpTiming {
    let whole = &timing.tensor;
    match inst.multiply_adds {
        0 => whole.clone(),
        _ => OpTiming {
            interval: in_proportion(whole.interval, 16 * 16 * 16, size(inst)).max(1) as u32,
            ..whole.clone()
        },
    }
}

/// Multiply-adds that a warp has of m64n128k16.
const WARPGROUP_SHARE: u64 = 16 * 128 * 16;

/// A product of a warpgroup, in proportion to one of m64n128k16, of which a warp has sixteen rows.
fn of_warpgroup(timing: &TimingSpec, inst: &StaticInst) -> OpTiming {
    let interval = in_proportion(timing.warpgroup.interval, WARPGROUP_SHARE, size(inst)) as u32;
    OpTiming {
        latency: timing.warpgroup.latency + interval,
        interval,
    }
}

/// What the lanes do, by the unit that it takes; matrix work has units of its own.
fn operation(inst: &StaticInst) -> Option<Counter> {
    match (inst.unit, inst.latency) {
        (Unit::Int | Unit::Sfu | Unit::Fp32, LatencyClass::Div) | (Unit::Sfu, _) => {
            Some(Counter::Sfu)
        }
        (Unit::Int | Unit::Scalar, LatencyClass::Mul | LatencyClass::Mad) => Some(Counter::IntMul),
        (Unit::Int | Unit::Scalar, _) => Some(Counter::IntAdd),
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
        Port::Fp64 if units.fp64.count == 0 => available(units, Port::Sfu),
        Port::Sfu if units.sfu.count == 0 => Port::Sp,
        port => port,
    }
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

fn extend<T>(pool: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Range<u32> {
    let start = pool.len() as u32;
    pool.extend(items);
    start..pool.len() as u32
}

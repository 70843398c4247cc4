//! What a timing model needs to know of a static instruction.

pub use warpwatt_ptx::strands::{Marks, ValueRead, ValueWrite};
pub use warpwatt_ptx::traits::{Flow, LatencyClass, MemoryOp, MemoryOpKind, Unit};
pub use warpwatt_ptx::types::Space;

use super::Needs;

/// Size of a static instruction of PTX in instruction memory: 64 bits, the filter-cache paper's section 5.1 (8-byte instructions).
pub const INSTRUCTION_BYTES: u64 = 8;

/// One static instruction. Its address in instruction memory is its index times [`INSTRUCTION_BYTES`], whatever it was encoded in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticInst {
    /// The unit class that executes it.
    pub unit: Unit,
    /// Which entry of a latency table applies.
    pub latency: LatencyClass,
    /// Registers read, guard predicate included, each once.
    pub sources: Vec<Register>,
    /// Registers written.
    pub destinations: Vec<Register>,
    /// Present on loads, stores and atomics.
    pub memory: Option<MemoryOp>,
    /// Present on instructions that may go elsewhere than to the next one.
    pub flow: Option<Flow>,
    /// Where its lanes part and meet again, on direct branches.
    pub split: Option<Split>,
    /// What its results depend on.
    pub results: Results,
    /// Which registers are dead before and behind it.
    pub release: Release,
    /// Where strands begin, and which values live within one.
    pub marks: Marks,
    /// How it uses what it reads; nothing is known of sources beyond the list.
    pub needs: Needs,
    /// Whether a compiler knows that all lanes of a warp execute it together and with the same operands, whenever it is executed.
    pub uniform: bool,
    /// Multiply-adds that a warp does with it on matrices; 0 on all other instructions.
    pub multiply_adds: u32,
    /// Bits of an element of the factors of a matrix product; 0 on all other instructions.
    pub element_bits: u8,
    /// What it begins or ends that goes on while its warp does.
    pub asynchronous: Option<Asynchronous>,
    /// Bytes of its encoding; 0 where it has none, as PTX: it is then as long as the instructions of whatever runs it.
    pub bytes: u8,
    /// Line in the PTX file.
    pub line: u32,
}

impl StaticInst {
    /// One of a unit without operands, memory or flow, of which a compiler knows nothing; it has no encoding and no line.
    pub fn bare(unit: Unit) -> Self {
        Self {
            unit,
            latency: LatencyClass::Simple,
            sources: Vec::new(),
            destinations: Vec::new(),
            memory: None,
            flow: None,
            split: None,
            results: Results::FromSources,
            release: Release::default(),
            marks: Marks::default(),
            needs: Needs::default(),
            uniform: false,
            multiply_adds: 0,
            element_bits: 0,
            asynchronous: None,
            bytes: 0,
            line: 0,
        }
    }
}

/// How many instructions from each one on are such that `is` is true.
pub fn run_lengths(code: &[StaticInst], is: impl Fn(&StaticInst) -> bool) -> Vec<u32> {
    let mut lengths = vec![0; code.len()];
    let mut behind = 0;
    for (inst, length) in code.iter().zip(&mut lengths).rev() {
        behind = if is(inst) { behind + 1 } else { 0 };
        *length = behind;
    }
    lengths
}

/// What goes on while its warp does: products of a warpgroup, and accesses that instructions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asynchronous {
    /// A product begins. What it adds to lies in the registers that it writes.
    Product {
        /// Bytes of the factors in shared memory, a warp's share.
        shared_bytes: u32,
    },
    /// Work of all tensor units of an SM begins, which its record tells.
    Tensor,
    /// The barrier at its address is told when the warp's such work has ended.
    Completes,
    /// Those begun since the last one are a group.
    Commit,
    /// Waits until so many groups at most, the latest ones, go on.
    Wait(u32),
    /// The warp's next instruction waits until no more accesses than these go on. Who has a scoreboard for results of memory need not know it.
    Outstanding(Outstanding),
}

/// Accesses that may go on, by the counts that machine code waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    /// Of a lane's own addresses in global and local memory: the latest ones, as they end in order.
    pub vector: u8,
    /// Of shared memory and of constants.
    pub near: u8,
}

impl Outstanding {
    /// Any number of them.
    pub const ANY: u8 = u8::MAX;
}

/// Registers of a warp that no lane reads again before it writes them, as a compiler finds them without knowing which way branches go
/// (`warpwatt_ptx::lifetime`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Whether a basic block begins with the instruction.
    pub leader: bool,
    /// Among the sources: dead once the instruction has read them.
    pub sources: Vec<Register>,
    /// Dead when the instruction begins, diverged paths having met: numbers of 32-bit registers.
    pub meeting: Vec<u16>,
}

/// A register, as allocated: the double `n` is the words `2 n` and `2 n + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register {
    /// Which file it lives in.
    pub kind: RegisterKind,
    /// Its number in that file.
    pub number: u16,
}

/// The register files of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterKind {
    /// One 32-bit register (16-bit values take one as well).
    Word,
    /// Two 32-bit registers.
    Double,
    /// A predicate: one bit a lane, kept beside the vector register file.
    Predicate,
}

impl RegisterKind {
    /// 32-bit vector registers that a register of this kind occupies.
    pub fn words(self) -> u32 {
        match self {
            RegisterKind::Word => 1,
            RegisterKind::Double => 2,
            RegisterKind::Predicate => 0,
        }
    }
}

/// Where the lanes of a branch go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Index of the instruction at which the lanes go on that execute the branch.
    pub target: u32,
    /// Index of the one at which all meet again; `u32::MAX` if only at the end.
    pub meets: u32,
}

/// Whether the lanes of an instruction may get different results where its sources are the same in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Results {
    /// No: they follow from the sources. A load gives what lies at its address.
    FromSources,
    /// No, not even where the sources differ: votes and other reductions over the warp.
    Same,
    /// Yes: thread indices and lane numbers, exchange between lanes, atomics, a thread's own memory.
    PerLane,
}

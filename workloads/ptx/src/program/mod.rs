//! The typed program that execution and timing work on.

mod allocation;
mod extensions;
mod image;
mod matrix;
mod op;
mod slot;
mod tensor;
mod tensor_memory;
mod video;
mod warpgroup;

pub use allocation::{Allocation, Spills};
pub use extensions::{
    CopyAsync, CopySize, Mbarrier, MbarrierOp, MemoryOperand, RuntimeCall, SmallFormat,
    WordFunction,
};
pub use image::{Geometry, ImageFact, Outside, Sample, Surface, SurfaceOp};
pub use matrix::{Matrix, MatrixElement, MatrixOp, MultiplyAdd, Product, Sparse, Tile};
pub use op::{
    Access, Atomic, AtomicOp, Barrier, BoolOp, Call, Carry, CarryOp, Compare, Comparison, Convert,
    Extreme, Float, FloatTest, Half, HalfCompare, HalfFormat, HalfOp, Long1, Long2, Long3,
    LongShift, LongToWord, Machine, Move, Narrow, Op, PairOp, PermuteMode, PredicateOp, Reduction,
    Redux, Rounding, ShortOp, ShuffleMode, Target, Vote, Whole, Word1, Word2, Word3, Word4,
};
pub use slot::{MaskKind, Operands, Slot, SlotKind, Source, Special};
pub use tensor::{
    BulkReduce, MAX_RANK, ReplaceTensorMap, TENSOR_MAP_BYTES, TensorCopy, TensorField, TensorWay,
};
pub use tensor_memory::{
    Scales, TENSOR_COLUMNS, TENSOR_LANES, TensorAccess, TensorCopyLanes, TensorCopyShape,
    TensorKind, TensorMemoryOp, TensorMultiplyAdd, TensorShape,
};
pub use video::{Part, ScalarVideo, Second, Video, VideoMad, VideoOp};
pub use warpgroup::{Adds, GROUP_ROWS, GroupMultiplyAdd, GroupStep, Groups, Pending, WARPGROUP};

use crate::error::PtxError;
use crate::machine::Left;

/// First address of module-scope `.global` variables in the generic address space.
pub const GLOBALS_BASE: u64 = 0x1000_0000;

/// Address of the first device function; others follow at multiples of [`FUNCTION_STEP`]. No data lie there.
pub const FUNCTIONS_BASE: u64 = 0x0600_0000;

/// Distance between the addresses of device functions.
pub const FUNCTION_STEP: u64 = 16;

/// Address of the first entry, as those know it who launch it from a kernel; others follow at multiples of [`FUNCTION_STEP`].
pub const ENTRIES_BASE: u64 = 0x0680_0000;

/// Address of what CTAs of a cooperative launch meet at, which `%envreg1` and `%envreg2` tell; its size is [`GRID_WORKSPACE_BYTES`].
pub const GRID_WORKSPACE: u64 = 0x0f00_0000;

/// A size and a count of those who have arrived (`grid_workspace` of CUDA's cooperative groups), and room.
pub const GRID_WORKSPACE_BYTES: usize = 16;

/// The number of a cluster's barrier: beyond those that a kernel can name.
pub const CLUSTER_BARRIER: u32 = u32::MAX;

/// A loaded module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its entries, in file order; [`ENTRIES_BASE`] says where kernels find them.
    pub entries: Vec<Entry>,
    /// Initial contents of the `.global` variables, which lie at [`globals_base`](Self::globals_base).
    pub globals: Vec<u8>,
    /// How far behind [`GLOBALS_BASE`] they lie, where modules share a memory.
    pub shift: u64,
    /// Contents of the `.const` variables.
    pub constants: Vec<u8>,
    /// Texture and surface references: their names and handles, which are their addresses.
    pub textures: Vec<(String, u64)>,
    /// The `.global` and `.const` variables, which a host may fill before it launches.
    pub variables: Vec<ModuleVariable>,
    /// Whether its addresses have 32 bits, or else 64.
    pub narrow: bool,
}

/// A variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Its name.
    pub name: String,
    /// Whether it is `.const`, or else `.global`.
    pub constant: bool,
    /// Where it begins in [`Module::constants`] or [`Module::globals`].
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
}

impl Module {
    /// Bytes of an address.
    pub fn address_bytes(&self) -> u32 {
        if self.narrow { 4 } else { 8 }
    }

    /// Address of the first of the `.global` variables.
    pub fn globals_base(&self) -> u64 {
        GLOBALS_BASE + self.shift
    }

    /// The entry called `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Whether a kernel may print.
    pub fn prints(&self) -> bool {
        let code = self.entries.iter().flat_map(|entry| &entry.code);
        code.into_iter()
            .any(|inst| matches!(inst.op, Op::Runtime(RuntimeCall::Print)))
    }

    /// The variable called `name`.
    pub fn variable(&self, name: &str) -> Option<&ModuleVariable> {
        self.variables.iter().find(|variable| variable.name == name)
    }
}

/// A kernel that a host can launch.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// Instructions; a branch names its target by index.
    pub code: Vec<Inst>,
    /// What the word slots hold when a warp starts.
    pub words: Vec<Source<u32>>,
    /// What the double slots hold when a warp starts.
    pub doubles: Vec<Source<u64>>,
    /// Predicate registers.
    pub predicates: u16,
    /// Static shared memory in bytes; dynamic shared memory begins behind it.
    pub shared_bytes: u32,
    /// Local memory of a thread in bytes: the entry's own frame.
    pub local_bytes: u32,
    /// CTAs of a cluster in x, y, z, where the PTX says how many (`.reqnctapercluster`).
    pub cluster: Option<[u32; 3]>,
    /// Device functions that it may call; their code stands behind the entry's.
    pub functions: Vec<Function>,
    /// 32-bit registers a thread.
    pub registers: u32,
    /// How they were allocated.
    pub allocation: Allocation,
    /// 32-bit registers that the PTX names, before allocation; a 64-bit one counts as two.
    pub virtual_registers: u32,
    /// Predicate registers that it names.
    pub virtual_predicates: u16,
    /// Why it stayed PTX although it was to be brought near machine code.
    pub left: Option<Left>,
    /// Why this entry cannot run: everything in it that is not supported. Empty if it can.
    pub unsupported: Vec<PtxError>,
}

impl Entry {
    /// Bytes of the parameter block.
    pub fn param_bytes(&self) -> u32 {
        self.params
            .last()
            .map_or(0, |param| param.offset + param.bytes)
    }
}

/// A device function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Index of its first instruction.
    pub start: u32,
    /// Bytes of its frame in local memory: results, parameters, local variables.
    pub frame_bytes: u64,
}

/// A kernel parameter and its place in the parameter block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// PTX element type, such as `u64`; `b8` for structures passed by value.
    pub element: String,
    /// Offset in the parameter block.
    pub offset: u32,
    /// Size.
    pub bytes: u32,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Which lanes may do it.
    pub guard: Option<Guard>,
    /// Slots written.
    pub dst: Operands<4>,
    /// Slots read.
    pub src: Operands<8>,
    /// Line in the PTX file.
    pub line: u32,
}

impl Inst {
    /// Slots read, the guard's predicate apart.
    pub fn reads(&self) -> impl Iterator<Item = Slot> + '_ {
        let fragments = match &self.op {
            Op::Matrix(matrix) => &matrix.src[..],
            _ => &[],
        };
        self.src.as_slice().iter().chain(fragments).copied()
    }

    /// Slots written.
    pub fn writes(&self) -> impl Iterator<Item = Slot> + '_ {
        let fragments = match &self.op {
            Op::Matrix(matrix) => &matrix.dst[..],
            _ => &[],
        };
        self.dst.as_slice().iter().chain(fragments).copied()
    }
}

/// A guard predicate: `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate slot.
    pub predicate: Slot,
    /// Lanes with a false predicate execute.
    pub negated: bool,
}

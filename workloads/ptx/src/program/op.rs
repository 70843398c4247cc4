//! What instructions do. Operands are in the instruction; these are the functions, with their immediate attributes.
//!
//! Families are by operand width and count (`Word2`: two words to a word), so that execution has one loop over lanes a family.

use super::{
    BulkReduce, CopyAsync, Groups, ImageFact, Matrix, Mbarrier, ReplaceTensorMap, RuntimeCall,
    Sample, ScalarVideo, Surface, TensorMemoryOp, Video, WordFunction,
};
use crate::types::{Space, Type};

/// An operation. Operand order is PTX's unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// One word to a word.
    Word1(Word1),
    /// Two words to a word.
    Word2(Word2),
    /// Three words to a word.
    Word3(Word3),
    /// Four words to a word.
    Word4(Word4),
    /// A word operation on 16-bit operands, which are extended first.
    Short {
        /// Sign extension, else zero extension.
        signed: bool,
        /// The operation on the extended operands.
        op: ShortOp,
    },
    /// One 64-bit value to a 64-bit value.
    Long1(Long1),
    /// Two 64-bit values to a 64-bit value.
    Long2(Long2),
    /// Three 64-bit values to a 64-bit value.
    Long3(Long3),
    /// A 64-bit value shifted by a word.
    LongShift(LongShift),
    /// `popc.b64`, `clz.b64`, `bfind.u64`: a 64-bit value to a word.
    LongToWord(LongToWord),
    /// `bfe.u64`/`bfe.s64`: a 64-bit value, position and length as words.
    LongExtract {
        /// Sign-extend the field.
        signed: bool,
    },
    /// `bfi.b64`.
    LongInsert,
    /// `mul.wide`: two words to a 64-bit value.
    MulWide {
        /// Signed operands.
        signed: bool,
    },
    /// `mad.wide`: two words and a 64-bit value to a 64-bit value.
    MadWide {
        /// Signed operands.
        signed: bool,
    },
    /// `mul.wide.u16` and `.s16`: two 16-bit values to a word.
    ShortMulWide {
        /// Signed operands.
        signed: bool,
    },
    /// `mad.wide.u16` and `.s16`.
    ShortMadWide {
        /// Signed operands.
        signed: bool,
    },
    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: the carry is a predicate, last among the sources if it comes in
    /// and second of the destinations if it goes out.
    Carry(Carry),
    /// `mov.b64 d, {a, b}`.
    Pack,
    /// `mov.b64 {a, b}, d`.
    Unpack,
    /// `mov.b32 d, {a, b}` of two 16-bit values.
    ShortPack,
    /// `mov.b32 {a, b}, d`.
    ShortUnpack,
    /// `cvt`.
    Convert(Convert),
    /// `setp`: destinations are the predicate and, if named, its complement; a third source is the combining predicate.
    SetPredicate(Compare),
    /// `set`.
    Set {
        /// The comparison.
        compare: Compare,
        /// What is written where it holds, else zero.
        one: u32,
    },
    /// `selp` on words: sources a, b, predicate.
    SelectWord {
        /// Chooses a where the predicate is false.
        negated: bool,
    },
    /// `selp` on 64-bit values.
    SelectLong {
        /// Chooses a where the predicate is false.
        negated: bool,
    },
    /// `slct`: a where c >= 0, else b; the third source is a word.
    SelectBySign {
        /// The selected operands are 64-bit values.
        double: bool,
        /// The third operand is a float (compared with -0.0 equal to 0.0, NaN choosing b).
        float: bool,
        /// A subnormal third operand is zero (`.ftz`).
        flush: bool,
    },
    /// Logic on predicates; sources may be negated.
    Predicate {
        /// The function.
        op: PredicateOp,
        /// Which sources are negated, bit by bit.
        negated: u8,
    },
    /// `testp` on words.
    TestFloat(FloatTest),
    /// `ld`: source is the base address.
    Load(Access),
    /// `st`: sources are the base address and the values.
    Store(Access),
    /// `tex`, `tld4`: sources are the texture's handle, the layer if there is one, and the coordinates; destinations are the four channels.
    Texture(Sample),
    /// `suld`, `sust`, `sured`.
    Surface(Surface),
    /// `txq`, `suq`: the source is the handle.
    ImageQuery(ImageFact),
    /// `wmma`, `mma`, `ldmatrix`, `wgmma.mma_async`, `cp.async.bulk.tensor`, `tcgen05.mma`, `.ld` and `.st`.
    Matrix(Box<Matrix>),
    /// `atom`, `red`: sources are the base address and one or two values.
    Atomic(Atomic),
    /// `shfl`: sources a, b, c and, of `shfl.sync`, the mask of the lanes that take part; destinations value and, if named, predicate.
    Shuffle(ShuffleMode),
    /// `vote`: the sources are a predicate and, of `vote.sync`, the mask of the lanes that take part.
    Vote {
        /// What is asked.
        vote: Vote,
        /// The predicate is negated.
        negated: bool,
    },
    /// `match.any`: a value per lane to the mask of lanes that hold the same; the second source is the mask of the lanes that take part.
    MatchAny,
    /// `match.all`: destinations are the mask of all lanes if they hold the same value, else zero, and whether they do. Sources as of `match.any`.
    MatchAll,
    /// `redux`: one value of all lanes; sources as of `match.any`.
    Redux(Redux),
    /// `elect`: destinations are the chosen lane and whether this lane is it; the source is the mask of the lanes that take part.
    Elect,
    /// `bar.warp.sync`: the source is the mask of the lanes that take part.
    WarpBarrier,
    /// Arithmetic on half-precision values: one to three words to a word.
    Half(Half),
    /// `setp` on halves: a predicate for each element of the operands; the last source may be the combining predicate.
    HalfCompare(HalfCompare),
    /// `set` on halves, each element of a pair apart; the last source may be the combining predicate.
    HalfSet {
        /// The comparison.
        compare: HalfCompare,
        /// What is written where it holds: of a pair, the half that belongs to the element.
        one: u32,
    },
    /// `cvt` from single precision to a narrower format, or to a pair: the first source goes into the upper half.
    Narrow(Narrow),
    /// SIMD video instructions on bytes or halves of words: `vadd4`, `vabsdiff2`.
    Video(Video),
    /// Scalar video instructions: `vadd`, `vmad`.
    ScalarVideo(ScalarVideo),
    /// `activemask`.
    ActiveMask,
    /// `clock`, `clock64`, `globaltimer`: dynamic instructions of the warp so far, since functional execution has no time.
    Clock,
    /// `isspacep`: whether a generic address lies in a space.
    IsSpace(Space),
    /// `cp.async`, `cp.async.bulk`.
    CopyAsync(CopyAsync),
    /// `cp.reduce.async.bulk`.
    BulkReduce(BulkReduce),
    /// `tensormap.replace`.
    ReplaceTensorMap(ReplaceTensorMap),
    /// Groups of what is pending: committed, or waited for.
    Groups(Groups),
    /// `tcgen05` but for what moves and multiplies matrices.
    TensorMemory(TensorMemoryOp),
    /// `mbarrier`.
    Mbarrier(Mbarrier),
    /// What the CUDA runtime does on the device.
    Runtime(RuntimeCall),
    /// Odd functions of words.
    WordFunction(WordFunction),
    /// `mov` of several parts to a whole: from the lowest.
    PackParts {
        /// Bits of a part.
        bits: u8,
    },
    /// `mov` of a whole to several parts.
    UnpackParts {
        /// Bits of a part.
        bits: u8,
    },
    /// `nanosleep`: other warps have their turn.
    Yield,
    /// `bar`, `barrier`: sources are the barrier's number and, if given, the thread count; `.red`'s predicate comes first.
    Barrier(Barrier),
    /// `membar`, `fence`, `prefetch` and hints: nothing to do in a functional, in-order execution.
    Nothing {
        /// It orders memory.
        fence: bool,
    },
    /// `bra`: `target` for lanes whose guard holds, the next instruction for the others.
    Branch {
        /// Index of the target.
        target: u32,
        /// Index where the paths meet again (immediate post-dominator); [`NO_RECONVERGENCE`](crate::cfg::NO_RECONVERGENCE) if only at the end.
        reconverge: u32,
    },
    /// `brx.idx`: the source chooses among the targets.
    BranchIndexed {
        /// Indices of the targets.
        targets: Box<[u32]>,
        /// As for [`Op::Branch`].
        reconverge: u32,
    },
    /// `call` of a device function.
    Call(Box<Call>),
    /// `ret` of a device function.
    Return,
    /// `mov` of a local variable's address inside a device function: its offset in the function's frame.
    FrameAddress(u64),
    /// `ret` of an entry, `exit`.
    Exit,
    /// `trap`.
    Trap,
    /// One of several instructions that a machine has for one of PTX: it computes nothing, and the next of them waits for it.
    Part(Machine),
    /// The last of them, which stands for the operation: its sources, then those that only say what it waits for.
    Whole(Box<Whole>),
}

/// Kinds of instructions of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Sums, logic, selections and comparisons of integers.
    Int,
    /// `IMAD` and its kin.
    IntMad,
    /// Single precision.
    Fp32,
    /// Double precision.
    Fp64,
    /// `MUFU`.
    Special,
    /// Conversions between integers and floats.
    Convert,
    /// What paths that meet again need.
    Control,
}

/// What [`Op::Whole`] stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// The operation that it computes.
    pub op: Op,
    /// What the machine's instruction is.
    pub kind: Machine,
}

/// IEEE 754 rounding directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even (`.rn`).
    Nearest,
    /// Towards zero (`.rz`).
    Zero,
    /// Towards minus infinity (`.rm`).
    Down,
    /// Towards plus infinity (`.rp`).
    Up,
}

/// Attributes of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// Direction of rounding.
    pub rounding: Rounding,
    /// Subnormal inputs and results become zero of their sign (`.ftz`).
    pub flush: bool,
    /// The result is clamped to [0, 1], NaN to 0 (`.sat`).
    pub saturate: bool,
}

impl Float {
    /// `.rn` without anything else.
    pub const PLAIN: Self = Self {
        rounding: Rounding::Nearest,
        flush: false,
        saturate: false,
    };
}

/// One word to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Word1 {
    Copy,
    Not,
    Neg,
    Abs,
    Popc,
    Clz,
    Brev,
    Bfind { signed: bool, shift: bool },
    FNeg { flush: bool },
    FAbs { flush: bool },
    FSqrt(Float),
    FRcp(Float),
    SqrtApprox { flush: bool },
    RcpApprox { flush: bool },
    RsqrtApprox { flush: bool },
    Ex2Approx { flush: bool },
    Lg2Approx { flush: bool },
    SinApprox { flush: bool },
    CosApprox { flush: bool },
    TanhApprox,
}

/// Two words to a word. Signed and unsigned forms are apart where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Word2 {
    Add,
    AddSaturate,
    Sub,
    SubSaturate,
    Mul,
    MulHi { signed: bool },
    Mul24 { signed: bool, high: bool },
    Div { signed: bool },
    Rem { signed: bool },
    Min { signed: bool },
    Max { signed: bool },
    And,
    Or,
    Xor,
    Shl,
    Shr { signed: bool },
    Bmsk { clamp: bool },
    FAdd(Float),
    FSub(Float),
    FMul(Float),
    FDiv(Float),
    FDivApprox { flush: bool, full: bool },
    FMin { flush: bool, nan: bool },
    FMax { flush: bool, nan: bool },
    CopySign,
}

/// Three words to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Word3 {
    Mad,
    /// A sum of three, which PTX has not and machines have (`IADD3`).
    Add3,
    MadHi {
        signed: bool,
    },
    Mad24 {
        signed: bool,
        high: bool,
    },
    Sad {
        signed: bool,
    },
    Fma(Float),
    Lop3(u8),
    Prmt(PermuteMode),
    FunnelShift {
        right: bool,
        clamp: bool,
    },
    Bfe {
        signed: bool,
    },
    Dp4a {
        signed: [bool; 2],
    },
    Dp2a {
        signed: [bool; 2],
        high: bool,
    },
    FExtreme(Extreme),
}

/// `min`, `max` and `redux` of singles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// The largest, or else the smallest.
    pub largest: bool,
    /// Subnormal values become zero of their sign (`.ftz`).
    pub flush: bool,
    /// NaN if one of them is (`.NaN`).
    pub nan: bool,
    /// Of the magnitudes (`.abs`).
    pub magnitudes: bool,
}

/// Four words to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word4 {
    /// `bfi.b32`: field, base, position, length.
    Bfi,
}

/// `prmt`'s modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum PermuteMode {
    Generic,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// A word operation that also exists on 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the families of words")]
pub enum ShortOp {
    One(Word1),
    Two(Word2),
    Three(Word3),
    /// The upper half of the product.
    MulHi,
}

/// One 64-bit value to a 64-bit value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Long1 {
    Copy,
    Not,
    Neg,
    Abs,
    Brev,
    FNeg,
    FAbs,
    FSqrt(Rounding),
    FRcp(Rounding),
    RcpGross,
    RsqrtApprox,
    RsqrtGross,
}

/// Two 64-bit values to a 64-bit value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Long2 {
    Add,
    Sub,
    Mul,
    MulHi {
        signed: bool,
    },
    Div {
        signed: bool,
    },
    Rem {
        signed: bool,
    },
    Min {
        signed: bool,
    },
    Max {
        signed: bool,
    },
    And,
    Or,
    Xor,
    FAdd(Rounding),
    FSub(Rounding),
    FMul(Rounding),
    FDiv(Rounding),
    FMin,
    FMax,
    CopySign,
    /// Of two singles each (`.f32x2`).
    Pair(PairOp, Float),
}

/// What is done to both singles of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum PairOp {
    Add,
    Sub,
    Mul,
}

/// Three 64-bit values to a 64-bit value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Long3 {
    Mad,
    Sad {
        signed: bool,
    },
    Fma(Rounding),
    /// Of two singles each (`.f32x2`).
    FmaPair(Float),
}

/// Shifts of a 64-bit value by a word; counts beyond 63 shift everything out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum LongShift {
    Shl,
    Shr { signed: bool },
}

/// A 64-bit value to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum LongToWord {
    Popc,
    Clz,
    Bfind {
        signed: bool,
        shift: bool,
    },
    /// Of the state of an `mbarrier`.
    PendingCount,
}

/// Arithmetic that takes or gives a carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// What is computed.
    pub op: CarryOp,
    /// Operands are 64-bit values.
    pub double: bool,
    /// Signed operands (of a product's upper half).
    pub signed: bool,
    /// Adds the carry; of a difference, subtracts one where there is none.
    pub comes_in: bool,
    /// Leaves the carry; of a difference, that nothing was borrowed.
    pub goes_out: bool,
}

/// What [`Carry`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryOp {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// Lower half of a * b, plus c.
    MadLow,
    /// Upper half of a * b, plus c.
    MadHigh,
}

/// `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convert {
    /// Source type.
    pub from: Type,
    /// Destination type.
    pub to: Type,
    /// Direction of rounding, to an integer or to a narrower float.
    pub rounding: Rounding,
    /// A float is rounded to an integral value (`.rni` and its kin), also if the destination is a float.
    pub integral: bool,
    /// `.ftz`.
    pub flush: bool,
    /// `.sat`.
    pub saturate: bool,
}

/// A comparison of two operands of one type, and what its result is combined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare {
    /// The comparison.
    pub how: Comparison,
    /// Type of both operands.
    pub element: Type,
    /// `.ftz`.
    pub flush: bool,
    /// Combination with a predicate, which may be negated.
    pub combine: Option<(BoolOp, bool)>,
}

/// Comparisons; the unordered ones hold if an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// How `setp` combines its comparison with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Logic on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum PredicateOp {
    Copy,
    Not,
    And,
    Or,
    Xor,
    /// A literal: true or false.
    Literal(bool),
}

/// `testp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum FloatTest {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The named state space.
    pub space: Space,
    /// Element type: decides size and extension.
    pub element: Type,
    /// Elements: 1, 2 or 4.
    pub count: u8,
    /// Added to the base address.
    pub offset: i64,
    /// The address is relative to the running function's frame: a local variable or a parameter of a device function.
    pub framed: bool,
    /// `.cg`: it passes the first-level cache by.
    pub past_l1: bool,
}

impl Access {
    /// One element at the base address, cached on all levels.
    pub const fn of(space: Space, element: Type) -> Self {
        Self {
            space,
            element,
            count: 1,
            offset: 0,
            framed: false,
            past_l1: false,
        }
    }

    /// Bytes that one lane moves.
    pub fn bytes(&self) -> u32 {
        self.element.bytes() * u32::from(self.count)
    }
}

/// A call of a device function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub target: Target,
    /// Arguments: from the caller's frame to the callee's.
    pub arguments: Vec<Move>,
    /// Results: from the callee's frame to the caller's.
    pub results: Vec<Move>,
}

/// What a call calls: indices in [`Entry::functions`](super::Entry::functions).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One function.
    Function(u32),
    /// The function whose address the source holds, by address.
    Address(Vec<(u64, u32)>),
}

/// Bytes that pass from one frame to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Offset in the one frame.
    pub from: u64,
    /// Offset in the other.
    pub to: u64,
    /// How many.
    pub bytes: u64,
}

/// `atom` or `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The function.
    pub op: AtomicOp,
    /// Where and on what.
    pub access: Access,
}

/// Functions of atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Inc,
    Dec,
}

/// `shfl`'s modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// `vote`'s modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// `redux`'s functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Redux {
    Add,
    Min { signed: bool },
    Max { signed: bool },
    And,
    Or,
    Xor,
    FExtreme(Extreme),
}

/// Formats of fewer than 32 bits, and TF32, whose lower 13 bits are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum HalfFormat {
    F16,
    Bf16,
    Tf32,
}

/// Arithmetic on half-precision values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// What is computed.
    pub op: HalfOp,
    /// Of which format.
    pub format: HalfFormat,
    /// Both halves of each word (`.f16x2`); else the lower ones.
    pub packed: bool,
    /// `.ftz`.
    pub flush: bool,
    /// `.sat`.
    pub saturate: bool,
    /// `.relu`: negative results become zero.
    pub relu: bool,
}

/// Functions of [`Half`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum HalfOp {
    Neg,
    Abs,
    Ex2Approx,
    TanhApprox,
    Add,
    Sub,
    Mul,
    Min {
        nan: bool,
    },
    Max {
        nan: bool,
    },
    /// `.oob`: zero if one of the factors is the NaN that stands for what lies out of bounds.
    Fma {
        oob: bool,
    },
}

/// A comparison of halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfCompare {
    /// The comparison.
    pub how: Comparison,
    /// Of which format.
    pub format: HalfFormat,
    /// Both halves of each word.
    pub packed: bool,
    /// `.ftz`.
    pub flush: bool,
    /// Combination with a predicate, which may be negated.
    pub combine: Option<(BoolOp, bool)>,
}

/// A conversion from single precision to a narrower format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// The result's format.
    pub format: HalfFormat,
    /// Two values to a pair.
    pub packed: bool,
    /// Direction of rounding; `None` is to nearest with ties away from zero (`.rna`).
    pub rounding: Option<Rounding>,
    /// Negative results become zero.
    pub relu: bool,
    /// Results beyond the largest finite value become that (`.satfinite`).
    pub finite: bool,
}

/// `bar`'s forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Waits for the others. The lanes of a warp come together.
    Sync,
    /// As `Sync`, but the lanes of a warp may come from different places (`barrier.sync` without `.aligned`).
    Unaligned,
    /// Announces itself and goes on.
    Arrive,
    /// `barrier.cluster.arrive`: the CTA's threads announce themselves to those of the cluster.
    ClusterArrive,
    /// `barrier.cluster.wait`: waits until all threads of the cluster have.
    ClusterWait,
    /// Waits, and learns in how many threads a predicate holds (`.popc`), or whether in all (`.and`) or any (`.or`).
    Reduce {
        /// The question.
        reduction: Reduction,
        /// The predicate is negated.
        negated: bool,
    },
}

/// `bar.red`'s questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Reduction {
    Popc,
    And,
    Or,
}

//! What an operation is to those who need not know what it computes: its traits, all of them in one place.
//!
//! [`Op::traits`] has no wildcard, nor have the functions for operations with many functions: a new one does not compile before its row is written.

mod function;
mod memory;
mod units;

pub use units::{Flow, LatencyClass, MemoryOp, MemoryOpKind, Unit};

use crate::divergence::Lanes;
use crate::program::{
    Barrier, Carry, CarryOp, Convert, GroupStep, Groups, HalfOp, Machine, MatrixOp, Op, Pending,
    ScalarVideo, ShortOp, VideoOp,
};
use crate::types::Type;

/// What is known of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// What it works on besides its own lane's registers.
    pub effect: Effect,
    /// The unit class that executes it.
    pub unit: Unit,
    /// Which row of a latency table applies.
    pub latency: LatencyClass,
    /// What its results depend on between lanes; special registers among the sources are not looked at.
    pub lanes: Lanes,
    /// How its results depend on the bits of its sources.
    pub sources: Dependence,
    /// The memory access that a trace tells of, if it has one.
    pub memory: Option<MemoryOp>,
    /// Whether the word has other functions of the same family.
    pub encoding: Encoding,
}

/// What an operation works on besides its own lane's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: each lane's results follow from that lane's sources.
    Pure,
    /// It reads a clock, which says something else each time.
    ReadsClock,
    /// It reads where the running function's frame begins.
    ReadsFrame,
    /// It reads what an image is.
    ReadsImage,
    /// It exchanges values between the lanes of a warp.
    Exchanges,
    /// It loads or stores where its record says.
    Memory,
    /// It reads and writes at once where its record says.
    Atomic,
    /// It may access memory that its record does not tell.
    OpaqueMemory,
    /// It may go elsewhere than to the next instruction.
    Goes(Flow),
    /// It lets other warps have their turn, or waits for them.
    Waits,
    /// Fences and hints: nothing that registers or memory show.
    Hint,
}

/// How the results depend on the bits of the sources. A rule is left out where it would not be certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Any bit of the results on any of these bits.
    Whole(u64),
    /// A bit of the result on the same bit, if it is one of these.
    Bitwise(u64),
    /// A bit of the result on these bits where they are not above it: sums, differences, products.
    NotAbove(u64),
    /// Bitwise, where the other source has a one.
    And,
    /// Bitwise, where the other source has a zero.
    Or,
    /// The first source is shifted to the left by the second.
    ShiftLeft {
        /// Counts from here on shift everything out.
        width: u8,
    },
    /// The first source is shifted to the right by the second.
    ShiftRight {
        /// Counts from here on shift everything out.
        width: u8,
        /// The sign comes in at the top.
        signed: bool,
    },
    /// Bitwise on the first two sources; the third chooses.
    Select,
    /// The first source is the lower word of the result, the second the upper one.
    Pack,
    /// The first source's lanes change places, bitwise; the others say how.
    Permute,
    /// The results of any lane on the sources of all.
    OfLanes,
    /// The sources are addresses.
    Address,
    /// The first source is an address, of the others these bits are stored.
    Stored(u64),
    /// Something other than the results depends on them.
    Always,
}

/// What another number in the function field of an operation's word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Another function of the same family.
    Family,
    /// Nothing.
    Alone,
}

const ALL: u64 = u64::MAX;

impl Traits {
    /// Results follow from the lane's own sources.
    const fn pure(unit: Unit, latency: LatencyClass, sources: Dependence) -> Self {
        Self {
            effect: Effect::Pure,
            unit,
            latency,
            lanes: Lanes::Sources,
            sources,
            memory: None,
            encoding: Encoding::Alone,
        }
    }

    /// A move or something as simple, of which no more is known.
    const fn simple() -> Self {
        Self::pure(Unit::Int, LatencyClass::Simple, Dependence::Whole(ALL))
    }

    /// Other effects than none, on sources that the effect always needs.
    const fn with(effect: Effect, unit: Unit) -> Self {
        Self {
            effect,
            ..Self::pure(unit, LatencyClass::Simple, Dependence::Always)
        }
    }

    const fn exchange(latency: LatencyClass, lanes: Lanes, sources: Dependence) -> Self {
        Self {
            effect: Effect::Exchanges,
            lanes,
            ..Self::pure(Unit::Int, latency, sources)
        }
    }

    const fn family(self) -> Self {
        Self {
            encoding: Encoding::Family,
            ..self
        }
    }

    /// Whether each lane's results follow from that lane's sources and nothing else.
    pub fn is_pure(&self) -> bool {
        self.effect == Effect::Pure
    }

    /// Whether it may access memory that its record in a trace does not tell.
    pub fn is_opaque(&self) -> bool {
        self.effect == Effect::OpaqueMemory
    }

    /// Whether it acts on something that neither its results nor a plain store show.
    pub fn acts(&self) -> bool {
        match self.effect {
            Effect::Atomic | Effect::OpaqueMemory | Effect::Goes(_) | Effect::Waits => true,
            Effect::Pure
            | Effect::ReadsClock
            | Effect::ReadsFrame
            | Effect::ReadsImage
            | Effect::Exchanges
            | Effect::Memory
            | Effect::Hint => false,
        }
    }

    /// Where it may go, if elsewhere than to the next instruction.
    pub fn flow(&self) -> Option<Flow> {
        match self.effect {
            Effect::Goes(flow) => Some(flow),
            _ => None,
        }
    }
}

impl Op {
    /// What is known of the operation.
    pub fn traits(&self) -> Traits {
        use LatencyClass::{Add, Div, Mad, Mul, Shuffle, Simple};
        let pure = Traits::pure;
        let exchange = Traits::exchange;
        let with = Traits::with;
        let (whole, not_above) = (Dependence::Whole(ALL), Dependence::NotAbove(ALL));
        match self {
            Op::Word1(op) => op.traits(),
            Op::Word2(op) => op.traits(),
            Op::Word3(op) => op.traits(),
            Op::Long1(op) => op.traits(),
            Op::Long2(op) => op.traits(),
            Op::Long3(op) => op.traits(),
            Op::LongShift(op) => op.traits(),
            Op::LongToWord(op) => op.traits(),
            Op::Short { op, .. } => short(*op),
            Op::MulWide { .. } => pure(Unit::Int, Mul, not_above).family(),
            Op::MadWide { .. } => pure(Unit::Int, Mad, not_above).family(),
            Op::ShortMulWide { .. } => pure(Unit::Int, Mul, whole),
            Op::ShortMadWide { .. } => pure(Unit::Int, Mad, whole),
            Op::Carry(how) => carry(*how),
            Op::Pack => pure(Unit::Int, Simple, Dependence::Pack),
            Op::Convert(how) => convert(how),
            Op::SetPredicate(compare) => pure(unit_of(compare.element), Simple, whole).family(),
            Op::Set { compare, .. } => pure(unit_of(compare.element), Simple, whole),
            Op::SelectWord { .. } | Op::SelectLong { .. } => {
                pure(Unit::Int, Simple, Dependence::Select).family()
            }
            Op::Predicate { .. } => Traits::simple().family(),
            Op::Word4(_) | Op::LongExtract { .. } | Op::LongInsert => Traits::simple(),
            Op::Unpack | Op::PackParts { .. } | Op::UnpackParts { .. } => Traits::simple(),
            Op::ShortPack | Op::ShortUnpack | Op::SelectBySign { .. } => Traits::simple(),
            Op::TestFloat(_) | Op::IsSpace(_) => Traits::simple(),
            Op::Narrow(_) | Op::WordFunction(_) => Traits::simple(),
            Op::Half(how) => half(how.op),
            Op::HalfCompare(_) | Op::HalfSet { .. } => pure(Unit::Fp32, Simple, whole),
            Op::Video(_) => pure(Unit::Int, Add, whole),
            Op::ScalarVideo(how) => scalar_video(how),
            Op::FrameAddress(_) => reads(Effect::ReadsFrame, Lanes::Sources),
            Op::Clock => reads(Effect::ReadsClock, Lanes::Sources),
            Op::ImageQuery(_) => reads(Effect::ReadsImage, Lanes::Own),
            Op::ActiveMask => exchange(Simple, Lanes::Same, whole),
            Op::Shuffle(_) => exchange(Shuffle, Lanes::Own, Dependence::Permute).family(),
            Op::Vote { .. } => exchange(Simple, Lanes::Same, Dependence::OfLanes).family(),
            Op::MatchAny => exchange(Div, Lanes::Own, Dependence::OfLanes),
            Op::MatchAll => exchange(Div, Lanes::Same, Dependence::OfLanes),
            Op::Redux(_) => exchange(Shuffle, Lanes::Same, Dependence::OfLanes),
            Op::Elect => exchange(Simple, Lanes::Own, Dependence::OfLanes),
            Op::Matrix(matrix) => self::matrix(&matrix.op),
            Op::Load(access) => memory::load(access),
            Op::Store(access) => memory::store(access),
            Op::Atomic(atomic) => memory::atomic(atomic),
            Op::Texture(_) => memory::texture(),
            Op::Surface(how) => memory::surface(how),
            Op::CopyAsync(how) => memory::copy_async(how),
            Op::Mbarrier(how) => memory::mbarrier(how),
            Op::BulkReduce(how) => memory::bulk_reduce(how),
            Op::ReplaceTensorMap(how) => memory::replace_tensor_map(how),
            Op::Groups(how) => groups(how),
            Op::TensorMemory(how) => memory::tensor_memory(how),
            Op::Runtime(_) => memory::runtime(),
            Op::Yield => with(Effect::Waits, Unit::Int),
            Op::Barrier(Barrier::ClusterArrive) => hint(true),
            Op::Barrier(_) => Traits {
                lanes: Lanes::Same,
                ..with(Effect::Waits, Unit::Barrier)
            },
            Op::Nothing { fence } => hint(*fence),
            Op::WarpBarrier => with(Effect::Waits, Unit::Fence),
            Op::Branch { .. } | Op::BranchIndexed { .. } => goes(Flow::Branch),
            Op::Call(_) => goes(Flow::Call),
            Op::Return => goes(Flow::Return),
            Op::Exit | Op::Trap => goes(Flow::Exit),
            Op::Part(kind) => machine(*kind),
            Op::Whole(whole) => Traits {
                sources: Dependence::Whole(ALL),
                ..machine(whole.kind)
            },
        }
    }
}

/// An instruction of a machine, by its kind.
fn machine(kind: Machine) -> Traits {
    use LatencyClass::{Add, Mad, Simple, Special};
    let (unit, latency) = match kind {
        Machine::Int => (Unit::Int, Add),
        Machine::IntMad => (Unit::Int, Mad),
        Machine::Fp32 => (Unit::Fp32, Mad),
        Machine::Fp64 => (Unit::Fp64, Mad),
        Machine::Special => (Unit::Sfu, Special),
        Machine::Convert => (Unit::Int, Simple),
        Machine::Control => (Unit::Control, Simple),
    };
    Traits::pure(unit, latency, Dependence::Whole(ALL))
}

/// The products of a warpgroup are waited for by all its warps together.
fn groups(how: &Groups) -> Traits {
    match (how.of, how.step) {
        (Pending::Products, GroupStep::Wait(_)) => Traits::with(Effect::Waits, Unit::Int),
        _ => hint(false),
    }
}

fn goes(flow: Flow) -> Traits {
    Traits::with(Effect::Goes(flow), Unit::Control)
}

fn reads(effect: Effect, lanes: Lanes) -> Traits {
    Traits {
        effect,
        lanes,
        ..Traits::simple()
    }
}

fn hint(fence: bool) -> Traits {
    Traits {
        effect: Effect::Hint,
        unit: if fence { Unit::Fence } else { Unit::Int },
        ..Traits::simple()
    }
}

/// On operands that are extended first, of whose bits no rule is told.
fn short(op: ShortOp) -> Traits {
    let Traits { unit, latency, .. } = match op {
        ShortOp::One(op) => op.traits(),
        ShortOp::Two(op) => op.traits(),
        ShortOp::Three(op) => op.traits(),
        ShortOp::MulHi => Traits::pure(Unit::Int, LatencyClass::Mul, Dependence::Whole(ALL)),
    };
    Traits::pure(unit, latency, Dependence::Whole(ALL))
}

fn carry(how: Carry) -> Traits {
    let latency = match how.op {
        CarryOp::Add | CarryOp::Sub => LatencyClass::Add,
        CarryOp::MadLow | CarryOp::MadHigh => LatencyClass::Mad,
    };
    Traits::pure(Unit::Int, latency, Dependence::Whole(ALL))
}

fn convert(how: &Convert) -> Traits {
    let unit = if how.from == Type::F64 || how.to == Type::F64 {
        Unit::Fp64
    } else {
        Unit::Int
    };
    let bits = low_bits(8 * how.from.bytes());
    let is_whole = |of: Type| of.is_float() || of == Type::Pred;
    let sources = if is_whole(how.from) || is_whole(how.to) || how.saturate {
        Dependence::Whole(bits)
    } else if how.from.is_signed() || how.to.is_signed() {
        // Extension of a sign: the bits above it depend on it.
        Dependence::NotAbove(bits)
    } else {
        Dependence::Bitwise(bits)
    };
    Traits::pure(unit, LatencyClass::Simple, sources)
}

/// The unit that compares values of a type.
fn unit_of(element: Type) -> Unit {
    match element {
        Type::F32 => Unit::Fp32,
        Type::F64 => Unit::Fp64,
        _ => Unit::Int,
    }
}

fn half(op: HalfOp) -> Traits {
    use LatencyClass::{Add, Mad, MinMax, Mul, Simple, Special};
    let (unit, latency) = match op {
        HalfOp::Neg | HalfOp::Abs => (Unit::Fp32, Simple),
        HalfOp::Ex2Approx | HalfOp::TanhApprox => (Unit::Sfu, Special),
        HalfOp::Add | HalfOp::Sub => (Unit::Fp32, Add),
        HalfOp::Mul => (Unit::Fp32, Mul),
        HalfOp::Min { .. } | HalfOp::Max { .. } => (Unit::Fp32, MinMax),
        HalfOp::Fma { .. } => (Unit::Fp32, Mad),
    };
    Traits::pure(unit, latency, Dependence::Whole(ALL))
}

fn scalar_video(how: &ScalarVideo) -> Traits {
    let latency = match how.op {
        VideoOp::MultiplyAdd(_) => LatencyClass::Mad,
        VideoOp::Add | VideoOp::Sub | VideoOp::AbsDiff | VideoOp::Average => LatencyClass::Add,
        VideoOp::Min | VideoOp::Max | VideoOp::Set(_) => LatencyClass::Add,
        VideoOp::ShiftLeft { .. } | VideoOp::ShiftRight { .. } => LatencyClass::Add,
    };
    Traits::pure(Unit::Int, latency, Dependence::Whole(ALL))
}

fn matrix(op: &MatrixOp) -> Traits {
    let (effect, unit, latency, sources) = match op {
        MatrixOp::MultiplyAdd(_) => (
            Effect::Exchanges,
            Unit::Matrix,
            LatencyClass::Mad,
            Dependence::OfLanes,
        ),
        MatrixOp::GroupMultiplyAdd(_) | MatrixOp::TensorMultiplyAdd(_) => (
            Effect::OpaqueMemory,
            Unit::Matrix,
            LatencyClass::Mad,
            Dependence::Always,
        ),
        MatrixOp::Transpose => (
            Effect::Exchanges,
            Unit::Memory,
            LatencyClass::Simple,
            Dependence::OfLanes,
        ),
        MatrixOp::Load(_)
        | MatrixOp::Store(_)
        | MatrixOp::LoadRows { .. }
        | MatrixOp::StoreRows { .. }
        | MatrixOp::Tensor(_)
        | MatrixOp::TensorLoad(_)
        | MatrixOp::TensorStore(_) => (
            Effect::OpaqueMemory,
            Unit::Memory,
            LatencyClass::Simple,
            Dependence::Always,
        ),
    };
    Traits {
        effect,
        lanes: Lanes::Own,
        memory: memory::of_matrix(op),
        ..Traits::pure(unit, latency, sources)
    }
}

/// The `count` lowest bits.
fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(u64::MAX, |end| end - 1)
}

#[cfg(test)]
mod tests;

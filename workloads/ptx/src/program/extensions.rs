//! Instructions of later versions that few kernels have: asynchronous copies, barriers in memory, the heap, odd functions of words.

use crate::types::Space;

/// An operand in brackets: a space and what is added to the base, which is a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOperand {
    /// The space.
    pub space: Space,
    /// Bytes added.
    pub offset: i64,
}

/// `cp.async`, `cp.async.bulk`. The copy is done at once, which every wait for it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyAsync {
    /// Where to: the first source is the base.
    pub to: MemoryOperand,
    /// Where from: the second source is the base.
    pub from: MemoryOperand,
    /// How much.
    pub size: CopySize,
}

/// How much [`CopyAsync`] copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySize {
    /// A few bytes; a third source is how many of them are read, the others become zero.
    Bytes {
        /// 4, 8 or 16.
        count: u8,
        /// `.cg`: the copy passes the first-level cache by.
        past_l1: bool,
    },
    /// As many as the third source says, in sixteens. The barrier whose base is the fourth source gets to know.
    Bulk(Option<MemoryOperand>),
    /// Likewise, to every CTA of the cluster that the fifth source, a mask, names: at the same place in its shared memory, with its own barrier.
    Multicast(MemoryOperand),
}

/// `mbarrier`: a barrier in a 64-bit word of shared memory; the first source is its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// What is done.
    pub op: MbarrierOp,
    /// Where it is.
    pub place: MemoryOperand,
}

/// What is done to an `mbarrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// `init`: the second source is the count.
    Init,
    /// `inval`.
    Invalidate,
    /// `arrive`, `arrive_drop`: the second source is the count, or the bytes to expect; the destination is the state before.
    Arrive {
        /// Later phases expect that many fewer, too.
        drop: bool,
        /// The source is bytes to expect, and one arrives.
        expect: bool,
    },
    /// `expect_tx`: the second source is bytes.
    Expect,
    /// `complete_tx`.
    Complete,
    /// `test_wait`, `try_wait`: whether the phase is over that the second source, a state or a parity, is of.
    Test {
        /// The source is a parity.
        parity: bool,
    },
}

/// Functions of the CUDA runtime that act on the device: its heap, launches by kernels, and what kernels tell the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeCall {
    /// `malloc`: bytes to an address, zero if there is no room.
    Allocate,
    /// `free`.
    Free,
    /// `cudaGetParameterBufferV2`: address of an entry, grid, block, bytes of dynamic shared memory to the address of room for its parameters.
    Prepare,
    /// `cudaLaunchDeviceV2`: that room and a stream to an error code; a third source is where the parameters lie instead.
    Launch,
    /// `vprintf`: addresses of a format and of its arguments to how many of these it has.
    Print,
    /// `__assertfail`: addresses of what was asserted, of the file's name and of the function's, and the line between them.
    Assert,
}

/// Functions of up to three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordFunction {
    /// `fns`: the place of the n-th set bit of a mask, counted from a bit.
    FindNthSet,
    /// `szext`: the lower bits of a word, extended.
    Extend {
        /// Sign extension.
        signed: bool,
        /// More than 32 bits are 32, else the lower five bits of the count.
        clamp: bool,
    },
    /// `mapa`: the address, in the CTA whose rank is the second source, of what the first source names; the third one is the own rank.
    MapShared {
        /// Addresses are generic ones.
        generic: bool,
    },
    /// `getctarank`: which CTA of the cluster an address of shared memory lies in; the second source is the own rank.
    SharedRank,
    /// `cvt.pack`: two signed words, clamped to few bits, below the third source moved up.
    Pack {
        /// Bits of each.
        bits: u8,
        /// The results are signed.
        signed: bool,
    },
    /// `cvt.e4m3x2.f32`: two singles to a pair of 8-bit floats.
    EncodeSmall {
        /// The format.
        format: SmallFormat,
        /// Negative values and NaN become zero.
        relu: bool,
        /// The source is a pair of halves.
        of_pair: bool,
    },
    /// `cvt.f16x2.e4m3x2`: a pair of 8-bit floats to a pair of halves.
    DecodeSmall {
        /// The format.
        format: SmallFormat,
        /// Negative values and NaN become zero.
        relu: bool,
    },
}

/// 8-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallFormat {
    /// Four bits of exponent, three of fraction; no infinity.
    E4m3,
    /// Five and two.
    E5m2,
}

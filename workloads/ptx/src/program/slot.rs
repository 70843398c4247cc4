//! Slots: where a warp keeps one value a lane.
//!
//! Registers, literals and special registers are all slots; the latter two are filled when the warp starts and never
//! written, so that an instruction's operands are found in one way.

use std::ops::Index;

/// The three banks of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotKind {
    /// 32 bits a lane (8- and 16-bit values too; their upper bits mean nothing).
    Word,
    /// 64 bits a lane.
    Double,
    /// One bit a lane.
    Predicate,
}

/// A slot: its bank and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The bank.
    pub kind: SlotKind,
    /// The number.
    pub number: u16,
}

impl Slot {
    /// The number as an index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.number)
    }
}

/// What a slot holds when a warp starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source<T> {
    /// A register: zero until written (PTX leaves it undefined).
    Register,
    /// A literal.
    Literal(T),
    /// A special register.
    Special(Special),
}

/// Special registers that do not change while a warp runs (PTX ISA 8.x, chapter 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Special {
    /// `%tid` in x, y, z.
    Tid(u8),
    /// `%ntid`.
    Ntid(u8),
    /// `%ctaid`.
    Ctaid(u8),
    /// `%nctaid`.
    Nctaid(u8),
    /// `%clusterid`.
    ClusterId(u8),
    /// `%nclusterid`.
    NclusterId(u8),
    /// `%cluster_ctaid`.
    ClusterCtaid(u8),
    /// `%cluster_nctaid`.
    ClusterNctaid(u8),
    /// `%cluster_ctarank`.
    ClusterRank,
    /// `%cluster_nctarank`.
    ClusterSize,
    /// `%is_explicit_cluster`, as a word.
    ExplicitCluster,
    /// `%laneid`.
    LaneId,
    /// `%warpid`.
    WarpId,
    /// `%nwarpid`.
    NwarpId,
    /// `%smid`: zero, since functional execution knows no SMs.
    SmId,
    /// `%nsmid`: one.
    NsmId,
    /// `%gridid`: zero.
    GridId,
    /// `%lanemask_eq`, `_le`, `_lt`, `_ge`, `_gt`.
    LaneMask(MaskKind),
    /// `%dynamic_smem_size`.
    DynamicShared,
    /// `%total_smem_size`.
    TotalShared,
    /// What is the same everywhere: of environment registers and performance counters.
    Number(u32),
    /// `WARP_SZ`.
    WarpSize,
    /// What lies at this offset of the kernel's parameters.
    Param(u32),
}

/// Which lanes a lane-mask register names, against the lane itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaskKind {
    /// The lane itself.
    Eq,
    /// Lower lanes and itself.
    Le,
    /// Lower lanes.
    Lt,
    /// Higher lanes and itself.
    Ge,
    /// Higher lanes.
    Gt,
}

/// A short list of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands<const N: usize> {
    slots: [Slot; N],
    len: u8,
}

impl<const N: usize> Default for Operands<N> {
    fn default() -> Self {
        let unused = Slot {
            kind: SlotKind::Word,
            number: 0,
        };
        Self {
            slots: [unused; N],
            len: 0,
        }
    }
}

impl<const N: usize> Operands<N> {
    /// Appends a slot.
    ///
    /// # Panics
    /// If the list is full: lowering checks operand counts first.
    pub fn push(&mut self, slot: Slot) {
        self.slots[usize::from(self.len)] = slot;
        self.len += 1;
    }

    /// The slots.
    #[inline]
    pub fn as_slice(&self) -> &[Slot] {
        &self.slots[..usize::from(self.len)]
    }

    /// The slots, to be replaced.
    pub fn as_mut_slice(&mut self) -> &mut [Slot] {
        &mut self.slots[..usize::from(self.len)]
    }
}

impl<const N: usize> Index<usize> for Operands<N> {
    type Output = Slot;

    #[inline]
    fn index(&self, at: usize) -> &Slot {
        &self.slots[at]
    }
}

impl<const N: usize> From<Slot> for Operands<N> {
    fn from(slot: Slot) -> Self {
        [slot].into_iter().collect()
    }
}

impl<const N: usize> FromIterator<Slot> for Operands<N> {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Self {
        let mut operands = Self::default();
        for slot in slots {
            operands.push(slot);
        }
        operands
    }
}

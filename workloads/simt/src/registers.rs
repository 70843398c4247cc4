//! The registers of one warp, with literals and special registers among them.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{MaskKind, Slot, SlotKind, Source, Special};

use crate::trace::{LaneMask, Register, RegisterKind};

/// Lanes of words that are computed together: results are copied without a call, and the dispatch is paid for once.
pub(crate) const WORDS: usize = 32;

/// Lanes of doubles that are computed together, likewise.
pub(crate) const DOUBLES: usize = 16;

/// Values of all slots, one array of lanes a slot.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Registers<const W: usize> {
    words: Vec<[u32; W]>,
    doubles: Vec<[u64; W]>,
    predicates: Vec<LaneMask>,
}

impl<const W: usize> Clone for Registers<W> {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
            doubles: self.doubles.clone(),
            predicates: self.predicates.clone(),
        }
    }

    /// Into the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
        self.doubles.clone_from(&other.doubles);
        self.predicates.clone_from(&other.predicates);
    }
}

/// Where a warp stands in its launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cta: [u32; 3],
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Whether the launch says how many these are.
    pub explicit_cluster: bool,
    pub warp: u32,
    pub warps: u32,
    pub static_shared: u32,
    pub dynamic_shared: u32,
}

impl Place {
    /// Thread coordinates of a lane. Lanes beyond the CTA's last thread get coordinates nobody reads.
    pub fn thread(&self, lane: u32, width: u32) -> [u32; 3] {
        let linear = self.warp * width + lane;
        let [x, y, _] = self.block;
        [linear % x, linear / x % y, linear / (x * y)]
    }

    /// The CTA's rank in its cluster.
    pub fn rank(&self) -> u32 {
        let [x, y, z] = std::array::from_fn(|axis| self.cta[axis] % self.cluster[axis]);
        let [width, height, _] = self.cluster;
        (z * height + y) * width + x
    }

    fn special(&self, special: Special, lane: u32, width: u32) -> u32 {
        let axis = usize::from;
        match special {
            Special::Tid(at) => self.thread(lane, width)[axis(at)],
            Special::Ntid(at) => self.block[axis(at)],
            Special::Ctaid(at) => self.cta[axis(at)],
            Special::Nctaid(at) => self.grid[axis(at)],
            Special::ClusterId(at) => self.cta[axis(at)] / self.cluster[axis(at)],
            Special::NclusterId(at) => self.grid[axis(at)] / self.cluster[axis(at)],
            Special::ClusterCtaid(at) => self.cta[axis(at)] % self.cluster[axis(at)],
            Special::ClusterNctaid(at) => self.cluster[axis(at)],
            Special::ClusterRank => self.rank(),
            Special::ClusterSize => self.cluster.iter().product(),
            Special::ExplicitCluster => u32::from(self.explicit_cluster),
            Special::LaneId => lane,
            Special::WarpId => self.warp,
            Special::NwarpId => self.warps,
            Special::SmId | Special::GridId => 0,
            Special::NsmId => 1,
            Special::Number(number) => number,
            Special::LaneMask(kind) => lane_mask(kind, lane) as u32,
            Special::DynamicShared => self.dynamic_shared,
            Special::TotalShared => self.static_shared + self.dynamic_shared,
            Special::WarpSize => width,
            // Bound to the launch's before a warp starts.
            Special::Param(_) => 0,
        }
    }
}

fn lane_mask(kind: MaskKind, lane: u32) -> LaneMask {
    let own = 1 << lane;
    match kind {
        MaskKind::Eq => own,
        MaskKind::Lt => own - 1,
        MaskKind::Le => own | (own - 1),
        MaskKind::Gt => !(own | (own - 1)),
        MaskKind::Ge => !(own - 1),
    }
}

impl<const W: usize> Registers<W> {
    /// The slots of a warp at `place`, where every CTA has such a warp.
    pub fn new(entry: &Entry, place: &Place) -> Self {
        let mut registers = Self {
            words: vec![[0; W]; entry.words.len()],
            doubles: vec![[0; W]; entry.doubles.len()],
            predicates: vec![0; usize::from(entry.predicates)],
        };
        fill(&mut registers.words, &entry.words, place, |value| value);
        fill(&mut registers.doubles, &entry.doubles, place, u64::from);
        registers
    }

    /// Fills every slot with what it holds when the warp starts at `place`.
    pub fn start(&mut self, entry: &Entry, place: &Place) {
        // What the last CTA may have had for an instruction that was another.
        self.words.truncate(entry.words.len());
        self.doubles.truncate(entry.doubles.len());
        self.predicates.truncate(usize::from(entry.predicates));
        refill(&mut self.words, &entry.words, place, |value| value);
        refill(&mut self.doubles, &entry.doubles, place, u64::from);
        self.predicates.fill(0);
    }

    /// Flips a bit of what a lane holds.
    pub fn flip(&mut self, register: Register, lane: u32, bit: u32) {
        let at = usize::from(register.number);
        match register.kind {
            RegisterKind::Word => self.words[at][lane as usize] ^= 1 << bit,
            RegisterKind::Double => self.doubles[at][lane as usize] ^= 1 << bit,
            RegisterKind::Predicate => self.predicates[at] ^= 1 << lane,
        }
    }

    /// Has as many slots as `entry` says: those that are new hold what they do when a warp starts.
    pub fn fit(&mut self, entry: &Entry, place: &Place) {
        let (words, doubles) = (self.words.len(), self.doubles.len());
        self.words.resize(entry.words.len(), [0; W]);
        self.doubles.resize(entry.doubles.len(), [0; W]);
        self.predicates.resize(usize::from(entry.predicates), 0);
        if let (Some(slots), Some(sources)) =
            (self.words.get_mut(words..), entry.words.get(words..))
        {
            fill(slots, sources, place, |value| value);
        }
        if let (Some(slots), Some(sources)) = (
            self.doubles.get_mut(doubles..),
            entry.doubles.get(doubles..),
        ) {
            fill(slots, sources, place, u64::from);
        }
    }

    /// What one lane holds.
    pub fn value(&self, slot: Slot, lane: u32) -> u64 {
        match slot.kind {
            SlotKind::Word => u64::from(self.word(slot)[lane as usize]),
            SlotKind::Double => self.double(slot)[lane as usize],
            SlotKind::Predicate => self.predicate(slot) >> lane & 1,
        }
    }

    /// Gives one lane something to hold.
    pub fn put(&mut self, slot: Slot, lane: u32, value: u64) {
        match slot.kind {
            SlotKind::Word => self.words[slot.index()][lane as usize] = value as u32,
            SlotKind::Double => self.doubles[slot.index()][lane as usize] = value,
            SlotKind::Predicate => self.set_predicate(slot, 1 << lane, value << lane),
        }
    }

    #[inline]
    pub fn word(&self, slot: Slot) -> &[u32; W] {
        &self.words[slot.index()]
    }

    #[inline]
    pub fn double(&self, slot: Slot) -> &[u64; W] {
        &self.doubles[slot.index()]
    }

    #[inline]
    pub fn predicate(&self, slot: Slot) -> LaneMask {
        self.predicates[slot.index()]
    }

    /// A digest of some slots' values, if each holds one value in all lanes: equal digests mean equal values but for one case in 2^32.
    pub fn common(&self, slots: impl Iterator<Item = Slot>) -> Option<u32> {
        let mut digest = 0u64;
        for slot in slots {
            let value = match slot.kind {
                SlotKind::Word => u64::from(common_value(self.word(slot))?),
                SlotKind::Double => common_value(self.double(slot))?,
                SlotKind::Predicate => match self.predicate(slot) & full::<W>() {
                    0 => 0,
                    mask if mask == full::<W>() => 1,
                    _ => return None,
                },
            };
            // The multiplier of Knuth's multiplicative hashing for words of 64 bits, 2^64 over the golden ratio.
            digest = (digest ^ value)
                .wrapping_add(1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            digest ^= digest >> 32;
        }
        Some(digest as u32)
    }

    /// A part of a word's lanes.
    #[inline]
    pub fn word_part<const N: usize>(&self, slot: Slot, part: usize) -> &[u32; N] {
        &self.words[slot.index()].as_chunks().0[part]
    }

    #[inline]
    pub fn word_part_mut<const N: usize>(&mut self, slot: Slot, part: usize) -> &mut [u32; N] {
        &mut self.words[slot.index()].as_chunks_mut().0[part]
    }

    /// A part of a double's lanes.
    #[inline]
    pub fn double_part<const N: usize>(&self, slot: Slot, part: usize) -> &[u64; N] {
        &self.doubles[slot.index()].as_chunks().0[part]
    }

    /// Sets the given lanes of a word, part by part: `values` may read the word itself, and is not asked for parts without lanes.
    #[inline(always)]
    pub fn compute_word(
        &mut self,
        slot: Slot,
        lanes: LaneMask,
        values: impl Fn(&Self, usize) -> [u32; WORDS],
    ) {
        for part in 0..W / WORDS {
            let lanes = lanes >> (WORDS * part) & full::<WORDS>();
            if lanes != 0 {
                let values = values(self, part);
                let target = &mut self.words[slot.index()].as_chunks_mut().0[part];
                keep(target, lanes, &values);
            }
        }
    }

    /// Sets the given lanes of a double, likewise.
    #[inline(always)]
    pub fn compute_long(
        &mut self,
        slot: Slot,
        lanes: LaneMask,
        values: impl Fn(&Self, usize) -> [u64; DOUBLES],
    ) {
        for part in 0..W / DOUBLES {
            let lanes = lanes >> (DOUBLES * part) & full::<DOUBLES>();
            if lanes != 0 {
                let values = values(self, part);
                let target = &mut self.doubles[slot.index()].as_chunks_mut().0[part];
                keep(target, lanes, &values);
            }
        }
    }

    /// In which lanes something holds, by parts of as many lanes as words have.
    #[inline(always)]
    pub fn test(&self, holds: impl Fn(&Self, usize) -> LaneMask) -> LaneMask {
        (0..W / WORDS).fold(0, |mask, part| mask | holds(self, part) << (WORDS * part))
    }

    pub fn set_word(&mut self, slot: Slot, lanes: LaneMask, values: &[u32; W]) {
        keep(&mut self.words[slot.index()], lanes, values);
    }

    pub fn set_double(&mut self, slot: Slot, lanes: LaneMask, values: &[u64; W]) {
        keep(&mut self.doubles[slot.index()], lanes, values);
    }

    /// Sets `count` neighbouring lanes of a word or a double from what `value` says of each, counted from the first.
    #[inline(always)]
    pub fn load(&mut self, slot: Slot, first: usize, count: usize, value: impl Fn(usize) -> u64) {
        match slot.kind {
            SlotKind::Double => {
                let lanes = self.doubles[slot.index()][first..][..count].iter_mut();
                lanes.enumerate().for_each(|(at, lane)| *lane = value(at));
            }
            _ => {
                let lanes = self.words[slot.index()][first..][..count].iter_mut();
                lanes
                    .enumerate()
                    .for_each(|(at, lane)| *lane = value(at) as u32);
            }
        }
    }

    /// Writes the lower `N` bytes of a word's or a double's lanes, from `first` on.
    #[inline(always)]
    pub fn store<const N: usize>(&self, slot: Slot, first: usize, row: &mut [[u8; N]]) {
        let put = |bytes: &mut [u8; N], value: u64| {
            bytes.copy_from_slice(&value.to_le_bytes()[..N]);
        };
        match slot.kind {
            SlotKind::Double => {
                let lanes = &self.doubles[slot.index()][first..];
                row.iter_mut()
                    .zip(lanes)
                    .for_each(|(bytes, lane)| put(bytes, *lane));
            }
            _ => {
                let lanes = &self.words[slot.index()][first..];
                row.iter_mut()
                    .zip(lanes)
                    .for_each(|(bytes, lane)| put(bytes, u64::from(*lane)));
            }
        }
    }

    /// Sets all the given lanes of a word or a double to one value.
    pub fn splat(&mut self, slot: Slot, lanes: LaneMask, value: u64) {
        match slot.kind {
            SlotKind::Double => self.set_double(slot, lanes, &[value; W]),
            _ => self.set_word(slot, lanes, &[value as u32; W]),
        }
    }

    /// A word or a double, as 64 bits.
    #[inline]
    pub fn extended(&self, slot: Slot) -> [u64; W] {
        match slot.kind {
            SlotKind::Double => *self.double(slot),
            _ => self.word(slot).map(u64::from),
        }
    }

    /// Sets a word or a double from 64 bits, of which a word takes the lower ones.
    #[inline]
    pub fn set_extended(&mut self, slot: Slot, lanes: LaneMask, values: &[u64; W]) {
        match slot.kind {
            SlotKind::Double => self.set_double(slot, lanes, values),
            _ => self.set_word(slot, lanes, &values.map(|value| value as u32)),
        }
    }

    #[inline]
    pub fn set_predicate(&mut self, slot: Slot, lanes: LaneMask, values: LaneMask) {
        let target = &mut self.predicates[slot.index()];
        *target = *target & !lanes | values & lanes;
    }
}

/// What all lanes hold, if it is the same; compared without a branch.
fn common_value<T: Copy + PartialEq, const W: usize>(lanes: &[T; W]) -> Option<T> {
    let same = lanes
        .iter()
        .fold(true, |same, lane| same & (*lane == lanes[0]));
    same.then_some(lanes[0])
}

/// What a lane of a slot holds.
trait Lane: Copy {
    /// The new value if `kept`, without a branch.
    fn pick(kept: bool, new: Self, old: Self) -> Self;
}

macro_rules! lane {
    ($($bits:ty),*) => {$(
        impl Lane for $bits {
            #[inline(always)]
            fn pick(kept: bool, new: Self, old: Self) -> Self {
                old ^ ((old ^ new) & Self::from(kept).wrapping_neg())
            }
        }
    )*};
}

lane!(u32, u64);

/// Writes the given lanes.
#[inline(always)]
fn keep<T: Lane, const N: usize>(target: &mut [T; N], lanes: LaneMask, values: &[T; N]) {
    if lanes == full::<N>() {
        *target = *values;
        return;
    }
    let old = *target;
    *target = std::array::from_fn(|lane| T::pick(lanes >> lane & 1 != 0, values[lane], old[lane]));
}

/// Registers become zero, literals their value, special registers what they are at this place.
fn fill<T: Copy + Default, const W: usize>(
    slots: &mut [[T; W]],
    sources: &[Source<T>],
    place: &Place,
    widen: impl Fn(u32) -> T,
) {
    for (slot, source) in slots.iter_mut().zip(sources) {
        *slot = match *source {
            Source::Register => [T::default(); W],
            Source::Literal(value) => [value; W],
            Source::Special(special) => {
                std::array::from_fn(|lane| widen(place.special(special, lane as u32, W as u32)))
            }
        };
    }
}

/// As [`fill`], of slots that were filled for another CTA: only registers and the CTA's place differ.
fn refill<T: Copy + Default, const W: usize>(
    slots: &mut [[T; W]],
    sources: &[Source<T>],
    place: &Place,
    widen: impl Fn(u32) -> T,
) {
    for (slot, source) in slots.iter_mut().zip(sources) {
        match *source {
            Source::Register => *slot = [T::default(); W],
            Source::Special(
                special @ (Special::Ctaid(_)
                | Special::ClusterId(_)
                | Special::ClusterCtaid(_)
                | Special::ClusterRank),
            ) => *slot = [widen(place.special(special, 0, W as u32)); W],
            Source::Literal(_) | Source::Special(_) => {}
        }
    }
}

/// All lanes of a warp.
#[inline]
pub(crate) const fn full<const W: usize>() -> LaneMask {
    if W == 64 { LaneMask::MAX } else { (1 << W) - 1 }
}

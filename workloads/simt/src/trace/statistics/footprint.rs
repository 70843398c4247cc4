//! What memory a trace touches.

use rustc_hash::FxHashMap;

use super::super::{Addresses, LaneMask, MemoryOp, MemoryOpKind, Space};
use super::share;

/// Bytes of a line: that of the L1 and L2 caches of every NVIDIA GPU since Fermi.
pub const LINE: u64 = 128;
/// Bytes of a sector: the least that goes to and from memory.
pub const SECTOR: u64 = 32;

/// Lines that are told apart in all spaces together: a gigabyte. What lies beyond them is accessed, but not counted as touched.
const MOST_LINES: usize = 1 << 23;

/// Accesses in one state space.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// Instructions that load and have lanes that execute.
    pub loads: u64,
    /// Instructions that store.
    pub stores: u64,
    /// Atomic instructions.
    pub atomics: u64,
    /// Bytes that all lanes move.
    pub moved: u64,
    /// Different sectors that each instruction touches, added up.
    pub sectors: u64,
    /// Instructions all of whose lanes have one address.
    pub uniform: u64,
    /// Instructions whose lanes have addresses at equal distances.
    pub strided: u64,
    /// Touched bytes of each touched line.
    lines: FxHashMap<u64, u128>,
}

impl Footprint {
    /// Instructions that access this space.
    pub fn accesses(&self) -> u64 {
        self.loads + self.stores + self.atomics
    }

    /// Different sectors that an instruction touches, on the average.
    pub fn sectors_per_access(&self) -> f64 {
        share(self.sectors, self.accesses())
    }

    /// Different lines.
    pub fn touched_lines(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Different bytes.
    pub fn touched_bytes(&self) -> u64 {
        let bytes = self.lines.values().map(|mask| u64::from(mask.count_ones()));
        bytes.sum()
    }
}

/// Footprints by state space. Generic accesses are counted where their first lane's address lies.
#[derive(Clone, Debug)]
pub struct Spaces {
    spaces: [(Space, Footprint); 5],
    /// Lines that may still be told apart.
    left: usize,
    /// Sectors of the instruction at hand.
    sectors: Vec<u64>,
}

impl Default for Spaces {
    fn default() -> Self {
        let spaces = [
            Space::Global,
            Space::Shared,
            Space::Local,
            Space::Const,
            Space::Param,
        ];
        Self {
            spaces: spaces.map(|space| (space, Footprint::default())),
            left: MOST_LINES,
            sectors: Vec::new(),
        }
    }
}

impl Spaces {
    /// The spaces that are accessed.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &Footprint)> {
        let spaces = self.spaces.iter().map(|(space, found)| (*space, found));
        spaces.filter(|(_, footprint)| footprint.accesses() > 0)
    }

    /// Whether every touched byte was counted: it was not if more than a gigabyte was.
    pub fn is_complete(&self) -> bool {
        self.left > 0
    }

    /// The footprint in `space`.
    pub fn get(&self, space: Space) -> Option<&Footprint> {
        self.iter()
            .find(|(found, _)| *found == space)
            .map(|(_, footprint)| footprint)
    }

    /// All spaces together: instructions, those with one address, those with addresses at equal distances.
    pub fn shapes(&self) -> [u64; 3] {
        let footprints = self.spaces.iter().map(|(_, footprint)| footprint);
        footprints.fold([0; 3], |[all, uniform, strided], footprint| {
            [
                all + footprint.accesses(),
                uniform + footprint.uniform,
                strided + footprint.strided,
            ]
        })
    }

    pub(super) fn access(&mut self, op: MemoryOp, addresses: &Addresses, executed: LaneMask) {
        let mut found = None;
        let space = |address| match op.space {
            Space::Generic => Space::of(address),
            space => space,
        };
        addresses.for_each(executed, |_, address| {
            found.get_or_insert_with(|| space(address));
        });
        let place = self
            .spaces
            .iter()
            .position(|(space, _)| Some(*space) == found);
        let Some((space, footprint)) = place.map(|place| &mut self.spaces[place]) else {
            return;
        };
        let base = match op.space {
            Space::Generic => space.window_base(),
            _ => 0,
        };
        match op.kind {
            MemoryOpKind::Load | MemoryOpKind::Texture => footprint.loads += 1,
            MemoryOpKind::Store => footprint.stores += 1,
            MemoryOpKind::Atomic => footprint.atomics += 1,
        }
        match addresses {
            Addresses::Affine { stride: 0, .. } => footprint.uniform += 1,
            Addresses::Affine { .. } => footprint.strided += 1,
            Addresses::Scattered(_) => {}
        }
        self.sectors.clear();
        let bytes = u64::from(op.bytes);
        addresses.for_each(executed, |_, address| {
            let first = address.wrapping_sub(base);
            let last = first.saturating_add(bytes - 1);
            footprint.moved += bytes;
            self.sectors.extend(first / SECTOR..=last / SECTOR);
            touch(&mut footprint.lines, &mut self.left, first, last);
        });
        self.sectors.sort_unstable();
        self.sectors.dedup();
        footprint.sectors += self.sectors.len() as u64;
    }
}

/// Marks the bytes from `first` to `last`.
fn touch(lines: &mut FxHashMap<u64, u128>, left: &mut usize, first: u64, last: u64) {
    for line in first / LINE..=last / LINE {
        let from = first.max(line * LINE) % LINE;
        let to = last.min(line * LINE + (LINE - 1)) % LINE;
        let mask = (u128::MAX << from) & (u128::MAX >> (LINE - 1 - to));
        match lines.get_mut(&line) {
            Some(touched) => *touched |= mask,
            None if *left == 0 => {}
            None => {
                lines.insert(line, mask);
                *left -= 1;
            }
        }
    }
}

//! From the addresses of a warp to memory transactions.
//!
//! CUDA programming guide, compute capability 1.2: of each half-warp, the lanes that touch one segment share a transaction; a segment of which only one
//! half is touched shrinks to that half, down to a sector. Later generations look at the whole warp, and from 5.2 on move the sectors that are touched.

use warpwatt_simt::trace::{Addresses, Copied, LaneMask};

use crate::request::Kind;
use crate::{GpuSpec, SECTOR_BYTES, Transactions};

/// Bytes of a sector.
const SECTOR: u64 = SECTOR_BYTES as u64;

/// The rules of coalescing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Neighbouring lanes looked at together.
    pub group: u32,
    pub segment_bytes: u64,
    pub transactions: Transactions,
    pub warp_width: u32,
}

impl Rules {
    pub fn new(spec: &GpuSpec) -> Self {
        Self {
            group: spec.ldst.coalesce_group,
            segment_bytes: u64::from(spec.ldst.segment_bytes),
            transactions: spec.ldst.transactions,
            warp_width: spec.sm.warp_width,
        }
    }

    /// Whether all lanes of a warp are among these.
    fn are_all(&self, lanes: LaneMask) -> bool {
        lanes == LaneMask::MAX >> (64 - self.warp_width)
    }
}

/// A segment and which of its sectors move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub base: u64,
    pub mask: u8,
    /// Most lanes that touch one address; counted for atomics only.
    pub repeats: u8,
    /// Whether it must be told which bytes of its sectors are written.
    pub masked: bool,
}

impl Block {
    pub fn new(base: u64, mask: u8) -> Self {
        Self {
            base,
            mask,
            repeats: 1,
            masked: false,
        }
    }

    pub fn bytes(&self) -> u64 {
        SECTOR * u64::from(self.mask.count_ones())
    }
}

/// Finds the transactions of an access; keeps its buffers from call to call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coalescer {
    segments: Vec<Block>,
    /// A bit for the number of each of them modulo 64: what has none is not among them.
    seen: u64,
    /// The transactions of the last access.
    pub blocks: Vec<Block>,
}

impl Coalescer {
    /// The transactions for `executed` lanes that access `bytes` each.
    pub fn coalesce(
        &mut self,
        rules: &Rules,
        addresses: &Addresses,
        executed: LaneMask,
        bytes: u64,
    ) {
        self.blocks.clear();
        if self.contiguous(rules, addresses, executed, bytes) {
            return;
        }
        let mut group = 0;
        self.segments.clear();
        addresses.for_each(executed, |lane, address| {
            if lane / rules.group != group {
                self.flush(rules);
                group = lane / rules.group;
            }
            self.touch(rules, address, bytes);
        });
        self.flush(rules);
    }

    /// The transactions of a copy: the sectors of its runs, by lines.
    pub fn runs(&mut self, copied: &Copied) {
        /// Sectors of a block.
        const LINE: u64 = 4 * SECTOR;
        self.blocks.clear();
        for piece in &copied.pieces {
            piece.for_each(|run| {
                let end = run.saturating_add(piece.run).div_ceil(SECTOR) * SECTOR;
                let mut sector = run / SECTOR * SECTOR;
                while sector < end {
                    let base = sector / LINE * LINE;
                    let bit = 1 << (sector % LINE / SECTOR);
                    match self.blocks.last_mut() {
                        Some(block) if block.base == base => block.mask |= bit,
                        _ => self.blocks.push(Block::new(base, bit)),
                    }
                    sector += SECTOR;
                }
            });
        }
    }

    /// Per-thread memory: word k of a warp's lanes lies side by side, as on hardware, so that lanes at one offset coalesce.
    pub fn coalesce_local(
        &mut self,
        rules: &Rules,
        addresses: &Addresses,
        executed: LaneMask,
        access: LocalAccess,
    ) {
        self.blocks.clear();
        if self.local_alike(rules, addresses, executed, access) {
            return;
        }
        self.local_by_lanes(rules, addresses, executed, access);
    }

    fn local_by_lanes(
        &mut self,
        rules: &Rules,
        addresses: &Addresses,
        executed: LaneMask,
        access: LocalAccess,
    ) {
        self.segments.clear();
        let mut group = 0;
        addresses.for_each(executed, |lane, address| {
            if lane / rules.group != group {
                self.flush(rules);
                group = lane / rules.group;
            }
            let first = (address & LOCAL_MASK) / 4;
            for word in first..first + access.bytes.div_ceil(4) {
                let physical =
                    access.base + (word * u64::from(rules.warp_width) + u64::from(lane)) * 4;
                self.touch(rules, physical, 4);
            }
        });
        self.flush(rules);
    }

    /// Whole groups at one offset touch the same of each word, which lies in one segment: no need to look at each lane.
    fn local_alike(
        &mut self,
        rules: &Rules,
        addresses: &Addresses,
        executed: LaneMask,
        access: LocalAccess,
    ) -> bool {
        let Addresses::Affine { base, stride } = *addresses else {
            return false;
        };
        let (row, piece) = (4 * u64::from(rules.warp_width), 4 * u64::from(rules.group));
        if !rules.are_all(executed)
            || stride as u64 & LOCAL_MASK != 0
            || !access.base.is_multiple_of(rules.segment_bytes)
            || !row.is_multiple_of(rules.segment_bytes)
            || !row.is_multiple_of(piece)
            || !rules.segment_bytes.is_multiple_of(piece)
        {
            return false;
        }
        let first = (base & LOCAL_MASK) / 4;
        let words = first..first + access.bytes.div_ceil(4);
        self.segments.clear();
        for group in 0..row / piece {
            for word in words.clone() {
                let piece_at = access.base + word * row + group * piece;
                self.touch(rules, piece_at, piece);
            }
            self.flush(rules);
        }
        true
    }

    /// Whole groups with a stride of at most a sector touch every sector between their ends: no need to look at each lane.
    fn contiguous(
        &mut self,
        rules: &Rules,
        addresses: &Addresses,
        executed: LaneMask,
        bytes: u64,
    ) -> bool {
        let Addresses::Affine { base, stride } = *addresses else {
            return false;
        };
        if !rules.are_all(executed)
            || stride < 0
            || stride as u64 > SECTOR
            || !rules.warp_width.is_multiple_of(rules.group)
        {
            return false;
        }
        for group in 0..rules.warp_width / rules.group {
            let first = base.wrapping_add(stride as u64 * u64::from(group * rules.group));
            let end = first.wrapping_add(stride as u64 * u64::from(rules.group - 1) + bytes);
            self.segments.clear();
            let mut sector = first & !(SECTOR - 1);
            while sector < end {
                self.touch_sector(rules, sector);
                sector += SECTOR;
            }
            self.flush(rules);
        }
        true
    }

    /// Which blocks need a mask: those of a store whose lanes write too few bytes to fill its sectors, and those of an atomic with several.
    pub fn mark_masked(&mut self, kind: Kind, written: u64) {
        let sectors: u64 = self.blocks.iter().map(Block::bytes).sum();
        for block in &mut self.blocks {
            block.masked = match kind {
                Kind::Store => written < sectors,
                Kind::Atomic => block.mask.count_ones() > 1,
                _ => false,
            };
        }
    }

    /// Of an atomic: how many lanes of a group touch one address of each block.
    pub fn count_repeats(&mut self, rules: &Rules, addresses: &Addresses, executed: LaneMask) {
        let (mut touched, mut count) = ([(0, 0); 64], 0);
        addresses.for_each(executed, |lane, address| {
            touched[count] = (address, lane / rules.group);
            count += 1;
        });
        touched[..count].sort_unstable();
        for same in touched[..count].chunk_by(|one, other| one == other) {
            let base = same[0].0 & !(rules.segment_bytes - 1);
            for block in self.blocks.iter_mut().filter(|block| block.base == base) {
                block.repeats = block.repeats.max(same.len() as u8);
            }
        }
    }

    fn touch(&mut self, rules: &Rules, address: u64, bytes: u64) {
        let last = address.wrapping_add(bytes.max(1) - 1) & !(SECTOR - 1);
        let mut sector = address & !(SECTOR - 1);
        self.touch_sector(rules, sector);
        while sector < last {
            sector += SECTOR;
            self.touch_sector(rules, sector);
        }
    }

    #[inline]
    fn touch_sector(&mut self, rules: &Rules, sector: u64) {
        let base = sector & !(rules.segment_bytes - 1);
        let bit = 1 << ((sector - base) / SECTOR);
        let number = 1 << (base >> 7 & 63);
        let known = if self.seen & number != 0 {
            let mut latest = self.segments.iter_mut().rev();
            latest.find(|segment| segment.base == base)
        } else {
            None
        };
        self.seen |= number;
        match known {
            Some(segment) => segment.mask |= bit,
            None => self.segments.push(Block::new(base, bit)),
        }
    }

    fn flush(&mut self, rules: &Rules) {
        self.seen = 0;
        for segment in self.segments.drain(..) {
            self.blocks.push(match rules.transactions {
                Transactions::Segments => shrink(rules, segment),
                Transactions::Sectors => segment,
            });
        }
    }
}

/// Where the local memory of a warp slot lies, and what its lanes access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalAccess {
    pub base: u64,
    pub bytes: u64,
}

/// Bits of a local address below its window.
pub(crate) const LOCAL_MASK: u64 = (1 << 24) - 1;

/// Halves the segment while one half of it is not touched; what is left moves whole.
fn shrink(rules: &Rules, segment: Block) -> Block {
    if segment.mask.is_power_of_two() {
        return segment;
    }
    let mut first = 0;
    let mut count = (rules.segment_bytes / SECTOR) as u32;
    let mut sectors = u32::from(segment.mask);
    while count > 1 {
        let half = count / 2;
        let low = (1u32 << half) - 1;
        if sectors & low == 0 {
            sectors >>= half;
            first += half;
        } else if sectors & !low != 0 {
            break;
        }
        count = half;
    }
    let mask = (((1u32 << count) - 1) << first) as u8;
    Block::new(segment.base, mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: Rules = Rules {
        group: 16,
        segment_bytes: 128,
        transactions: Transactions::Segments,
        warp_width: 32,
    };
    const ALL: LaneMask = 0xffff_ffff;

    /// Address and bytes of a transaction that is one run.
    fn run(block: &Block) -> (u64, u64) {
        (
            block.base + SECTOR * u64::from(block.mask.trailing_zeros()),
            block.bytes(),
        )
    }

    fn affine(base: u64, stride: i64, executed: LaneMask) -> Vec<(u64, u64)> {
        let mut coalescer = Coalescer::default();
        coalescer.coalesce(&RULES, &Addresses::Affine { base, stride }, executed, 4);
        coalescer.blocks.iter().map(run).collect()
    }

    #[test]
    fn neighbouring_words_take_one_64_byte_transaction_a_half_warp() {
        assert_eq!(affine(256, 4, ALL), [(256, 64), (320, 64)]);
        assert_eq!(affine(256, 8, ALL).len(), 2, "128 bytes a half-warp");
        assert_eq!(affine(256 + 64, 4, 0xffff).len(), 1);
        assert_eq!(
            affine(256, 0, ALL),
            [(256, 32); 2],
            "one sector for each half-warp"
        );
    }

    #[test]
    fn scattered_words_take_a_transaction_each() {
        let blocks = affine(0, 128, ALL);
        assert_eq!(blocks.len(), 32);
        assert!(blocks.iter().all(|&(_, bytes)| bytes == 32));
    }

    #[test]
    fn a_misaligned_half_warp_touches_two_segments() {
        assert_eq!(affine(96, 4, 0xffff), [(96, 32), (128, 32)]);
    }

    #[test]
    fn local_words_of_neighbouring_lanes_are_neighbours() {
        let mut coalescer = Coalescer::default();
        let addresses = Addresses::Affine {
            base: 0x0200_0010,
            stride: 0,
        };
        coalescer.coalesce_local(&RULES, &addresses, ALL, LocalAccess { base: 0, bytes: 4 });
        assert_eq!(
            coalescer.blocks.iter().map(run).collect::<Vec<_>>(),
            [(512, 64), (576, 64)]
        );
    }

    proptest! {
        /// Looking at each lane gives what the short cut gives, and every byte is covered.
        #[test]
        fn every_byte_is_covered(base in 0u64..4096, stride in 0i64..200, executed in 1u64..=ALL) {
            let blocks = affine(base * 4, stride * 4, executed);
            for lane in (0..32).filter(|lane| executed >> lane & 1 != 0) {
                let address = base * 4 + (stride * 4) as u64 * lane;
                prop_assert!(blocks.iter().any(|block| (block.0..block.0 + block.1).contains(&address)));
            }
            for block in &blocks {
                prop_assert!(block.1.is_power_of_two() && block.0.is_multiple_of(block.1));
            }
        }

        #[test]
        fn the_short_cut_for_one_local_offset_changes_nothing(
            base in 0u64..256, offset in 0u64..256, window in 0i64..3, bytes in 1u64..=16, (group, wide) in (0u32..4, any::<bool>()),
        ) {
            let rules = Rules {
                group: 8 << group,
                segment_bytes: if wide { 128 } else { 64 },
                ..RULES
            };
            let addresses = Addresses::Affine { base: offset, stride: window << 24 };
            let access = LocalAccess { base: base * 64, bytes };
            let mut fast = Coalescer::default();
            let is_short = fast.local_alike(&rules, &addresses, ALL, access);
            prop_assert_eq!(is_short, group < 3 && (base % 2 == 0 || !wide) && (wide || group < 2));
            let mut slow = Coalescer::default();
            slow.local_by_lanes(&rules, &addresses, ALL, access);
            prop_assert!(!is_short || fast.blocks == slow.blocks);
        }

        #[test]
        fn the_short_cut_for_small_strides_changes_nothing(base in 0u64..4096, stride in 0i64..=8) {
            let addresses = Addresses::Affine { base: base * 4, stride: stride * 4 };
            let mut fast = Coalescer::default();
            prop_assert!(fast.contiguous(&RULES, &addresses, ALL, 4));
            let mut slow = Coalescer::default();
            let mut group = 0;
            addresses.for_each(ALL, |lane, address| {
                if lane / 16 != group {
                    slow.flush(&RULES);
                    group = lane / 16;
                }
                slow.touch(&RULES, address, 4);
            });
            slow.flush(&RULES);
            prop_assert_eq!(fast.blocks, slow.blocks);
        }
    }
}

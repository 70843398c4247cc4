//! Bank conflicts in shared memory.

use warpwatt_simt::trace::{Addresses, LaneMask};

use crate::GpuSpec;

/// Counts passes; keeps its buffers from call to call.
#[derive(Clone, Debug)]
pub(crate) struct SharedBanks {
    banks: u64,
    pass_lanes: u32,
    warp_width: u32,
    /// Addresses of the group's lanes.
    lanes: Vec<u64>,
    loads: Vec<Load>,
    /// Words of the group beyond the first of their bank.
    others: Vec<u64>,
    /// The number of the group, so that nothing need be cleared between groups.
    group: u64,
    /// Most words of a bank in this group.
    most: u32,
}

/// What a group asks of a bank.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// The group that this is of.
    group: u64,
    first: u64,
    words: u32,
}

impl SharedBanks {
    pub fn new(spec: &GpuSpec) -> Self {
        Self {
            banks: u64::from(spec.shared.banks),
            pass_lanes: spec.shared.pass_lanes,
            warp_width: spec.sm.warp_width,
            lanes: Vec::with_capacity(64),
            loads: vec![Load::default(); spec.shared.banks as usize],
            others: Vec::with_capacity(256),
            group: 1,
            most: 0,
        }
    }

    /// Passes of an access without conflicts.
    pub fn fewest(&self) -> u64 {
        u64::from(self.warp_width.div_ceil(self.pass_lanes))
    }

    /// Passes for `executed` lanes of `bytes` each: for each group of lanes the most different words that fall into one bank; lanes that read the same word
    /// share it, atomics do not. A group without an executing lane still takes its pass.
    pub fn passes(
        &mut self,
        addresses: &Addresses<'_>,
        executed: LaneMask,
        bytes: u64,
        atomic: bool,
    ) -> u64 {
        if let Addresses::Affine { stride, .. } = *addresses
            && (stride == 0 || stride == 4)
            && bytes <= 4
            && !atomic
            && u64::from(self.pass_lanes) <= self.banks
        {
            return self.fewest();
        }
        let mut extra = 0;
        let mut end = self.pass_lanes;
        self.lanes.clear();
        addresses.for_each(executed, |lane, address| {
            if lane >= end {
                extra += self.close(bytes, atomic);
                end = (lane / self.pass_lanes + 1) * self.pass_lanes;
            }
            self.lanes.push(address);
        });
        extra += self.close(bytes, atomic);
        self.fewest() + extra
    }

    /// Passes of the group beyond its first.
    fn close(&mut self, bytes: u64, atomic: bool) -> u64 {
        if self.lanes.is_empty() {
            return 0;
        }
        let lanes = self.lanes.iter();
        let (least, most) = lanes.fold((u64::MAX, 0), |(least, most), &address| {
            (address.min(least), address.max(most))
        });
        let words = |address: u64| address / 4..(address + bytes.max(1)).div_ceil(4);
        // As many neighbouring words as banks lie in different ones.
        if !atomic && words(most).end.saturating_sub(words(least).start) <= self.banks {
            self.lanes.clear();
            return 0;
        }
        let lanes = std::mem::take(&mut self.lanes);
        for &address in &lanes {
            for word in words(address) {
                self.ask(word, atomic);
            }
        }
        self.lanes = lanes;
        self.lanes.clear();
        self.others.clear();
        self.group += 1;
        u64::from(std::mem::take(&mut self.most).saturating_sub(1))
    }

    /// A lane of the group accesses a word.
    #[inline]
    fn ask(&mut self, word: u64, atomic: bool) {
        let bank = if self.banks.is_power_of_two() {
            word & (self.banks - 1)
        } else {
            word % self.banks
        };
        let load = &mut self.loads[bank as usize];
        if load.group != self.group {
            *load = Load {
                group: self.group,
                first: word,
                words: 1,
            };
        } else if atomic {
            load.words += 1;
        } else if word != load.first && !self.others.contains(&word) {
            self.others.push(word);
            load.words += 1;
        }
        self.most = self.most.max(load.words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(stride: i64, bytes: u64, atomic: bool) -> u64 {
        let mut banks = SharedBanks::new(&GpuSpec::preset("tesla-16sm").unwrap());
        banks.passes(
            &Addresses::Affine { base: 64, stride },
            0xffff_ffff,
            bytes,
            atomic,
        )
    }

    /// Of 16 lanes with a stride of s words over 16 banks, gcd(s, 16) fall into one bank.
    #[test]
    fn a_stride_conflicts_by_its_greatest_common_divisor_with_the_banks() {
        for (words, degree) in [
            (1, 1),
            (2, 2),
            (3, 1),
            (4, 4),
            (6, 2),
            (8, 8),
            (16, 16),
            (17, 1),
        ] {
            assert_eq!(passes(4 * words, 4, false), 2 * degree, "stride {words}");
        }
        assert_eq!(passes(0, 4, false), 2, "one word for all is a broadcast");
        assert_eq!(passes(0, 4, true), 32, "atomics on one word go one by one");
        assert_eq!(passes(8, 8, false), 4, "64-bit words take two passes");
    }

    #[test]
    fn half_warps_without_a_lane_take_their_pass() {
        let mut banks = SharedBanks::new(&GpuSpec::preset("tesla-16sm").unwrap());
        let conflicting = Addresses::Affine {
            base: 0,
            stride: 64,
        };
        assert_eq!(banks.passes(&conflicting, 0xffff_0000, 4, false), 17);
        assert_eq!(banks.passes(&conflicting, 0x0000_000f, 4, false), 5);
        assert_eq!(banks.passes(&conflicting, 0, 4, true), 2);
    }
}

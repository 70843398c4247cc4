//! Bank conflicts in shared memory.

use warpwatt_simt::trace::{Addresses, LaneMask};

use crate::{Atomics, GpuSpec};

/// Counts passes; keeps its buffers from call to call.
#[derive(Clone, Debug)]
pub(crate) struct SharedBanks {
    banks: u64,
    pass_lanes: u32,
    warp_width: u32,
    atomics: Atomics,
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

/// What an access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    pub count: u64,
    /// Times that lanes which found their words locked come back.
    pub retries: u64,
}

impl SharedBanks {
    pub fn new(spec: &GpuSpec) -> Self {
        Self {
            banks: u64::from(spec.shared.banks),
            pass_lanes: spec.shared.pass_lanes,
            warp_width: spec.sm.warp_width,
            atomics: spec.shared.atomics,
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
        addresses: &Addresses,
        executed: LaneMask,
        bytes: u64,
        atomic: bool,
    ) -> Passes {
        if let Addresses::Affine { stride, .. } = *addresses
            && (stride == 0 || stride == 4)
            && bytes <= 4
            && !atomic
            && u64::from(self.pass_lanes) <= self.banks
        {
            return Passes {
                count: self.fewest(),
                retries: 0,
            };
        }
        let mut passes = Passes {
            count: self.fewest(),
            retries: 0,
        };
        let mut end = self.pass_lanes;
        self.lanes.clear();
        addresses.for_each(executed, |lane, address| {
            if lane >= end {
                self.close(bytes, atomic, &mut passes);
                end = (lane / self.pass_lanes + 1) * self.pass_lanes;
            }
            self.lanes.push(address);
        });
        self.close(bytes, atomic, &mut passes);
        passes
    }

    /// Adds what the group takes beyond its first pass.
    fn close(&mut self, bytes: u64, atomic: bool, passes: &mut Passes) {
        if self.lanes.is_empty() {
            return;
        }
        let lanes = self.lanes.iter();
        let (least, most) = lanes.fold((u64::MAX, 0), |(least, most), &address| {
            (address.min(least), address.max(most))
        });
        let words = |address: u64| address / 4..(address + bytes.max(1)).div_ceil(4);
        // As many neighbouring words as banks lie in different ones.
        if !atomic && words(most).end.saturating_sub(words(least).start) <= self.banks {
            self.lanes.clear();
            return;
        }
        let lanes = std::mem::take(&mut self.lanes);
        let all = lanes.iter().flat_map(|&address| words(address));
        let taken = if atomic && self.atomics == Atomics::Locked {
            self.lock(all.collect(), passes)
        } else {
            all.for_each(|word| self.ask(word, atomic));
            self.most_of_a_bank()
        };
        passes.count += u64::from(taken.saturating_sub(1));
        self.lanes = lanes;
        self.lanes.clear();
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

    /// Most words of a bank in the group; another group begins.
    fn most_of_a_bank(&mut self) -> u32 {
        self.others.clear();
        self.group += 1;
        std::mem::take(&mut self.most)
    }

    /// Lanes load and lock their words, and those that got the lock store and unlock; the others of the same words come back until all have had it. Each
    /// time, loads and stores conflict in the banks as others do. Gives the passes of all.
    fn lock(&mut self, mut words: Vec<u64>, passes: &mut Passes) -> u32 {
        let (mut rounds, mut taken) = (0, 0);
        words.sort_unstable();
        while !words.is_empty() {
            rounds += 1;
            let mut others = Vec::new();
            let mut last = None;
            for word in words {
                if last == Some(word) {
                    others.push(word);
                } else {
                    self.ask(word, false);
                }
                last = Some(word);
            }
            taken += 2 * self.most_of_a_bank();
            words = others;
        }
        passes.retries = passes.retries.max(u64::saturating_sub(rounds, 1));
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(atomics: Atomics, stride: i64, bytes: u64, atomic: bool) -> Passes {
        let mut spec = GpuSpec::preset("tesla-16sm").unwrap();
        spec.shared.atomics = atomics;
        SharedBanks::new(&spec).passes(
            &Addresses::Affine { base: 64, stride },
            0xffff_ffff,
            bytes,
            atomic,
        )
    }

    fn passes(stride: i64, bytes: u64, atomic: bool) -> u64 {
        of(Atomics::Native, stride, bytes, atomic).count
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
        assert_eq!(banks.passes(&conflicting, 0xffff_0000, 4, false).count, 17);
        assert_eq!(banks.passes(&conflicting, 0x0000_000f, 4, false).count, 5);
        assert_eq!(banks.passes(&conflicting, 0, 4, true).count, 2);
    }

    /// Of 16 lanes on one word each gets the lock once and stores once; 16 lanes on words of their own in one bank conflict twice, and none comes back.
    #[test]
    fn lanes_that_find_their_word_locked_come_back() {
        let locked = |stride| of(Atomics::Locked, stride, 4, true);
        let row = |count, retries| Passes { count, retries };
        assert_eq!(locked(4), row(2 * 2, 0), "a load and a store");
        assert_eq!(locked(0), row(2 * 2 * 16, 15));
        assert_eq!(locked(64), row(2 * 2 * 16, 0));
        assert_eq!(
            of(Atomics::Locked, 0, 4, false),
            row(2, 0),
            "loads need no lock"
        );
    }
}

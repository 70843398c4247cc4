//! What an access takes of the banks of shared memory.

use warpwatt_simt::trace::{Addresses, LaneMask};

use crate::GpuSpec;

/// An access to shared memory: its passes follow each other from a cycle on, and each takes some of the banks.
#[derive(Clone, Copy, Debug)]
pub struct SharedUse<'a> {
    /// The first cycle.
    pub from: u64,
    /// Passes, conflicts among them.
    pub passes: u64,
    /// Cycles of a pass.
    pub pass_cycles: u64,
    pub(crate) addresses: &'a Addresses,
    pub(crate) executed: LaneMask,
    /// Bytes of a lane.
    pub(crate) bytes: u64,
    /// Whether lanes with the same word share it.
    pub(crate) shares: bool,
    pub(crate) banks: u32,
    /// Lanes of a pass.
    pub(crate) lanes: u32,
}

impl<'a> SharedUse<'a> {
    /// That of lanes of a GPU which access `bytes` bytes each; `shares` says whether those with the same word share it.
    pub fn new(
        gpu: &GpuSpec,
        (addresses, executed): (&'a Addresses, LaneMask),
        bytes: u64,
        shares: bool,
    ) -> Self {
        Self {
            from: 0,
            passes: 0,
            pass_cycles: 1,
            addresses,
            executed,
            bytes: bytes.max(1),
            shares,
            banks: gpu.shared.banks,
            lanes: gpu.shared.pass_lanes,
        }
    }

    /// The banks of each pass, bit b for bank b. A group of lanes takes a bank as often as it has words there. Passes that come on top of these, as those of
    /// lanes that found their words locked, take all banks.
    pub fn banks(&self) -> Vec<u64> {
        let (mut passes, mut group, mut words) = (Vec::new(), 0, Vec::new());
        self.addresses.for_each(self.executed, |lane, address| {
            while lane / self.lanes > group {
                self.close(&mut words, &mut passes);
                group += 1;
            }
            words.extend(address / 4..(address + self.bytes).div_ceil(4));
        });
        self.close(&mut words, &mut passes);
        passes.resize(passes.len().max(self.passes as usize), u64::MAX);
        passes
    }

    /// The passes of a group with these words.
    fn close(&self, words: &mut Vec<u64>, passes: &mut Vec<u64>) {
        if self.shares {
            words.sort_unstable();
            words.dedup();
        }
        let first = passes.len();
        passes.push(0);
        let mut asked = vec![0; self.banks as usize];
        for word in words.drain(..) {
            let bank = (word % u64::from(self.banks)) as usize;
            let pass = first + asked[bank];
            if pass == passes.len() {
                passes.push(0);
            }
            passes[pass] |= 1 << bank;
            asked[bank] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base: u64, stride: i64, bytes: u64, shares: bool) -> Vec<u64> {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let addresses = Addresses::Affine { base, stride };
        SharedUse::new(&gpu, (&addresses, 0xffff_ffff), bytes, shares).banks()
    }

    /// Half-warps of sixteen lanes on sixteen banks.
    #[test]
    fn a_pass_takes_the_banks_of_its_words() {
        assert_eq!(of(0, 4, 4, true), [0xffff; 2]);
        assert_eq!(of(20, 0, 4, true), [1 << 5; 2], "one word for all");
        assert_eq!(of(0, 8, 4, true), [0x5555; 4], "every other bank, twice");
        assert_eq!(of(4, 64, 4, true), [1 << 1; 32]);
        assert_eq!(of(20, 0, 4, false), [1 << 5; 32], "atomics share nothing");
        assert_eq!(of(0, 1, 1, true), [0b1111, 0b1111_0000]);
    }

    #[test]
    fn passes_beyond_those_of_the_words_take_all_banks() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let addresses = Addresses::Affine { base: 0, stride: 4 };
        let mut taken = SharedUse::new(&gpu, (&addresses, 0xf), 4, false);
        taken.passes = 4;
        assert_eq!(taken.banks(), [0xf, u64::MAX, u64::MAX, u64::MAX]);
    }
}

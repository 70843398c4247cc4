//! Registers as the scoreboard knows them: keys, regions of consecutive ones, and bits that tell regions apart.

use std::ops::Range;

use warpwatt_simt::trace::{Register, RegisterKind, StaticInst};

/// A run of consecutive registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub base: u32,
    pub count: u32,
}

impl Region {
    #[inline]
    pub fn holds(self, key: u32) -> bool {
        key.wrapping_sub(self.base) < self.count
    }

    #[inline]
    pub fn overlaps(self, other: Self) -> bool {
        self.base < other.base + other.count && other.base < self.base + self.count
    }
}

/// Which bits stand for the registers of a kernel: regions without a common bit have no register of it in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    /// The registers, if there is a bit for each; their places here are their bits.
    own: Option<Vec<u32>>,
}

impl Numbering {
    /// For the registers that an instruction of `code` names.
    pub fn new(code: &[StaticInst]) -> Self {
        let named = code
            .iter()
            .flat_map(|inst| inst.sources.iter().chain(&inst.destinations));
        Self::of(named.flat_map(|&register| keys(register)).collect())
    }

    fn of(mut keys: Vec<u32>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self {
            own: (keys.len() <= u64::BITS as usize).then_some(keys),
        }
    }

    /// Whether a common bit says that there is a common register: each has its own. Else there may be one.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.own.is_some()
    }

    /// The bits of a region.
    pub fn bits(&self, region: Region) -> u64 {
        let Some(own) = &self.own else {
            // By their numbers modulo 64.
            let ones = 1u64.checked_shl(region.count);
            let ones = ones.map_or(u64::MAX, |end| end - 1);
            return ones.rotate_left(region.base % 64);
        };
        let held = (0..).zip(own).filter(|&(_, &key)| region.holds(key));
        held.fold(0, |bits, (bit, _)| bits | 1 << bit)
    }
}

/// A word is its own number, a double the two words that it lies in; predicates are far from both.
pub(crate) fn keys(register: Register) -> Range<u32> {
    let number = u32::from(register.number);
    match register.kind {
        RegisterKind::Word => number..number + 1,
        RegisterKind::Double => 2 * number..2 * number + 2,
        RegisterKind::Predicate => PREDICATES + number..PREDICATES + number + 1,
    }
}

/// Key of the first predicate: no word has one so high, and few have its bit.
const PREDICATES: u32 = (1 << 20) + 48;

/// Consecutive registers share a region. If a scoreboard entry holds fewer regions than that gives, one region covers the rest with all between them.
pub(crate) fn regions(registers: &[Register], limit: usize) -> Vec<Region> {
    let mut keys: Vec<u32> = registers
        .iter()
        .flat_map(|&register| keys(register))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut regions: Vec<Region> = Vec::new();
    for key in keys {
        match regions.last_mut() {
            Some(last) if last.base + last.count == key => last.count = key - last.base + 1,
            _ => regions.push(Region {
                base: key,
                count: 1,
            }),
        }
    }
    while regions.len() > limit {
        if let (Some(last), Some(previous)) = (regions.pop(), regions.last_mut()) {
            previous.count = last.base + last.count - previous.base;
        }
    }
    regions
}

/// A double-width register is two words of the register file; a predicate none.
pub(crate) fn bank_words(register: Register) -> impl Iterator<Item = u16> {
    let words = register.kind.words() as u16;
    let first = register.number.wrapping_mul(words.max(1));
    (0..words).map(move |word| first.wrapping_add(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(number: u16) -> Register {
        Register {
            kind: RegisterKind::Word,
            number,
        }
    }

    #[test]
    fn neighbouring_results_share_a_region() {
        assert_eq!(
            regions(&[word(5), word(4), word(7)], 6),
            [Region { base: 4, count: 2 }, Region { base: 7, count: 1 }]
        );
        assert_eq!(
            regions(&[word(5), word(4), word(7)], 1),
            [Region { base: 4, count: 4 }]
        );
    }

    #[test]
    fn a_double_lies_in_two_words_and_predicates_apart() {
        let double = Register {
            kind: RegisterKind::Double,
            number: 3,
        };
        let predicate = Register {
            kind: RegisterKind::Predicate,
            number: 6,
        };
        assert_eq!(regions(&[double], 6), [Region { base: 6, count: 2 }]);
        assert!(regions(&[word(7)], 6)[0].overlaps(regions(&[double], 6)[0]));
        assert!(!regions(&[word(u16::MAX)], 6)[0].overlaps(regions(&[predicate], 6)[0]));
        assert!(!regions(&[word(6)], 6)[0].overlaps(regions(&[predicate], 6)[0]));
        assert_eq!(bank_words(double).collect::<Vec<_>>(), [6, 7]);
    }

    /// Sixty-five registers are one too many.
    #[test]
    fn few_registers_have_a_bit_each() {
        let few = Numbering::of((0..32).chain(PREDICATES..PREDICATES + 32).collect());
        assert!(few.is_exact());
        let region = |base, count| Region { base, count };
        assert_eq!(few.bits(region(4, 2)), 0b11 << 4);
        assert_eq!(few.bits(region(PREDICATES, 1)), 1 << 32);
        assert_eq!(few.bits(region(31, 5)), 1 << 31, "32 to 35 are not used");
        let many = Numbering::of((0..65).collect());
        assert!(!many.is_exact());
        assert_eq!(many.bits(region(64, 1)), 1);
        assert_eq!(many.bits(region(0, 64)), u64::MAX);
    }
}

//! The 64-bit word of an `mbarrier` (PTX ISA 8.x, section 9.7.13.15), whose fields PTX leaves open: from the lowest bit, 20 bits each, the arrivals
//! that the phase waits for and those that every phase begins with; 22 bits of bytes that the phase waits for; a bit unused; and the
//! phase's parity.

use std::collections::BTreeMap;

use warpwatt_ptx::types::Space;

const COUNT_BITS: u32 = 20;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
const BYTES_BITS: u32 = 22;
const BYTES: u64 = (1 << BYTES_BITS) - 1;
const PARITY: u64 = 1 << 63;

/// An `mbarrier`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BarrierWord(u64);

impl BarrierWord {
    /// A barrier for `count` arrivals a phase.
    pub fn new(count: u32) -> Self {
        let count = u64::from(count) & COUNT;
        Self(count | count << COUNT_BITS)
    }

    /// Changes the barrier that lies in memory.
    pub fn change(bytes: &mut [u8; 8], change: impl FnOnce(&mut Self)) {
        let mut word = Self(u64::from_le_bytes(*bytes));
        change(&mut word);
        *bytes = word.0.to_le_bytes();
    }

    /// Arrivals that a state of a barrier waits for.
    pub fn pending(state: u64) -> u32 {
        (state & COUNT) as u32
    }

    /// `count` threads arrive; with `drop` later phases do without them.
    pub fn arrive(&mut self, count: u32, drop: bool) {
        let pending = u64::from(Self::pending(self.0).saturating_sub(count));
        self.0 = self.0 & !COUNT | pending;
        if drop {
            let expected = self.expected().saturating_sub(u64::from(count));
            self.0 = self.0 & !(COUNT << COUNT_BITS) | expected << COUNT_BITS;
        }
        self.turn();
    }

    /// The phase waits for so many more bytes.
    pub fn expect(&mut self, bytes: u64) {
        self.set_bytes(self.bytes().wrapping_add(bytes));
    }

    /// So many bytes have come.
    pub fn complete(&mut self, bytes: u64) {
        self.set_bytes(self.bytes().wrapping_sub(bytes));
        self.turn();
    }

    /// Whether the phase of a state is over.
    pub fn is_over(self, state: u64) -> bool {
        (self.0 ^ state) & PARITY != 0
    }

    fn expected(self) -> u64 {
        self.0 >> COUNT_BITS & COUNT
    }

    fn bytes(self) -> u64 {
        self.0 >> (2 * COUNT_BITS) & BYTES
    }

    fn set_bytes(&mut self, bytes: u64) {
        let place = BYTES << (2 * COUNT_BITS);
        self.0 = self.0 & !place | (bytes & BYTES) << (2 * COUNT_BITS);
    }

    /// Begins the next phase if this one waits for nothing.
    fn turn(&mut self) {
        if Self::pending(self.0) == 0 && self.bytes() == 0 {
            self.0 = (self.0 ^ PARITY) | self.expected();
        }
    }
}

/// What the barriers of a CTA have been told since it began: arrivals, and bytes that copies have moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(BTreeMap<u64, [u64; 2]>);

impl Told {
    /// A CTA begins.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// So many arrive at the barrier at an address of shared memory, or of its window.
    pub fn arrive(&mut self, address: u64, count: u64) {
        self.0.entry(offset(address)).or_default()[0] += count;
    }

    /// A copy has moved so many bytes.
    pub fn complete(&mut self, address: u64, bytes: u64) {
        self.0.entry(offset(address)).or_default()[1] += bytes;
    }

    /// Arrivals and bytes so far.
    pub fn so_far(&self, address: u64) -> [u64; 2] {
        self.0.get(&offset(address)).copied().unwrap_or_default()
    }
}

/// Where in shared memory an address lies that may be generic.
pub(crate) fn offset(address: u64) -> u64 {
    address % Space::WINDOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_with_its_last_arrival_and_its_last_byte() {
        let mut word = BarrierWord::new(2);
        let state = word.0;
        word.expect(64);
        word.arrive(1, false);
        word.arrive(1, false);
        assert!(!word.is_over(state));
        word.complete(64);
        assert!(word.is_over(state));
        assert_eq!(BarrierWord::pending(word.0), 2);
    }

    #[test]
    fn bytes_may_come_before_they_are_expected() {
        let mut word = BarrierWord::new(1);
        let state = word.0;
        word.complete(16);
        word.expect(16);
        assert!(!word.is_over(state));
        word.arrive(1, false);
        assert!(word.is_over(state));
    }

    #[test]
    fn who_drops_out_is_not_waited_for_again() {
        let mut word = BarrierWord::new(2);
        word.arrive(1, true);
        word.arrive(1, false);
        let state = word.0;
        word.arrive(1, false);
        assert!(word.is_over(state));
    }
}

//! Registers of warps that wait, in memory: the corner case of section 3.2, a CTA that needs more registers than there are.
//!
//! One warp leads: it gets what it needs, and nobody takes what it may still come to need. Others make room for it, those at a barrier first, whose registers
//! nobody misses until all have come there. A warp comes back when there is room beside the leader, or when it leads.

use std::collections::VecDeque;

use warpwatt_gpu::Move;

/// Whose registers are where.
#[derive(Clone, Debug, Default)]
pub(super) struct Spiller {
    /// Moves that have not begun.
    queue: VecDeque<Move>,
    /// By slot: what is in memory.
    saved: Vec<Vec<u16>>,
    /// By slot: registers on their way back.
    returning: Vec<u32>,
    /// Warps that cannot go on, because registers of theirs are in memory or on their way.
    away: u64,
    leader: Option<u8>,
    /// Warps whose registers went to memory.
    pub spills: u64,
    /// Registers that did.
    pub stores: u64,
    /// Registers that came back.
    pub loads: u64,
}

impl Spiller {
    /// Nothing is in memory.
    pub fn new(warps: u32) -> Self {
        Self {
            saved: vec![Vec::new(); warps as usize],
            returning: vec![0; warps as usize],
            ..Self::default()
        }
    }

    /// Whether the warp waits for registers that are not in the file.
    pub fn is_away(&self, warp: u8) -> bool {
        self.away >> warp & 1 != 0
    }

    /// Registers of the warp in memory.
    pub fn saved(&self, warp: u8) -> &[u16] {
        &self.saved[usize::from(warp)]
    }

    /// Whether a register moves, or is about to.
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.returning.iter().any(|&count| count > 0)
    }

    /// The warp that leads.
    pub fn leader(&self) -> Option<u8> {
        self.leader
    }

    /// A warp leads from now on.
    pub fn lead(&mut self, warp: u8) {
        self.leader = Some(warp);
    }

    /// Registers of a warp are to leave.
    pub fn send(&mut self, warp: u8, words: impl Iterator<Item = u16>) {
        self.away |= 1 << warp;
        self.spills += 1;
        self.queue.extend(words.map(|word| Move {
            warp,
            word,
            to_memory: true,
        }));
    }

    /// Those of a warp are to come back.
    pub fn fetch(&mut self, warp: u8) {
        let saved = &self.saved[usize::from(warp)];
        self.queue.extend(saved.iter().map(|&word| Move {
            warp,
            word,
            to_memory: false,
        }));
    }

    /// Registers that the file must keep free for what is about to come back.
    pub fn expected(&self) -> u64 {
        let back = self.queue.iter().filter(|register| !register.to_memory);
        back.count() as u64
    }

    /// Warps with moves that have not begun.
    pub fn moving(&self) -> u64 {
        let warps = self.queue.iter().map(|register| 1 << register.warp);
        warps.fold(0, |all, warp: u64| all | warp)
    }

    /// The next move, if it is of one of `warps`.
    pub fn next(&self, warps: u64) -> Option<Move> {
        let first = self.queue.front().copied();
        first.filter(|register| warps >> register.warp & 1 != 0)
    }

    /// It begins.
    pub fn begins(&mut self) {
        let Some(register) = self.queue.pop_front() else {
            return;
        };
        let slot = usize::from(register.warp);
        if register.to_memory {
            self.stores += 1;
            self.saved[slot].push(register.word);
        } else {
            self.loads += 1;
            self.saved[slot].retain(|&word| word != register.word);
            self.returning[slot] += 1;
        }
    }

    /// A register is back.
    pub fn returned(&mut self, warp: u8) {
        let slot = usize::from(warp);
        self.returning[slot] -= 1;
        if self.returning[slot] == 0 && self.saved[slot].is_empty() {
            self.away &= !(1 << warp);
        }
    }

    /// The warp has finished; what it has in memory is of no use.
    pub fn ends(&mut self, warp: u8) {
        self.queue.retain(|register| register.warp != warp);
        self.saved[usize::from(warp)].clear();
        self.away &= !(1 << warp);
        self.leader = self.leader.filter(|&leader| leader != warp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_goes_register_by_register_and_comes_back_whole() {
        let mut spiller = Spiller::new(4);
        spiller.send(2, [5, 7].into_iter());
        assert!(spiller.is_away(2) && spiller.is_busy());
        assert_eq!(spiller.moving(), 0b100);
        assert_eq!(spiller.next(0b011), None);
        for word in [5, 7] {
            assert_eq!(spiller.next(0b100).unwrap().word, word);
            spiller.begins();
        }
        assert_eq!(spiller.saved(2), [5, 7]);
        assert!(!spiller.is_busy());
        spiller.fetch(2);
        spiller.begins();
        spiller.begins();
        spiller.returned(2);
        assert!(spiller.is_away(2), "one of two");
        spiller.returned(2);
        assert!(!spiller.is_away(2) && !spiller.is_busy());
        assert_eq!((spiller.spills, spiller.stores, spiller.loads), (1, 2, 2));
    }

    #[test]
    fn who_has_finished_moves_nothing_and_leads_nobody() {
        let mut spiller = Spiller::new(4);
        spiller.send(1, [0, 1].into_iter());
        spiller.begins();
        spiller.lead(1);
        spiller.ends(1);
        assert!(!spiller.is_away(1) && !spiller.is_busy());
        assert_eq!((spiller.leader(), spiller.saved(1)), (None, &[][..]));
    }
}

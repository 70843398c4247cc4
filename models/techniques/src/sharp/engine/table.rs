//! The warp-id table, and the check bits of its warps in shared memory.

use super::Engine;
use crate::protection::{PARTS, WarpRegister};
use crate::sharp::guards::Guarded;

/// Check bits of a register: since when, and of which of its groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recorded {
    pub since: u64,
    pub groups: u16,
}

impl Engine {
    /// A value of the program takes a word with check bits of a warp.
    pub fn pushed_out(&mut self, place: usize, holder: u8) {
        self.counts.evicted += 1;
        for word in 0..self.shape.registers as u16 {
            for group in 0..self.shape.groups {
                if self.place(holder, word, group) == place
                    && let Some(recorded) = self.recorded(holder, word)
                {
                    recorded.groups &= !(1 << group);
                }
            }
        }
    }

    /// Whether a word that a warp's check bits would take holds another's.
    pub(super) fn conflicts(&self, warp: u8) -> bool {
        let words = 0..self.shape.registers as u16;
        let mut places = words
            .flat_map(|word| (0..self.shape.groups).map(move |group| (word, group)))
            .map(|(word, group)| self.place(warp, word, group));
        places.any(|place| self.store.holder(place).is_some_and(|it| it != warp))
    }

    pub(super) fn record(&mut self, warp: u8, word: u16) {
        let mut groups = 0;
        for group in 0..self.shape.groups {
            let place = self.place(warp, word, group);
            self.ports.wait(place);
            if self.store.record(place, warp) {
                groups |= 1 << group;
            }
        }
        let written = u64::from(u16::count_ones(groups));
        self.counts.recorded += 1;
        self.counts.groups_written += written;
        self.counts.groups_refused += u64::from(self.shape.groups) - written;
        let since = self.cycle;
        if let Some(recorded) = self.recorded(warp, word) {
            *recorded = Recorded { since, groups };
        }
    }

    pub(super) fn check(&mut self, warp: u8, word: u16) {
        let Some(&mut Recorded { since, groups }) = self.recorded(warp, word) else {
            return;
        };
        self.counts.checked += 1;
        self.counts.groups_read += u64::from(groups.count_ones());
        for group in (0..self.shape.groups).filter(|group| groups >> group & 1 != 0) {
            let place = self.place(warp, word, group);
            self.ports.wait(place);
        }
        let parts = groups.count_ones() * PARTS as u32 / self.shape.groups;
        let register = WarpRegister { warp, word };
        self.lives.check(register, since..self.cycle, parts);
        let guarded = Guarded {
            from: since,
            to: self.cycle,
            groups: groups.count_ones(),
        };
        if let Some(guards) = &mut self.guards {
            guards.check(warp, usize::from(word), guarded);
        }
    }

    /// Takes a warp out of the table.
    pub(super) fn forget(&mut self, warp: u8) {
        for (word, recorded) in (0..).zip(self.table[usize::from(warp)].take().unwrap_or_default())
        {
            self.release(warp, word, recorded.groups);
        }
    }

    pub(super) fn release(&mut self, warp: u8, word: u16, groups: u16) {
        for group in (0..self.shape.groups).filter(|group| groups >> group & 1 != 0) {
            let place = self.place(warp, word, group);
            self.store.free(place);
        }
    }

    pub(super) fn recorded(&mut self, warp: u8, word: u16) -> Option<&mut Recorded> {
        let table = self.table[usize::from(warp)].as_mut()?;
        table.get_mut(usize::from(word))
    }

    /// The word of shared memory for a group of a register: registers lie warp behind warp (figure 7).
    fn place(&self, warp: u8, word: u16, group: u32) -> usize {
        let register = u32::from(warp) * self.shape.registers + u32::from(word);
        let number = register * self.shape.groups + group;
        self.store.of_group(number as usize)
    }
}

//! When what has been asked for will be done.

use super::{Engine, Request};
use crate::sharp::guards::Guarded;

/// Cycles from the register's read through code and shared memory to the end of its check: "a few" (section 3.3.4).
pub(super) const LATENCY: u64 = 3;

impl Engine {
    /// When the registers of a warp have been checked, if they are to be.
    pub fn checked_at(&self, warp: u8) -> Option<u64> {
        let (wanted, each) = (Request::Check(warp), self.shape.cycles);
        let all = u64::from(self.shape.registers) * each;
        let mut known = self.table[usize::from(warp)].is_some();
        let mut at = self.cycle;
        if let Some((request, word)) = self.work {
            at += u64::from(self.shape.registers - word.min(self.shape.registers)) * each;
            if request == wanted {
                return Some(at + LATENCY);
            }
        }
        for &request in &self.queue {
            known |= request == Request::Record(warp);
            if known {
                at += all;
            }
            if request == wanted {
                return known.then_some(at + LATENCY);
            }
        }
        None
    }

    /// Groups of a register whose check is to come, so that whoever reads it waits; checked when no port is taken by then.
    pub fn pending(&self, warp: u8, word: u16) -> Option<Guarded> {
        let wanted = Request::Check(warp);
        let table = self.table[usize::from(warp)].as_ref()?;
        let mut at = self.cycle;
        let begun = match self.work {
            Some((work, next)) if work == wanted => next,
            Some((_, next)) => {
                at += self.cycles_of(self.shape.registers.saturating_sub(next));
                at += self.cycles_before(wanted)?;
                0
            }
            None => {
                at += self.cycles_before(wanted)?;
                0
            }
        };
        let recorded = table.get(usize::from(word))?;
        let before = table.get(begun as usize..usize::from(word))?;
        let needed = before.iter().filter(|it| it.groups != 0).count();
        Some(Guarded {
            from: recorded.since,
            to: at + self.cycles_of(needed as u32),
            groups: recorded.groups.count_ones(),
        })
    }

    /// Cycles that requests take which are served before one; `None` if it is not among those that wait.
    fn cycles_before(&self, wanted: Request) -> Option<u64> {
        let before = self.queue.iter().position(|it| *it == wanted)? as u32;
        Some(self.cycles_of(before * self.shape.registers))
    }

    fn cycles_of(&self, registers: u32) -> u64 {
        u64::from(registers) * self.shape.cycles
    }
}

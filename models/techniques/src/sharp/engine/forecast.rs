//! When what has been asked for will be done.

use super::{Engine, Request};
use crate::sharp::guards::Guarded;

/// Cycles from the register's read through code and shared memory to the end of its check: "a few" (section 3.3.4).
pub(super) const LATENCY: u64 = 3;

impl Engine {
    /// When the registers of a warp have been checked, if they are to be.
    pub fn checked_at(&self, warp: u8) -> Option<u64> {
        let wanted = Request::Check(warp);
        let (mut at, from) = self.begins(wanted)?;
        let recorded = self.table[usize::from(warp)].is_some();
        let mut ahead = self.queue.iter().take_while(|it| **it != wanted);
        let to_be = ahead.any(|it| *it == Request::Record(warp));
        at += self.cycles_of(self.needed(wanted, from));
        (recorded || to_be).then_some(at + LATENCY)
    }

    /// Groups of a register whose check is to come, so that whoever reads it waits; checked when no port is taken by then.
    pub fn pending(&self, warp: u8, word: u16) -> Option<Guarded> {
        let (at, begun) = self.begins(Request::Check(warp))?;
        let table = self.table[usize::from(warp)].as_ref()?;
        let recorded = table.get(usize::from(word))?;
        let before = table.get(begun as usize..usize::from(word))?;
        let needed = before.iter().filter(|it| it.groups != 0).count();
        Some(Guarded {
            from: recorded.since,
            to: at + self.cycles_of(needed as u32),
            groups: recorded.groups.count_ones(),
        })
    }

    /// When a request is taken up, or goes on, and with which register; `None` if nobody has asked for it.
    fn begins(&self, wanted: Request) -> Option<(u64, u32)> {
        let mut at = self.cycle;
        if let Some((work, next)) = self.work {
            if work == wanted {
                return Some((at, next));
            }
            at += self.cycles_of(self.needed(work, next));
        }
        let before = self.queue.iter().position(|it| *it == wanted)?;
        let ahead = self.queue.iter().take(before);
        let registers: u32 = ahead.map(|&request| self.needed(request, 0)).sum();
        Some((at + self.cycles_of(registers), 0))
    }

    /// Registers that a request takes up from the register `from` on: of a recording those that no load will bring, of a check those with check bits, or all that
    /// will have some.
    fn needed(&self, request: Request, from: u32) -> u32 {
        let warp = request.warp();
        let awaited = &self.loads[usize::from(warp)].1;
        let recordable = || {
            let words = from..self.shape.registers;
            // Few registers are awaited, some of them by several loads.
            let first = |place: usize, word: &u16| !awaited[..place].contains(word);
            let kept = awaited
                .iter()
                .enumerate()
                .filter(|&(place, word)| words.contains(&u32::from(*word)) && first(place, word));
            words.len() as u32 - kept.count() as u32
        };
        let records = self
            .work
            .is_some_and(|(work, _)| work == Request::Record(warp));
        match (request, &self.table[usize::from(warp)]) {
            (Request::Check(_), Some(recorded)) if !records => {
                let recorded = recorded.iter().skip(from as usize);
                recorded.filter(|it| it.groups != 0).count() as u32
            }
            _ => recordable(),
        }
    }

    fn cycles_of(&self, registers: u32) -> u64 {
        u64::from(registers) * self.shape.cycles
    }
}

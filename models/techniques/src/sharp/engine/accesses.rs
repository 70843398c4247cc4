//! What instructions do to registers: at once, or when a check that their warp waits for is done.

use super::{Engine, Request};
use crate::protection::WarpRegister;

/// What an instruction does to a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    Read,
    /// In all lanes or in some.
    Write(bool),
    /// Its value will come from memory.
    Load,
}

impl Engine {
    /// A load of a warp that leaves the SM issues, and will write these registers.
    pub fn load(&mut self, warp: u8, words: &[u16], cycle: u64) {
        for &word in words {
            self.access(WarpRegister { warp, word }, cycle, Access::Load);
        }
        let (under_way, awaited) = &mut self.loads[usize::from(warp)];
        *under_way += 1;
        awaited.extend_from_slice(words);
        if *under_way == 1 {
            self.ask(Request::Record(warp));
        }
    }

    /// The result of one comes in `cycle`.
    pub fn loaded(&mut self, cycle: u64, warp: u8) {
        let place = self.coming.partition_point(|(at, _)| *at <= cycle);
        self.coming.insert(place, (cycle, warp));
    }

    /// A register is read. It may be that of a load which has come while others of its warp have not.
    pub fn read(&mut self, warp: u8, word: u16, cycle: u64) {
        let register = WarpRegister { warp, word };
        let awaited = &mut self.loads[usize::from(warp)].1;
        if let Some(place) = awaited.iter().position(|it| *it == word) {
            awaited.swap_remove(place);
            self.lives.write(register, cycle, true);
        }
        self.access(register, cycle, Access::Read);
    }

    /// A register is written, in all lanes or in some.
    pub fn write(&mut self, warp: u8, word: u16, whole: bool, cycle: u64) {
        self.access(WarpRegister { warp, word }, cycle, Access::Write(whole));
    }

    /// Loads have brought their results by `cycle`.
    pub(super) fn receive(&mut self, cycle: u64) {
        while let Some(&(at, warp)) = self.coming.front().filter(|(at, _)| *at <= cycle) {
            self.coming.pop_front();
            let (under_way, awaited) = &mut self.loads[usize::from(warp)];
            *under_way = under_way.saturating_sub(1);
            if *under_way == 0 {
                for word in awaited.drain(..) {
                    self.lives.write(WarpRegister { warp, word }, at, true);
                }
                self.ask(Request::Check(warp));
            }
        }
    }

    /// A warp whose registers are to be checked gets at them afterwards.
    fn access(&mut self, register: WarpRegister, cycle: u64, access: Access) {
        let check = Request::Check(register.warp);
        if self.work.is_some_and(|(work, _)| work == check) || self.queue.contains(&check) {
            self.held[usize::from(register.warp)].push((register.word, access));
        } else {
            self.apply(register, cycle, access);
        }
    }

    fn apply(&mut self, register: WarpRegister, cycle: u64, access: Access) {
        match access {
            Access::Read => self.lives.read(register, cycle, false),
            Access::Write(whole) => {
                self.written(register.warp, register.word);
                self.lives.write(register, cycle, whole);
            }
            Access::Load => self.written(register.warp, register.word),
        }
    }

    /// What a warp was held back from.
    pub(super) fn let_go(&mut self, warp: u8) {
        for (word, access) in std::mem::take(&mut self.held[usize::from(warp)]) {
            self.apply(WarpRegister { warp, word }, self.cycle, access);
        }
    }

    /// A register gets another value: its check bits are none any more.
    pub(super) fn written(&mut self, warp: u8, word: u16) {
        let Some(recorded) = self.recorded(warp, word) else {
            return;
        };
        let groups = std::mem::take(&mut recorded.groups);
        self.counts.resets += u64::from(groups.count_ones());
        self.release(warp, word, groups);
    }
}

//! The request queue, and the work on the request at its head: a warp-wide register a cycle, if ports are idle (section 3.3.3).

use std::collections::VecDeque;

use super::guards::{Guarded, Guards};
use super::ports::Ports;
use super::store::Store;
use crate::protection::{Lives, PARTS};

/// Requests that wait.
const QUEUE: usize = 16;
/// Cycles from the register's read through code and shared memory to the end of its check: "a few" (section 3.3.4).
const LATENCY: u64 = 3;

/// What is asked for a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Check bits of its registers are made and kept.
    Record(u8),
    /// Its registers are checked against them.
    Check(u8),
}

/// How many registers and groups there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Registers of a warp.
    pub registers: u32,
    /// Groups of four lanes of a register: one word of shared memory each.
    pub groups: u32,
    /// Cycles that these take in as many banks as there are.
    pub cycles: u64,
}

/// What has been done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub requests: u64,
    pub taken: u64,
    pub dropped: u64,
    pub recorded: u64,
    pub checked: u64,
    pub groups_written: u64,
    pub groups_read: u64,
    pub groups_refused: u64,
    pub resets: u64,
    pub evicted: u64,
    pub waited: u64,
    pub stalled: u64,
}

/// Check bits of a register: since when, and of which of its groups.
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    since: u64,
    groups: u16,
}

/// What an instruction does to a register.
#[derive(Clone, Copy, Debug)]
enum Access {
    Read,
    /// In all lanes or in some.
    Write(bool),
    /// Its value will come from memory.
    Load,
}

/// SHARP's part of an SM.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub shape: Shape,
    pub ports: Ports,
    pub store: Store,
    pub lives: Lives,
    pub counts: Counts,
    /// What has been checked, if somebody follows needed bits.
    pub guards: Option<Guards>,
    /// What is before this cycle is done.
    cycle: u64,
    queue: VecDeque<Request>,
    work: Option<(Request, u32)>,
    /// The warp-id table, with what is recorded of each register.
    table: Vec<Option<Vec<Recorded>>>,
    /// Results that loads will bring, by cycle and warp.
    coming: VecDeque<(u64, u8)>,
    /// Loads of each warp under way, and the registers that they will write.
    loads: Vec<(u32, Vec<u16>)>,
    /// Accesses of each warp that wait until its registers have been checked.
    held: Vec<Vec<(u16, Access)>>,
}

impl Engine {
    pub fn new(shape: Shape, warps: u32, ports: Ports, store: Store) -> Self {
        Self {
            shape,
            ports,
            store,
            lives: Lives::new(warps),
            counts: Counts::default(),
            guards: None,
            cycle: 0,
            queue: VecDeque::with_capacity(QUEUE),
            work: None,
            table: vec![None; warps as usize],
            coming: VecDeque::new(),
            loads: vec![(0, Vec::new()); warps as usize],
            held: vec![Vec::new(); warps as usize],
        }
    }

    /// Does what is due before `to`.
    pub fn advance(&mut self, to: u64) {
        while self.cycle < to {
            self.receive(self.cycle);
            self.work = self.work.take().or_else(|| self.next_request());
            let Some((request, word)) = self.work else {
                let next = self.coming.front().map_or(to, |&(cycle, _)| cycle);
                self.cycle = next.clamp(self.cycle + 1, to);
                continue;
            };
            if word >= self.shape.registers {
                self.finish(request);
                continue;
            }
            self.serve(request, word as u16);
        }
        self.receive(to);
        self.ports.forget(self.cycle);
    }

    /// Loads have brought their results by `cycle`.
    fn receive(&mut self, cycle: u64) {
        while let Some(&(at, warp)) = self.coming.front().filter(|(at, _)| *at <= cycle) {
            self.coming.pop_front();
            let (under_way, awaited) = &mut self.loads[usize::from(warp)];
            *under_way = under_way.saturating_sub(1);
            if *under_way == 0 {
                for word in awaited.drain(..) {
                    self.lives.write((warp, word), at, true);
                }
                self.ask(Request::Check(warp));
            }
        }
    }

    /// A load of a warp that leaves the SM issues, and will write these registers.
    pub fn load(&mut self, warp: u8, words: &[u16], cycle: u64) {
        for &word in words {
            self.access((warp, word), cycle, Access::Load);
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
        let awaited = &mut self.loads[usize::from(warp)].1;
        if let Some(place) = awaited.iter().position(|it| *it == word) {
            awaited.swap_remove(place);
            self.lives.write((warp, word), cycle, true);
        }
        self.access((warp, word), cycle, Access::Read);
    }

    /// A register is written, in all lanes or in some.
    pub fn write(&mut self, warp: u8, word: u16, whole: bool, cycle: u64) {
        self.access((warp, word), cycle, Access::Write(whole));
    }

    /// A warp whose registers are to be checked gets at them afterwards.
    fn access(&mut self, (warp, word): (u8, u16), cycle: u64, access: Access) {
        let check = Request::Check(warp);
        if self.work.is_some_and(|(work, _)| work == check) || self.queue.contains(&check) {
            self.held[usize::from(warp)].push((word, access));
        } else {
            self.apply((warp, word), cycle, access);
        }
    }

    fn apply(&mut self, (warp, word): (u8, u16), cycle: u64, access: Access) {
        match access {
            Access::Read => self.lives.read((warp, word), cycle, false),
            Access::Write(whole) => {
                self.written(warp, word);
                self.lives.write((warp, word), cycle, whole);
            }
            Access::Load => self.written(warp, word),
        }
    }

    /// What a warp was held back from.
    fn let_go(&mut self, warp: u8) {
        for (word, access) in std::mem::take(&mut self.held[usize::from(warp)]) {
            self.apply((warp, word), self.cycle, access);
        }
    }

    /// A register gets another value: its check bits are none any more.
    fn written(&mut self, warp: u8, word: u16) {
        let Some(recorded) = self.recorded(warp, word) else {
            return;
        };
        let groups = std::mem::take(&mut recorded.groups);
        self.counts.resets += u64::from(groups.count_ones());
        self.release(warp, word, groups);
    }

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

    /// A warp ends: nobody asks for its registers.
    pub fn retire(&mut self, warp: u8) {
        self.let_go(warp);
        self.queue.retain(|it| it.warp() != warp);
        self.work.take_if(|(request, _)| request.warp() == warp);
        self.coming.retain(|(_, other)| *other != warp);
        self.loads[usize::from(warp)] = (0, Vec::new());
        self.forget(warp);
    }

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

    /// Puts a request into the queue. A full one takes no recording, and gives one up for a check; where it holds nothing but checks, a check waits outside.
    fn ask(&mut self, request: Request) {
        if self.queue.len() >= QUEUE {
            let recording = |it: &Request| matches!(it, Request::Record(_));
            let latest = self.queue.iter().rposition(recording);
            match (request, latest) {
                (Request::Check(_), Some(place)) => {
                    self.queue.remove(place);
                    self.counts.dropped += 1;
                }
                (Request::Check(_), None) => {}
                (Request::Record(_), _) => {
                    self.counts.dropped += 1;
                    return;
                }
            }
        }
        self.counts.requests += 1;
        self.queue.push_back(request);
    }

    /// The next request that can be served.
    fn next_request(&mut self) -> Option<(Request, u32)> {
        while let Some(request) = self.queue.pop_front() {
            self.counts.taken += 1;
            let known = self.table[usize::from(request.warp())].is_some();
            let serves = match request {
                Request::Check(_) => known,
                Request::Record(warp) => !known && !self.conflicts(warp),
            };
            if serves {
                if let Request::Record(warp) = request {
                    let none = vec![Recorded::default(); self.shape.registers as usize];
                    self.table[usize::from(warp)] = Some(none);
                }
                return Some((request, 0));
            }
            self.counts.dropped += 1;
            if let Request::Check(warp) = request {
                self.let_go(warp);
            }
        }
        None
    }

    /// Whether a word that a warp's check bits would take holds another's.
    fn conflicts(&self, warp: u8) -> bool {
        let words = 0..self.shape.registers as u16;
        let mut places = words
            .flat_map(|word| (0..self.shape.groups).map(move |group| (word, group)))
            .map(|(word, group)| self.place(warp, word, group));
        places.any(|place| self.store.holder(place).is_some_and(|it| it != warp))
    }

    /// The next register of a request, if its ports are idle.
    fn serve(&mut self, request: Request, word: u16) {
        let warp = request.warp();
        let next = Some((request, u32::from(word) + 1));
        let needed = match request {
            Request::Record(_) => !self.loads[usize::from(warp)].1.contains(&word),
            Request::Check(_) => self.recorded(warp, word).is_some_and(|it| it.groups != 0),
        };
        if !needed {
            self.work = next;
            return;
        }
        if !self.ports.idle(warp, word, self.cycle) {
            self.counts.waited += 1;
            self.cycle += 1;
            return;
        }
        match request {
            Request::Record(_) => self.record(warp, word),
            Request::Check(_) => self.check(warp, word),
        }
        self.cycle += self.shape.cycles;
        self.work = next;
    }

    fn record(&mut self, warp: u8, word: u16) {
        let mut groups = 0;
        for group in 0..self.shape.groups {
            let place = self.place(warp, word, group);
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

    fn check(&mut self, warp: u8, word: u16) {
        let Some(&mut Recorded { since, groups }) = self.recorded(warp, word) else {
            return;
        };
        self.counts.checked += 1;
        self.counts.groups_read += u64::from(groups.count_ones());
        let parts = groups.count_ones() * PARTS as u32 / self.shape.groups;
        let times = (since, self.cycle);
        self.lives.check((warp, word), times, parts);
        let guarded = Guarded {
            from: since,
            to: self.cycle,
            groups: groups.count_ones(),
        };
        if let Some(guards) = &mut self.guards {
            guards.check(warp, usize::from(word), guarded);
        }
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

    fn finish(&mut self, request: Request) {
        self.work = None;
        if let Request::Check(warp) = request {
            self.forget(warp);
            self.let_go(warp);
        }
    }

    /// Takes a warp out of the table.
    fn forget(&mut self, warp: u8) {
        for (word, recorded) in (0..).zip(self.table[usize::from(warp)].take().unwrap_or_default())
        {
            self.release(warp, word, recorded.groups);
        }
    }

    fn release(&mut self, warp: u8, word: u16, groups: u16) {
        for group in (0..self.shape.groups).filter(|group| groups >> group & 1 != 0) {
            let place = self.place(warp, word, group);
            self.store.free(place);
        }
    }

    fn recorded(&mut self, warp: u8, word: u16) -> Option<&mut Recorded> {
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

impl Request {
    fn warp(self) -> u8 {
        match self {
            Self::Record(warp) | Self::Check(warp) => warp,
        }
    }
}

#[cfg(test)]
mod tests;

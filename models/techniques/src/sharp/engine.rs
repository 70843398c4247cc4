//! The work on the request at the head of the queue: a warp-wide register a cycle, if its bank is idle and the waiting queue has room for its groups (section
//! 3.3.3), which leave it for shared memory as soon as their banks are idle.

mod accesses;
mod forecast;
mod queue;
mod table;

use std::collections::VecDeque;

use accesses::Access;
use queue::{QUEUE, Request};
use table::Recorded;

use super::guards::Guards;
use super::ports::Ports;
use super::store::Store;
use crate::protection::Lives;

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

    /// A warp ends: nobody asks for its registers.
    pub fn retire(&mut self, warp: u8) {
        self.let_go(warp);
        self.queue.retain(|it| it.warp() != warp);
        self.work.take_if(|(request, _)| request.warp() == warp);
        self.coming.retain(|(_, other)| *other != warp);
        self.loads[usize::from(warp)] = (0, Vec::new());
        self.forget(warp);
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
        let groups = match request {
            Request::Record(_) => self.shape.groups,
            Request::Check(_) => self
                .recorded(warp, word)
                .map_or(0, |it| it.groups.count_ones()),
        };
        self.ports.drain(self.cycle);
        if !self.ports.idle(warp, word, self.cycle, groups) {
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

    fn finish(&mut self, request: Request) {
        self.work = None;
        if let Request::Check(warp) = request {
            self.forget(warp);
            self.let_go(warp);
        }
    }
}

#[cfg(test)]
mod tests;

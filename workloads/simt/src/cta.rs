//! One CTA: its warps take turns until all have exited.

use warpwatt_ptx::Entry;

use crate::error::Cause;
use crate::memory::{DeviceMemory, LocalMemory, Memories};
use crate::warp::{Ballot, Stop, Warp, WarpFault};

/// Instructions that a warp runs before the next one has its turn, so that a warp that spins on another's store sees it.
const SLICE: u64 = 1 << 14;

/// Barriers of a CTA (PTX ISA 8.x, section 9.7.13.1).
const BARRIERS: usize = 16;

/// Those, and that of a cluster, which is a CTA here.
const ALL_BARRIERS: usize = BARRIERS + 1;

/// A barrier's place among all; kernels name no numbers beyond.
fn barrier(id: u32) -> usize {
    match id as usize {
        BARRIERS => BARRIERS,
        id => id % BARRIERS,
    }
}

/// A warp and what it does.
struct Member<const W: usize> {
    warp: Warp<W>,
    state: State,
    local: LocalMemory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Waiting {
        id: u32,
        threads: Option<u32>,
        ballot: Ballot,
    },
    Done,
}

/// The warps and memories of a CTA, reused for each CTA of the launch.
pub(crate) struct Cta<const W: usize> {
    members: Vec<Member<W>>,
    shared: Vec<u8>,
    /// Threads that announced themselves at each barrier without waiting.
    arrived: [u32; ALL_BARRIERS],
}

/// A fault and the warp it happened in.
pub(crate) struct CtaFault {
    pub warp: usize,
    pub fault: Box<WarpFault>,
}

impl<const W: usize> Cta<W> {
    pub fn new(warps: Vec<Warp<W>>, shared_bytes: usize, local_bytes: u32) -> Self {
        let members = warps.into_iter().map(|warp| Member {
            warp,
            state: State::Done,
            local: LocalMemory::new(W, u64::from(local_bytes)),
        });
        Self {
            members: members.collect(),
            shared: vec![0; shared_bytes],
            arrived: [0; ALL_BARRIERS],
        }
    }

    pub fn warps(&self) -> impl Iterator<Item = &Warp<W>> {
        self.members.iter().map(|member| &member.warp)
    }

    /// Runs the CTA `cta` to its end; at most `budget` warp instructions.
    pub fn run(
        &mut self,
        entry: &Entry,
        cta: [u32; 3],
        device: &mut DeviceMemory,
        (constants, params): (&mut [u8], &mut [u8]),
        budget: u64,
    ) -> Result<u64, CtaFault> {
        self.start(entry, cta);
        let mut left = budget;
        loop {
            let mut progressed = false;
            for at in 0..self.members.len() {
                if self.members[at].state != State::Running {
                    continue;
                }
                progressed = true;
                let Member { warp, local, .. } = &mut self.members[at];
                let mut memories = Memories {
                    device,
                    shared: &mut self.shared,
                    local,
                    constants,
                    params,
                };
                let before = warp.counts.warp_instructions;
                let stop = warp.run(entry, &mut memories, left.min(SLICE));
                let stop = stop.map_err(|fault| CtaFault { warp: at, fault })?;
                left -= warp.counts.warp_instructions - before;
                if left == 0 && stop != Stop::Exit {
                    return Err(self.fault(at, entry, Cause::Limit(budget)));
                }
                self.stopped(at, stop);
            }
            if self
                .members
                .iter()
                .all(|member| member.state == State::Done)
            {
                return Ok(budget - left);
            }
            if !progressed && !self.open_barriers() {
                let waiting = |member: &Member<W>| matches!(member.state, State::Waiting { .. });
                let first = self.members.iter().position(waiting).unwrap_or(0);
                let waiting = self.members.iter().filter(|member| waiting(member)).count();
                return Err(self.fault(first, entry, Cause::Deadlock { waiting }));
            }
        }
    }

    fn start(&mut self, entry: &Entry, cta: [u32; 3]) {
        self.shared.fill(0);
        self.arrived = [0; ALL_BARRIERS];
        for member in &mut self.members {
            member.warp.start(entry, cta);
            member.state = State::Running;
            member.local.clear();
        }
    }

    fn fault(&mut self, at: usize, entry: &Entry, cause: Cause) -> CtaFault {
        let line = self.members[at].warp.line(entry);
        CtaFault {
            warp: at,
            fault: Box::new(WarpFault {
                line,
                lane: 0,
                cause,
            }),
        }
    }

    fn stopped(&mut self, at: usize, stop: Stop) {
        let member = &mut self.members[at];
        match stop {
            Stop::Exit => member.state = State::Done,
            Stop::Barrier {
                id,
                threads,
                ballot,
            } => {
                member.state = State::Waiting {
                    id,
                    threads,
                    ballot,
                };
            }
            Stop::Arrive { id, .. } => {
                self.arrived[barrier(id)] += W as u32;
            }
            Stop::Slice => {}
        }
    }

    /// Opens every barrier that enough threads have reached; whether there was one. Barriers count whole warps.
    fn open_barriers(&mut self) -> bool {
        let mut opened = false;
        for id in 0..ALL_BARRIERS {
            let at = |state: State| match state {
                State::Waiting {
                    id: waits,
                    threads,
                    ballot,
                } if barrier(waits) == id => Some((threads, ballot)),
                _ => None,
            };
            let waiting: Vec<_> = (0..self.members.len())
                .filter_map(|member| Some((member, at(self.members[member].state)?)))
                .collect();
            let Some(&(_, (threads, _))) = waiting.first() else {
                continue;
            };
            let arrived = waiting.len() as u32 * W as u32 + self.arrived[id];
            let running = self
                .members
                .iter()
                .filter(|member| member.state != State::Done);
            let needed = match threads {
                Some(threads) => threads.next_multiple_of(W as u32),
                None => running.count() as u32 * W as u32,
            };
            if arrived >= needed {
                opened = true;
                self.arrived[id] = 0;
                let votes = waiting.iter().map(|(_, (_, ballot))| ballot);
                let ballot = votes.fold(Ballot::default(), |sum, one| Ballot {
                    yes: sum.yes + one.yes,
                    of: sum.of + one.of,
                });
                for (member, _) in waiting {
                    self.members[member].state = State::Running;
                    self.members[member].warp.opened(ballot);
                }
            }
        }
        opened
    }
}

//! The CTAs of a cluster, of which there is mostly one: their warps take turns until all have exited.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{CLUSTER_BARRIER, WARPGROUP};

use crate::barrier::{AfterBarriers, Arrivals, BARRIERS, Queue, WARPGROUP_BARRIERS};
use crate::barrier_word::Told;
use crate::error::{Cause, Reason, Waiting, WaitingBarrier};
use crate::execute::place_in;
use crate::interrupt::Interrupt;
use crate::lane_watch::LaneWatch;
use crate::memory::{DeviceMemory, LocalMemory, Memories, Peers};
use crate::races::{Race, Watch};
use crate::tensor_memory::TensorMemory;
use crate::upset::{Flip, Moment, Upset};
use crate::warp::{Stop, Wait, Warp, WarpFault};

/// Instructions that a warp runs before the next one has its turn, so that a warp that spins on another's store sees it.
const SLICE: u64 = 1 << 14;

/// A warp and what it does.
pub(crate) struct Member<const W: usize> {
    warp: Warp<W>,
    state: State,
    local: LocalMemory,
    /// How often memory had been changed when it last stopped.
    seen: u64,
    /// How often it has arrived at the cluster's barrier, and gone on behind it.
    arrived: u32,
    waited: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Waiting(Wait),
    /// It goes on when memory has been changed more often than this.
    Polling(u64),
    Done,
}

/// How far a CTA has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All its warps have exited.
    Done,
    /// None of its warps can go on before somebody else changes memory.
    Polls,
}

/// The warps and memories of a cluster of CTAs, reused for each cluster of the launch.
pub(crate) struct Cta<const W: usize> {
    /// Those of each CTA, by rank.
    members: Vec<Member<W>>,
    /// Warps of a CTA.
    warps: usize,
    /// CTAs in x, y, z.
    cluster: [u32; 3],
    /// Shared memories, by rank, and the bytes of each.
    shared: Vec<u8>,
    shared_bytes: usize,
    /// By rank.
    barriers: Vec<Barriers>,
    tensor: Vec<TensorMemory>,
    order: AfterBarriers,
    watch: Option<Box<Watch>>,
}

/// What a CTA's barriers have been told.
#[derive(Clone, Debug, Default)]
struct Barriers {
    arrivals: Arrivals,
    told: Told,
}

/// What a cluster is made of.
pub(crate) struct ClusterShape {
    /// CTAs in x, y, z.
    pub cluster: [u32; 3],
    /// Bytes of a CTA's shared memory.
    pub shared_bytes: usize,
    /// Bytes of a thread's local memory.
    pub local_bytes: u32,
}

/// What a CTA runs on, and how many warp instructions more it may execute.
pub(crate) struct Ground<'g> {
    pub entry: &'g Entry,
    pub device: &'g mut DeviceMemory,
    pub constants: &'g mut [u8],
    pub params: &'g mut [u8],
    pub left: u64,
    /// How often memory was changed.
    pub changes: u64,
    /// How many instructions in a row have changed nothing, and how many may.
    pub idle: Idle,
    /// What may end it.
    pub interrupt: Option<Interrupt>,
    /// Who sees what lanes compute, if somebody does.
    pub lanes: Option<&'g mut (dyn LaneWatch + 'g)>,
}

/// Instructions in a row that have changed nothing in memory, passed no barrier and ended no warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    so_far: u64,
    most: u64,
}

impl Idle {
    /// None yet, of a launch that may execute `limit` instructions: a quarter of these is a loop without an end.
    pub fn of(limit: u64) -> Self {
        Self {
            so_far: 0,
            most: limit.div_ceil(4).max(SLICE),
        }
    }
}

/// For as long as it is lent.
fn watcher<'s, 'g: 's>(
    lanes: &'s mut Option<&'g mut (dyn LaneWatch + 'g)>,
) -> Option<&'s mut (dyn LaneWatch + 's)> {
    let lanes = lanes.as_mut();
    lanes.map(|watch| &mut **watch as &mut (dyn LaneWatch + 's))
}

/// A fault and the warp it happened in, counted through the CTAs of the cluster.
pub(crate) struct CtaFault {
    pub warp: usize,
    pub fault: Box<WarpFault>,
}

impl<const W: usize> Member<W> {
    pub fn warp(&self) -> &Warp<W> {
        &self.warp
    }

    /// A warp that polls goes on if memory was changed since.
    fn look_again(&mut self, changes: u64) {
        if let State::Polling(seen) = self.state
            && seen != changes
        {
            self.state = State::Running;
        }
    }
}

impl<const W: usize> Cta<W> {
    /// A cluster with these warps, by rank of their CTAs.
    pub fn new(warps: Vec<Warp<W>>, shape: &ClusterShape, watch: Option<Box<Watch>>) -> Self {
        let ctas = shape.cluster.iter().product::<u32>() as usize;
        let of_each = warps.len() / ctas;
        let members = warps.into_iter().map(|warp| Member {
            warp,
            state: State::Done,
            seen: 0,
            arrived: 0,
            waited: 0,
            local: LocalMemory::new(W, u64::from(shape.local_bytes)),
        });
        Self {
            members: members.collect(),
            warps: of_each,
            cluster: shape.cluster,
            shared: vec![0; ctas * shape.shared_bytes],
            shared_bytes: shape.shared_bytes,
            barriers: vec![Barriers::default(); ctas],
            tensor: vec![TensorMemory::default(); ctas],
            order: AfterBarriers::default(),
            watch,
        }
    }

    pub fn warps(&self) -> impl Iterator<Item = &Warp<W>> {
        self.members.iter().map(|member| &member.warp)
    }

    /// The warps of each CTA, by rank.
    pub fn by_rank(&self) -> impl Iterator<Item = &[Member<W>]> {
        self.members.chunks(self.warps)
    }

    /// The rank of the CTA that a warp is of.
    fn rank(&self, at: usize) -> usize {
        at / self.warps
    }

    /// The races that were found in all CTAs, if they were looked for.
    pub fn races(self) -> Vec<Race> {
        self.watch.map_or_else(Vec::new, |watch| watch.races())
    }

    /// Runs the cluster whose first CTA is `cta` as far as it comes; what is left of `ground` says how many instructions that took.
    pub fn run(&mut self, cta: [u32; 3], ground: &mut Ground<'_>) -> Result<Progress, CtaFault> {
        self.start(ground.entry, cta);
        self.go_on(ground)
    }

    /// Goes on with a CTA that polls.
    pub fn go_on(&mut self, ground: &mut Ground<'_>) -> Result<Progress, CtaFault> {
        self.advance_all(ground, None)
    }

    /// Runs the CTA `cta` to its end, alone.
    pub fn run_alone(&mut self, cta: [u32; 3], ground: &mut Ground<'_>) -> Result<(), CtaFault> {
        self.start(ground.entry, cta);
        self.finish(ground, None)
    }

    /// The lanes that wait, and for what.
    pub fn waits(&mut self, entry: &Entry) -> Vec<Waiting> {
        let mut found = Vec::new();
        for Member { warp, state, .. } in &mut self.members {
            match state {
                State::Waiting(wait) => found.push(Waiting {
                    cta: warp.place.cta,
                    warp: warp.place.warp,
                    lanes: warp.live(),
                    line: wait.line,
                    reason: Reason::Barrier,
                }),
                State::Done => {}
                _ => found.extend(warp.waiting(entry)),
            }
        }
        found
    }

    /// As [`run`](Self::run), with an upset on the way.
    pub fn run_upset(
        &mut self,
        cta: [u32; 3],
        ground: &mut Ground<'_>,
        upset: &Upset<'_>,
    ) -> Result<(), CtaFault> {
        self.start(ground.entry, cta);
        match upset {
            Upset::Warp(moment) => self.finish(ground, Some(moment)),
            Upset::Shared { cut, bit } => {
                self.advance(ground, cut)?;
                if let Some(byte) = self.shared.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                self.finish(ground, None)
            }
        }
    }

    /// All warps take turns until they have exited. A warp that an upset is for has it when it comes to that instruction.
    fn finish(
        &mut self,
        ground: &mut Ground<'_>,
        ahead: Option<&Moment<'_>>,
    ) -> Result<(), CtaFault> {
        match self.advance_all(ground, ahead)? {
            Progress::Done => Ok(()),
            Progress::Polls => Err(self.hang(ground.entry)),
        }
    }

    /// Nobody changes what the CTA polls.
    pub fn hang(&mut self, entry: &Entry) -> CtaFault {
        let waiting = self.waits(entry);
        let (warp, line) = waiting.first().map_or((0, 0), |it| (it.warp, it.line));
        self.fault(warp as usize, line, Cause::Hang { waiting })
    }

    /// All warps take turns until they have exited, or poll.
    fn advance_all(
        &mut self,
        ground: &mut Ground<'_>,
        mut ahead: Option<&Moment<'_>>,
    ) -> Result<Progress, CtaFault> {
        loop {
            let mut progressed = false;
            for at in 0..self.members.len() {
                self.members[at].look_again(ground.changes);
                if self.members[at].state != State::Running {
                    continue;
                }
                progressed = true;
                match ahead {
                    Some(moment) if moment.warp as usize == at => {
                        let had = self.turn_through(at, ground, moment)?;
                        ahead = ahead.filter(|_| !had);
                    }
                    _ => self.turn(at, ground, SLICE)?,
                }
            }
            let done = |member: &Member<W>| member.state == State::Done;
            if self.members.iter().all(done) {
                return Ok(Progress::Done);
            }
            let waits = |member: &Member<W>| matches!(member.state, State::Waiting(_));
            if !progressed || self.members.iter().any(waits) {
                self.open_barriers(ground.entry)?;
            }
            let runs = |member: &Member<W>| member.state == State::Running;
            if !progressed && !self.members.iter().any(runs) {
                return Ok(Progress::Polls);
            }
        }
    }

    /// Every warp runs up to its entry in `cut`, which is how many instructions it has executed then.
    fn advance(&mut self, ground: &mut Ground<'_>, cut: &[u64]) -> Result<(), CtaFault> {
        loop {
            let mut progressed = false;
            for (at, &until) in cut.iter().enumerate().take(self.members.len()) {
                let Member { warp, state, .. } = &self.members[at];
                let due = until.saturating_sub(warp.counts.warp_instructions);
                if *state == State::Running && due > 0 {
                    progressed = true;
                    self.turn(at, ground, due.min(SLICE))?;
                }
            }
            if !progressed {
                let waits = |member: &Member<W>| matches!(member.state, State::Waiting(_));
                let waiting = |cta: &Self| cta.members.iter().filter(|it| waits(it)).count();
                let before = waiting(self);
                self.open_barriers(ground.entry)?;
                if waiting(self) == before {
                    return Ok(());
                }
            }
        }
    }

    /// A warp runs until it stops, at most `slice` instructions.
    fn turn(&mut self, at: usize, ground: &mut Ground<'_>, slice: u64) -> Result<(), CtaFault> {
        let rank = self.rank(at);
        let Member {
            warp, local, seen, ..
        } = &mut self.members[at];
        let ctas = self.barriers.len();
        let (shared, peers) = Peers::split(&mut self.shared, self.shared_bytes, rank, ctas);
        let mut memories = Memories {
            device: ground.device,
            shared,
            peers,
            local,
            constants: ground.constants,
            params: ground.params,
            told: &mut self.barriers[rank].told,
            tensor: &mut self.tensor,
            watch: self.watch.as_deref_mut(),
            lanes: watcher(&mut ground.lanes),
        };
        let (executed, changes) = (warp.executed(), warp.changes);
        warp.look_again(*seen != ground.changes);
        let stop = warp.run(ground.entry, &mut memories, ground.left.min(slice));
        let stop = stop.map_err(|fault| CtaFault { warp: at, fault })?;
        let executed = warp.executed() - executed;
        ground.left -= executed;
        ground.idle.so_far = match stop {
            Stop::Slice if warp.changes == changes => ground.idle.so_far + executed,
            _ => 0,
        };
        ground.changes += warp.changes - changes;
        *seen = ground.changes;
        if ground.interrupt.is_some_and(Interrupt::is_set) {
            let line = warp.line(ground.entry);
            return Err(self.fault(at, line, Cause::Interrupted));
        }
        if ground.left == 0 && stop != Stop::Exit {
            let line = warp.line(ground.entry);
            // Which limit that was is the caller's to say.
            return Err(self.fault(at, line, Cause::Limit(0)));
        }
        if ground.idle.so_far > ground.idle.most {
            let line = warp.line(ground.entry);
            return Err(self.fault(at, line, Cause::NoProgress(ground.idle.so_far)));
        }
        self.stopped(at, stop);
        Ok(())
    }

    /// A turn of the warp that an upset is for; whether it had it.
    fn turn_through(
        &mut self,
        at: usize,
        ground: &mut Ground<'_>,
        moment: &Moment<'_>,
    ) -> Result<bool, CtaFault> {
        let before = self.members[at].warp.counts.warp_instructions;
        let due = moment.executed.saturating_sub(before);
        self.turn(at, ground, due.min(SLICE))?;
        let Member { warp, state, .. } = &self.members[at];
        if warp.counts.warp_instructions < moment.executed || *state != State::Running {
            return Ok(false);
        }
        match moment.what {
            Flip::Register {
                register,
                lane,
                bit,
            } => self.members[at].warp.flip(register, lane, bit),
            Flip::Instruction(changed) => self.turn_changed(at, ground, changed)?,
        }
        if self.members[at].state == State::Running {
            self.turn(at, ground, SLICE - due)?;
        }
        Ok(true)
    }

    /// One instruction of a program that differs in it.
    fn turn_changed(
        &mut self,
        at: usize,
        ground: &mut Ground<'_>,
        changed: &Entry,
    ) -> Result<(), CtaFault> {
        self.members[at].warp.fit(changed);
        let mut once = Ground {
            entry: changed,
            device: &mut *ground.device,
            constants: &mut *ground.constants,
            params: &mut *ground.params,
            left: ground.left,
            changes: ground.changes,
            idle: ground.idle,
            interrupt: ground.interrupt,
            lanes: watcher(&mut ground.lanes),
        };
        let turned = self.turn(at, &mut once, 1);
        (ground.left, ground.changes, ground.idle) = (once.left, once.changes, once.idle);
        turned?;
        let warp = &mut self.members[at].warp;
        warp.fit(ground.entry);
        match warp.beyond(ground.entry) {
            Some(line) => Err(self.fault(at, line, Cause::BeyondCode)),
            None => Ok(()),
        }
    }

    fn start(&mut self, entry: &Entry, cta: [u32; 3]) {
        self.shared.fill(0);
        if let Some(watch) = &mut self.watch {
            watch.start(cta);
        }
        for barriers in &mut self.barriers {
            barriers.arrivals = Arrivals::default();
            barriers.told.clear();
        }
        self.tensor.iter_mut().for_each(TensorMemory::clear);
        for (at, member) in self.members.iter_mut().enumerate() {
            let inside = place_in(self.cluster, at / self.warps);
            let place = std::array::from_fn(|axis| cta[axis] + inside[axis]);
            member.warp.start(entry, place);
            (member.arrived, member.waited) = (0, 0);
            member.state = State::Running;
            member.local.clear();
        }
    }

    fn fault(&self, at: usize, line: u32, cause: Cause) -> CtaFault {
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
            Stop::Barrier(wait) => {
                member.warp.waits_at_barrier();
                member.state = State::Waiting(wait);
            }
            Stop::Arrive {
                id: CLUSTER_BARRIER,
                ..
            } => member.arrived += 1,
            Stop::Arrive { id, threads } => {
                let rank = self.rank(at);
                self.barriers[rank].arrivals.add(id, threads, W as u32);
                if let Some(watch) = &mut self.watch {
                    watch.arrive(at as u32, id);
                }
            }
            Stop::Slice => {}
            Stop::Polls => member.state = State::Polling(member.seen),
        }
    }

    /// Opens every barrier that enough threads have reached. Barriers count whole warps, and warps that have exited are not waited for.
    fn open_barriers(&mut self, entry: &Entry) -> Result<(), CtaFault> {
        let mut stuck = Vec::new();
        let groups = (self.warps * W).div_ceil(WARPGROUP as usize * 32) as u32;
        for rank in 0..self.barriers.len() {
            let of_groups = WARPGROUP_BARRIERS..WARPGROUP_BARRIERS + groups;
            for id in (0..BARRIERS).chain(of_groups) {
                stuck.extend(self.open_barrier(entry, rank, id)?);
            }
        }
        stuck.extend(self.open_cluster_barrier());
        let goes_on =
            |member: &Member<W>| matches!(member.state, State::Running | State::Polling(_));
        match stuck.first() {
            Some(&(first, ref barrier)) if !self.members.iter().any(goes_on) => {
                let line = barrier.line;
                let barriers = stuck.into_iter().map(|(_, barrier)| barrier).collect();
                Err(self.fault(first, line, Cause::Deadlock { barriers }))
            }
            _ => Ok(()),
        }
    }

    /// Opens a barrier of a CTA if enough threads have reached it; the first warp that waits at it, and what it waits for, if they have not.
    fn open_barrier(
        &mut self,
        entry: &Entry,
        rank: usize,
        id: u32,
    ) -> Result<Option<(usize, WaitingBarrier)>, CtaFault> {
        let waiting = self.waiting(rank, id);
        let begin = rank * self.warps;
        let Some(queue) = Queue::of(
            id,
            &waiting,
            [self.warps, 1].map(|warps| (warps * W) as u32),
        ) else {
            return Ok(None);
        };
        let first = begin + waiting[0].0;
        let running = |member: &&Member<W>| member.state != State::Done;
        let own = &self.members[begin..begin + self.warps];
        let live = own.iter().filter(running).count() as u32 * W as u32;
        let arrivals = &self.barriers[rank].arrivals;
        let bad = |cause| self.fault(first, queue.line, cause);
        let needed = queue.needed(live, arrivals).map_err(bad)?;
        let arrived = queue.arrived + arrivals.threads(id);
        if arrived < needed {
            return Ok(Some((first, queue.stuck(arrived, needed))));
        }
        if queue.of_all() {
            self.look_for_missing(entry, first, &queue)?;
        }
        self.barriers[rank].arrivals.clear(id);
        if let Some(watch) = &mut self.watch {
            watch.open(waiting.iter().map(|(warp, _)| *warp as u32), id);
        }
        for (warp, _) in waiting {
            let member = &mut self.members[begin + warp];
            member.state = State::Running;
            member.warp.opened(queue.ballot);
        }
        Ok(None)
    }

    /// The warps that wait at the cluster's barrier go on if all that have not exited have arrived as often as they; else the first of them, and what
    /// it waits for.
    fn open_cluster_barrier(&mut self) -> Option<(usize, WaitingBarrier)> {
        let mut stuck = None;
        let mut opens = Vec::new();
        let live = self.members.iter().filter(|it| it.state != State::Done);
        let live: Vec<u32> = live.map(|member| member.arrived).collect();
        for (at, member) in self.members.iter().enumerate() {
            let State::Waiting(Wait {
                id: CLUSTER_BARRIER,
                line,
                ..
            }) = member.state
            else {
                continue;
            };
            let there = live.iter().filter(|&&count| count > member.waited).count();
            if there == live.len() {
                opens.push(at);
                continue;
            }
            stuck.get_or_insert_with(|| {
                let barrier = WaitingBarrier {
                    barrier: CLUSTER_BARRIER,
                    line,
                    warps: vec![member.warp.place.warp],
                    arrived: (there * W) as u32,
                    needed: (live.len() * W) as u32,
                };
                (at, barrier)
            });
        }
        if let Some(watch) = &mut self.watch
            && !opens.is_empty()
        {
            watch.open(opens.iter().map(|at| *at as u32), CLUSTER_BARRIER);
        }
        for at in opens {
            self.members[at].waited += 1;
            self.members[at].state = State::Running;
        }
        stuck
    }

    /// The warps of a CTA that wait at a barrier, by their numbers in it.
    fn waiting(&self, rank: usize, id: u32) -> Vec<(usize, Wait)> {
        let members = self.members[rank * self.warps..][..self.warps].iter();
        members
            .enumerate()
            .filter_map(|(at, member)| match member.state {
                State::Waiting(wait) if wait.id == id => Some((at, wait)),
                _ => None,
            })
            .collect()
    }

    /// A barrier of all threads opens: warps that have exited by way of what comes after it should have waited there.
    fn look_for_missing(
        &mut self,
        entry: &Entry,
        first: usize,
        queue: &Queue,
    ) -> Result<(), CtaFault> {
        let mut warps = Vec::new();
        let begin = self.rank(first) * self.warps;
        for member in &self.members[begin..begin + self.warps] {
            if let (State::Done, Some([begun, exit])) = (member.state, member.warp.exit)
                && exit > begun
                && self.order.is_after(entry, exit - 1, queue.at)
            {
                warps.push(member.warp.place.warp);
            }
        }
        if warps.is_empty() {
            return Ok(());
        }
        let barrier = queue.id;
        Err(self.fault(first, queue.line, Cause::MissedBarrier { barrier, warps }))
    }
}

//! The whole GPU: launches one after the other, the block dispatcher, and the loop that moves time on.

mod jumps;
mod sampled;
mod slots;
mod team;

use std::sync::atomic::{AtomicBool, Ordering};

use warpwatt_simt::trace::KernelTrace;

use crate::counters::{Counter, Counts, Selection};
use crate::engine::Ticks;
use crate::event::{Event, Queue};
use crate::memory::Memory;
use crate::occupancy::{Demand, demand};
use crate::program::{Program, fetches};
use crate::sampling::Plan;
use crate::sm::{Ground, Shared, Sm, World};
use crate::sms::Sms;
use crate::watch::{MemoryView, SmView, Watcher};
use crate::{Dispatcher, GpuError, GpuSpec, Hooks, LaunchRun, Run, Sampling, Work};
use sampled::{Estimated, Progress};
use slots::Slots;
use team::{Seat, Team};

/// How a run is held in check, and who looks on.
pub struct Control<'w> {
    /// The last cycle in which something may happen.
    pub cycle_limit: u64,
    /// Sees everything and changes nothing.
    pub watcher: Option<&'w mut dyn Watcher>,
    /// A flag that, once it is set, ends the run soon.
    pub interrupt: Option<&'w AtomicBool>,
    /// Time a part of each launch in place of all of it, where that can be done.
    pub sampling: Option<Sampling>,
    /// Threads that SMs tick on, rounded down to a power of two; what comes out is the same on any number. Where something is attached to SMs, or they read what
    /// all share when they tick, one does it all.
    pub threads: usize,
}

impl Control<'_> {
    /// Half an hour of a GPU at 500 MHz: nothing that was meant takes as long.
    pub const CYCLE_LIMIT: u64 = 1_000_000_000_000;
}

impl Default for Control<'_> {
    fn default() -> Self {
        Self {
            cycle_limit: Self::CYCLE_LIMIT,
            watcher: None,
            interrupt: None,
            sampling: None,
            threads: 1,
        }
    }
}

/// Launches of fewer warp instructions take less time than threads are worth.
const LEAST_FOR_THREADS: u64 = 50_000;

/// Cycles after which is looked again whether the run is to end: some milliseconds of the largest GPUs.
const INTERRUPTIBLE: u64 = 1024;

/// Times `launches` in order on one GPU. A launch begins when its predecessor has finished and its stores are in memory; I-cache (and an attached filter)
/// keep their contents, and each kernel has its own instruction addresses.
///
/// # Errors
/// If a launch cannot run on this GPU; see [`GpuError`].
pub fn simulate(spec: &GpuSpec, launches: &[KernelTrace], hooks: Hooks) -> Result<Run, GpuError> {
    simulate_under(spec, launches, hooks, Control::default())
}

/// As [`simulate`], with a limit of one's own, or with somebody who looks on.
///
/// # Errors
/// As [`simulate`]; also if a launch takes longer than it may.
pub fn simulate_under(
    spec: &GpuSpec,
    launches: &[KernelTrace],
    hooks: Hooks,
    control: Control<'_>,
) -> Result<Run, GpuError> {
    let rewritten = rewritten(launches, &hooks)?;
    let launches = rewritten.as_deref().unwrap_or(launches);
    // Nothing runs unless everything can.
    let demands: Result<Vec<Demand>, GpuError> =
        launches.iter().map(|trace| demand(spec, trace)).collect();
    let demands = demands?;
    for trace in launches {
        for condition in &hooks.conditions {
            condition(trace).map_err(|reason| GpuError::Refused {
                kernel: trace.kernel.clone(),
                reason,
            })?;
        }
    }
    let control = Control {
        sampling: control.sampling.and_then(|it| it.beside(&hooks)),
        ..control
    };
    let mut gpu = Gpu::new(spec, &hooks, control);
    let mut runs = Vec::with_capacity(launches.len());
    let mut code = CodeMap::default();
    let all = launches.iter().zip(demands);
    let again = all.clone().filter(|_| hooks.twice);
    for (trace, demand) in all.clone().chain(again) {
        let metadata = hooks.metadata.as_ref().map(|of| of(trace));
        let extra = metadata.iter().flatten().map(|&count| u64::from(count));
        let base = code.place(spec, trace, extra.sum());
        let mut program = Program::new(spec, trace, base);
        if let Some(metadata) = metadata {
            program = program.with_metadata(metadata);
        }
        let start = gpu.queue.now();
        let estimated = gpu.estimated.cycles;
        let plan = gpu.plan(trace, demand);
        let mut grid = gpu.launch(trace, &program, demand, plan.as_ref())?;
        let sample = gpu.sample(&mut grid);
        runs.push(LaunchRun {
            kernel: trace.kernel.clone(),
            cycles: gpu.queue.now() - start + gpu.estimated.cycles - estimated,
            ctas_per_sm: demand.ctas_per_sm,
            warps_per_sm: demand.ctas_per_sm * demand.warps,
            limited_by: demand.limited_by,
            sample,
        });
    }
    Ok(gpu.finish(runs))
}

/// The launches as rewrites leave them; none if there is no rewrite.
fn rewritten(
    launches: &[KernelTrace],
    hooks: &Hooks,
) -> Result<Option<Vec<KernelTrace>>, GpuError> {
    let Some((first, others)) = hooks.rewrites.split_first() else {
        return Ok(None);
    };
    let all = launches.iter().map(|trace| {
        let begun = first(trace);
        let done =
            begun.and_then(|begun| others.iter().try_fold(begun, |trace, next| next(&trace)));
        done.map_err(|reason| GpuError::Refused {
            kernel: trace.kernel.clone(),
            reason,
        })
    });
    all.collect::<Result<Vec<_>, _>>().map(Some)
}

/// Where each kernel's instructions lie.
#[derive(Default)]
struct CodeMap<'t> {
    kernels: Vec<(&'t KernelTrace, u64)>,
    end: u64,
}

impl<'t> CodeMap<'t> {
    /// The address of `trace`'s first instruction: that of an earlier launch of the same code, or the next free line; `metadata` instructions are in it besides the
    /// trace's.
    fn place(&mut self, spec: &GpuSpec, trace: &'t KernelTrace, metadata: u64) -> u64 {
        let known = self
            .kernels
            .iter()
            .find(|(other, _)| other.kernel == trace.kernel && other.code == trace.code);
        if let Some(&(_, base)) = known {
            return base;
        }
        let base = self.end;
        let fetches = trace.code.iter().map(|inst| fetches(spec, inst));
        let instructions = fetches.map(u64::from).sum::<u64>() + metadata;
        let bytes = instructions * u64::from(spec.fetch.instruction_bytes);
        self.end = (base + bytes).next_multiple_of(u64::from(spec.icache.line_bytes));
        self.kernels.push((trace, base));
        base
    }
}

struct Gpu<'s, 'w> {
    spec: &'s GpuSpec,
    queue: Queue,
    memory: Memory,
    sms: Sms,
    ticks: Ticks,
    counts: Counts,
    work: Work,
    dispatcher: Option<Box<dyn Dispatcher>>,
    slots: Slots,
    control: Control<'w>,
    /// The cycle from which on the limit, or somebody who looks on, has a say.
    pause: u64,
    estimated: Estimated,
}

/// The grid that runs.
struct Grid<'p> {
    trace: &'p KernelTrace,
    program: &'p Program,
    demand: Demand,
    /// How it is timed, if not whole.
    plan: Option<&'p Plan>,
    /// CTAs that are timed.
    ctas: usize,
    placed: usize,
    finished: usize,
    sampling: Progress,
}

impl<'p> Grid<'p> {
    /// The number of the CTA that is placed next.
    fn next(&self) -> usize {
        match self.plan {
            Some(Plan::Waves(picks)) => picks.ctas[self.placed] as usize,
            _ => self.placed,
        }
    }

    /// What SMs read while it runs.
    fn ground<'g>(&self, spec: &'g GpuSpec) -> Ground<'g>
    where
        'p: 'g,
    {
        Ground {
            spec,
            program: self.program,
            demand: self.demand,
        }
    }

    /// CTAs that have not finished.
    fn left(&self) -> u64 {
        (self.ctas - self.finished) as u64
    }
}

impl<'s, 'w> Gpu<'s, 'w> {
    fn new(spec: &'s GpuSpec, hooks: &Hooks, control: Control<'w>) -> Self {
        let beside = !hooks.touch_sms() && !Sm::asks_when_it_ticks(spec);
        let threads = if beside { control.threads } else { 1 };
        Self {
            pause: match (&control.watcher, control.interrupt) {
                (Some(_), _) | (_, Some(_)) => 0,
                (None, None) => control.cycle_limit.saturating_add(1),
            },
            control,
            spec,
            queue: Queue::new(),
            memory: Memory::new(spec, hooks),
            sms: Sms::new(spec, hooks, threads),
            ticks: Ticks::new(spec.sm.count as usize),
            counts: Counts::new(),
            work: Work::default(),
            dispatcher: hooks.dispatcher.as_ref().map(|make| make()),
            slots: Slots::of(spec),
            estimated: Estimated::default(),
        }
    }

    /// How a launch is timed, if not whole.
    fn plan(&self, trace: &KernelTrace, demand: Demand) -> Option<Plan> {
        let resident = self.sms.len() * demand.ctas_per_sm as usize;
        Plan::of(self.control.sampling?, trace.launch.ctas(), resident)
    }

    /// Runs one launch to its end.
    fn launch<'p>(
        &mut self,
        trace: &'p KernelTrace,
        program: &'p Program,
        demand: Demand,
        plan: Option<&'p Plan>,
    ) -> Result<Grid<'p>, GpuError> {
        let mut grid = self.begin(trace, program, demand, plan)?;
        let others = self.sms.parts().len() - 1;
        if others == 0 || trace.warp_instructions() < LEAST_FOR_THREADS {
            self.go_through(&mut grid, None)?;
        } else {
            let seats = Seat::several(others);
            let ground = grid.ground(self.spec);
            std::thread::scope(|scope| {
                let mut team = Team::new(scope, &seats, ground);
                self.go_through(&mut grid, Some(&mut team))
            })?;
        }
        self.end(&grid)?;
        Ok(grid)
    }

    /// Moves time on until nothing is left to do.
    fn go_through(
        &mut self,
        grid: &mut Grid<'_>,
        mut team: Option<&mut Team<'_>>,
    ) -> Result<(), GpuError> {
        while let Some(now) = self.next_time() {
            if now >= self.pause {
                self.pause(now, grid)?;
            }
            self.queue.advance(now);
            while let Some(event) = self.queue.pop_now() {
                self.work.events += 1;
                if grid.placed == grid.sampling.stop && matches!(event, Event::Dispatch { .. }) {
                    self.stop(now, grid)?;
                }
                self.handle(event, now, grid)?;
            }
            match &mut team {
                Some(team) if team.is_for(self.ticks.due(now)) => self.tick_beside(now, team)?,
                _ => self.tick(now, grid)?,
            }
        }
        Ok(())
    }

    /// A launch begins: the CTAs of the first wave are on their way.
    fn begin<'p>(
        &mut self,
        trace: &'p KernelTrace,
        program: &'p Program,
        demand: Demand,
        plan: Option<&'p Plan>,
    ) -> Result<Grid<'p>, GpuError> {
        let grid = Grid {
            trace,
            program,
            demand,
            plan,
            ctas: match plan {
                Some(Plan::Waves(picks)) => picks.ctas.len(),
                _ => trace.launch.ctas(),
            },
            placed: 0,
            finished: 0,
            sampling: Progress::begin(plan, self.queue.now()),
        };
        self.pause = self.pause.min(grid.sampling.next);
        self.memory.begin(trace, self.queue.now());
        let shared_bytes = demand.shared_bytes * demand.ctas_per_sm;
        let (spec, now) = (self.spec, self.queue.now());
        self.sms.for_each(|sm, attached| {
            sm.begin(spec, trace, shared_bytes);
            attached.begin(trace, now);
        });
        if let Some(watcher) = &mut self.control.watcher {
            watcher.launch(self.queue.now(), &trace.kernel);
        }
        let sm = &self.spec.sm;
        let start = self.queue.now() + u64::from(sm.launch_cycles + sm.cta_cycles);
        let room = self.sms.len() * demand.ctas_per_sm as usize;
        let first_wave = match &mut self.dispatcher {
            Some(dispatcher) => {
                dispatcher.begin(trace, self.sms.len() as u32);
                room
            }
            None => grid.ctas.min(room),
        };
        for place in 0..first_wave {
            let cycle = self.slots.next(start);
            let sm = (place % self.sms.len()) as u16;
            self.queue.schedule(cycle, Event::Dispatch { sm })?;
        }
        Ok(grid)
    }

    /// Nothing is left to do: the launch is over, or stuck.
    fn end(&mut self, grid: &Grid<'_>) -> Result<(), GpuError> {
        let now = self.queue.now();
        let mut end = now;
        self.sms.for_each(|sm, attached| {
            end = end.max(sm.end(grid.program, attached, now));
        });
        self.queue.advance(end);
        for attached in self.sms.attached() {
            attached.has_ended(end);
        }
        self.memory.has_ended(end);
        self.counts.add(Counter::Launches, 1);
        if grid.finished < grid.ctas {
            return Err(self.deadlock(grid));
        }
        Ok(())
    }

    /// Before anything of cycle `now` happens: it may be one too many, and the one who looks on wants to know how memory does.
    fn pause(&mut self, now: u64, grid: &mut Grid<'_>) -> Result<(), GpuError> {
        let limit = self.control.cycle_limit;
        if now > limit {
            return Err(GpuError::CycleLimit {
                kernel: grid.trace.kernel.clone(),
                limit,
                ctas_left: grid.left(),
                states: self.states(),
            });
        }
        if let Some(Plan::Jumps(batches)) = grid.plan
            && now >= grid.sampling.next
        {
            self.step(now, grid, *batches)?;
        }
        self.pause = limit.saturating_add(1).min(grid.sampling.next);
        if let Some(flag) = self.control.interrupt {
            if flag.load(Ordering::Relaxed) {
                return Err(GpuError::Interrupted {
                    kernel: grid.trace.kernel.clone(),
                    cycle: now,
                });
            }
            self.pause = self.pause.min(now + INTERRUPTIBLE);
        }
        if let Some(watcher) = &mut self.control.watcher {
            let view = MemoryView {
                counts: &self.memory.counts,
                sms: &self.sms,
                program: Some(grid.program),
                cycle: now,
            };
            self.pause = self.pause.min(watcher.memory(now, &view));
        }
        Ok(())
    }

    fn next_time(&self) -> Option<u64> {
        let tick = self.ticks.next(self.queue.now());
        match (self.queue.next_time(), tick) {
            (Some(event), Some(tick)) => Some(event.min(tick)),
            (event, tick) => event.or(tick),
        }
    }

    /// Ticks every SM that is due.
    fn tick(&mut self, now: u64, grid: &Grid<'_>) -> Result<(), GpuError> {
        let (sms, work, control) = (&mut self.sms, &mut self.work, &mut self.control);
        let (queue, memory, ground) = (&mut self.queue, &mut self.memory, grid.ground(self.spec));
        self.ticks.each(now, |number| {
            work.ticks += 1;
            let (sm, attached) = sms.at(number);
            let mut world = ground.world(now, attached, Shared::Here { queue, memory });
            let next = sm.tick(now, &mut world)?;
            show(control, sm, now);
            Ok(next)
        })
    }

    /// The same on several threads.
    fn tick_beside(&mut self, now: u64, team: &mut Team<'_>) -> Result<(), GpuError> {
        self.ticks.take(now, &mut team.due);
        team.tick(now, &mut self.sms);
        let (queue, memory, ticks) = (&mut self.queue, &mut self.memory, &mut self.ticks);
        let (sms, work, control) = (&self.sms, &mut self.work, &mut self.control);
        team.settle(sms, |number, next, deeds| {
            work.ticks += 1;
            work.beside += 1;
            for deed in deeds {
                deed.done(queue, memory)?;
            }
            ticks.again(number, now, next);
            show(control, sms.get(number), now);
            Ok(())
        })
    }

    fn handle(&mut self, event: Event, now: u64, grid: &mut Grid<'_>) -> Result<(), GpuError> {
        let id = match event {
            Event::Request(request) => return self.memory.arrive(now, request, &mut self.queue),
            Event::Dram { request } => {
                return self.memory.dram_arrives(now, request, &mut self.queue);
            }
            Event::Column { channel, bank } => {
                return self.memory.column(now, channel, bank, &mut self.queue);
            }
            Event::Filled { request } => {
                return self.memory.filled(now, request, &mut self.queue);
            }
            Event::Port { port } => {
                return self.memory.look_at_port(now, port, &mut self.queue);
            }
            Event::Answers { slice } => {
                return self.memory.look_at_answers(now, slice, &mut self.queue);
            }
            Event::Reply(reply) => reply.sm,
            Event::Dispatch { sm }
            | Event::Fill { sm, .. }
            | Event::Deliver { sm, .. }
            | Event::Barrier { sm, .. }
            | Event::Goes { sm, .. }
            | Event::Ended { sm, .. }
            | Event::Retire { sm, .. }
            | Event::Restored { sm, .. }
            | Event::Constant { sm, .. }
            | Event::Access { sm }
            | Event::Room { sm } => sm,
        };
        let (sm, attached) = self.sms.at(usize::from(id));
        let (queue, memory) = (&mut self.queue, &mut self.memory);
        let here = Shared::Here { queue, memory };
        let mut world = grid.ground(self.spec).world(now, attached, here);
        let placed = grid.placed;
        match (event, &mut self.dispatcher) {
            (Event::Dispatch { .. }, Some(dispatcher)) => {
                dispatch(dispatcher.as_mut(), sm, now, grid, &mut world)?;
            }
            _ => deliver(event, sm, now, grid, &mut world)?,
        }
        let finished = sm.take_finished();
        self.ticks.set(usize::from(id), now, sm.wakes(now));
        show(&mut self.control, sm, now);
        grid.finished += finished as usize;
        let set_up = now + 1 + u64::from(self.spec.sm.cta_cycles);
        let Some(dispatcher) = &mut self.dispatcher else {
            let more = if grid.placed < grid.ctas { finished } else { 0 };
            for _ in 0..more {
                let cycle = self.slots.next(set_up);
                self.queue.schedule(cycle, Event::Dispatch { sm: id })?;
            }
            return Ok(());
        };
        (0..finished).for_each(|_| dispatcher.finished(u32::from(id)));
        if grid.placed < grid.ctas && (finished > 0 || grid.placed > placed) {
            // Who may take what has changed everywhere: an SM that was told to wait is asked as often as it may have room.
            let asked = if finished > 0 {
                grid.demand.ctas_per_sm
            } else {
                1
            };
            for sm in 0..self.sms.len() as u16 {
                for _ in 0..asked {
                    self.queue.schedule(set_up, Event::Dispatch { sm })?;
                }
            }
        }
        Ok(())
    }

    fn deadlock(&self, grid: &Grid<'_>) -> GpuError {
        GpuError::Deadlock {
            kernel: grid.trace.kernel.clone(),
            cycle: self.queue.now(),
            ctas_left: grid.left(),
            states: self.states(),
        }
    }

    fn states(&self) -> Vec<String> {
        self.sms.iter().flat_map(|(sm, _)| sm.states()).collect()
    }

    fn finish(mut self, launches: Vec<LaunchRun>) -> Run {
        let now = self.queue.now();
        let cycles = now + self.estimated.cycles;
        if let Some(watcher) = &mut self.control.watcher {
            let view = MemoryView {
                counts: &self.memory.counts,
                sms: &self.sms,
                program: None,
                cycle: now,
            };
            watcher.end(now, &view);
        }
        self.counts.add(Counter::Cycles, cycles);
        let (of_sms, in_total) = (Selection::of_sms(), Selection::in_total());
        let mut per_sm = Vec::with_capacity(self.sms.len());
        self.sms
            .for_each(|sm, attached| per_sm.push(sm.report(now, attached, &of_sms)));
        for (sm, more) in per_sm.iter_mut().zip(&self.estimated.counted.sms) {
            *sm += more;
        }
        let mut activity = self.counts.activity(&in_total);
        activity += &self.estimated.counted.memory;
        activity += &self.memory.counts.activity(&in_total);
        for sm in &per_sm {
            activity += sm;
        }
        Run {
            cycles,
            activity,
            per_sm,
            launches,
            work: self.work,
        }
    }
}

/// Shows an SM to whoever looks on.
#[inline]
fn show(control: &mut Control<'_>, sm: &Sm, now: u64) {
    if let Some(watcher) = &mut control.watcher
        && watcher.watches(sm.number())
    {
        watcher.sm(now, &SmView::new(sm, now));
    }
}

/// Gives an SM the CTA that a technique's dispatcher has for it.
fn dispatch(
    dispatcher: &mut dyn Dispatcher,
    sm: &mut Sm,
    now: u64,
    grid: &mut Grid<'_>,
    world: &mut World<'_>,
) -> Result<(), GpuError> {
    let number = u32::from(sm.number());
    let Some(cta) = dispatcher.next(number).filter(|cta| *cta < grid.ctas) else {
        return Ok(());
    };
    if sm.place(grid.trace, cta, now, world)? {
        grid.placed += 1;
        dispatcher.placed(number, cta);
    }
    Ok(())
}

/// Gives an event to its SM.
fn deliver(
    event: Event,
    sm: &mut Sm,
    now: u64,
    grid: &mut Grid<'_>,
    world: &mut World<'_>,
) -> Result<(), GpuError> {
    match event {
        Event::Dispatch { .. } => {
            if grid.placed < grid.ctas && sm.place(grid.trace, grid.next(), now, world)? {
                grid.placed += 1;
            }
        }
        Event::Fill { miss, .. } => sm.fill(miss, now, world)?,
        Event::Deliver { warp, .. } => sm.deliver(warp, now, world),
        Event::Barrier { cta, number, .. } => return sm.open_barrier(cta, number, now, world),
        Event::Goes { warp, .. } => return sm.goes(warp, now, world),
        Event::Ended { copy, .. } => return sm.copied(copy, world),
        Event::Retire { warp, .. } => return sm.retire(warp, now, world),
        Event::Restored { warp, word, .. } => sm.restored(warp, word, now, world.attached),
        Event::Constant { place, .. } => return sm.fill_constant(place, now, world),
        Event::Reply(reply) => return sm.replied(&reply, now, world),
        Event::Access { .. } => return sm.access_reaches_tags(now, world),
        Event::Room { .. } => return sm.resume(now, world),
        Event::Request(_)
        | Event::Dram { .. }
        | Event::Column { .. }
        | Event::Filled { .. }
        | Event::Port { .. }
        | Event::Answers { .. } => {}
    }
    Ok(())
}

#[cfg(test)]
mod partitions;
#[cfg(test)]
mod sampling;
#[cfg(test)]
mod second_level;
#[cfg(test)]
mod tensor_peak;
#[cfg(test)]
mod tests;

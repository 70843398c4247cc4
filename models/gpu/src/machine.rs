//! The whole GPU: launches one after the other, the block dispatcher, and the loop that moves time on.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::KernelTrace;

use crate::counters::{Counter, Counts};
use crate::engine::Ticks;
use crate::event::{Event, Queue};
use crate::memory::Memory;
use crate::occupancy::{Demand, demand};
use crate::program::Program;
use crate::sm::{Sm, World};
use crate::{GpuError, GpuSpec, Hooks, LaunchRun, Run, Work};

/// Times `launches` in order on one GPU. A launch begins when its predecessor has finished and its stores are in memory; I-cache (and an attached filter)
/// keep their contents, and each kernel has its own instruction addresses.
///
/// # Errors
/// If a launch cannot run on this GPU; see [`GpuError`].
pub fn simulate(spec: &GpuSpec, launches: &[KernelTrace], hooks: Hooks) -> Result<Run, GpuError> {
    let mut gpu = Gpu::new(spec, &hooks);
    let mut runs = Vec::with_capacity(launches.len());
    let mut code = CodeMap::default();
    for trace in launches {
        let demand = demand(spec, trace)?;
        let program = Program::new(spec, trace, code.place(spec, trace));
        let start = gpu.queue.now();
        gpu.launch(trace, &program, demand)?;
        runs.push(LaunchRun {
            kernel: trace.kernel.clone(),
            cycles: gpu.queue.now() - start,
            ctas_per_sm: demand.ctas_per_sm,
            warps_per_sm: demand.ctas_per_sm * demand.warps,
            limited_by: demand.limited_by,
        });
    }
    Ok(gpu.finish(runs))
}

/// Where each kernel's instructions lie.
#[derive(Default)]
struct CodeMap<'t> {
    kernels: Vec<(&'t KernelTrace, u64)>,
    end: u64,
}

impl<'t> CodeMap<'t> {
    /// The address of `trace`'s first instruction: that of an earlier launch of the same code, or the next free line.
    fn place(&mut self, spec: &GpuSpec, trace: &'t KernelTrace) -> u64 {
        let known = self
            .kernels
            .iter()
            .find(|(other, _)| other.kernel == trace.kernel && other.code == trace.code);
        if let Some(&(_, base)) = known {
            return base;
        }
        let base = self.end;
        let bytes = trace.code.len() as u64 * u64::from(spec.fetch.instruction_bytes);
        self.end = (base + bytes).next_multiple_of(u64::from(spec.icache.line_bytes));
        self.kernels.push((trace, base));
        base
    }
}

struct Gpu<'s, 't> {
    spec: &'s GpuSpec,
    queue: Queue,
    memory: Memory,
    sms: Vec<Sm<'t>>,
    ticks: Ticks,
    counts: Counts,
    work: Work,
}

/// The grid that runs.
struct Grid<'p, 't> {
    trace: &'t KernelTrace,
    program: &'p Program,
    demand: Demand,
    ctas: usize,
    placed: usize,
    finished: usize,
}

impl<'s, 't> Gpu<'s, 't> {
    fn new(spec: &'s GpuSpec, hooks: &Hooks) -> Self {
        Self {
            spec,
            queue: Queue::new(),
            memory: Memory::new(spec),
            sms: (0..spec.sm.count)
                .map(|id| Sm::new(id as u16, spec, hooks))
                .collect(),
            ticks: Ticks::new(spec.sm.count as usize),
            counts: Counts::new(),
            work: Work::default(),
        }
    }

    /// Runs one launch to its end.
    fn launch(
        &mut self,
        trace: &'t KernelTrace,
        program: &Program,
        demand: Demand,
    ) -> Result<(), GpuError> {
        let mut grid = Grid {
            trace,
            program,
            demand,
            ctas: trace.launch.ctas(),
            placed: 0,
            finished: 0,
        };
        let shared_bytes = demand.shared_bytes * demand.ctas_per_sm;
        for sm in &mut self.sms {
            sm.begin(self.spec, trace, shared_bytes);
        }
        let start = self.queue.now() + u64::from(self.spec.sm.launch_cycles);
        let first_wave = grid.ctas.min(self.sms.len() * demand.ctas_per_sm as usize);
        for place in 0..first_wave {
            let cycle = start + place as u64 / u64::from(self.spec.sm.dispatch_per_cycle);
            let sm = (place % self.sms.len()) as u16;
            self.queue.schedule(cycle, Event::Dispatch { sm })?;
        }
        while let Some(now) = self.next_time() {
            self.queue.advance(now);
            while let Some(event) = self.queue.pop_now() {
                self.work.events += 1;
                self.handle(event, now, &mut grid)?;
            }
            self.tick(now, &grid)?;
        }
        for sm in &mut self.sms {
            sm.end(program);
        }
        self.counts.add(Counter::Launches, 1);
        if grid.finished < grid.ctas {
            return Err(self.deadlock(&grid));
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
    fn tick(&mut self, now: u64, grid: &Grid<'_, 't>) -> Result<(), GpuError> {
        let mut world = World {
            spec: self.spec,
            program: grid.program,
            demand: grid.demand,
            queue: &mut self.queue,
            memory: &mut self.memory,
        };
        let (sms, work) = (&mut self.sms, &mut self.work);
        self.ticks.each(now, |sm| {
            work.ticks += 1;
            sms[sm].tick(now, &mut world)
        })
    }

    fn handle(&mut self, event: Event, now: u64, grid: &mut Grid<'_, 't>) -> Result<(), GpuError> {
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
            Event::Reply(reply) => {
                let done = self.memory.reply(now, &reply);
                if done > now {
                    return Ok(self.queue.schedule(done, Event::Arrived(reply))?);
                }
                reply.sm
            }
            Event::Arrived(reply) => reply.sm,
            Event::Dispatch { sm }
            | Event::Fill { sm, .. }
            | Event::Deliver { sm, .. }
            | Event::Resolve { sm, .. }
            | Event::Release { sm, .. }
            | Event::Barrier { sm, .. }
            | Event::Retire { sm, .. }
            | Event::Constant { sm, .. } => sm,
        };
        let mut world = World {
            spec: self.spec,
            program: grid.program,
            demand: grid.demand,
            queue: &mut self.queue,
            memory: &mut self.memory,
        };
        let sm = &mut self.sms[usize::from(id)];
        let cta_finished = deliver(event, sm, now, grid, &mut world)?;
        // The tick of this cycle, if it comes anyway, sees to everything.
        if self.ticks.due(usize::from(id)) != now
            && let Some(cycle) = sm.wakes(now)
        {
            self.ticks.set(usize::from(id), now, cycle);
        }
        if cta_finished {
            grid.finished += 1;
            if grid.placed < grid.ctas {
                self.queue.schedule(now + 1, Event::Dispatch { sm: id })?;
            }
        }
        Ok(())
    }

    fn deadlock(&self, grid: &Grid<'_, 't>) -> GpuError {
        GpuError::Deadlock {
            kernel: grid.trace.kernel.clone(),
            cycle: self.queue.now(),
            ctas_left: (grid.ctas - grid.finished) as u64,
            states: self.sms.iter().flat_map(Sm::states).collect(),
        }
    }

    fn finish(mut self, launches: Vec<LaunchRun>) -> Run {
        let cycles = self.queue.now();
        self.counts.add(Counter::Cycles, cycles);
        let per_sm: Vec<Activity> = self
            .sms
            .iter_mut()
            .map(|sm| sm.report(cycles, |info| !info.only_in_total()))
            .collect();
        let mut activity = self.counts.activity(crate::CounterInfo::only_in_total);
        activity += &self
            .memory
            .counts
            .activity(crate::CounterInfo::only_in_total);
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

/// Gives an event to its SM; whether a CTA has finished.
fn deliver<'t>(
    event: Event,
    sm: &mut Sm<'t>,
    now: u64,
    grid: &mut Grid<'_, 't>,
    world: &mut World<'_>,
) -> Result<bool, GpuError> {
    match event {
        Event::Dispatch { .. } => {
            if grid.placed < grid.ctas && sm.place(grid.trace, grid.placed, now, world)? {
                grid.placed += 1;
            }
        }
        Event::Fill { miss, .. } => sm.fill(miss, now, world)?,
        Event::Deliver { warp, .. } => sm.deliver(warp, world),
        Event::Resolve { warp, .. } => sm.resolve(warp, world),
        Event::Release { warp, slots, .. } => return sm.release(warp, slots, now, world),
        Event::Barrier { cta, number, .. } => return sm.open_barrier(cta, number, now, world),
        Event::Retire { warp, .. } => return sm.retire(warp, now, world),
        Event::Constant { place, .. } => return sm.fill_constant(place, now, world),
        Event::Reply(reply) | Event::Arrived(reply) => return sm.replied(&reply, now, world),
        Event::Request(_) | Event::Dram { .. } | Event::Column { .. } | Event::Filled { .. } => {}
    }
    Ok(false)
}

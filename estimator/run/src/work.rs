//! The work of a study: executing, timing and pricing its points.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, Run, Sampling, Watcher, simulate_under};
use warpwatt_reliability::{LaunchAvf, Liveness};
use warpwatt_simt::Interrupt;
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::RunOptions;
use warpwatt_techlib::published::upset_rate;
use warpwatt_techlib::quantity::Frequency;
use warpwatt_techniques::register_file::ACCESSES;
use warpwatt_techniques::{Circuits, Stack, Structure, Together};

use super::boards;
use super::built::built;
use super::drive::{Batch, Made, TimingRun, Work};
use super::execute::{first_mismatch, trace, untimed};
use super::guides::Guides;
use super::plan::structures;
use super::plan::{Plan, StudyKernel, Timing};
use super::registers::limited;
use super::trace_store::unstored;
use crate::cache::TraceCache;
use crate::diag::{Diag, SourceId, Sources};
use crate::outcome::{Metric, Outcome, RegisterAccesses, Samples};
use crate::pace::Length;
use crate::peak::{MOST_WINDOWS, Sampler, Windows};
use crate::performance::Performance;
use crate::pricing::{CostTable, Counted, laid_out, price, price_settled, technology_notes};
use crate::reliability::{self, Guarded, follow, needs};
use crate::sampling::Goal;

/// A plan, with what its faults are about.
#[derive(Clone, Copy)]
pub struct StudyWork<'p> {
    /// What to do.
    pub plan: &'p Plan,
    /// The texts that were read.
    pub sources: &'p Sources,
    /// The study file among them.
    pub study: SourceId,
    /// Warp instructions that a kernel may execute.
    pub limit: u64,
    /// Where traces are kept.
    pub cache: Option<&'p TraceCache>,
    /// What may end it before its time.
    pub interrupt: Option<Interrupt>,
    /// How sure runs are to be of which a part is timed; all of each is if there is none.
    pub goal: Option<Goal>,
    /// How much of the run at hand is timed, for that.
    pub(crate) sampling: Option<Sampling>,
}

/// What executing a kernel leaves: its traces, and which bits they need if the study follows those.
#[derive(Default)]
pub struct Executed {
    traces: Vec<KernelTrace>,
    needs: Vec<Arc<Liveness>>,
    guides: Guides,
}

impl Executed {
    /// What was executed elsewhere, without which bits it needs.
    pub fn of(traces: Vec<KernelTrace>) -> Self {
        Self {
            traces,
            ..Self::default()
        }
    }

    /// The traces of all launches.
    pub fn traces(&self) -> &[KernelTrace] {
        &self.traces
    }
}

impl StudyWork<'_> {
    /// Threads for each of so many executions or timing runs: they share those of the study.
    fn threads(all: usize) -> usize {
        (rayon::current_num_threads() / all.max(1)).max(1)
    }

    /// Times what of a run is to be timed.
    fn tried(&self, trace: &Executed, run: &TimingRun) -> Result<Timed, Diag> {
        let timings = self.plan.timings_of(run);
        let runs = match &timings[..] {
            [alone] => BTreeMap::from([(*alone, self.ran(*alone, trace)?)]),
            several => self.together(several, trace)?,
        };
        let seen = runs
            .into_iter()
            .map(|(timing, ran)| (timing, self.seen(&self.plan.timings[timing], ran)));
        Ok(Timed(seen.collect()))
    }
}

impl Work for StudyWork<'_> {
    type Trace = Executed;
    type Timed = Timed;
    type Outcome = Outcome;
    type Error = Diag;

    fn execute(&self, execution: usize) -> Result<Made<Executed>, Diag> {
        let execution = &self.plan.executions[execution];
        let kernel = &self.plan.axes.kernels[execution.kernel];
        let Some(loaded) = kernel.subject.loaded(execution.lower) else {
            return Ok(Made {
                trace: Executed::default(),
                kept: true,
            });
        };
        let options = RunOptions {
            warp_width: execution.warp_width,
            limit: self.limit,
            record: true,
            values: execution.values,
            threads: Self::threads(self.plan.executions.len()),
            listed: 1,
            interrupt: self.interrupt,
            ..RunOptions::default()
        };
        let limited = (!execution.limits.is_empty()).then(|| limited(loaded, &execution.limits));
        let loaded = limited.as_ref().unwrap_or(loaded);
        let traced = trace(loaded, options, self.sources, self.cache)
            .map_err(|diag| self.named(diag, kernel))?;
        match first_mismatch(&traced.run) {
            None => {
                let traces = traced.run.into_traces();
                let follows = self.plan.axes.reliability.is_some();
                Ok(Made {
                    kept: traced.kept,
                    trace: Executed {
                        needs: if follows {
                            needs(&traces).map_err(|error| unstored(&error))?
                        } else {
                            Vec::new()
                        },
                        traces,
                        guides: Guides::default(),
                    },
                })
            }
            Some(mismatch) => {
                let message = format!(
                    "`{}` computes a wrong result, so its counts mean nothing: {mismatch}",
                    loaded.name.name
                );
                Err(self.named(
                    Diag::error("kernel::wrong_result", message)
                        .help("`warpwatt kernel` shows more of it"),
                    kernel,
                ))
            }
        }
    }

    fn time(&self, trace: &Executed, run: &TimingRun) -> Result<Timed, Diag> {
        let Some(goal) = self.goal else {
            return self.tried(trace, run);
        };
        let timing = &self.plan.timings[run.timing];
        let tried = |sampling| Self { sampling, ..*self }.tried(trace, run);
        let mut own = None;
        let sampling = trace.guides.of(timing.gpu, || {
            if !self.is_plain(timing) {
                return self.found(goal, timing.gpu, trace);
            }
            let time = |sampling| Ok((sampling, tried(sampling)?));
            let met = goal.meet(time, |(_, timed)| timed.sigma());
            let sampling = met.as_ref().ok().and_then(|(sampling, _)| *sampling);
            own = Some(met.map(|(_, timed)| timed));
            sampling
        });
        own.unwrap_or_else(|| tried(sampling))
    }

    fn price(
        &self,
        timed: &Timed,
        run: &TimingRun,
        points: &[usize],
    ) -> Result<Batch<Outcome>, Diag> {
        let execution = self.plan.timings[run.timing].execution;
        let kernel = &self.plan.axes.kernels[self.plan.executions[execution].kernel];
        let priced = points.iter().map(|number| {
            let timing = self.plan.points[*number].timing;
            let outcome = self.priced(*number, &self.plan.timings[timing], &timed.0[&timing]);
            outcome
                .map(|outcome| (*number, outcome))
                .map_err(|message| self.named(Diag::error("study::pricing", message), kernel))
        });
        priced.collect()
    }
}

/// How a timing run went.
struct Ran {
    run: Run,
    /// What it did to the storage.
    launches: Option<Vec<LaunchAvf>>,
    /// What it counted by windows of time.
    windows: Option<Windows>,
}

/// One in which nobody followed bits or looked on as time passed.
impl From<Run> for Ran {
    fn from(run: Run) -> Self {
        Self {
            run,
            launches: None,
            windows: None,
        }
    }
}

/// What a timing run leaves for all points that share it, by the plan's timings.
pub struct Timed(BTreeMap<usize, Seen>);

impl Timed {
    /// By how much the cycles of any of its runs may be off by what was left out, relative, as a standard deviation; nothing if none was sampled.
    pub(crate) fn sigma(&self) -> Option<f64> {
        let all = self.0.values().filter_map(|seen| {
            let samples = seen.counted.samples.as_ref()?;
            Some(samples.cycles_sigma(seen.counted.cycles))
        });
        all.reduce(f64::max)
    }
}

/// What it leaves of one timing.
pub(crate) struct Seen {
    /// What is priced, but for what the study describes itself.
    pub structures: Vec<Structure>,
    /// What was counted, without notes.
    pub counted: Counted,
    /// What it did to the storage if the study follows that.
    pub launches: Option<Vec<LaunchAvf>>,
}

impl StudyWork<'_> {
    /// A timing in a run of its own, or what another tool has counted.
    fn ran(&self, timing: usize, trace: &Executed) -> Result<Ran, Diag> {
        let timing = &self.plan.timings[timing];
        let kernel = self.plan.executions[timing.execution].kernel;
        match self.plan.axes.kernels[kernel].subject.counted() {
            Some(kernel) => Ok(kernel.run().into()),
            None => self.timed(timing, trace),
        }
    }

    /// Timings in one run, as far as they decide alike in it; the others in further ones.
    fn together(&self, timings: &[usize], trace: &Executed) -> Result<BTreeMap<usize, Ran>, Diag> {
        let mut found = BTreeMap::new();
        let mut left = timings.to_vec();
        while let Some(first) = left.first() {
            let timing = &self.plan.timings[*first];
            let stacks = left
                .iter()
                .map(|timing| self.stack(&self.plan.timings[*timing]));
            let stacks: Vec<&Stack> = stacks.collect();
            let mut hooks = Hooks::default();
            let together = Together::attach(&stacks, &timing.spec, &mut hooks);
            let run = self.replay(timing, &trace.traces, hooks, self.control())?;
            let mut runs = together.runs(&run);
            if runs[0].is_none() {
                // What was said to watch does not.
                runs[0] = Some(self.simulate(timing, &trace.traces, self.control())?);
            }
            let mut others = Vec::new();
            for (timing, run) in left.into_iter().zip(runs) {
                if let Some(run) = run {
                    found.insert(timing, run.into());
                } else {
                    others.push(timing);
                }
            }
            left = others;
        }
        Ok(found)
    }

    /// What a timing leaves for its points.
    fn seen(&self, timing: &Timing, ran: Ran) -> Seen {
        let Ran {
            run,
            launches,
            windows,
        } = ran;
        let kernel = self.plan.executions[timing.execution].kernel;
        let elsewhere = self.plan.axes.kernels[kernel].subject.counted();
        let metrics = self.stack(timing).metrics(&run).into_iter();
        let metrics = metrics.map(|metric| Metric {
            name: metric.name,
            unit: metric.unit.to_owned(),
            value: metric.value,
            ratio: metric.ratio,
        });
        Seen {
            structures: built(&timing.spec, self.stack(timing)),
            launches,
            counted: Counted {
                cycles: run.cycles,
                clock: elsewhere.map_or_else(
                    || Frequency::from_mhz(f64::from(timing.spec.sm.clock_mhz)),
                    |kernel| kernel.clock(&timing.spec),
                ),
                performance: match elsewhere {
                    None => Performance::of(&timing.spec, &run).into(),
                    Some(_) => Performance::of_counts(&timing.spec, &run).into(),
                },
                metrics: Arc::new(metrics.collect()),
                register_accesses: register_accesses(&timing.spec, &run).map(Arc::new),
                samples: Samples::of(&run).map(Arc::new),
                activity: run.activity.into(),
                windows: windows.map(Arc::new),
                before: Default::default(),
                notes: elsewhere.map_or_else(Vec::new, |kernel| kernel.notes(&timing.spec)),
            },
        }
    }

    /// Whether it is of the study's GPU as it is.
    fn is_plain(&self, timing: &Timing) -> bool {
        self.stack(timing).members().is_empty()
            && *timing.spec == self.plan.axes.gpus[timing.gpu].spec
    }

    /// How much of a GPU without techniques is to be timed; all of what it cannot run.
    fn found(&self, goal: Goal, gpu: usize, executed: &Executed) -> Option<Sampling> {
        let (spec, traces) = (&self.plan.axes.gpus[gpu].spec, &executed.traces);
        let time = |sampling| {
            let control = Control {
                sampling,
                ..self.control()
            };
            let run = || simulate_under(spec, traces, Hooks::default(), control);
            let run = sampling.map(|_| run()).transpose()?;
            Ok::<_, GpuError>((sampling, run))
        };
        let sigma = |run: &Run| Some(Samples::of(run)?.cycles_sigma(run.cycles));
        let met = goal.meet(time, |(_, run)| run.as_ref().and_then(sigma));
        met.ok().and_then(|(sampling, _)| sampling)
    }

    fn control(&self) -> Control<'static> {
        Control {
            interrupt: self.interrupt.map(|interrupt| interrupt.0),
            sampling: self.sampling,
            threads: Self::threads(self.plan.timings.len()),
            ..Control::default()
        }
    }

    /// The techniques that are timed.
    fn stack(&self, timing: &Timing) -> &Stack {
        &self.plan.axes.configurations[timing.configuration].stack
    }

    /// Replays `trace`, as `control` says.
    ///
    /// # Errors
    /// The GPU cannot run the kernel.
    pub fn simulate(
        &self,
        timing: &Timing,
        trace: &[KernelTrace],
        control: Control<'_>,
    ) -> Result<Run, Diag> {
        let mut hooks = Hooks::default();
        self.stack(timing).attach(&timing.spec, &mut hooks);
        self.replay(timing, trace, hooks, control)
    }

    fn replay(
        &self,
        timing: &Timing,
        trace: &[KernelTrace],
        hooks: Hooks,
        control: Control<'_>,
    ) -> Result<Run, Diag> {
        let kernel = &self.plan.axes.kernels[self.plan.executions[timing.execution].kernel];
        simulate_under(&timing.spec, trace, hooks, control)
            .map_err(|error| self.named(untimed("study::timing", &error), kernel))
    }

    /// Times a configuration; follows needed bits, and counts by windows of time, if the study asks for it.
    fn timed(&self, timing: &Timing, executed: &Executed) -> Result<Ran, Diag> {
        let clock = Frequency::from_mhz(f64::from(timing.spec.sm.clock_mhz));
        // Windows of what is not timed are not known.
        let window = self.plan.axes.peak;
        let cycles = window.map(|window| (window.si() * clock.si()).round() as u64);
        let mut sampler = cycles.map(|cycles| Sampler::new(Length::Fixed(cycles)));
        let watcher = sampler.as_mut().map(|sampler| sampler as &mut dyn Watcher);
        let control = Control {
            watcher,
            ..self.control()
        };
        let (run, launches) = self.followed(timing, executed, control)?;
        let windows =
            sampler.map(|sampler| sampler.finish(&run).ok_or_else(|| self.too_many(timing)));
        Ok(Ran {
            windows: windows.transpose()?,
            run,
            launches,
        })
    }

    fn too_many(&self, timing: &Timing) -> Diag {
        let message = format!(
            "the run has more than {MOST_WINDOWS} windows, too many to keep the counts of each"
        );
        let diag = Diag::error("study::absurd_size", message)
            .help("choose a longer `window` under `[peak_power]`");
        self.named(
            diag,
            &self.plan.axes.kernels[self.plan.executions[timing.execution].kernel],
        )
    }

    fn followed(
        &self,
        timing: &Timing,
        executed: &Executed,
        control: Control<'_>,
    ) -> Result<(Run, Option<Vec<LaunchAvf>>), Diag> {
        if self.plan.axes.reliability.is_none() {
            let run = self.simulate(timing, &executed.traces, control)?;
            return Ok((run, None));
        }
        let guarded = Guarded {
            techniques: Some(self.stack(timing)),
            codes: &[],
        };
        let needs = executed.needs.clone();
        let kernel = &self.plan.axes.kernels[self.plan.executions[timing.execution].kernel];
        let (run, launches) = follow(&timing.spec, &executed.traces, needs, guarded, control)
            .map_err(|error| self.named(untimed("study::timing", &error), kernel))?;
        Ok((run, Some(launches)))
    }

    fn named(&self, diag: Diag, kernel: &StudyKernel) -> Diag {
        diag.at(self.study, kernel.range.clone(), "this kernel")
    }

    /// Prices a point from what its timing left.
    pub(crate) fn priced(
        &self,
        number: usize,
        timing: &Timing,
        timed: &Seen,
    ) -> Result<Outcome, String> {
        let point = &self.plan.points[number];
        let axes = &self.plan.axes;
        let circuits = self.plan.circuits(point);
        let own = &axes.configurations[point.configuration()].structures;
        let mut counted = timed.counted.clone();
        if !own.is_empty() {
            structures::count(own, Arc::make_mut(&mut counted.activity))?;
        }
        if let (Some(launches), Some(watched)) = (&timed.launches, &axes.reliability) {
            let rate = upset_rate(circuits.technology().feature);
            let rate = rate.map_err(|error| error.to_string())?;
            let stack = &axes.configurations[timing.configuration].stack;
            let shape = reliability::shape(&timing.spec, stack);
            let found = reliability::metrics(&shape, watched.structures(), launches, &rate);
            Arc::make_mut(&mut counted.metrics).extend(found);
        }
        if let Some(board) = &axes.board {
            boards::report(board, &timing.spec, &mut counted);
        }
        counted.notes.extend_from_slice(point.notes());
        counted.notes.extend(technology_notes(circuits));
        counted.notes.extend(structures::notes(own));
        let name = self.plan.point(number);
        let sms = timing.spec.sm.count;
        let structures = laid_out(&timed.structures, sms, circuits);
        let structures = structures.map_err(|error| error.to_string())?;
        let costs = |circuits: &dyn Circuits| {
            let mut table = CostTable::of_laid_out(&structures, sms, circuits)?;
            structures::enter(own, (sms, circuits), &mut table)?;
            Ok(table)
        };
        let priced = match &axes.cooling {
            Some(cooling) => price_settled(name, counted, costs, circuits, cooling),
            None => costs(circuits).and_then(|table| price(name, counted, &table)),
        };
        axes.leave(point.technology());
        priced.map_err(|error| error.to_string())
    }
}

/// Accesses of each physical register, if a technique gave values a place.
fn register_accesses(gpu: &GpuSpec, timed: &Run) -> Option<RegisterAccesses> {
    let counts = timed.activity.list(ACCESSES);
    (!counts.is_empty()).then(|| RegisterAccesses {
        banks: gpu.operands.banks,
        counts: counts.to_vec(),
    })
}

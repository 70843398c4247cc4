//! Times and prices the launches of a program while it runs, each trace once.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use warpwatt_cudart::protocol::Counted;
use warpwatt_simt::trace::{Store, file};

use super::groups::{Choice, Groups, Like};
use crate::Resolved;
use crate::diag::Sources;
use crate::drive::{TimingRun, Work};
use crate::outcome::Outcome;
use crate::work::{Executed, StudyWork};

/// How much a timer takes upon itself.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Traces that are timed at most; further ones are not.
    pub traces: u64,
    /// Bytes of traces that wait at most; the program waits when there are more.
    pub waiting_bytes: u64,
    /// Bytes that a trace may take.
    pub trace_bytes: u64,
    /// Half the 95 % interval of the time of launches that are alike, relative, that may come of timing some of them; all are timed if there is none.
    pub error: Option<f64>,
}

/// What became of a trace.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Its outcomes under the plan's configurations, in their order.
    Timed(Vec<Outcome>),
    /// It could not be timed or priced.
    Failed(String),
    /// There were too many before it.
    Left,
    /// Others that are like it were timed.
    Like(Like),
}

/// What became of the launches of a program.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// By trace.
    pub traces: BTreeMap<u64, Answer>,
    /// Traces that were timed of launches that are alike, by group, in the order of the program, with their warp instructions.
    pub groups: Vec<Vec<(u64, u64)>>,
}

/// A timer with its queue.
pub struct Timer<'r> {
    work: StudyWork<'r>,
    runs: Vec<TimingRun>,
    bounds: Bounds,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(u64, Vec<u8>)>,
    waiting_bytes: u64,
    accepted: u64,
    closed: bool,
    /// Never [`Answer::Like`].
    answers: BTreeMap<u64, Answer>,
    groups: Groups,
}

impl State {
    fn is_timed(&self, id: u64) -> bool {
        seconds(&self.answers, id).flatten().is_some()
    }

    /// Simulated seconds of a trace, or what came before it and is like it; zero if it could not be timed, nothing if that is not known yet.
    fn told(&self, id: u64) -> Option<f64> {
        let mut stands = self.groups.before(id);
        if stands.is_empty() {
            stands.push((id, 1.0));
        }
        for (other, times) in stands {
            if let Some(seconds) = seconds(&self.answers, other)? {
                return Some(times * seconds);
            }
        }
        Some(0.0)
    }
}

/// Simulated seconds of a trace under the first configuration: `Some(None)` if it could not be timed, nothing if it was not yet.
fn seconds(answers: &BTreeMap<u64, Answer>, id: u64) -> Option<Option<f64>> {
    answers.get(&id).map(|answer| match answer {
        Answer::Timed(outcomes) => outcomes.first().map(|outcome| outcome.time_s),
        _ => None,
    })
}

impl<'r> Timer<'r> {
    /// A timer under the configurations of a plan with one kernel, in whose place the program's kernels stand.
    pub fn new(resolved: &'r Resolved, sources: &'r Sources, bounds: Bounds) -> Self {
        let plan = &resolved.plan;
        let kernels = plan.work(&vec![false; plan.points.len()]);
        let runs = kernels.into_iter().flat_map(|kernel| kernel.runs);
        Self {
            work: resolved.work(sources, None),
            runs: runs.collect(),
            bounds,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a trace file to be timed, if it was not yet, and others are not to stand for it; waits while too much waits already, or that is not known.
    pub fn offer(&self, id: u64, counted: &Counted, bytes: Vec<u8>) {
        let mut state = self.state();
        let waits = state.queue.iter().any(|it| it.0 == id);
        if waits || state.answers.contains_key(&id) || state.groups.knows(id) {
            return;
        }
        if let Some(error) = self.bounds.error {
            state.groups.join(id, counted);
            let (chosen, choice) = self.chosen(state, id, error);
            state = chosen;
            if choice == Choice::Like {
                return;
            }
        }
        if state.accepted >= self.bounds.traces {
            state.answers.insert(id, Answer::Left);
            return;
        }
        state.accepted += 1;
        let size = bytes.len() as u64;
        while state.waiting_bytes > 0 && state.waiting_bytes + size > self.bounds.waiting_bytes {
            state = self.wait(state);
        }
        state.waiting_bytes += size;
        state.queue.push_back((id, bytes));
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until it is known whether a launch is to be timed.
    fn chosen<'s>(
        &self,
        mut state: MutexGuard<'s, State>,
        id: u64,
        error: f64,
    ) -> (MutexGuard<'s, State>, Choice) {
        loop {
            let State {
                groups, answers, ..
            } = &mut *state;
            let choice = groups.choose(id, error, |other| seconds(answers, other));
            match choice {
                Choice::Open => state = self.wait(state),
                choice => return (state, choice),
            }
        }
    }

    /// Nothing more will be offered.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Times what is offered, until nothing more will be. Any number of threads may do so.
    pub fn run(&self) {
        loop {
            let mut state = self.state();
            let (id, bytes) = loop {
                match state.queue.pop_front() {
                    Some(next) => break next,
                    None if state.closed => return,
                    None => state = self.wait(state),
                }
            };
            drop(state);
            let size = bytes.len() as u64;
            // Who waits for the answer must get one.
            let answer = catch_unwind(AssertUnwindSafe(|| self.timed(bytes)));
            let answer = answer.unwrap_or_else(|_| Err("a defect of warpwatt".to_owned()));
            let answer = answer.unwrap_or_else(Answer::Failed);
            let mut state = self.state();
            state.waiting_bytes -= size;
            state.answers.insert(id, answer);
            drop(state);
            self.changed.notify_all();
        }
    }

    fn timed(&self, bytes: Vec<u8>) -> Result<Answer, String> {
        let stored = file::decode(
            &bytes,
            self.bounds.trace_bytes.saturating_mul(2),
            &Store::default(),
        );
        drop(bytes);
        let stored = stored.map_err(|error| error.to_string())?;
        let traces = stored.executions.into_iter().filter_map(|it| it.trace);
        let executed = Executed::of(traces.collect());
        let mut outcomes = Vec::new();
        for run in &self.runs {
            let timed = self.work.time(&executed, run);
            let timed = timed.map_err(|diag| diag.message)?;
            let priced = self.work.price(&timed, run, &run.points);
            let priced = priced.map_err(|diag| diag.message)?;
            outcomes.extend(priced);
        }
        outcomes.sort_by_key(|(point, _)| *point);
        let outcomes = outcomes.into_iter().map(|(_, outcome)| outcome);
        Ok(Answer::Timed(outcomes.collect()))
    }

    /// Simulated seconds of a trace under the first configuration, which waits until it is timed, or what came before it and is like it; zero if it is not.
    pub fn seconds(&self, id: u64) -> f64 {
        let mut state = self.state();
        loop {
            match state.told(id) {
                Some(seconds) => return seconds,
                None if state.closed && state.queue.is_empty() => return 0.0,
                None => state = self.wait(state),
            }
        }
    }

    /// What became of every trace.
    pub fn into_answers(self) -> Answers {
        let state = self.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let likes = state.groups.likes(|id| state.is_timed(id));
        let groups = state.groups.timed(|id| state.is_timed(id));
        for (id, like) in likes {
            let answer = match like {
                Ok(like) => Some(Answer::Like(like)),
                Err(failed) => state.answers.get(&failed).cloned(),
            };
            state.answers.extend(answer.map(|answer| (id, answer)));
        }
        Answers {
            traces: state.answers,
            groups,
        }
    }
}

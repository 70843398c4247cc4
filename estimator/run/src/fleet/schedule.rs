//! How long a fleet would take if every unit took what it is estimated to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use serde::Serialize;

use super::cost::Job;

/// More workers than are looked at.
const MOST_WORKERS: usize = 1024;

/// What so many workers would need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Schedule {
    /// Workers of one thread each.
    pub workers: usize,
    /// Until the last unit is done.
    pub seconds: f64,
    /// Against one worker.
    pub speed_up: f64,
    /// The least that so many could need, where work is shared evenly, over what they do need: 1 is ideal.
    pub efficiency: f64,
}

/// One, two, four and so on workers, up to as many as there are units; none if the cost of a unit is not known.
pub fn schedules(jobs: &[Job]) -> Vec<Schedule> {
    let Some(total) = jobs.iter().map(|job| job.seconds).sum::<Option<f64>>() else {
        return Vec::new();
    };
    let counts = std::iter::successors(Some(1), |workers| Some(2 * workers));
    let counts = counts.take_while(|workers| *workers <= jobs.len().min(MOST_WORKERS));
    let schedule = |workers: usize| {
        let seconds = makespan(jobs, workers) as f64 / 1e9;
        let speed_up = if seconds > 0.0 { total / seconds } else { 1.0 };
        Schedule {
            workers,
            seconds,
            speed_up,
            efficiency: speed_up / workers as f64,
        }
    };
    counts.map(schedule).collect()
}

/// Nanoseconds that `workers` take who begin, whenever they are free, the first unit in order that needs nothing which is not done.
fn makespan(jobs: &[Job], workers: usize) -> u64 {
    let places: BTreeMap<&str, usize> = jobs.iter().map(|job| &*job.name).zip(0..).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); jobs.len()];
    let mut ready = BTreeSet::new();
    for (place, job) in jobs.iter().enumerate() {
        match job.needs.as_deref().and_then(|needed| places.get(needed)) {
            Some(needed) => after[*needed].push(place),
            None => {
                ready.insert(place);
            }
        }
    }
    let mut running: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut now = 0;
    loop {
        while running.len() < workers.max(1) {
            let Some(place) = ready.pop_first() else {
                break;
            };
            let length = (jobs[place].seconds.unwrap_or(0.0) * 1e9).round() as u64;
            running.push(Reverse((now + length, place)));
        }
        let Some(Reverse((ended, place))) = running.pop() else {
            return now;
        };
        now = ended;
        ready.extend(after[place].iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Kind;

    fn job(place: usize, kind: Kind, needs: Option<usize>, seconds: f64) -> Job {
        Job {
            name: format!("{place:06}"),
            kind,
            number: place,
            label: String::new(),
            needs: needs.map(|needed| format!("{needed:06}")),
            points: 1,
            warp_instructions: None,
            seconds: Some(seconds),
        }
    }

    /// An execution of one second, and what needs it.
    fn kernel(jobs: &mut Vec<Job>, runs: usize, seconds: f64) {
        let first = jobs.len();
        jobs.push(job(first, Kind::Execution, None, 1.0));
        for run in 0..runs {
            let place = first + 1 + run;
            jobs.push(job(place, Kind::Timing, Some(first), seconds));
        }
    }

    #[test]
    fn what_needs_an_execution_waits_for_it() {
        let mut jobs = Vec::new();
        kernel(&mut jobs, 4, 10.0);
        let found: Vec<f64> = schedules(&jobs).iter().map(|it| it.seconds).collect();
        assert_eq!(found, [41.0, 21.0, 11.0]);
    }

    #[test]
    fn eight_workers_are_near_the_ideal_where_kernels_differ_tenfold() {
        let mut jobs = Vec::new();
        for seconds in [100.0, 50.0, 20.0, 10.0] {
            kernel(&mut jobs, 12, seconds);
        }
        let eight = schedules(&jobs)[3];
        assert_eq!(eight.workers, 8);
        assert!(eight.efficiency > 0.85, "{eight:?}");
        assert_eq!(schedules(&jobs)[0].efficiency, 1.0);
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        let mut jobs = Vec::new();
        kernel(&mut jobs, 2, 1.0);
        jobs[1].seconds = None;
        assert!(schedules(&jobs).is_empty());
    }
}

//! SMs that tick in the same cycle do so beside each other, on several threads.
//!
//! Within a cycle SMs meet only in what all share. Each ticks for itself, and what it does there is done afterwards, SM by SM in their order: the run is that of
//! one thread to the last event, on any number of threads. Threads meet twice in such a cycle, so that it is worth it where several SMs have much to do.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use crate::GpuError;
use crate::sm::{Attached, Deed, Ground, Shared, Sm};
use crate::sms::Sms;

/// Fewer SMs than this, times the threads, tick sooner than threads meet.
const LEAST_SMS: usize = 4;

/// How often a thread looks for a task before it sleeps: some microseconds.
const LOOKS: u32 = 2000;

/// What a thread does in a cycle: some of its SMs tick.
#[derive(Default)]
struct Task {
    now: u64,
    sms: Vec<Sm>,
    /// Places of those that tick.
    due: Vec<usize>,
    /// When each of these ticks next, and how many deeds there are behind its tick. Shorter than `due` if one failed.
    done: Vec<(u64, usize)>,
    deeds: Vec<Deed>,
    failed: Option<GpuError>,
    /// How many of those have been settled, and their deeds.
    settled: (usize, usize),
}

impl Task {
    fn clear(&mut self, now: u64) {
        self.now = now;
        self.due.clear();
        self.done.clear();
        self.deeds.clear();
        self.settled = (0, 0);
    }

    /// The next of those that ticked, in their order: when it ticks next, and what it did.
    fn settle(&mut self) -> Result<Option<(u64, &[Deed])>, GpuError> {
        let (turn, begin) = self.settled;
        match self.done.get(turn) {
            Some(&(next, end)) => {
                self.settled = (turn + 1, end);
                Ok(Some((next, &self.deeds[begin..end])))
            }
            None => self.failed.take().map_or(Ok(None), Err),
        }
    }

    fn work(&mut self, ground: Ground<'_>) {
        let mut attached = Attached::default();
        for &place in &self.due {
            let shared = Shared::Afterwards(&mut self.deeds);
            let mut world = ground.world(self.now, &mut attached, shared);
            match self.sms[place].tick(self.now, &mut world) {
                Ok(next) => self.done.push((next, self.deeds.len())),
                Err(error) => {
                    self.failed = Some(error);
                    return;
                }
            }
        }
    }
}

/// Where a task goes from one thread to another and back.
#[derive(Default)]
pub(super) struct Seat {
    task: Mutex<Option<Task>>,
    state: AtomicU8,
    sleeps: AtomicBool,
}

/// States of a seat, as bits: nothing is there to be done, a task is, there will be none any more.
const DONE: u8 = 0;
const GIVEN: u8 = 1;
const OVER: u8 = 2;

impl Seat {
    /// So many.
    pub fn several(count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::default()).collect()
    }

    fn put(&self, task: Task) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    fn take(&self) -> Option<Task> {
        self.task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// The thread of a seat does what is given to it.
    fn serve(&self, ground: Ground<'_>) {
        let mut looks = 0;
        loop {
            match self.state.load(Ordering::SeqCst) {
                GIVEN => {
                    if let Some(mut task) = self.take() {
                        task.work(ground);
                        self.put(task);
                    }
                    // It may be over meanwhile, and stays so.
                    self.state.fetch_and(!GIVEN, Ordering::SeqCst);
                    looks = 0;
                }
                OVER => return,
                _ if looks < LOOKS => {
                    looks += 1;
                    std::hint::spin_loop();
                }
                _ => self.sleep(),
            }
        }
    }

    /// Until somebody wakes the thread. Who changes the state looks afterwards whether it sleeps, and the other way round, so that one of them sees the other.
    fn sleep(&self) {
        self.sleeps.store(true, Ordering::SeqCst);
        if self.state.load(Ordering::SeqCst) == DONE {
            std::thread::park();
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }
}

/// The threads of a launch: this one, and one a seat.
pub(super) struct Team<'t> {
    ground: Ground<'t>,
    seats: &'t [Seat],
    threads: Vec<Option<ScopedJoinHandle<'t, ()>>>,
    /// By part of the SMs, the first one this thread's own.
    tasks: Vec<Task>,
    /// Numbers of the SMs that tick; kept from call to call.
    pub due: Vec<usize>,
}

impl<'t> Team<'t> {
    /// Starts the threads.
    pub fn new<'env>(scope: &'t Scope<'t, 'env>, seats: &'t [Seat], ground: Ground<'t>) -> Self {
        let start = |seat: &'t Seat| Some(scope.spawn(move || seat.serve(ground)));
        Self {
            ground,
            seats,
            threads: seats.iter().map(start).collect(),
            tasks: (0..=seats.len()).map(|_| Task::default()).collect(),
            due: Vec::new(),
        }
    }

    /// Whether so many SMs are worth it.
    pub fn is_for(&self, sms: usize) -> bool {
        sms >= LEAST_SMS * self.tasks.len()
    }

    /// The SMs that are `due` tick in cycle `now`.
    pub fn tick(&mut self, now: u64, sms: &mut Sms) {
        for task in &mut self.tasks {
            task.clear(now);
        }
        for &number in &self.due {
            let (part, place) = sms.place(number);
            self.tasks[part].due.push(place);
        }
        for (task, part) in self.tasks.iter_mut().zip(sms.parts()) {
            std::mem::swap(&mut task.sms, part);
        }
        for number in 0..self.seats.len() {
            self.give(number);
        }
        self.tasks[0].work(self.ground);
        for number in 0..self.seats.len() {
            self.take_back(number);
        }
        for (task, part) in self.tasks.iter_mut().zip(sms.parts()) {
            std::mem::swap(&mut task.sms, part);
        }
    }

    fn give(&mut self, number: usize) {
        let seat = &self.seats[number];
        seat.put(std::mem::take(&mut self.tasks[number + 1]));
        self.change(number, GIVEN);
    }

    /// The thread of a seat sees another state soon.
    fn change(&self, number: usize, state: u8) {
        let seat = &self.seats[number];
        seat.state.store(state, Ordering::SeqCst);
        if seat.sleeps.load(Ordering::SeqCst)
            && let Some(thread) = &self.threads[number]
        {
            thread.thread().unpark();
        }
    }

    fn take_back(&mut self, number: usize) {
        let seat = &self.seats[number];
        let mut looks = 0;
        while seat.state.load(Ordering::SeqCst) != DONE {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
                continue;
            }
            std::thread::yield_now();
            // A thread that has ended with its task undone has failed, and so does this one.
            if let Some(failed) = self.threads[number].take_if(|thread| thread.is_finished())
                && let Err(panic) = failed.join()
            {
                std::panic::resume_unwind(panic);
            }
        }
        if let Some(task) = seat.take() {
            self.tasks[number + 1] = task;
        }
    }

    /// Calls `each` with every SM that has ticked, in their order: its number, when it ticks next, and what it did to what all share.
    ///
    /// # Errors
    /// The first one of the SMs or of `each`.
    pub fn settle(
        &mut self,
        sms: &Sms,
        mut each: impl FnMut(usize, u64, &[Deed]) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        for &number in &self.due {
            let (part, _) = sms.place(number);
            if let Some((next, deeds)) = self.tasks[part].settle()? {
                each(number, next, deeds)?;
            }
        }
        Ok(())
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        for number in 0..self.seats.len() {
            self.change(number, OVER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GpuSpec;
    use crate::occupancy::Demand;
    use crate::program::Program;

    /// As when this thread fails while another one has a task.
    #[test]
    fn a_thread_whose_task_is_done_late_still_ends() {
        let spec = GpuSpec::preset("gtx480").unwrap();
        let program = Program::default();
        let demand = Demand {
            warps: 1,
            registers: 0,
            shared_bytes: 0,
            ctas_per_sm: 1,
            limited_by: crate::Resource::Threads,
        };
        let ground = Ground {
            spec: &spec,
            program: &program,
            demand,
        };
        for _ in 0..200 {
            let seats = Seat::several(1);
            std::thread::scope(|scope| {
                let mut team = Team::new(scope, &seats, ground);
                team.give(0);
            });
        }
    }
}

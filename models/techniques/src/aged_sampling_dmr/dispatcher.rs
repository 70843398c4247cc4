//! Where CTAs and their copies go.

use std::collections::VecDeque;

use warpwatt_gpu::Dispatcher;
use warpwatt_gpu::trace::KernelTrace;

use super::copies::Sampling;

/// CTAs go to any SM in their order; the copy of one goes to the SM after that, alone.
pub(super) struct Checking {
    sampling: Sampling,
    /// CTAs of the program, and how many of them and of their copies were placed or promised.
    program: usize,
    next: usize,
    copies: usize,
    sms: Vec<Sm>,
}

#[derive(Clone, Default)]
struct Sm {
    running: u32,
    /// Copies that are to run here, and whether one does.
    waiting: VecDeque<usize>,
    checks: bool,
}

impl Checking {
    pub fn new(sampling: Sampling) -> Self {
        Self {
            sampling,
            program: 0,
            next: 0,
            copies: 0,
            sms: Vec::new(),
        }
    }
}

impl Dispatcher for Checking {
    fn begin(&mut self, trace: &KernelTrace, sms: u32) {
        self.program = self.sampling.program(trace.launch.ctas());
        (self.next, self.copies) = (0, self.program);
        self.sms = vec![Sm::default(); sms as usize];
    }

    fn next(&mut self, sm: u32) -> Option<usize> {
        let of = &self.sms[sm as usize];
        match of.waiting.front() {
            _ if of.checks => None,
            Some(copy) => (of.running == 0).then_some(*copy),
            None => (self.next < self.program).then_some(self.next),
        }
    }

    fn placed(&mut self, sm: u32, cta: usize) {
        let number = sm as usize;
        self.sms[number].running += 1;
        if cta >= self.program {
            self.sms[number].waiting.pop_front();
            self.sms[number].checks = true;
            return;
        }
        self.next += 1;
        if self.sampling.samples(cta) {
            let checker = (number + 1) % self.sms.len();
            self.sms[checker].waiting.push_back(self.copies);
            self.copies += 1;
        }
    }

    fn finished(&mut self, sm: u32) {
        let of = &mut self.sms[sm as usize];
        of.running -= 1;
        // A checker has nothing else.
        of.checks = false;
    }
}

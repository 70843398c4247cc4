//! Counters of issued instructions. Most of what an instruction counts is the same whenever it issues: it is counted once a launch, times how often it did.

use warpwatt_simt::trace::{Asynchronous, LaneMask, Step, TensorWork};

use super::issue::occupied;
use super::pending::SHARED_PASS_BYTES;
use crate::counters::{Counter, Counts};
use crate::program::{Inst, Port, Program, shared_work};
use crate::{Extent, GpuSpec, IssuePlan};

/// How often each static instruction of the launch was issued.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Small numbers, so that those of many instructions lie in a line of the processor's cache; what they have grown too large for is among the sums.
    few: Vec<Few>,
    sums: Vec<Issued>,
    /// Lanes of a warp.
    width: u64,
    /// Hooks decide what is read and written: [`Tally::steer`] has counted it.
    steered: bool,
    /// The lanes of the last instruction, and how many they are: they change seldom.
    lanes: (LaneMask, u32),
}

/// Issues of an instruction, and the lanes on its path.
#[derive(Clone, Copy, Debug, Default)]
struct Few {
    times: u32,
    active: u32,
}

impl Few {
    /// Lanes up to which there is room for another issue.
    const MOST: u32 = u32::MAX - LaneMask::BITS;
}

/// Issues of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    times: u64,
    /// Lanes on its path, and those of them that did not execute it, summed.
    active: u64,
    idle: u64,
}

impl Issued {
    /// Lanes that executed it, summed.
    fn lanes(&self) -> u64 {
        self.active - self.idle
    }
}

impl Tally {
    /// A launch of `insts` static instructions begins, its warps `width` lanes wide.
    pub fn begin(&mut self, insts: usize, width: u32) {
        self.width = u64::from(width);
        self.few.clear();
        self.few.resize(insts, Few::default());
        self.sums.clear();
        self.sums.resize(insts, Issued::default());
    }

    /// An instruction issues.
    #[inline]
    pub fn issue(&mut self, step: &Step) {
        if step.active != self.lanes.0 {
            self.lanes = (step.active, step.active.count_ones());
        }
        let inst = step.inst as usize;
        let few = &mut self.few[inst];
        few.times += 1;
        few.active += self.lanes.1;
        if few.active > Few::MOST {
            self.sums[inst] = self.of(inst);
            self.few[inst] = Few::default();
        }
        if step.executed != step.active {
            let idle = step.active & !step.executed;
            self.sums[inst].idle += u64::from(idle.count_ones());
        }
    }

    /// All issues of a static instruction.
    fn of(&self, inst: usize) -> Issued {
        let (few, sum) = (self.few[inst], self.sums[inst]);
        Issued {
            times: sum.times + u64::from(few.times),
            active: sum.active + u64::from(few.active),
            idle: sum.idle,
        }
    }

    /// Hooks have decided the plan of the instruction that issues in so many lanes.
    pub fn steer(
        &mut self,
        program: &Program,
        inst: &Inst,
        plan: &IssuePlan,
        lanes: u64,
        counts: &mut Counts,
    ) {
        self.steered = true;
        let issued = Issued {
            times: 1,
            active: lanes,
            idle: 0,
        };
        count_operands(program, inst, plan, issued, counts);
        let copied = u64::from(plan.copies) * self.width;
        counts.add(Counter::RegisterWrite, u64::from(plan.copies));
        counts.add(Counter::RegisterWordsRead, u64::from(plan.copies));
        counts.add(Counter::RegisterWordsWritten, copied);
        counts.add(Counter::IntAdd, copied);
    }

    /// An instruction is executed again in so many lanes.
    pub fn again(inst: &Inst, lanes: u64, counts: &mut Counts) {
        if let Some(operation) = inst.operation {
            counts.add(operation, lanes);
        }
        if let Some(busy) = busy_counter(inst.port) {
            counts.add(busy, inst.interval);
        }
    }

    /// At the end of a launch: counts what the instructions that were issued do whenever they are.
    pub fn settle(&mut self, program: &Program, counts: &mut Counts) {
        self.so_far(program, counts);
        self.few.fill(Few::default());
        self.sums.fill(Issued::default());
    }

    /// The same before the end, of what has issued so far; it is not settled by that.
    pub fn so_far(&self, program: &Program, counts: &mut Counts) {
        for inst in 0..self.few.len() {
            self.of_one(program, inst, counts);
        }
    }

    /// The same of one static instruction.
    pub fn of_one(&self, program: &Program, inst: usize, counts: &mut Counts) {
        let (issued, inst) = (self.of(inst), &program.insts[inst]);
        let times = issued.times;
        if times == 0 {
            return;
        }
        counts.add(Counter::WarpInstructions, times);
        counts.add(Counter::ThreadInstructions, issued.active);
        counts.add(port_counter(inst.port), times);
        counts.add(Counter::TensorMultiplyAdds, times * inst.multiply_adds);
        if let Some(Asynchronous::Product { shared_bytes, .. }) = inst.asynchronous {
            let bytes = times * u64::from(shared_bytes);
            counts.add(Counter::SharedWords, bytes.div_ceil(4));
            counts.add(Counter::SharedPasses, bytes.div_ceil(SHARED_PASS_BYTES));
            let streamed = times * inst.streamed;
            for counter in [Counter::RegisterRead, Counter::RegisterWrite] {
                counts.add(counter, streamed);
            }
            for counter in [Counter::RegisterWordsRead, Counter::RegisterWordsWritten] {
                counts.add(counter, issued.lanes() * inst.streamed);
            }
            for counter in [Counter::OperandWrite, Counter::OperandRead] {
                counts.add(counter, streamed);
            }
        }
        counts.add(Counter::BufferRead, times);
        counts.add(Counter::ScoreboardRead, times);
        if !program.results(inst).is_empty() {
            // When they are reserved, and when they are released.
            counts.add(Counter::ScoreboardWrite, 2 * times);
        }
        if !self.steered {
            let plan = IssuePlan::plain(program.writes(inst).len() as u32);
            count_operands(program, inst, &plan, issued, counts);
        }
    }
}

/// Counts work of all tensor units of an SM, which are those of a port, and of those of the other SM where a pair of CTAs shares it; the cycles that it takes them.
pub(crate) fn count_work(
    spec: &GpuSpec,
    port: Port,
    work: &TensorWork,
    counts: &mut Counts,
) -> u64 {
    let (multiplying, units) = shared_work(spec, port, work);
    let sms = work.sms();
    let passes = work.shared_bytes.div_ceil(SHARED_PASS_BYTES * sms);
    counts.add(Counter::TensorMultiplyAdds, work.multiply_adds);
    counts.add(Counter::SharedWords, work.shared_bytes.div_ceil(4));
    counts.add(Counter::SharedPasses, passes * sms);
    if let Some(busy) = busy_counter(port) {
        counts.add(busy, multiplying * units * sms);
    }
    multiplying.max(passes)
}

/// Counts what issues of an instruction on one plan read, compute and write.
fn count_operands(
    program: &Program,
    inst: &Inst,
    plan: &IssuePlan,
    issued: Issued,
    counts: &mut Counts,
) {
    let (times, lanes) = (issued.times, issued.lanes());
    let written = u64::from(plan.writes + plan.narrow_writes);
    counts.add(Counter::RegisterWrite, times * written);
    counts.add(
        Counter::RegisterWordsWritten,
        u64::from(plan.writes) * lanes + u64::from(plan.narrow_writes) * times,
    );
    if let Some(operation) = inst.operation {
        counts.add(
            operation,
            plan.executing(lanes) + times * u64::from(plan.repeats),
        );
    }
    if let (Some(busy), false) = (busy_counter(inst.port), plan.extent == Extent::Skipped) {
        counts.add(busy, times * occupied(inst, plan));
    }
    if inst.port != Port::Barrier {
        let words = plan.count_reads(program.reads(inst).len());
        let narrow = u64::from((plan.reads & plan.narrow_reads).count_ones()).min(words);
        counts.add(
            Counter::RegisterWordsRead,
            (words - narrow) * lanes + narrow * times,
        );
        let reads = times * words;
        counts.add(Counter::RegisterRead, reads);
        counts.add(Counter::OperandWrite, reads);
        counts.add(Counter::OperandRead, reads);
    }
}

/// Who counts the cycles of the units of a port; the load-store unit counts its own as accesses pass.
fn busy_counter(port: Port) -> Option<Counter> {
    match port {
        Port::Sp => Some(Counter::SpBusyCycles),
        Port::Int => Some(Counter::IntBusyCycles),
        Port::Sfu => Some(Counter::SfuBusyCycles),
        Port::Fp64 => Some(Counter::Fp64BusyCycles),
        Port::Tensor => Some(Counter::TensorBusyCycles),
        Port::Scalar => Some(Counter::ScalarBusyCycles),
        Port::Ldst | Port::Barrier => None,
    }
}

fn port_counter(port: Port) -> Counter {
    match port {
        Port::Sp => Counter::IssuedSp,
        Port::Int => Counter::IssuedInt,
        Port::Tensor => Counter::IssuedTensor,
        Port::Scalar => Counter::IssuedScalar,
        Port::Sfu => Counter::IssuedSfu,
        Port::Fp64 => Counter::IssuedFp64,
        Port::Ldst => Counter::IssuedLdst,
        Port::Barrier => Counter::IssuedBarrier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As often as it takes for small numbers to grow too large.
    #[test]
    fn what_is_counted_in_small_numbers_is_not_lost() {
        let mut tally = Tally::default();
        tally.begin(2, 64);
        let step = |active, executed| Step {
            inst: 1,
            active,
            executed,
            addresses: None,
            values: None,
        };
        tally.few[1] = Few {
            times: 1 << 26,
            active: u32::MAX - 128,
        };
        for _ in 0..3 {
            tally.issue(&step(u64::MAX, 0b111));
        }
        assert_eq!(tally.few[1].times, 1, "the others are among the sums");
        let all = tally.of(1);
        let active = u64::from(u32::MAX - 128) + 3 * 64;
        assert_eq!((all.times, all.active), ((1 << 26) + 3, active));
        assert_eq!(all.lanes(), active - 3 * 61);
        assert_eq!(tally.of(0).times, 0);
    }
}

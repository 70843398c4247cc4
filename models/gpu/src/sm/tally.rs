//! Counters of issued instructions. Most of what an instruction counts is the same whenever it issues: it is counted once a launch, times how often it did.

use warpwatt_simt::trace::{LaneMask, Step};

use crate::Course;
use crate::counters::{Counter, Counts};
use crate::program::{Inst, Port, Program};

/// How often each static instruction of the launch was issued.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    issued: Vec<u64>,
    /// Hooks decide what is read and written: [`Tally::steer`] has counted it.
    steered: bool,
    /// The lanes of the last instruction, and how many they are: they change seldom.
    lanes: (LaneMask, u64),
}

impl Tally {
    /// A launch of `insts` static instructions begins.
    pub fn begin(&mut self, insts: usize) {
        self.issued.clear();
        self.issued.resize(insts, 0);
    }

    /// An instruction issues.
    #[inline]
    pub fn issue(&mut self, step: &Step<'_>, counts: &mut Counts) {
        self.issued[step.inst as usize] += 1;
        counts.add(Counter::WarpInstructions, 1);
        if step.active != self.lanes.0 {
            self.lanes = (step.active, u64::from(step.active.count_ones()));
        }
        counts.add(Counter::ThreadInstructions, self.lanes.1);
    }

    /// Hooks have decided the course of the instruction that issues.
    pub fn steer(&mut self, program: &Program, inst: &Inst, course: &Course, counts: &mut Counts) {
        self.steered = true;
        count_operands(program, inst, course, 1, counts);
    }

    /// At the end of a launch: counts what the instructions that were issued do whenever they are.
    pub fn settle(&mut self, program: &Program, counts: &mut Counts) {
        for (inst, times) in program.insts.iter().zip(&mut self.issued) {
            let times = std::mem::take(times);
            if times == 0 {
                continue;
            }
            counts.add(port_counter(inst.port), times);
            counts.add(Counter::BufferRead, times);
            counts.add(Counter::ScoreboardRead, times);
            if !program.results(inst).is_empty() {
                // When they are reserved, and when they are released.
                counts.add(Counter::ScoreboardWrite, 2 * times);
            }
            if !self.steered {
                count_operands(
                    program,
                    inst,
                    &Course::plain(program.writes(inst).len() as u32),
                    times,
                    counts,
                );
            }
        }
    }
}

/// Counts what `times` issues of an instruction read and write.
fn count_operands(
    program: &Program,
    inst: &Inst,
    course: &Course,
    times: u64,
    counts: &mut Counts,
) {
    counts.add(Counter::RegisterWrite, times * u64::from(course.writes));
    if inst.port != Port::Barrier {
        let reads = times * course.count_reads(program.reads(inst).len());
        counts.add(Counter::RegisterRead, reads);
        counts.add(Counter::OperandWrite, reads);
        counts.add(Counter::OperandRead, reads);
    }
}

fn port_counter(port: Port) -> Counter {
    match port {
        Port::Sp => Counter::IssuedSp,
        Port::Int => Counter::IssuedInt,
        Port::Tensor => Counter::IssuedTensor,
        Port::Sfu => Counter::IssuedSfu,
        Port::Fp64 => Counter::IssuedFp64,
        Port::Ldst => Counter::IssuedLdst,
        Port::Barrier => Counter::IssuedBarrier,
    }
}

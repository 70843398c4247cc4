//! A kernel's code as the renaming hardware sees it: which registers are renamed, where they are released, where metadata instructions stand.

use warpwatt_gpu::trace::{KernelTrace, Register, RegisterKind};

/// Instructions that one `pir` covers (Figure 2.7 a): 54 bits, three an instruction.
const COVERED: usize = 18;
/// Registers that one `pbr` names (Figure 2.7 b): 54 bits, six a register.
const NAMED: usize = 9;
/// Registers that six bits and the compilers of Fermi know.
pub(super) const NAMES: usize = 63;

/// The code of one launch.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// By instruction.
    pub insts: Vec<Inst>,
    /// Whether each register is renamed.
    pub renamed: Vec<bool>,
    /// Whether each register is written at all.
    used: Vec<bool>,
}

/// An instruction; registers are 32-bit ones by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inst {
    /// Registers read.
    pub reads: Vec<u16>,
    /// Registers written.
    pub writes: Vec<u16>,
    /// Renamed registers released once they are read.
    pub releases: Vec<u16>,
    /// Renamed registers that the `pbr` in front of the instruction releases.
    pub meeting: Vec<u16>,
    /// Where the `pir` in front of the instruction stands, in instructions from the beginning of the code with all metadata in it.
    pub pir: Option<u64>,
}

impl Inst {
    /// How many `pbr` stand in front of the instruction.
    pub fn pbrs(&self) -> u64 {
        self.meeting.len().div_ceil(NAMED) as u64
    }
}

impl Code {
    /// The code of `trace` with at most `most` of its registers renamed: those that live shortest.
    pub fn new(trace: &KernelTrace, most: usize) -> Self {
        let registers = trace.launch.registers as usize;
        let mut code = Self {
            insts: insts(trace),
            renamed: Vec::new(),
            used: Vec::new(),
        };
        let named = code
            .insts
            .iter()
            .flat_map(|inst| inst.reads.iter().chain(&inst.writes));
        let count = named.max().map_or(0, |&word| usize::from(word) + 1);
        code.renamed = vec![true; count.max(registers)];
        code.used = vec![false; count.max(registers)];
        for &word in code.insts.iter().flat_map(|inst| &inst.writes) {
            code.used[usize::from(word)] = true;
        }
        code.select(most);
        for inst in &mut code.insts {
            let renamed = &code.renamed;
            let is_renamed = |word: &u16| renamed[usize::from(*word)];
            inst.releases.retain(is_renamed);
            inst.meeting.retain(is_renamed);
        }
        code.leave_out_idle_flags();
        code.place();
        code
    }

    /// Whether a register has a physical one of its own from the start of a warp to its end: it is used and not renamed.
    pub fn is_exempt(&self, word: u16) -> bool {
        self.used[usize::from(word)] && !self.renamed[usize::from(word)]
    }

    /// Registers that a warp may come to need.
    pub fn registers(&self) -> u64 {
        self.used.iter().filter(|&&used| used).count() as u64
    }

    /// Registers with a physical one of their own.
    pub fn exempt(&self) -> u64 {
        (0..self.used.len() as u16)
            .filter(|&word| self.is_exempt(word))
            .count() as u64
    }

    /// Metadata instructions in front of each instruction.
    pub fn metadata_by_instruction(&self) -> Vec<u8> {
        let each = |inst: &Inst| inst.pbrs() as u8 + u8::from(inst.pir.is_some());
        self.insts.iter().map(each).collect()
    }

    /// Metadata instructions in the code.
    pub fn metadata(&self) -> u64 {
        let each = self.metadata_by_instruction();
        each.into_iter().map(u64::from).sum()
    }

    /// A `pir` whose flags are all zero is not written: until the next one comes nothing is released, as without flags.
    fn leave_out_idle_flags(&mut self) {
        let mut releases = false;
        for inst in self.insts.iter_mut().rev() {
            releases |= !inst.releases.is_empty();
            if inst.pir.is_some() {
                inst.pir = inst.pir.filter(|_| releases);
                releases = false;
            }
        }
    }

    /// Gives every `pir` its place: `pbr`s stand in front of it.
    fn place(&mut self) {
        let mut place = 0;
        for inst in &mut self.insts {
            place += inst.pbrs();
            if let Some(pir) = &mut inst.pir {
                *pir = place;
                place += 1;
            }
            place += 1;
        }
    }

    /// Keeps the registers that live longest out of the table (section 2.5.4): lifetimes are counted in instructions of the code, from each write to the next
    /// release, and summed over the writes, so that of two registers whose values live equally long the one with more values counts as longer.
    fn select(&mut self, most: usize) {
        let lifetimes = self.lifetimes();
        let mut order: Vec<usize> = (0..self.renamed.len().min(NAMES)).collect();
        order.sort_by_key(|&register| (lifetimes[register], register));
        self.renamed.fill(false);
        for register in order.into_iter().take(most) {
            self.renamed[register] = true;
        }
    }

    fn lifetimes(&self) -> Vec<u64> {
        let end = self.insts.len();
        let mut released_at = vec![end; self.renamed.len()];
        let mut lifetimes = vec![0; self.renamed.len()];
        for (at, inst) in self.insts.iter().enumerate().rev() {
            for &word in &inst.writes {
                lifetimes[usize::from(word)] += (released_at[usize::from(word)] - at) as u64;
            }
            for &word in inst.releases.iter().chain(&inst.meeting) {
                released_at[usize::from(word)] = at;
            }
        }
        // What is never written needs no entry.
        let known = lifetimes.into_iter().zip(&self.used);
        known
            .map(|(lifetime, &used)| if used { lifetime } else { u64::MAX })
            .collect()
    }
}

fn insts(trace: &KernelTrace) -> Vec<Inst> {
    let mut since_leader = 0;
    let code = trace.code.iter().enumerate().map(|(at, inst)| {
        if inst.release.leader || at == 0 {
            since_leader = 0;
        }
        let pir = (since_leader % COVERED == 0).then_some(0);
        since_leader += 1;
        Inst {
            reads: all_words(&inst.sources),
            writes: all_words(&inst.destinations),
            releases: all_words(&inst.release.sources),
            meeting: inst.release.meeting.clone(),
            pir,
        }
    });
    code.collect()
}

fn all_words(registers: &[Register]) -> Vec<u16> {
    registers
        .iter()
        .flat_map(|&register| words(register))
        .collect()
}

/// The 32-bit registers that a register is; a predicate is none.
pub(crate) fn words(register: Register) -> std::ops::Range<u16> {
    let number = register.number;
    match register.kind {
        RegisterKind::Word => number..number + 1,
        RegisterKind::Double => 2 * number..2 * number + 2,
        RegisterKind::Predicate => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inst(reads: &[u16], writes: &[u16], releases: &[u16]) -> Inst {
        Inst {
            reads: reads.to_vec(),
            writes: writes.to_vec(),
            releases: releases.to_vec(),
            ..Inst::default()
        }
    }

    /// Register 0 lives through the code, 1 twice for one instruction, 2 once for two, 3 is never written.
    fn code() -> Code {
        Code {
            insts: vec![
                inst(&[], &[0], &[]),
                inst(&[], &[1], &[]),
                inst(&[1], &[2], &[1]),
                inst(&[], &[1], &[]),
                inst(&[1, 2], &[], &[1, 2]),
                inst(&[0, 3], &[], &[]),
            ],
            renamed: vec![true; 4],
            used: vec![true, true, true, false],
        }
    }

    #[test]
    fn lifetimes_are_summed_over_the_values_of_a_register() {
        assert_eq!(code().lifetimes(), [6, 2, 2, u64::MAX]);
    }

    #[test]
    fn a_small_table_renames_what_lives_shortest() {
        for (most, renamed) in [
            (1, [false, true, false, false]),
            (3, [true, true, true, false]),
        ] {
            let mut code = code();
            code.select(most);
            assert_eq!(code.renamed, renamed);
        }
    }

    /// Instructions 0 to 2 release a register, 3 and 4 another one, 5 none.
    #[test]
    fn flags_that_release_nothing_are_not_written() {
        let mut code = code();
        for at in [0, 3, 5] {
            code.insts[at].pir = Some(0);
        }
        code.leave_out_idle_flags();
        let written: Vec<bool> = code.insts.iter().map(|it| it.pir.is_some()).collect();
        assert_eq!(written, [true, false, false, true, false, false]);
    }

    #[test]
    fn metadata_stand_before_their_instructions() {
        let mut code = code();
        code.insts[0].pir = Some(0);
        code.insts[3].pir = Some(0);
        code.insts[3].meeting = (0..10).collect();
        code.place();
        assert_eq!(code.insts[3].pbrs(), 2);
        assert_eq!(code.metadata(), 4);
        assert_eq!(
            (code.insts[0].pir, code.insts[3].pir),
            (Some(0), Some(1 + 3 + 2))
        );
    }
}

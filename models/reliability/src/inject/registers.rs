//! What a warp does with its registers, and when.

use warpwatt_gpu::trace::{
    KernelTrace, LaneMask, Register, RegisterKind, Results, StaticInst, Unit,
};

use super::{Fate, WarpLine};

/// Reads and writes of each 32-bit register of a warp, in the order in which the program has them.
pub struct Accesses {
    words: Vec<Vec<Access>>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    step: u32,
    lanes: LaneMask,
    /// The first cycle in which the register may change without changing what is read, or in which it holds what is written.
    until: u64,
    /// As what it is read; nothing if it is written.
    read: Option<Register>,
}

/// What becomes of a flip, and as what the register is read if it is.
pub type Next = (Fate, Option<Register>);

impl Accesses {
    /// Those of a warp of `trace`, which its timeline tells the times of.
    ///
    /// # Panics
    /// As [`KernelTrace::warp_held`].
    pub fn of(trace: &KernelTrace, line: &WarpLine, (cta, warp): (usize, usize)) -> Self {
        let mut accesses = Self {
            words: vec![Vec::new(); trace.launch.registers as usize],
        };
        let all = LaneMask::MAX >> (LaneMask::BITS - trace.launch.warp_width);
        for ((number, step), moments) in (0..).zip(trace.warp_held(cta, warp)).zip(&line.steps) {
            let inst = &trace.code[step.inst as usize];
            let read = if crosses_lanes(inst) {
                all
            } else {
                step.executed
            };
            for &register in &inst.sources {
                let of = Access {
                    step: number,
                    lanes: read,
                    until: moments.read,
                    read: Some(register),
                };
                accesses.add(register, of);
            }
            for &register in &inst.destinations {
                let of = Access {
                    step: number,
                    lanes: step.executed,
                    until: moments.written,
                    read: None,
                };
                accesses.add(register, of);
            }
        }
        accesses
    }

    fn add(&mut self, register: Register, mut access: Access) {
        let words = register.kind.words() as usize;
        let first = usize::from(register.number) * words;
        for word in first..first + words {
            if let Some(list) = self.words.get_mut(word) {
                let before = list.last().map_or(0, |last: &Access| last.until);
                // Accesses of one register follow each other: the scoreboard sees to it, but for reads of one value.
                access.until = access.until.max(before);
                list.push(access);
            }
        }
    }

    /// What becomes of a flip of a lane's register in `cycle`.
    pub fn next(&self, word: u32, lane: u32, cycle: u64) -> Next {
        let Some(list) = self.words.get(word as usize) else {
            return (Fate::Dead, None);
        };
        let after = list.partition_point(|access| access.until <= cycle);
        let mut here = list[after..].iter();
        here.find(|access| access.lanes >> lane & 1 != 0)
            .map_or((Fate::Dead, None), Access::fate)
    }

    /// From when to when flips of a lane's register have the same fate, from `from` to `to`.
    pub fn lives(&self, word: u32, lane: u32, from: u64, to: u64) -> Vec<(u64, u64, Next)> {
        let mut lives = Vec::new();
        let mut since = from;
        while since < to {
            let (fate, read) = self.next(word, lane, since);
            let list = &self.words[word as usize];
            let mut ends = list.iter().filter(|it| it.lanes >> lane & 1 != 0);
            let end = ends.find(|it| it.until > since).map_or(to, |it| it.until);
            lives.push((since, end.min(to), (fate, read)));
            since = end;
        }
        lives
    }
}

impl Access {
    fn fate(&self) -> Next {
        match self.read {
            Some(register) => {
                let read = Fate::Read {
                    step: self.step,
                    until: self.until.saturating_sub(1),
                };
                (read, Some(register))
            }
            None => (Fate::Dead, None),
        }
    }
}

/// Whether lanes may read registers of others, also of lanes that do not execute.
fn crosses_lanes(inst: &StaticInst) -> bool {
    inst.results != Results::FromSources
}

/// The register that an instruction's result goes to, and how many bits of a lane it has: of the first, if there are several.
pub fn result(inst: &StaticInst) -> Option<(Register, u32)> {
    let computes = !matches!(
        inst.unit,
        Unit::Memory | Unit::Control | Unit::Barrier | Unit::Fence
    );
    let register = *inst.destinations.first().filter(|_| computes)?;
    let bits = match register.kind {
        RegisterKind::Word => 32,
        RegisterKind::Double => 64,
        RegisterKind::Predicate => 1,
    };
    Some((register, bits))
}

//! What is given a register: a web that stays in its register, or, of a web that does not, each short moment at an instruction.

use super::operands::{Role, visit};
use super::webs::{NONE, POINTS, READ, Span, WRITE, Webs};
use crate::program::{Entry, Op, SlotKind, Source};
use crate::program::{Long1, Slot, Word1};
use crate::types::Space;

/// An instruction that uses a web.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub at: u32,
    pub reads: bool,
    pub writes: bool,
    /// A guarded write that is kept by reading, changing and writing back the whole: the guard is gone when it is written back.
    pub merges: bool,
}

impl Access {
    /// When a web that is kept elsewhere needs a register for this instruction's reads.
    pub fn read_span(self) -> Option<Span> {
        let first = self.at * POINTS;
        match (self.merges, self.reads) {
            (true, _) => Some((first, first + POINTS)),
            (false, true) => Some((first, first + READ + 1)),
            (false, false) => None,
        }
    }

    /// And for its writes, if that is another register.
    pub fn write_span(self) -> Option<Span> {
        let first = self.at * POINTS;
        (self.writes && !self.merges).then_some((first + WRITE, first + POINTS))
    }
}

/// The accesses of all webs.
#[derive(Debug)]
pub(super) struct Accesses {
    all: Vec<Access>,
    starts: Vec<u32>,
}

impl Accesses {
    pub fn of(entry: &Entry, webs: &Webs) -> Self {
        let mut counts = vec![0u32; webs.webs.len() + 1];
        let mut last = vec![NONE; webs.webs.len()];
        for at in 0..entry.code.len() {
            for &web in webs.of_instruction(at).iter().filter(|&&web| web != NONE) {
                if std::mem::replace(&mut last[web as usize], at as u32) != at as u32 {
                    counts[web as usize + 1] += 1;
                }
            }
        }
        for web in 0..webs.webs.len() {
            counts[web + 1] += counts[web];
        }
        let starts = counts;
        let unused = Access {
            at: NONE,
            reads: false,
            writes: false,
            merges: false,
        };
        let mut all = vec![unused; starts[webs.webs.len()] as usize];
        let mut next: Vec<u32> = starts.clone();
        for (at, inst) in entry.code.iter().enumerate() {
            let writes_predicate = inst.writes().any(|slot| slot.kind == SlotKind::Predicate);
            let merges = inst.guard.is_some() && writes_predicate;
            let mut found = webs.of_instruction(at).iter();
            visit(inst, |_, role| {
                let Some(&web) = found.next().filter(|&&web| web != NONE) else {
                    return;
                };
                let next = &mut next[web as usize];
                if *next == starts[web as usize] || all[*next as usize - 1].at != at as u32 {
                    all[*next as usize].at = at as u32;
                    *next += 1;
                }
                let access = &mut all[*next as usize - 1];
                match role {
                    Role::Write => {
                        access.writes = true;
                        access.merges |= merges;
                    }
                    _ => access.reads = true,
                }
            });
        }
        Self { all, starts }
    }

    pub fn of_web(&self, web: usize) -> &[Access] {
        &self.all[self.starts[web] as usize..self.starts[web + 1] as usize]
    }

    /// The number of a web's first access among all.
    pub fn first(&self, web: usize) -> usize {
        self.starts[web] as usize
    }

    /// A web's access at an instruction, with its number among all.
    pub fn at(&self, web: usize, at: usize) -> Option<(usize, Access)> {
        let found = self.of_web(web);
        let index = found.binary_search_by_key(&(at as u32), |access| access.at);
        index.ok().map(|index| {
            let number = self.starts[web] as usize + index;
            (number, self.all[number])
        })
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }
}

/// Where a web's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// In a register of its own, all the time.
    Register,
    /// In local memory; a predicate in a 32-bit register.
    Elsewhere,
    /// In the literal or special register that this slot is: every instruction reads it there.
    Preset(Slot),
    /// Made anew for every read by the instruction at this place, which has no register operands.
    Recomputed(u32),
}

/// Where a web may be instead of in its register, so that nothing need be stored: its only write makes a value that can be made
/// again anywhere.
pub(super) fn remade(
    entry: &Entry,
    webs: &Webs,
    accesses: &Accesses,
    web: usize,
    begins: impl Fn(usize) -> u32,
) -> Option<Home> {
    let mut web = web;
    // Copies of copies of such a value; compilers convert addresses in one or two steps.
    for _ in 0..8 {
        let mut writes = accesses.of_web(web).iter().filter(|access| access.writes);
        let (write, None) = (writes.next()?, writes.next()) else {
            return None;
        };
        let inst = &entry.code[write.at as usize];
        let start = begins(write.at as usize);
        let uninitialised = webs.webs[web].spans.iter().any(|span| span.0 == start);
        if inst.guard.is_some() || uninitialised || inst.dst.as_slice().len() != 1 {
            return None;
        }
        match inst.op {
            Op::Word1(Word1::Copy) | Op::Long1(Long1::Copy) => {
                let source = webs.of_instruction(write.at as usize)[0];
                if source == NONE {
                    return Some(Home::Preset(inst.src[0]));
                }
                web = source as usize;
            }
            Op::Load(access) => {
                let constant = matches!(access.space, Space::Param | Space::Const);
                let fixed = inst.src[0].kind == SlotKind::Double
                    && entry.doubles[inst.src[0].index()] != Source::Register;
                let remade = constant && !access.framed && fixed;
                return remade.then_some(Home::Recomputed(write.at));
            }
            Op::FrameAddress(_) => return Some(Home::Recomputed(write.at)),
            _ => return None,
        }
    }
    None
}

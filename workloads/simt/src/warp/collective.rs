//! Instructions that several lanes execute together: votes, matches, reductions, shuffles, barriers of a warp.
//!
//! Lanes that a mask names wait until all of them that have not exited have come to such an instruction with the same mask (PTX ISA 8.x, sections
//! 9.7.9.6 and 9.7.13). Lanes with another mask take no part, also where one instruction is executed by both.

use warpwatt_ptx::program::{Inst, Op, Slot, Vote};

use super::{Step, Warp};
use crate::error::Cause;
use crate::memory::BadAccess;
use crate::registers::full;
use crate::trace::{LaneMask, lanes};

/// Lanes that execute a collective together with those of other parts, and their instruction.
#[derive(Clone, Copy)]
pub(super) struct Part<'i> {
    pub inst: &'i Inst,
    pub lanes: LaneMask,
}

/// Lanes that a mask can name.
const GROUP: u32 = u32::BITS;

/// The operand that names the lanes which take part; without one all do that execute the instruction.
pub(crate) fn mask(inst: &Inst) -> Option<Slot> {
    let at = match &inst.op {
        Op::Vote { .. } | Op::MatchAny | Op::MatchAll | Op::Redux(_) => 1,
        Op::Shuffle(_) => 3,
        Op::Elect | Op::WarpBarrier => 0,
        _ => return None,
    };
    inst.src.as_slice().get(at).copied()
}

/// Whether lanes at two collectives can be parts of one.
pub(super) fn meets_with(one: &Op, other: &Op) -> bool {
    match (one, other) {
        (Op::Vote { vote, .. }, Op::Vote { vote: other, .. }) => vote == other,
        _ => one == other,
    }
}

impl<const W: usize> Warp<W> {
    /// The lanes that `lane` names.
    fn named(&self, mask: Slot, lane: u32) -> LaneMask {
        match self.registers.word(mask)[lane as usize] {
            u32::MAX => full::<W>(),
            // Of a warp of 64 lanes it names those of the own half.
            some => LaneMask::from(some) << (lane / GROUP * GROUP),
        }
    }

    /// The lanes that the first of `of` names; `None` if there is none, or the instruction is no collective.
    pub(super) fn names(&self, inst: &Inst, of: LaneMask) -> Option<LaneMask> {
        let mask = mask(inst).filter(|_| of != 0)?;
        Some(self.named(mask, of.trailing_zeros()))
    }

    /// Those of some lanes that name the same lanes.
    pub(super) fn naming(&self, inst: &Inst, of: LaneMask, named: LaneMask) -> LaneMask {
        let Some(mask) = mask(inst) else {
            return 0;
        };
        let same = lanes(of).filter(|&lane| self.named(mask, lane) == named);
        same.fold(0, |all, lane| all | 1 << lane)
    }

    /// Executes a collective of the lanes that are here, if all are that they name; whether they are.
    pub(super) fn collective(&mut self, inst: &Inst, step: Step) -> Result<bool, BadAccess> {
        let executed = step.executed;
        if mask(inst).is_none() {
            self.note(step);
            self.together(&[Part {
                inst,
                lanes: executed,
            }]);
            return Ok(true);
        }
        match self.all_here(inst, executed) {
            Ok(true) => {}
            Err(_) if self.as_gpu && self.takes_strangers(inst, executed) => {
                self.note(step);
                self.among_strangers(inst, executed);
                return Ok(true);
            }
            waits => return waits,
        }
        self.note(step);
        let mut left = executed;
        while let Some(named) = self.names(inst, left) {
            let lanes = self.naming(inst, left, named);
            self.together(&[Part { inst, lanes }]);
            left &= !lanes;
        }
        Ok(true)
    }

    /// Whether a GPU does a collective also with lanes that do not name themselves: shuffles and ballots, as soon as none is somewhere else that one names.
    fn takes_strangers(&self, inst: &Inst, executed: LaneMask) -> bool {
        let known = match &inst.op {
            Op::Shuffle(_) => true,
            Op::Vote { vote, .. } => *vote == Vote::Ballot,
            _ => false,
        };
        known && self.missing(inst, executed) == 0
    }

    /// Does it with all lanes that are there; of a ballot a lane gets the bits that it names.
    fn among_strangers(&mut self, inst: &Inst, executed: LaneMask) {
        let part = Part {
            inst,
            lanes: executed,
        };
        let named: [LaneMask; W] =
            std::array::from_fn(|lane| self.names(inst, 1 << lane).unwrap_or(0));
        self.together(&[part]);
        if matches!(inst.op, Op::Vote { .. }) {
            let mut ballot = *self.registers.word(inst.dst[0]);
            for lane in lanes(executed) {
                ballot[lane as usize] &= (named[lane as usize] >> (lane / GROUP * GROUP)) as u32;
            }
            self.registers.set_word(inst.dst[0], executed, &ballot);
        }
    }

    /// Whether all lanes have come that those at a collective name.
    fn all_here(&self, inst: &Inst, executed: LaneMask) -> Result<bool, BadAccess> {
        let mut left = executed;
        let mut here = true;
        while let Some(named) = self.names(inst, left) {
            let own = self.naming(inst, left, named);
            if own & !named != 0 {
                let lane = (own & !named).trailing_zeros();
                let mask = (named >> (lane / GROUP * GROUP)) as u32;
                let cause = Cause::NotMember { mask };
                return Err(BadAccess { lane, cause });
            }
            here &= named & !own == 0 || named & !own & self.live() == 0;
            left &= !own;
        }
        Ok(here)
    }

    /// The lanes that those at a collective name and that are not among them.
    pub(super) fn missing(&self, inst: &Inst, of: LaneMask) -> LaneMask {
        let named = lanes(of).filter_map(|lane| self.names(inst, 1 << lane));
        named.fold(0, |all, named| all | named) & self.live() & !of
    }
}

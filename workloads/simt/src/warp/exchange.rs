//! Exchange between the lanes of a warp, and what the warp knows of itself.

use warpwatt_ptx::program::{Inst, Op, Redux, ShuffleMode, Vote};
use warpwatt_ptx::types::Space;

use super::Warp;
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    pub(super) fn exchange(&mut self, inst: &Inst, active: LaneMask, executed: LaneMask) {
        match &inst.op {
            Op::Shuffle(mode) => self.shuffle(*mode, inst, executed),
            Op::Vote { vote, negated } => self.vote(*vote, *negated, inst, executed),
            Op::MatchAny => self.match_any(inst, executed),
            Op::MatchAll => self.match_all(inst, executed),
            Op::Redux(op) => self.redux(*op, inst, executed),
            Op::Elect => self.elect(inst, executed),
            Op::ActiveMask => {
                let value = [active as u32; W];
                self.registers.set_word(inst.dst[0], executed, &value);
            }
            Op::Clock => self.clock(inst, executed),
            Op::IsSpace(space) => self.is_space(*space, inst, executed),
            other => unreachable!("{other:?} exchanges nothing"),
        }
    }

    fn match_any(&mut self, inst: &Inst, executed: LaneMask) {
        let values = self.registers.extended(inst.src[0]);
        let same = |value: u64| {
            let equal = lanes(executed).filter(|&lane| values[lane as usize] == value);
            equal.fold(0u64, |mask, lane| mask | 1 << lane)
        };
        let value = values.map(same);
        self.registers.set_extended(inst.dst[0], executed, &value);
    }

    fn match_all(&mut self, inst: &Inst, executed: LaneMask) {
        let values = self.registers.extended(inst.src[0]);
        let mut own = lanes(executed).map(|lane| values[lane as usize]);
        let first = own.next();
        let holds = own.all(|value| Some(value) == first);
        let mask = if holds { executed } else { 0 };
        self.registers
            .set_extended(inst.dst[0], executed, &[mask; W]);
        self.answer(inst, executed, if holds { LaneMask::MAX } else { 0 });
    }

    fn redux(&mut self, op: Redux, inst: &Inst, executed: LaneMask) {
        let values = self.registers.word(inst.src[0]);
        let signed = |a: u32| a as i32;
        let combine = |a: u32, b: u32| match op {
            Redux::Add => a.wrapping_add(b),
            Redux::Min { signed: true } => signed(a).min(signed(b)) as u32,
            Redux::Max { signed: true } => signed(a).max(signed(b)) as u32,
            Redux::Min { signed: false } => a.min(b),
            Redux::Max { signed: false } => a.max(b),
            Redux::And => a & b,
            Redux::Or => a | b,
            Redux::Xor => a ^ b,
        };
        let own = lanes(executed).map(|lane| values[lane as usize]);
        let value = own.reduce(combine).unwrap_or_default();
        self.registers.set_word(inst.dst[0], executed, &[value; W]);
    }

    /// The lowest of the lanes that take part; of those that execute, if the mask names none of them.
    fn elect(&mut self, inst: &Inst, executed: LaneMask) {
        let first = executed.trailing_zeros() as usize;
        let mask = LaneMask::from(self.registers.word(inst.src[0])[first]) & executed;
        let chosen = if mask == 0 { executed } else { mask }.trailing_zeros();
        self.registers.set_word(inst.dst[0], executed, &[chosen; W]);
        self.answer(inst, executed, 1 << chosen);
    }

    /// Sets the second destination, a predicate, if there is one.
    fn answer(&mut self, inst: &Inst, executed: LaneMask, holds: LaneMask) {
        if let Some(&predicate) = inst.dst.as_slice().get(1) {
            self.registers.set_predicate(predicate, executed, holds);
        }
    }

    /// PTX ISA 8.x, section 9.7.9.6. A lane that reads a lane outside its segment keeps its own value; what an inactive lane holds
    /// is undefined in PTX and is here whatever that lane wrote last.
    fn shuffle(&mut self, mode: ShuffleMode, inst: &Inst, executed: LaneMask) {
        let values = *self.registers.word(inst.src[0]);
        let offsets = self.registers.word(inst.src[1]);
        let controls = self.registers.word(inst.src[2]);
        let mut result = values;
        let mut inside: LaneMask = 0;
        for lane in lanes(executed) {
            let (at, control) = (lane as i64, controls[lane as usize]);
            // Segments are within groups of 32 lanes also where warps are wider.
            let group = at & !31;
            let offset = i64::from(offsets[lane as usize] & 31);
            let clamp = i64::from(control & 31);
            let segment = i64::from(control >> 8 & 31);
            let own = at & 31;
            let highest = own & segment | clamp & !segment;
            let lowest = own & segment;
            let (source, valid) = match mode {
                ShuffleMode::Up => (own - offset, own - offset >= highest),
                ShuffleMode::Down => (own + offset, own + offset <= highest),
                ShuffleMode::Bfly => (own ^ offset, (own ^ offset) <= highest),
                ShuffleMode::Idx => {
                    let source = lowest | offset & !segment;
                    (source, source <= highest)
                }
            };
            if valid {
                result[lane as usize] = values[(group + source) as usize];
                inside |= 1 << lane;
            }
        }
        self.registers.set_word(inst.dst[0], executed, &result);
        self.answer(inst, executed, inside);
    }

    fn vote(&mut self, vote: Vote, negated: bool, inst: &Inst, executed: LaneMask) {
        let predicate = self.registers.predicate(inst.src[0]);
        let yes = executed & if negated { !predicate } else { predicate };
        let everywhere = |holds: bool| if holds { LaneMask::MAX } else { 0 };
        let answer = match vote {
            Vote::Ballot => {
                let ballot = [yes as u32; W];
                return self.registers.set_word(inst.dst[0], executed, &ballot);
            }
            Vote::All => everywhere(yes == executed),
            Vote::Any => everywhere(yes != 0),
            Vote::Uni => everywhere(yes == executed || yes == 0),
        };
        self.registers.set_predicate(inst.dst[0], executed, answer);
    }

    fn clock(&mut self, inst: &Inst, executed: LaneMask) {
        let count = [self.counts.warp_instructions; W];
        self.registers.set_extended(inst.dst[0], executed, &count);
    }

    fn is_space(&mut self, space: Space, inst: &Inst, executed: LaneMask) {
        let addresses = self.registers.extended(inst.src[0]);
        let holds = lanes(executed)
            .filter(|&lane| Space::of(addresses[lane as usize]) == space)
            .fold(0, |mask: LaneMask, lane| mask | 1 << lane);
        self.registers.set_predicate(inst.dst[0], executed, holds);
    }
}

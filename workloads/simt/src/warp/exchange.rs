//! Exchange between the lanes of a warp, and what the warp knows of itself.

use warpwatt_ptx::program::{Inst, Op, Redux, ShuffleMode, Vote};
use warpwatt_ptx::types::Space;

use super::Warp;
use super::collective::Part;
use crate::lanes::extreme;
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    /// Lanes exchange values, each part of them by an instruction of its own.
    pub(super) fn together(&mut self, parts: &[Part<'_>]) {
        let Some(first) = parts.first() else {
            return;
        };
        match &first.inst.op {
            Op::Shuffle(mode) => self.shuffle(*mode, parts),
            Op::Vote { vote, .. } => self.vote(*vote, parts),
            Op::MatchAny => self.match_any(parts),
            Op::MatchAll => self.match_all(parts),
            Op::Redux(op) => self.redux(*op, parts),
            Op::Elect => self.elect(parts),
            Op::WarpBarrier => {}
            other => unreachable!("{other:?} exchanges nothing"),
        }
    }

    /// What a warp knows of itself.
    pub(super) fn of_itself(&mut self, inst: &Inst, executed: LaneMask) {
        match &inst.op {
            Op::ActiveMask => {
                let value = [executed as u32; W];
                self.registers.set_word(inst.dst[0], executed, &value);
            }
            Op::Clock => {
                self.loops.attentive = true;
                self.clock(inst, executed);
            }
            Op::IsSpace(space) => self.is_space(*space, inst, executed),
            other => unreachable!("{other:?} is nothing that a warp knows"),
        }
    }

    /// The words of a source, of each part's lanes from its own operand.
    fn words_of(&self, parts: &[Part<'_>], at: usize) -> [u32; W] {
        let mut values = *self.registers.word(parts[0].inst.src[at]);
        for part in &parts[1..] {
            let own = self.registers.word(part.inst.src[at]);
            for lane in lanes(part.lanes) {
                values[lane as usize] = own[lane as usize];
            }
        }
        values
    }

    /// Values to compare, likewise.
    fn compared(&self, parts: &[Part<'_>]) -> [u64; W] {
        let mut values = self.registers.extended(parts[0].inst.src[0]);
        for part in &parts[1..] {
            let own = self.registers.extended(part.inst.src[0]);
            for lane in lanes(part.lanes) {
                values[lane as usize] = own[lane as usize];
            }
        }
        values
    }

    fn match_any(&mut self, parts: &[Part<'_>]) {
        let values = self.compared(parts);
        let all = union(parts);
        let same = |value: u64| {
            let equal = lanes(all).filter(|&lane| values[lane as usize] == value);
            equal.fold(0u64, |mask, lane| mask | 1 << lane)
        };
        let value = values.map(same);
        for part in parts {
            let dst = part.inst.dst[0];
            self.registers.set_extended(dst, part.lanes, &value);
        }
    }

    fn match_all(&mut self, parts: &[Part<'_>]) {
        let values = self.compared(parts);
        let all = union(parts);
        let mut own = lanes(all).map(|lane| values[lane as usize]);
        let first = own.next();
        let holds = own.all(|value| Some(value) == first);
        let mask = if holds { all } else { 0 };
        for part in parts {
            let dst = part.inst.dst[0];
            self.registers.set_extended(dst, part.lanes, &[mask; W]);
            self.answer(part, if holds { LaneMask::MAX } else { 0 });
        }
    }

    fn redux(&mut self, op: Redux, parts: &[Part<'_>]) {
        let values = self.words_of(parts, 0);
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
            Redux::FExtreme(how) => extreme(a, b, how),
        };
        let own = lanes(union(parts)).map(|lane| values[lane as usize]);
        let value = own.reduce(combine).unwrap_or_default();
        let value = match op {
            // One alone has its magnitude taken, too.
            Redux::FExtreme(how) => extreme(value, value, how),
            _ => value,
        };
        for part in parts {
            let dst = part.inst.dst[0];
            self.registers.set_word(dst, part.lanes, &[value; W]);
        }
    }

    /// The lowest of the lanes that take part.
    fn elect(&mut self, parts: &[Part<'_>]) {
        let chosen = union(parts).trailing_zeros();
        for part in parts {
            let dst = part.inst.dst[0];
            self.registers.set_word(dst, part.lanes, &[chosen; W]);
            self.answer(part, 1 << chosen);
        }
    }

    /// Sets the second destination, a predicate, if there is one.
    fn answer(&mut self, part: &Part<'_>, holds: LaneMask) {
        if let Some(&predicate) = part.inst.dst.as_slice().get(1) {
            self.registers.set_predicate(predicate, part.lanes, holds);
        }
    }

    /// PTX ISA 8.x, section 9.7.9.6. A lane that reads a lane outside its segment keeps its own value; what a lane holds that takes no part
    /// is undefined in PTX and is here whatever that lane wrote last.
    fn shuffle(&mut self, mode: ShuffleMode, parts: &[Part<'_>]) {
        let [values, offsets, controls] = [0, 1, 2].map(|at| self.words_of(parts, at));
        let mut result = values;
        let mut inside: LaneMask = 0;
        for lane in lanes(union(parts)) {
            let at = lane as usize;
            if let Some(source) = source_lane(mode, lane, offsets[at], controls[at]) {
                result[at] = values[source];
                inside |= 1 << lane;
            }
        }
        for part in parts {
            let dst = part.inst.dst[0];
            self.registers.set_word(dst, part.lanes, &result);
            self.answer(part, inside);
        }
    }

    fn vote(&mut self, vote: Vote, parts: &[Part<'_>]) {
        let all = union(parts);
        let yes = parts.iter().fold(0, |yes, part| {
            let negated = matches!(part.inst.op, Op::Vote { negated: true, .. });
            let predicate = self.registers.predicate(part.inst.src[0]);
            yes | part.lanes & if negated { !predicate } else { predicate }
        });
        let holds = match vote {
            Vote::Ballot => {
                for part in parts {
                    let ballot = [yes as u32; W];
                    let dst = part.inst.dst[0];
                    self.registers.set_word(dst, part.lanes, &ballot);
                }
                return;
            }
            Vote::All => yes == all,
            Vote::Any => yes != 0,
            Vote::Uni => yes == all || yes == 0,
        };
        let answer = if holds { LaneMask::MAX } else { 0 };
        for part in parts {
            let dst = part.inst.dst[0];
            self.registers.set_predicate(dst, part.lanes, answer);
        }
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

fn union(parts: &[Part<'_>]) -> LaneMask {
    parts.iter().fold(0, |all, part| all | part.lanes)
}

/// The lane whose value `lane` reads; `None` if that lies outside its segment.
fn source_lane(mode: ShuffleMode, lane: u32, offset: u32, control: u32) -> Option<usize> {
    let at = i64::from(lane);
    // Segments are within groups of 32 lanes also where warps are wider.
    let group = at & !31;
    let offset = i64::from(offset & 31);
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
    valid.then_some((group + source) as usize)
}

//! The program on its registers, with the code that values kept elsewhere need.

use rustc_hash::FxHashMap;

use super::colour::Colouring;
use super::operands::{Role, replace};
use super::pieces::Home;
use super::plan::{Class, Cuts, Plan};
use super::webs::{NONE, Span};
use crate::cfg::retarget;
use crate::program::{
    Access, Compare, Comparison, Entry, Guard, Inst, Op, Slot, SlotKind, Source, Spills,
};
use crate::types::{Space, Type};

/// Slots that are no registers, numbered behind them.
#[derive(Default)]
struct Presets {
    words: Vec<Source<u32>>,
    doubles: Vec<Source<u64>>,
    known_words: FxHashMap<Source<u32>, u16>,
    known_doubles: FxHashMap<Source<u64>, u16>,
}

impl Presets {
    fn word(&mut self, source: Source<u32>) -> Slot {
        let next = self.words.len() as u16;
        let number = *self.known_words.entry(source).or_insert(next);
        if number == next {
            self.words.push(source);
        }
        Slot {
            kind: SlotKind::Word,
            number,
        }
    }

    fn double(&mut self, source: Source<u64>) -> Slot {
        let next = self.doubles.len() as u16;
        let number = *self.known_doubles.entry(source).or_insert(next);
        if number == next {
            self.doubles.push(source);
        }
        Slot {
            kind: SlotKind::Double,
            number,
        }
    }
}

/// Builds the new code.
pub(super) struct Rewriter<'r, 'a, 'e> {
    plan: &'r Plan<'a, 'e>,
    cuts: &'r Cuts,
    colouring: &'r Colouring,
    presets: Presets,
    code: Vec<Inst>,
    /// Where each web that is kept elsewhere lies: in its routine's frame, or in which 32-bit register.
    places: FxHashMap<u32, u64>,
    /// Bytes of the frame of each routine.
    frames: Vec<u64>,
    /// Places of the frames that values are kept in.
    slots: Vec<Kept>,
    spills: Spills,
}

impl<'r, 'a, 'e> Rewriter<'r, 'a, 'e> {
    pub fn new(plan: &'r Plan<'a, 'e>, cuts: &'r Cuts, colouring: &'r Colouring) -> Self {
        let entry = plan.analysis.entry;
        let functions = entry.functions.iter().map(|function| function.frame_bytes);
        let frames = functions.chain([u64::from(entry.local_bytes)]).collect();
        let mut rewriter = Self {
            plan,
            cuts,
            colouring,
            presets: Presets::default(),
            code: Vec::with_capacity(entry.code.len()),
            places: FxHashMap::default(),
            frames,
            slots: Vec::new(),
            spills: Spills::default(),
        };
        match plan.analysis.class {
            // Words and doubles keep their numbers until it is their turn.
            Class::Predicate => {
                rewriter.presets.words = entry.words.clone();
                rewriter.presets.doubles = entry.doubles.clone();
                for (number, source) in entry.words.iter().enumerate() {
                    let known = &mut rewriter.presets.known_words;
                    known.entry(*source).or_insert(number as u16);
                }
            }
            Class::General => {
                let used = colouring.used as usize;
                rewriter.presets.words = vec![Source::Register; used];
                rewriter.presets.doubles = vec![Source::Register; used.div_ceil(2)];
            }
        }
        rewriter
    }

    /// The program on its registers.
    pub fn run(mut self) -> (Entry, Spills) {
        let entry = self.plan.analysis.entry;
        let mut moved = Vec::with_capacity(entry.code.len() + 1);
        for (at, inst) in entry.code.iter().enumerate() {
            moved.push(self.code.len() as u32);
            self.instruction(at, inst);
        }
        moved.push(self.code.len() as u32);
        self.spills.values = self
            .plan
            .homes
            .iter()
            .filter(|home| **home != Home::Register)
            .count() as u32;
        let mut entry = entry.clone();
        retarget(&mut self.code, &moved);
        entry.code = self.code;
        entry.words = self.presets.words;
        entry.doubles = self.presets.doubles;
        for (function, frame) in entry.functions.iter_mut().zip(&self.frames) {
            function.start = moved[function.start as usize];
            function.frame_bytes = *frame;
        }
        entry.local_bytes = self.frames[entry.functions.len()] as u32;
        if self.plan.analysis.class == Class::Predicate {
            entry.predicates = self.colouring.used as u16;
        }
        (entry, self.spills)
    }

    /// An instruction with what it needs before and behind it.
    fn instruction(&mut self, at: usize, inst: &Inst) {
        let analysis = self.plan.analysis;
        let webs = analysis.webs.of_instruction(at);
        let away = |&&web: &&u32| {
            let is_away = |web: usize| self.plan.homes[web] != Home::Register;
            web != NONE && is_away(web as usize)
        };
        let mut away: Vec<u32> = webs.iter().filter(away).copied().collect();
        away.sort_unstable();
        away.dedup();
        let written = |web: &u32| {
            let access = analysis.accesses.at(*web as usize, at);
            access.is_some_and(|(_, access)| access.writes)
        };
        let stays = |web: &u32| {
            let home = self.plan.homes[*web as usize];
            matches!(home, Home::Preset(_) | Home::Recomputed(_))
        };
        // What is made anew wherever it is read need not be made here.
        if away.iter().any(|web| written(web) && stays(web)) {
            return;
        }
        for &web in &away {
            self.load(web, at, inst);
        }
        let mut found = webs.iter();
        let mut copy = inst.clone();
        replace(&mut copy, |slot, role| match found.next() {
            Some(&web) if web != NONE => self.operand(web, slot, at, role),
            _ => self.preset(slot),
        });
        self.code.push(copy);
        for &web in away.iter().filter(|web| written(web)) {
            self.store(web, at, inst);
        }
    }

    /// The slot that stands for an operand now.
    fn operand(&mut self, web: u32, slot: Slot, at: usize, role: Role) -> Slot {
        let of_class = self.plan.analysis.class.size(slot.kind) > 0;
        match self.plan.homes[web as usize] {
            _ if !of_class => slot,
            Home::Preset(preset) if role != Role::Write => self.preset(preset),
            _ => self.register(web, slot.kind, at, role),
        }
    }

    fn register(&self, web: u32, kind: SlotKind, at: usize, role: Role) -> Slot {
        let piece = self.plan.piece(self.cuts, web, at, role);
        let first = piece.map_or(0, |piece| self.colouring.first[piece as usize]);
        let number = match kind {
            SlotKind::Double => first / 2,
            _ => first,
        };
        Slot { kind, number }
    }

    /// A literal or special register among the new slots.
    fn preset(&mut self, slot: Slot) -> Slot {
        let entry = self.plan.analysis.entry;
        match (self.plan.analysis.class, slot.kind) {
            (Class::Predicate, _) | (_, SlotKind::Predicate) => slot,
            (_, SlotKind::Word) => self.presets.word(entry.words[slot.index()]),
            (_, SlotKind::Double) => self.presets.double(entry.doubles[slot.index()]),
        }
    }

    /// The guard of inserted code: the instruction's, unless that is gone behind it.
    fn guard(&self, web: u32, at: usize, inst: &Inst) -> Option<Guard> {
        let access = self.plan.analysis.accesses.at(web as usize, at);
        let merges = access.is_some_and(|(_, access)| access.merges);
        inst.guard
            .filter(|_| !merges && self.plan.analysis.class == Class::General)
    }

    /// What brings a value into its register before an instruction reads it.
    fn load(&mut self, web: u32, at: usize, inst: &Inst) {
        let analysis = self.plan.analysis;
        let Some(_) = self.plan.piece(self.cuts, web, at, Role::Read) else {
            return;
        };
        let kind = analysis.webs.webs[web as usize].kind;
        let to = self.register(web, kind, at, Role::Read);
        let mut made = match self.plan.homes[web as usize] {
            Home::Recomputed(by) => {
                self.spills.recomputations += 1;
                let mut made = analysis.entry.code[by as usize].clone();
                for slot in made.src.as_mut_slice() {
                    *slot = self.preset(*slot);
                }
                made
            }
            _ if kind == SlotKind::Predicate => {
                self.spills.predicate_moves += 1;
                let place = self.place(web, at);
                let word = Slot {
                    kind: SlotKind::Word,
                    number: place as u16,
                };
                let zero = self.presets.word(Source::Literal(0));
                let compare = Compare {
                    how: Comparison::Ne,
                    element: Type::B32,
                    flush: false,
                    combine: None,
                };
                plain(Op::SetPredicate(compare), &[], &[word, zero])
            }
            _ => {
                self.spills.loads += 1;
                let place = self.place(web, at);
                let base = self.presets.double(Source::Literal(place));
                plain(Op::Load(spilled(kind)), &[], &[base])
            }
        };
        made.dst = to.into();
        made.guard = self.guard(web, at, inst);
        made.line = inst.line;
        self.code.push(made);
    }

    /// What takes a value away behind an instruction that writes it.
    fn store(&mut self, web: u32, at: usize, inst: &Inst) {
        let kind = self.plan.analysis.webs.webs[web as usize].kind;
        let from = self.register(web, kind, at, Role::Write);
        let place = self.place(web, at);
        let mut made = if kind == SlotKind::Predicate {
            self.spills.predicate_moves += 1;
            let word = Slot {
                kind: SlotKind::Word,
                number: place as u16,
            };
            let [one, zero] = [1, 0].map(|value| self.presets.word(Source::Literal(value)));
            let select = Op::SelectWord { negated: false };
            plain(select, &[word], &[one, zero, from])
        } else {
            self.spills.stores += 1;
            let base = self.presets.double(Source::Literal(place));
            plain(Op::Store(spilled(kind)), &[], &[base, from])
        };
        made.guard = self.guard(web, at, inst);
        made.line = inst.line;
        self.code.push(made);
    }

    /// Where a value that is kept elsewhere lies.
    fn place(&mut self, web: u32, at: usize) -> u64 {
        if let Some(&place) = self.places.get(&web) {
            return place;
        }
        let bytes = match self.plan.analysis.webs.webs[web as usize].kind {
            SlotKind::Word => 4,
            SlotKind::Double => 8,
            SlotKind::Predicate => {
                let number = self.presets.words.len() as u64;
                self.presets.words.push(Source::Register);
                self.places.insert(web, number);
                return number;
            }
        };
        let routine = self.plan.analysis.routines.holding(at);
        let place = self.shared(web, routine, bytes).unwrap_or_else(|| {
            let frame = &mut self.frames[routine];
            let place = frame.next_multiple_of(bytes);
            *frame = place + bytes;
            self.spills.bytes += bytes as u32;
            self.slots.push(Kept {
                routine,
                place,
                bytes,
                webs: vec![web],
            });
            place
        });
        self.places.insert(web, place);
        place
    }

    /// A place whose values are never live together with a web: it holds that as well.
    fn shared(&mut self, web: u32, routine: usize, bytes: u64) -> Option<u64> {
        let webs = &self.plan.analysis.webs.webs;
        let spans = |web: u32| &webs[web as usize].spans[..];
        let apart = |slot: &&mut Kept| {
            let mut others = slot.webs.iter();
            (slot.routine, slot.bytes) == (routine, bytes)
                && others.all(|&other| !meet(spans(other), spans(web)))
        };
        let slot = self.slots.iter_mut().find(apart)?;
        slot.webs.push(web);
        Some(slot.place)
    }
}

/// A place in a routine's frame, and the webs that take turns in it.
struct Kept {
    routine: usize,
    place: u64,
    bytes: u64,
    webs: Vec<u32>,
}

/// Whether some point is in spans of both; each list ascends.
fn meet(one: &[Span], other: &[Span]) -> bool {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        if a.0 < b.1 && b.0 < a.1 {
            return true;
        }
        if a.1 <= b.1 {
            one.next();
        } else {
            other.next();
        }
    }
    false
}

/// An access to a value in the routine's frame.
fn spilled(kind: SlotKind) -> Access {
    let element = match kind {
        SlotKind::Double => Type::B64,
        _ => Type::B32,
    };
    Access {
        framed: true,
        ..Access::of(Space::Local, element)
    }
}

fn plain(op: Op, dst: &[Slot], src: &[Slot]) -> Inst {
    Inst {
        op,
        guard: None,
        dst: dst.iter().copied().collect(),
        src: src.iter().copied().collect(),
        line: 0,
    }
}

//! Giving registers to pieces: first fit over the exact spans in which they are live.

use super::webs::Span;

/// Something that needs a register, or several neighbours.
#[derive(Clone, Debug)]
pub(super) struct Piece<'p> {
    /// Registers: 1, or 2 for 64 bits, aligned.
    pub size: u32,
    pub spans: &'p [Span],
    /// The routine in which it lives, by its place in the order of colouring.
    pub routine: u32,
}

/// Pieces that a vector instruction needs in neighbouring registers, aligned to all of them.
pub(super) type Group = Vec<u32>;

/// A call: what lives across it may not use the registers of the routines that it may reach.
#[derive(Clone, Debug)]
pub(super) struct Clobber {
    /// The routine that calls, by its place in the order of colouring.
    pub caller: u32,
    /// Routines that run meanwhile, by the same.
    pub during: Vec<u32>,
    /// When.
    pub span: Span,
}

/// What is to be given registers.
#[derive(Debug, Default)]
pub(super) struct Problem<'p> {
    pub pieces: Vec<Piece<'p>>,
    pub groups: Vec<Group>,
    /// In the order of their callers.
    pub clobbers: Vec<Clobber>,
    /// Pairs that are best in the same register: a copy's source and destination.
    pub copies: Vec<(u32, u32)>,
    /// Registers that there are.
    pub limit: u32,
}

/// The first register of each piece, and how many registers are used.
#[derive(Clone, Debug, Default)]
pub(super) struct Colouring {
    pub first: Vec<u16>,
    pub used: u32,
}

/// Pieces that are placed together.
#[derive(Debug)]
struct Unit {
    /// Pieces and their offsets from the unit's first register.
    members: Vec<(u32, u32)>,
    size: u32,
    routine: u32,
    start: u32,
}

/// In which order units are placed. No order is best for all programs, so all are tried.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// As they begin to live.
    Start,
    /// The wide ones first, each width as they begin to live.
    Width,
    /// Those that live longest first, wide ones before.
    Length,
}

const UNPLACED: u16 = u16::MAX;

/// The colouring with the fewest registers of those tried; `none` if none keeps the limit. `enough` is a number of registers
/// below which no colouring can be.
pub(super) fn colour(problem: &Problem<'_>, enough: u32) -> Option<Colouring> {
    let units = units(problem);
    let mut best: Option<Colouring> = None;
    for order in [Order::Start, Order::Width, Order::Length] {
        let limit = best.as_ref().map_or(problem.limit, |best| best.used - 1);
        if let Some(found) = Placement::new(problem, limit).run(&units, order) {
            let done = found.used <= enough;
            best = Some(found);
            if done {
                break;
            }
        }
    }
    best
}

/// Groups of pieces that are not in an earlier group; all other pieces alone.
fn units(problem: &Problem<'_>) -> Vec<Unit> {
    let mut taken = vec![false; problem.pieces.len()];
    let mut units = Vec::new();
    let mut push = |members: Vec<(u32, u32)>, size| {
        let of = |&(piece, _): &(u32, u32)| &problem.pieces[piece as usize];
        let starts = members.iter().filter_map(|m| of(m).spans.first());
        units.push(Unit {
            routine: of(&members[0]).routine,
            start: starts.map(|span| span.0).min().unwrap_or(0),
            members,
            size,
        });
    };
    for group in &problem.groups {
        if group.iter().any(|&piece| taken[piece as usize]) {
            continue;
        }
        let mut offset = 0;
        let mut members = Vec::new();
        for &piece in group {
            taken[piece as usize] = true;
            members.push((piece, offset));
            offset += problem.pieces[piece as usize].size;
        }
        push(members, offset);
    }
    for (at, piece) in problem.pieces.iter().enumerate() {
        if !taken[at] {
            push(vec![(at as u32, 0)], piece.size);
        }
    }
    units
}

struct Placement<'p> {
    problem: &'p Problem<'p>,
    limit: u32,
    /// When each register is taken, ascending.
    taken: Vec<Vec<Span>>,
    first: Vec<u16>,
    /// Registers that each routine uses itself.
    used_by: Vec<Vec<bool>>,
    partners: Vec<Vec<u32>>,
}

impl<'p> Placement<'p> {
    fn new(problem: &'p Problem<'p>, limit: u32) -> Self {
        let routines = problem.pieces.iter().map(|piece| piece.routine + 1);
        let callers = problem.clobbers.iter().map(|call| call.caller + 1);
        let routines = routines.chain(callers).max().unwrap_or(0) as usize;
        let mut partners = vec![Vec::new(); problem.pieces.len()];
        for &(a, b) in &problem.copies {
            partners[a as usize].push(b);
            partners[b as usize].push(a);
        }
        Self {
            problem,
            limit,
            taken: Vec::new(),
            first: vec![UNPLACED; problem.pieces.len()],
            used_by: vec![Vec::new(); routines],
            partners,
        }
    }

    fn run(mut self, units: &[Unit], order: Order) -> Option<Colouring> {
        let mut sorted: Vec<&Unit> = units.iter().collect();
        sorted.sort_by_key(|unit| {
            let size = std::cmp::Reverse(unit.size);
            let wide = match order {
                Order::Start => std::cmp::Reverse(0),
                _ => size,
            };
            let length = match order {
                Order::Length => self.length(unit),
                _ => 0,
            };
            (
                unit.routine,
                wide,
                std::cmp::Reverse(length),
                unit.start,
                size,
            )
        });
        let mut calls = self.problem.clobbers.iter().peekable();
        for unit in sorted {
            while let Some(call) = calls.next_if(|call| call.caller <= unit.routine) {
                self.clobber(call);
            }
            let base = self.find(unit)?;
            self.place(unit, base);
        }
        let used = self.taken.len() as u32;
        Some(Colouring {
            first: self.first,
            used,
        })
    }

    fn length(&self, unit: &Unit) -> u32 {
        let spans = unit.members.iter();
        let spans = spans.flat_map(|&(piece, _)| self.problem.pieces[piece as usize].spans);
        spans.map(|span| span.1 - span.0).sum()
    }

    /// The registers of the routines that run during a call are taken meanwhile.
    fn clobber(&mut self, call: &Clobber) {
        for register in 0..self.taken.len() {
            let uses = |&routine: &u32| self.used_by[routine as usize].get(register) == Some(&true);
            if call.during.iter().any(uses) {
                insert(&mut self.taken[register], call.span);
            }
        }
    }

    /// The lowest register that is free, or that of a copy's other side.
    fn find(&self, unit: &Unit) -> Option<u32> {
        let partners = &self.partners[unit.members[0].0 as usize];
        let known = partners.iter().map(|&piece| self.first[piece as usize]);
        let hints = known
            .filter(|&first| first != UNPLACED && unit.members.len() == 1)
            .map(u32::from);
        let hint = hints
            .filter(|first| first % unit.size == 0)
            .find(|&first| self.is_free(unit, first));
        let step = unit.size.next_power_of_two();
        hint.or_else(|| {
            let bases = (0..).step_by(step as usize);
            bases
                .take_while(|base| base + unit.size <= self.limit)
                .find(|&base| self.is_free(unit, base))
        })
    }

    fn is_free(&self, unit: &Unit, base: u32) -> bool {
        unit.members.iter().all(|&(piece, offset)| {
            let piece = &self.problem.pieces[piece as usize];
            (0..piece.size).all(|word| {
                let taken = self.taken.get((base + offset + word) as usize);
                taken.is_none_or(|taken| !meets(taken, piece.spans))
            })
        })
    }

    fn place(&mut self, unit: &Unit, base: u32) {
        let end = (base + unit.size) as usize;
        if self.taken.len() < end {
            self.taken.resize(end, Vec::new());
        }
        let used = &mut self.used_by[unit.routine as usize];
        if used.len() < end {
            used.resize(end, false);
        }
        used[base as usize..end].fill(true);
        for &(piece, offset) in &unit.members {
            self.first[piece as usize] = (base + offset) as u16;
            let piece = &self.problem.pieces[piece as usize];
            for word in 0..piece.size {
                let taken = &mut self.taken[(base + offset + word) as usize];
                piece.spans.iter().for_each(|&span| insert(taken, span));
            }
        }
    }
}

/// Whether two ascending lists of spans have a point in common.
fn meets(taken: &[Span], spans: &[Span]) -> bool {
    spans.iter().any(|span| {
        let after = taken.partition_point(|other| other.1 <= span.0);
        taken.get(after).is_some_and(|other| other.0 < span.1)
    })
}

fn insert(taken: &mut Vec<Span>, span: Span) {
    let at = taken.partition_point(|other| other.0 < span.0);
    taken.insert(at, span);
}

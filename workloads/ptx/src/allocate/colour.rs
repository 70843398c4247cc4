//! Giving registers to pieces: first fit over the exact spans in which they are live.

use std::cmp::Reverse;

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
    /// Points of the program.
    pub points: u32,
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

/// One bit a register.
type Registers = [u64; 4];

/// Registers that masks have bits for.
const MOST: u32 = 256;

struct Placement<'p> {
    problem: &'p Problem<'p>,
    limit: u32,
    /// Registers taken at each point.
    taken: Vec<Registers>,
    first: Vec<u16>,
    used: u32,
    /// Registers that each routine uses itself.
    used_by: Vec<Registers>,
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
            limit: limit.min(MOST),
            taken: vec![[0; 4]; problem.points as usize],
            first: vec![UNPLACED; problem.pieces.len()],
            used: 0,
            used_by: vec![[0; 4]; routines],
            partners,
        }
    }

    fn run(mut self, units: &[Unit], order: Order) -> Option<Colouring> {
        let mut sorted: Vec<&Unit> = units.iter().collect();
        sorted.sort_by_cached_key(|unit| {
            let size = Reverse(unit.size);
            let (wide, length) = match order {
                Order::Start => (Reverse(0), 0),
                Order::Width => (size, 0),
                Order::Length => (size, self.length(unit)),
            };
            (unit.routine, wide, Reverse(length), unit.start, size)
        });
        let mut calls = self.problem.clobbers.iter().peekable();
        for unit in sorted {
            while let Some(call) = calls.next_if(|call| call.caller <= unit.routine) {
                self.clobber(call);
            }
            let base = self.find(unit)?;
            self.place(unit, base);
        }
        Some(Colouring {
            first: self.first,
            used: self.used,
        })
    }

    fn length(&self, unit: &Unit) -> u32 {
        let spans = unit.members.iter();
        let spans = spans.flat_map(|&(piece, _)| self.problem.pieces[piece as usize].spans);
        spans.map(|span| span.1 - span.0).sum()
    }

    /// The registers of the routines that run during a call are taken meanwhile.
    fn clobber(&mut self, call: &Clobber) {
        for &routine in &call.during {
            let used = self.used_by[routine as usize];
            for taken in &mut self.taken[call.span.0 as usize..call.span.1 as usize] {
                add(taken, &used);
            }
        }
    }

    /// The lowest register that is free, or that of a copy's other side.
    fn find(&self, unit: &Unit) -> Option<u32> {
        let free = self.free(unit);
        let is_free = |&register: &u32| {
            let end = register + unit.size;
            end <= self.limit && has(&free, register)
        };
        let partners = &self.partners[unit.members[0].0 as usize];
        let known = partners.iter().map(|&piece| self.first[piece as usize]);
        let mut hints = known
            .filter(|&first| first != UNPLACED && unit.members.len() == 1)
            .map(u32::from);
        hints
            .find(is_free)
            .or_else(|| lowest(&free).filter(is_free))
    }

    /// Where a unit may begin.
    fn free(&self, unit: &Unit) -> Registers {
        let mut free = aligned(unit.size.next_power_of_two());
        for &(piece, offset) in &unit.members {
            let piece = &self.problem.pieces[piece as usize];
            let mut taken = [0; 4];
            for span in piece.spans {
                for point in &self.taken[span.0 as usize..span.1 as usize] {
                    add(&mut taken, point);
                }
            }
            for word in offset..offset + piece.size {
                let starts = shifted_down(&taken, word);
                free.iter_mut()
                    .zip(starts)
                    .for_each(|(free, taken)| *free &= !taken);
            }
        }
        free
    }

    fn place(&mut self, unit: &Unit, base: u32) {
        self.used = self.used.max(base + unit.size);
        for &(piece, offset) in &unit.members {
            self.first[piece as usize] = (base + offset) as u16;
            let piece = &self.problem.pieces[piece as usize];
            let mut bits = [0; 4];
            for register in base + offset..base + offset + piece.size {
                bits[register as usize / 64] |= 1 << (register % 64);
            }
            add(&mut self.used_by[unit.routine as usize], &bits);
            for span in piece.spans {
                for point in &mut self.taken[span.0 as usize..span.1 as usize] {
                    add(point, &bits);
                }
            }
        }
    }
}

fn add(to: &mut Registers, other: &Registers) {
    to.iter_mut()
        .zip(other)
        .for_each(|(to, other)| *to |= other);
}

fn has(registers: &Registers, register: u32) -> bool {
    registers[register as usize / 64] >> (register % 64) & 1 == 1
}

fn lowest(registers: &Registers) -> Option<u32> {
    let word = registers.iter().position(|&bits| bits != 0)?;
    Some(word as u32 * 64 + registers[word].trailing_zeros())
}

/// Registers that are multiples of 1, 2, 4 or 8.
fn aligned(size: u32) -> Registers {
    [match size {
        1 => u64::MAX,
        2 => 0x5555_5555_5555_5555,
        4 => 0x1111_1111_1111_1111,
        _ => 0x0101_0101_0101_0101,
    }; 4]
}

/// Bit n of the result is bit n + `by`.
fn shifted_down(registers: &Registers, by: u32) -> Registers {
    let above = |word: usize| registers.get(word + 1).copied().unwrap_or(0);
    std::array::from_fn(|word| match by {
        0 => registers[word],
        by => registers[word] >> by | above(word) << (64 - by),
    })
}

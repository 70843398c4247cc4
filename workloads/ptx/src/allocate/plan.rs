//! Which values stay in registers.
//!
//! Values leave their registers one after the other, always one that is live where most registers are needed, until what is left
//! can be coloured. The sequence does not depend on the limit, so that a higher limit never spills more.

use super::MAX_REGISTERS;
use super::colour::{Clobber, Colouring, Piece, Problem, colour};
use super::operands::{Role, visit};
use super::pieces::{Accesses, Home, remade};
use super::routines::Routines;
use super::webs::{NONE, POINTS, Span, WRITE, Webs};
use crate::cfg::Blocks;
use crate::program::{Entry, Long1, Op, SlotKind, Word1};

/// Which registers are given out: predicates have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    General,
    Predicate,
}

impl Class {
    /// Registers that a value of this kind takes; zero if it is of the other class.
    pub fn size(self, kind: SlotKind) -> u32 {
        match (self, kind) {
            (Class::General, SlotKind::Word) | (Class::Predicate, SlotKind::Predicate) => 1,
            (Class::General, SlotKind::Double) => 2,
            _ => 0,
        }
    }
}

/// Everything about an entry that does not change while values leave their registers.
pub(super) struct Analysis<'e> {
    pub entry: &'e Entry,
    pub class: Class,
    pub webs: Webs,
    pub accesses: Accesses,
    pub routines: Routines,
    /// For each routine, its place in the order of colouring.
    ranks: Vec<u32>,
    /// Of each web, how often it is accessed for each point of its life, loops counted eightfold; infinite if it cannot leave.
    costs: Vec<f64>,
    /// Where each web goes if it leaves its register.
    away: Vec<Home>,
    /// Webs of the class as they begin to live.
    by_start: Vec<u32>,
}

/// How much more often code in a loop runs, by Chaitin's rule of thumb ("Register allocation and spilling via graph coloring", 1982:
/// tenfold; a power of two keeps sums exact).
const LOOP: f64 = 8.0;
/// Spilling goes on by this part of the registers needed at a time, by one where that is less.
const STEPS: u32 = 32;

/// Loops deeper than this are counted as this deep.
const DEEPEST: i32 = 8;

impl<'e> Analysis<'e> {
    pub fn of(entry: &'e Entry, class: Class) -> Self {
        let blocks = Blocks::of(&entry.code);
        let webs = Webs::of(entry, &blocks, class);
        let accesses = Accesses::of(entry, &webs);
        let routines = Routines::of(entry);
        let mut ranks = vec![0; routines.all.len()];
        for (rank, &routine) in routines.order.iter().enumerate() {
            ranks[routine] = rank as u32;
        }
        let mut analysis = Self {
            entry,
            class,
            webs,
            accesses,
            routines,
            ranks,
            costs: Vec::new(),
            away: Vec::new(),
            by_start: Vec::new(),
        };
        analysis.weigh();
        let webs = (0..analysis.webs.webs.len()).filter(|&web| analysis.is_of_class(web));
        analysis.by_start = webs.map(|web| web as u32).collect();
        let start = |web: &u32| analysis.webs.webs[*web as usize].spans.first().copied();
        analysis.by_start.sort_by_key(start);
        analysis
    }

    fn is_of_class(&self, web: usize) -> bool {
        self.class.size(self.webs.webs[web].kind) > 0
    }

    fn weigh(&mut self) {
        let depths = depths(self.entry);
        let begins = |at: usize| {
            let routine = &self.routines.all[self.routines.holding(at)];
            routine.code.start as u32 * POINTS
        };
        for (web, value) in self.webs.webs.iter().enumerate() {
            let away = match self.is_of_class(web) {
                true => remade(self.entry, &self.webs, &self.accesses, web, begins),
                false => None,
            };
            let weight = |at: u32| LOOP.powi(depths[at as usize].min(DEEPEST));
            let accesses = self.accesses.of_web(web).iter();
            let cost: f64 = accesses
                .map(|access| {
                    let (reads, writes) = (f64::from(access.reads), f64::from(access.writes));
                    weight(access.at)
                        * match away {
                            Some(Home::Preset(_)) => 0.0,
                            Some(_) => reads,
                            None => reads + writes,
                        }
                })
                .sum();
            let points: u32 = value.spans.iter().map(|span| span.1 - span.0).sum();
            self.costs.push(cost / f64::from(points.max(1)));
            self.away.push(away.unwrap_or(Home::Elsewhere));
        }
    }
}

/// In how many loops each instruction stands: a branch back makes one of all that lies between.
fn depths(entry: &Entry) -> Vec<i32> {
    let mut ends = vec![0usize; entry.code.len()];
    for (at, inst) in entry.code.iter().enumerate() {
        let targets = match &inst.op {
            Op::Branch { target, .. } => std::slice::from_ref(target),
            Op::BranchIndexed { targets, .. } => targets,
            _ => &[],
        };
        for &target in targets.iter().filter(|&&target| target as usize <= at) {
            ends[target as usize] = ends[target as usize].max(at + 1);
        }
    }
    let mut changes = vec![0; entry.code.len() + 1];
    for (start, &end) in ends.iter().enumerate().filter(|&(_, &end)| end > 0) {
        changes[start] += 1;
        changes[end] -= 1;
    }
    let sums = changes.iter().scan(0, |depth, change| {
        *depth += change;
        Some(*depth)
    });
    sums.collect()
}

/// Where every web is, and the registers that this needs.
pub(super) struct Plan<'a, 'e> {
    pub analysis: &'a Analysis<'e>,
    pub homes: Vec<Home>,
    /// Registers live at each point.
    live: Vec<u32>,
}

/// A piece of a web: all of it, or a moment of it.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub web: u32,
    pub spans: Vec<Span>,
}

/// What of all webs needs a register, and which piece each access uses.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    pub pieces: Vec<Cut>,
    /// Of webs in registers.
    pub of_web: Vec<u32>,
    /// Of accesses of other webs: read, written.
    pub of_access: Vec<[u32; 2]>,
}

impl<'a, 'e> Plan<'a, 'e> {
    /// Everything in registers, except what lives across a call that may come back to its own routine.
    pub fn new(analysis: &'a Analysis<'e>) -> Self {
        let points = analysis.entry.code.len() * POINTS as usize + 1;
        let mut plan = Self {
            analysis,
            homes: vec![Home::Register; analysis.webs.webs.len()],
            live: vec![0; points],
        };
        let mut changes = vec![0i64; points];
        for (web, value) in analysis.webs.webs.iter().enumerate() {
            let size = i64::from(analysis.class.size(analysis.webs.webs[web].kind));
            for span in &value.spans {
                changes[span.0 as usize] += size;
                changes[span.1 as usize] -= size;
            }
        }
        let mut sum = 0;
        for (live, change) in plan.live.iter_mut().zip(changes) {
            sum += change;
            *live = sum as u32;
        }
        let routines = analysis.routines.all.iter();
        let calls = routines.flat_map(|routine| &routine.calls);
        for site in calls.filter(|site| site.recursive) {
            let point = site.at as u32 * POINTS + WRITE;
            for web in 0..analysis.webs.webs.len() {
                if analysis.is_of_class(web) && plan.is_live(web, point) {
                    plan.send_away(web);
                }
            }
        }
        plan
    }

    fn is_live(&self, web: usize, point: u32) -> bool {
        let spans = &self.analysis.webs.webs[web].spans;
        let after = spans.partition_point(|span| span.1 <= point);
        self.homes[web] == Home::Register && spans.get(after).is_some_and(|s| s.0 <= point)
    }

    fn send_away(&mut self, web: usize) {
        let analysis = self.analysis;
        let size = analysis.class.size(analysis.webs.webs[web].kind);
        self.homes[web] = analysis.away[web];
        for span in &analysis.webs.webs[web].spans {
            for point in &mut self.live[span.0 as usize..span.1 as usize] {
                *point -= size;
            }
        }
        for access in analysis.accesses.of_web(web) {
            for span in self.moments(web, *access).into_iter().flatten() {
                for point in &mut self.live[span.0 as usize..span.1 as usize] {
                    *point += size;
                }
            }
        }
    }

    /// When a web that is away needs registers for an access.
    fn moments(&self, web: usize, access: super::pieces::Access) -> [Option<Span>; 2] {
        match self.analysis.away[web] {
            Home::Preset(_) => [None, None],
            Home::Recomputed(_) => [access.read_span(), None],
            _ => [access.read_span(), access.write_span()],
        }
    }

    /// Registers that a routine needs at the most, those of the routines that it calls included.
    fn need(&self, routine: usize, needs: &[u32]) -> u32 {
        let routine = &self.analysis.routines.all[routine];
        let points = routine.code.start * POINTS as usize..routine.code.end * POINTS as usize;
        let own = self.live[points].iter().copied().max();
        let calls = routine.calls.iter().filter(|site| !site.recursive);
        let calls = calls.map(|site| {
            let callees = self.analysis.routines.during(site);
            let most = callees.map(|callee| needs[callee]).max().unwrap_or(0);
            self.live[site.at * POINTS as usize + WRITE as usize] + most
        });
        calls.chain(own).max().unwrap_or(0)
    }

    /// Registers needed at least: no colouring has fewer.
    pub fn least(&self) -> u32 {
        let routines = &self.analysis.routines;
        let mut needs = vec![0; routines.all.len()];
        for &routine in &routines.order {
            needs[routine] = self.need(routine, &needs);
        }
        needs.last().copied().unwrap_or(0)
    }

    /// Registers of 64-bit values at the first point at which most registers are live.
    pub fn in_pairs(&self) -> u32 {
        let most = self.live.iter().max();
        let point = self.live.iter().position(|live| Some(live) == most);
        let webs = self.analysis.webs.webs.iter().enumerate();
        let doubles = webs.filter(|(_, web)| web.kind == SlotKind::Double);
        let live = doubles.filter(|&(web, _)| self.is_live(web, point.unwrap_or(0) as u32));
        2 * live.count() as u32
    }

    /// Takes values out of their registers until clearly fewer are needed; false if that is not possible. What it does depends on
    /// nothing but what was done before.
    pub fn spill(&mut self) -> bool {
        let before = self.least();
        let target = match before {
            0..=MAX_REGISTERS => before - before.div_ceil(STEPS).min(before),
            _ => MAX_REGISTERS,
        };
        let mut needs = vec![0; self.analysis.routines.all.len()];
        for &routine in &self.analysis.routines.order {
            self.lower(routine, target, &needs);
            needs[routine] = self.need(routine, &needs);
        }
        self.least() < before
    }

    /// Takes values out of their registers wherever a routine needs more than `target`.
    fn lower(&mut self, routine: usize, target: u32, needs: &[u32]) {
        let analysis = self.analysis;
        let routine = &analysis.routines.all[routine];
        let (start, end) = (routine.code.start as u32, routine.code.end as u32);
        let (start, end) = (start * POINTS, end * POINTS);
        let mut calls = routine
            .calls
            .iter()
            .filter(|site| !site.recursive)
            .peekable();
        let first = |&web: &u32| {
            analysis.webs.webs[web as usize]
                .spans
                .first()
                .map_or(0, |s| s.0)
        };
        let last = |web: u32| {
            analysis.webs.webs[web as usize]
                .spans
                .last()
                .map_or(0, |s| s.1)
        };
        let from = analysis.by_start.partition_point(|web| first(web) < start);
        let mut coming = analysis.by_start[from..].iter().copied().peekable();
        // Values that have begun to live and have not yet lived for the last time.
        let mut around: Vec<u32> = Vec::new();
        for point in start..end {
            let call = calls.next_if(|site| site.at as u32 * POINTS + WRITE == point);
            let callees = call.map(|site| analysis.routines.during(site));
            let below = callees.into_iter().flatten().map(|callee| needs[callee]);
            let below = below.max().unwrap_or(0);
            while let Some(web) = coming.next_if(|web| first(web) <= point) {
                around.push(web);
            }
            if self.live[point as usize] + below <= target {
                continue;
            }
            around.retain(|&web| last(web) > point && self.homes[web as usize] == Home::Register);
            let mut victims: Vec<u32> = around.clone();
            victims.retain(|&web| self.helps(web as usize, point));
            victims.sort_by(|&a, &b| {
                let cost = |web: u32| analysis.costs[web as usize];
                cost(a).total_cmp(&cost(b)).then(a.cmp(&b))
            });
            for web in victims {
                if self.live[point as usize] + below <= target {
                    break;
                }
                self.send_away(web as usize);
            }
        }
    }

    /// Whether a value is live at a point and would need no register there if it were kept elsewhere.
    fn helps(&self, web: usize, point: u32) -> bool {
        let access = self.analysis.accesses.at(web, (point / POINTS) as usize);
        let spans = access.map(|(_, access)| self.moments(web, access));
        let mut spans = spans.into_iter().flatten().flatten();
        self.is_live(web, point) && !spans.any(|span| span.0 <= point && point < span.1)
    }

    /// What needs registers now.
    pub fn cuts(&self) -> Cuts {
        let analysis = self.analysis;
        let mut cuts = Cuts {
            pieces: Vec::new(),
            of_web: vec![NONE; self.homes.len()],
            of_access: vec![[NONE; 2]; analysis.accesses.len()],
        };
        for (web, home) in self.homes.iter().enumerate() {
            if !analysis.is_of_class(web) {
                continue;
            }
            if *home == Home::Register {
                cuts.of_web[web] = cuts.pieces.len() as u32;
                cuts.pieces.push(Cut {
                    web: web as u32,
                    spans: analysis.webs.webs[web].spans.clone(),
                });
                continue;
            }
            let first = analysis.accesses.first(web);
            for (number, access) in (first..).zip(analysis.accesses.of_web(web)) {
                let moments = self.moments(web, *access);
                for (side, span) in moments.into_iter().enumerate() {
                    let Some(span) = span else { continue };
                    cuts.of_access[number][side] = cuts.pieces.len() as u32;
                    cuts.pieces.push(Cut {
                        web: web as u32,
                        spans: vec![span],
                    });
                }
                if access.merges {
                    cuts.of_access[number][1] = cuts.of_access[number][0];
                }
            }
        }
        cuts
    }

    /// Registers for what needs them; `None` if that takes more than `limit`.
    pub fn colour(&self, cuts: &Cuts, limit: u32) -> Option<Colouring> {
        let least = self.least();
        if least > limit {
            return None;
        }
        let analysis = self.analysis;
        let pieces = cuts.pieces.iter().map(|cut| {
            let point = cut.spans.first().map_or(0, |span| span.0);
            let routine = analysis.routines.holding((point / POINTS) as usize);
            Piece {
                size: analysis
                    .class
                    .size(analysis.webs.webs[cut.web as usize].kind),
                spans: &cut.spans,
                routine: analysis.ranks[routine],
            }
        });
        let problem = Problem {
            pieces: pieces.collect(),
            groups: self.groups(cuts),
            clobbers: self.clobbers(),
            copies: self.copies(cuts),
            limit,
            points: self.live.len() as u32,
        };
        colour(&problem, least)
    }

    fn clobbers(&self) -> Vec<Clobber> {
        let analysis = self.analysis;
        let order = analysis.routines.order.iter();
        let sites = order.flat_map(|&routine| {
            let calls = analysis.routines.all[routine].calls.iter();
            calls.map(move |site| (routine, site))
        });
        let clobbers = sites.filter(|(_, site)| !site.recursive);
        clobbers
            .map(|(routine, site)| {
                let point = site.at as u32 * POINTS + WRITE;
                let during = analysis.routines.during(site);
                Clobber {
                    caller: analysis.ranks[routine],
                    during: during.map(|callee| analysis.ranks[callee]).collect(),
                    span: (point, point + 1),
                }
            })
            .collect()
    }

    /// The piece that an instruction's access uses.
    pub fn piece(&self, cuts: &Cuts, web: u32, at: usize, role: Role) -> Option<u32> {
        let piece = match cuts.of_web[web as usize] {
            NONE => {
                let (number, _) = self.analysis.accesses.at(web as usize, at)?;
                cuts.of_access[number][usize::from(role == Role::Write)]
            }
            piece => piece,
        };
        Some(piece).filter(|&piece| piece != NONE)
    }

    /// The registers that vector loads and stores need side by side.
    fn groups(&self, cuts: &Cuts) -> Vec<Vec<u32>> {
        let mut groups = Vec::new();
        for (at, inst) in self.analysis.entry.code.iter().enumerate() {
            let (access, role, skip) = match inst.op {
                Op::Load(access) => (access, Role::Write, 0),
                Op::Store(access) => (access, Role::Read, 1),
                _ => continue,
            };
            let kind = match access.element.bytes() {
                4 => SlotKind::Word,
                8 => SlotKind::Double,
                _ => continue, // packed into fewer registers
            };
            if access.count < 2 || self.analysis.class != Class::General {
                continue;
            }
            let mut found = self.analysis.webs.of_instruction(at).iter();
            let mut pieces = Vec::new();
            visit(inst, |slot, used| {
                if let Some(&web) = found.next()
                    && used == role
                {
                    let web = Some(web).filter(|&web| web != NONE && slot.kind == kind);
                    pieces.push(web.and_then(|web| self.piece(cuts, web, at, role)));
                }
            });
            let group: Option<Vec<u32>> = pieces.into_iter().skip(skip).collect();
            let apart = |group: &Vec<u32>| {
                let mut sorted = group.clone();
                sorted.sort_unstable();
                sorted.windows(2).all(|pair| pair[0] != pair[1])
            };
            groups.extend(
                group
                    .filter(|group| group.len() == usize::from(access.count))
                    .filter(apart),
            );
        }
        groups
    }

    /// Sources and destinations of moves.
    fn copies(&self, cuts: &Cuts) -> Vec<(u32, u32)> {
        let mut copies = Vec::new();
        for (at, inst) in self.analysis.entry.code.iter().enumerate() {
            let copies_register =
                matches!(inst.op, Op::Word1(Word1::Copy) | Op::Long1(Long1::Copy));
            let &[from, .., to] = self.analysis.webs.of_instruction(at) else {
                continue;
            };
            if !copies_register || from == NONE || to == NONE {
                continue;
            }
            let from = self.piece(cuts, from, at, Role::Read);
            let to = self.piece(cuts, to, at, Role::Write);
            copies.extend(from.zip(to));
        }
        copies
    }
}

//! Data races: accesses to one place, one of them a plain store, that nothing puts in an order.
//!
//! What orders accesses: a warp's program; barriers of a CTA; and, across warps and CTAs, a fence that is followed by an atomic on a place that
//! the other one's atomic reads later. Clocks are vectors with one count a warp of the CTA (Mattern, "Virtual Time and Global States of
//! Distributed Systems", 1989); an access races with an earlier one whose warp's count then is beyond what its own warp knows of that warp
//! (Pozniansky, Schuster, "Efficient On-the-Fly Data Race Detection in Multithreaded C++ Programs", PPoPP 2003). Of reads and writes a place keeps
//! those that no later one is ordered behind. Lanes of a warp run in lockstep and do not race with each other.

mod clocks;
mod finding;
mod shadow;

pub use finding::{AccessKind, Party, Race, RaceKind};

use warpwatt_ptx::types::Space;

use clocks::Clocks;
use finding::Findings;
use shadow::{Access, Shadow};

use crate::trace::{LaneMask, lanes};

/// Places are words of this many bytes, of which each access names those that it touches.
const WORD: u64 = 4;

/// Looks for races while a launch is executed.
#[derive(Debug)]
pub(crate) struct Watch {
    grid: [u32; 3],
    clocks: Clocks,
    shared: Shadow,
    global: Shadow,
    findings: Findings,
}

/// An access of a warp.
pub(crate) struct Seen<'a> {
    pub warp: u32,
    pub line: u32,
    pub kind: AccessKind,
    /// As the instruction names it.
    pub space: Space,
    pub executed: LaneMask,
    pub addresses: &'a [u64],
    /// Bytes that a lane accesses.
    pub bytes: u32,
    /// Lanes whose bytes are not what they were.
    pub changed: LaneMask,
}

impl Watch {
    /// Watches a launch of CTAs of so many warps.
    pub fn new(grid: [u32; 3], warps: usize) -> Self {
        Self {
            grid,
            clocks: Clocks::new(warps),
            shared: Shadow::of_undefined(),
            global: Shadow::default(),
            findings: Findings::default(),
        }
    }

    /// The next CTA begins.
    pub fn start(&mut self, [x, y, z]: [u32; 3]) {
        let [width, height, _] = self.grid;
        self.clocks.start((z * height + y) * width + x);
        self.shared.clear();
    }

    /// A warp executes a fence.
    pub fn fence(&mut self, warp: u32) {
        self.clocks.fence(warp);
    }

    /// A warp arrives at a barrier without waiting.
    pub fn arrive(&mut self, warp: u32, barrier: u32) {
        self.clocks.arrive(warp, barrier);
    }

    /// A barrier opens for the warps that wait at it.
    pub fn open(&mut self, warps: impl Iterator<Item = u32> + Clone, barrier: u32) {
        self.clocks.open(warps, barrier);
    }

    /// A warp uses one of the `mbarrier`s of the CTA, which are taken for one.
    pub fn mbarrier(&mut self, warp: u32) {
        self.clocks.mbarrier(warp);
    }

    /// A warp accesses memory; `name` says what lies at an address of global memory.
    pub fn access(&mut self, seen: &Seen<'_>, name: impl Fn(u64) -> String) {
        for lane in lanes(seen.executed) {
            let (space, address) = actual(seen.space, seen.addresses[lane as usize]);
            let changed = seen.changed >> lane & 1 != 0;
            if matches!(space, Space::Shared | Space::Global) {
                self.lane(seen, space, address, changed, &name);
            }
            if seen.kind == AccessKind::Atomic {
                self.clocks.atomic(seen.warp, space, address);
            }
        }
        if seen.kind == AccessKind::Atomic {
            self.clocks.tick(seen.warp);
        }
    }

    fn lane(
        &mut self,
        seen: &Seen<'_>,
        space: Space,
        address: u64,
        changed: bool,
        name: impl Fn(u64) -> String,
    ) {
        let end = address + u64::from(seen.bytes);
        let shadow = match space {
            Space::Shared => &mut self.shared,
            _ => &mut self.global,
        };
        for word in address / WORD..end.div_ceil(WORD) {
            let first = address.max(word * WORD) % WORD;
            let count = end.min((word + 1) * WORD) - word * WORD - first;
            let access = Access {
                cta: self.clocks.cta,
                warp: seen.warp,
                clock: self.clocks.now(seen.warp),
                line: seen.line,
                kind: seen.kind,
                bytes: ((1 << count) - 1) << first,
                changed,
            };
            let (findings, grid) = (&mut self.findings, self.grid);
            shadow.access(word, access, &self.clocks, |earlier, access| {
                let place = word * WORD;
                findings.race(space, place, [earlier, access], grid, || name(place));
            });
        }
    }

    /// Lanes of one store that put different values in one place; of them the last one's stays.
    pub fn lanes_differ(&mut self, seen: &Seen<'_>, lane: u32, name: impl Fn(u64) -> String) {
        let (space, address) = actual(seen.space, seen.addresses[lane as usize]);
        let access = Access {
            cta: self.clocks.cta,
            warp: seen.warp,
            clock: 0,
            line: seen.line,
            kind: seen.kind,
            bytes: 0,
            changed: true,
        };
        let grid = self.grid;
        self.findings
            .lanes(space, address, &access, grid, || name(address));
    }

    /// What was found, in the order of lines.
    pub fn races(self) -> Vec<Race> {
        self.findings.races()
    }
}

/// The memory that an address lies in, and where there.
fn actual(space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic => {
            let space = Space::of(address);
            (space, address - space.window_base())
        }
        space => (space, address),
    }
}

//! What is to be seen of an SM from outside: by those who look on, and in the report of a run that is stuck.

use super::{Head, Sm};
use crate::counters::Counter;

/// What a warp does, or what its oldest instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarpState {
    /// It can go, as soon as its scheduler chooses it and a collector and its unit have room.
    Ready,
    /// For the result of a load.
    Memory,
    /// For a result of the pipeline, or for a free region of the scoreboard.
    Dependence,
    /// At a barrier.
    Barrier,
    /// For a line of the instruction cache.
    Icache,
    /// For a branch to be resolved.
    Branch,
    /// For its fetch and decode.
    Fetch,
    /// All has been issued; the last results are on their way.
    Drain,
}

impl WarpState {
    /// In words, after "the warp".
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "is ready to issue",
            Self::Memory => "waits for the result of a load",
            Self::Dependence => "waits for a result of the pipeline",
            Self::Barrier => "waits at a barrier",
            Self::Icache => "waits for an I-cache line",
            Self::Branch => "waits for a branch",
            Self::Fetch => "waits for fetch",
            Self::Drain => "has issued everything",
        }
    }
}

/// A warp in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpView {
    /// Of all warps of the SM, the how manieth: two warps in one slot have different numbers.
    pub serial: u64,
    /// Its CTA's number in the grid.
    pub cta: u32,
    /// The cycle in which it was placed.
    pub placed: u64,
    /// Instructions that it has issued.
    pub issued: u64,
    /// What it does.
    pub state: WarpState,
    /// Whether the result of a load or an atomic is on its way to it.
    pub loading: bool,
}

impl Sm {
    pub fn number(&self) -> u16 {
        self.id
    }

    /// Cycles before this one are put down to something.
    pub fn accounted(&self) -> u64 {
        self.accounted
    }

    /// What those from there on are put down to.
    pub fn why(&self) -> Counter {
        self.why
    }

    /// Slots with a warp.
    pub fn live(&self) -> u64 {
        self.live
    }

    pub fn transactions(&self) -> u32 {
        self.loads.in_flight
    }

    pub fn counted(&self, counter: Counter) -> u64 {
        self.counts.get(counter)
    }

    pub fn warp_view(&self, index: usize) -> WarpView {
        let warp = &self.warps[index];
        WarpView {
            serial: self.ages.placed[index],
            cta: self.ctas[usize::from(warp.cta)].number,
            placed: warp.placed,
            issued: warp.issued,
            state: self.state(index),
            loading: self.loading >> index & 1 != 0,
        }
    }

    /// What the warp in slot `index` does.
    fn state(&self, index: usize) -> WarpState {
        let bit = 1 << index;
        let warp = &self.warps[index];
        if self.at_barrier & bit != 0 {
            return WarpState::Barrier;
        }
        match warp.head {
            Head::Ready(_) => WarpState::Ready,
            Head::Blocked if self.loading & bit != 0 => WarpState::Memory,
            Head::Blocked => WarpState::Dependence,
            Head::Absent if self.missing & bit != 0 => WarpState::Icache,
            Head::Absent if warp.exhausted() => WarpState::Drain,
            Head::Absent if warp.branch => WarpState::Branch,
            Head::Absent => WarpState::Fetch,
        }
    }

    /// What every warp waits for, CTA after CTA; warps of a CTA that wait for the same at the same instruction share a line.
    pub fn states(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for cta in self.ctas.iter().filter(|cta| cta.warps() != 0) {
            let mut rest = cta.warps();
            while rest != 0 {
                let first = rest.trailing_zeros() as usize;
                let like_first = |&index: &usize| self.stands(index) == self.stands(first);
                let alike: Vec<usize> = bits(rest).filter(like_first).collect();
                for index in &alike {
                    rest &= !(1 << index);
                }
                lines.push(self.line(cta.number, &alike));
            }
        }
        lines
    }

    /// What a warp does, the barrier at which it waits, and the instruction that comes next.
    fn stands(&self, index: usize) -> (WarpState, Option<u8>, Option<u32>) {
        let warp = &self.warps[index];
        let barrier = self.ctas[usize::from(warp.cta)].waits_at(index);
        (self.state(index), barrier, warp.coming())
    }

    /// Warps of one CTA that do the same, `alike` by their slots.
    fn line(&self, cta: u32, alike: &[usize]) -> String {
        let (state, barrier, inst) = self.stands(alike[0]);
        let slots: Vec<String> = alike.iter().map(usize::to_string).collect();
        let (warps, name) = match alike.len() {
            1 => ("warp", state.name().to_owned()),
            _ => ("warps", plural(state)),
        };
        let name = match barrier {
            Some(number) => name.replace("a barrier", &format!("barrier {number}")),
            None => name,
        };
        let at = inst.map_or_else(String::new, |inst| format!(", next is instruction {inst}"));
        let loads = match alike.iter().any(|&index| self.loading >> index & 1 != 0) {
            true => ", with loads on their way",
            false => "",
        };
        format!(
            "  SM {}, CTA {cta}, {warps} in slot {}: {name}{at}{loads}",
            self.id,
            slots.join(", ")
        )
    }
}

/// The name of a state for several warps: "waits" becomes "wait".
fn plural(state: WarpState) -> String {
    let (verb, rest) = state.name().split_once(' ').unwrap_or((state.name(), ""));
    let verb = match verb {
        "is" => "are",
        "has" => "have",
        verb => verb.trim_end_matches('s'),
    };
    format!("{verb} {rest}")
}

/// The numbers of the bits of a mask.
fn bits(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| mask >> bit & 1 != 0)
}

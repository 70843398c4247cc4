//! Barriers of a CTA: who waits, who has arrived, whether they open, and what is wrong if they do not.

use std::collections::BTreeMap;

use warpwatt_ptx::Entry;
use warpwatt_ptx::cfg::Blocks;

use crate::error::{Cause, WaitingBarrier};
use crate::warp::{Ballot, Wait};

/// Barriers of a CTA (PTX ISA 8.x, section 9.7.13.1).
pub(crate) const BARRIERS: u32 = 16;

/// The first of the barriers at which warpgroups wait for their products, one a warpgroup: beyond those that a kernel can name.
pub(crate) const WARPGROUP_BARRIERS: u32 = 1 << 16;

/// Threads that announced themselves at each barrier without waiting (`bar.arrive`), and for how many in all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(BTreeMap<u32, Arrived>);

#[derive(Clone, Copy, Debug)]
struct Arrived {
    threads: u32,
    /// The thread counts that they named.
    named: u32,
    disagree: bool,
}

impl Arrivals {
    /// `width` threads arrive at a barrier of `named`.
    pub fn add(&mut self, id: u32, named: u32, width: u32) {
        let arrived = self.0.entry(id).or_insert(Arrived {
            threads: 0,
            named,
            disagree: false,
        });
        arrived.threads += width;
        arrived.disagree |= arrived.named != named;
    }

    /// Threads that have arrived.
    pub fn threads(&self, id: u32) -> u32 {
        self.0.get(&id).map_or(0, |arrived| arrived.threads)
    }

    /// The barrier opens.
    pub fn clear(&mut self, id: u32) {
        self.0.remove(&id);
    }
}

/// The warps that wait at one barrier.
pub(crate) struct Queue {
    pub id: u32,
    /// The first warp's instruction and its line.
    pub at: u32,
    pub line: u32,
    /// Threads that wait.
    pub arrived: u32,
    /// The votes of all.
    pub ballot: Ballot,
    threads: Option<u32>,
    warps: Vec<u32>,
    width: u32,
    difference: Option<String>,
}

impl Queue {
    /// The queue of barrier `id`, if a warp waits; `waiting` are the warps' numbers and what they wait for, `all` the threads of the CTA,
    /// in whole warps of `width`.
    pub fn of(id: u32, waiting: &[(usize, Wait)], [all, width]: [u32; 2]) -> Option<Self> {
        let (_, first) = *waiting.first()?;
        let mut ballot = Ballot::default();
        for votes in waiting.iter().filter_map(|(_, wait)| wait.ballot) {
            ballot.yes += votes.yes;
            ballot.of += votes.of;
        }
        Some(Self {
            id,
            at: first.at,
            line: first.line,
            arrived: waiting.len() as u32 * width,
            ballot,
            threads: first.threads,
            warps: waiting.iter().map(|(warp, _)| *warp as u32).collect(),
            width,
            difference: difference(waiting, all),
        })
    }

    /// Whether all threads of the CTA are to come.
    pub fn of_all(&self) -> bool {
        self.threads.is_none()
    }

    /// Threads that must arrive; `live` threads of the CTA have not exited.
    pub fn needed(&self, live: u32, arrivals: &Arrivals) -> Result<u32, Cause> {
        let mut difference = self.difference.clone();
        if let Some(arrived) = arrivals.0.get(&self.id)
            && (arrived.disagree || self.threads.is_some_and(|count| count != arrived.named))
        {
            difference = Some(format!(
                "warps arrive for {} threads and wait for {}",
                arrived.named,
                count(self.threads)
            ));
        }
        match (difference, self.threads) {
            (Some(difference), _) => Err(Cause::BarrierMismatch {
                barrier: self.id,
                difference,
            }),
            (None, Some(threads)) => Ok(threads
                .checked_next_multiple_of(self.width)
                .unwrap_or(u32::MAX)),
            (None, None) => Ok(live),
        }
    }

    /// What to say if it cannot open.
    pub fn stuck(&self, arrived: u32, needed: u32) -> WaitingBarrier {
        WaitingBarrier {
            barrier: self.id,
            line: self.line,
            warps: self.warps.clone(),
            arrived,
            needed,
        }
    }
}

/// In what two warps that wait at one barrier differ though they must not.
fn difference(waiting: &[(usize, Wait)], all: u32) -> Option<String> {
    let (first_warp, first) = waiting.first()?;
    let threads = |wait: &Wait| wait.threads.unwrap_or(all);
    let other = waiting.iter().find(|(_, wait)| {
        threads(wait) != threads(first) || wait.ballot.is_some() != first.ballot.is_some()
    });
    let (warp, wait) = other?;
    let lines = format!(
        "warp {first_warp} at line {} and warp {warp} at line {}",
        first.line, wait.line
    );
    Some(if threads(wait) == threads(first) {
        format!("of {lines} only one counts votes")
    } else {
        format!(
            "{lines} wait for {} and {}",
            count(first.threads),
            count(wait.threads)
        )
    })
}

fn count(threads: Option<u32>) -> String {
    threads.map_or("all threads".to_owned(), |threads| {
        format!("{threads} threads")
    })
}

/// Which instructions come after a barrier on every way from it to the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct AfterBarriers {
    known: BTreeMap<[u32; 2], bool>,
}

impl AfterBarriers {
    /// Whether who has come through `inst` has gone past the instruction `barrier`.
    pub fn is_after(&mut self, entry: &Entry, inst: u32, barrier: u32) -> bool {
        *self
            .known
            .entry([inst, barrier])
            .or_insert_with(|| passes(entry, inst, barrier))
    }
}

/// Whether who has come through `inst` has gone past the instruction `barrier`: every way from there to the end leads through `inst`, and none from `inst` back. A
/// loop with a barrier may be left before others leave it.
pub(crate) fn passes(entry: &Entry, inst: u32, barrier: u32) -> bool {
    let blocks = Blocks::of(&entry.code);
    let block_of = |at: u32| blocks.starts.partition_point(|&start| start <= at) - 1;
    let (wanted, mut block) = (block_of(inst), block_of(barrier));
    if leads_to(&blocks, wanted, block) {
        return false;
    }
    if wanted == block {
        return inst > barrier;
    }
    let dominators = blocks.post_dominators();
    while let Some(Some(next)) = dominators.get(block) {
        if *next as usize == wanted {
            return true;
        }
        if *next as usize == block {
            return false;
        }
        block = *next as usize;
    }
    false
}

/// Whether a way leads from the end of one block to the beginning of another.
fn leads_to(blocks: &Blocks, from: usize, to: usize) -> bool {
    let mut seen = vec![false; blocks.starts.len()];
    let mut left = vec![from];
    while let Some(block) = left.pop() {
        // The exit has none.
        let next = blocks.successors.get(block).into_iter().flatten();
        for next in next.map(|&next| next as usize) {
            if next == to {
                return true;
            }
            if seen.get(next) == Some(&false) {
                seen[next] = true;
                left.push(next);
            }
        }
    }
    false
}

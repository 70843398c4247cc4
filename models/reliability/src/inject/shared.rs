//! What a CTA does with its shared memory, and in which order of time.

use rustc_hash::FxHashMap;
use warpwatt_gpu::trace::{KernelTrace, MemoryOpKind, Space};

use super::{Fate, WarpLine};

/// Reads and writes of each word of a CTA's shared memory, by time.
pub struct Accesses {
    words: FxHashMap<u64, Vec<Access>>,
    /// Of each warp its accesses: number of the step, and when.
    steps: Vec<Vec<(u32, u64)>>,
    /// Instructions of each warp.
    lengths: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    /// A flip in an earlier cycle is there when it comes.
    until: u64,
    warp: u32,
    step: u32,
    /// Which bytes of the word.
    bytes: u8,
    reads: bool,
}

const WORD: u64 = 4;

impl Accesses {
    /// Those of a CTA of `trace`; `lines` are its warps'.
    ///
    /// # Panics
    /// As [`KernelTrace::warp_held`].
    pub fn of(trace: &KernelTrace, lines: &[WarpLine], cta: usize) -> Self {
        let mut accesses = Self {
            words: FxHashMap::default(),
            steps: vec![Vec::new(); lines.len()],
            lengths: lines.iter().map(|line| line.steps.len() as u64).collect(),
        };
        for (warp, line) in lines.iter().enumerate() {
            for ((step, dynamic), moments) in (0..).zip(trace.warp_held(cta, warp)).zip(&line.steps)
            {
                let inst = &trace.code[dynamic.inst as usize];
                let (Some(memory), Some(addresses)) = (inst.memory, &dynamic.addresses) else {
                    continue;
                };
                let mut any = false;
                addresses.for_each(dynamic.executed, |_, address| {
                    let Some(offset) = offset(memory.space, address) else {
                        return;
                    };
                    any = true;
                    let access = Access {
                        until: moments.accessed,
                        warp: warp as u32,
                        step,
                        bytes: 0,
                        reads: memory.kind != MemoryOpKind::Store,
                    };
                    accesses.add(offset, u64::from(memory.bytes), access);
                });
                if any {
                    accesses.steps[warp].push((step, moments.accessed));
                }
            }
        }
        for of_word in accesses.words.values_mut() {
            of_word.sort_unstable();
        }
        accesses
    }

    fn add(&mut self, offset: u64, bytes: u64, access: Access) {
        for word in offset / WORD..(offset + bytes).div_ceil(WORD) {
            let first = offset.max(word * WORD) - word * WORD;
            let end = (offset + bytes).min((word + 1) * WORD) - word * WORD;
            let bytes = ((1u16 << end) - (1 << first)) as u8;
            let list = self.words.entry(word).or_default();
            list.push(Access { bytes, ..access });
        }
    }

    /// What becomes of a flip in byte `byte` in `cycle`, and which warp reads it if one does.
    pub fn next(&self, byte: u64, cycle: u64) -> (Fate, u32) {
        let list = self.words.get(&(byte / WORD));
        let list = list.map_or(&[][..], Vec::as_slice);
        let after = list.partition_point(|access| access.until <= cycle);
        let mut here = list[after..].iter();
        match here.find(|access| access.bytes >> (byte % WORD) & 1 != 0) {
            Some(access) if access.reads => {
                let until = access.until.saturating_sub(1);
                let step = access.step;
                (Fate::Read { step, until }, access.warp)
            }
            _ => (Fate::Dead, 0),
        }
    }

    /// From when to when flips in a byte have the same fate, from `from` to `to`.
    pub fn lives(&self, byte: u64, from: u64, to: u64) -> Vec<(u64, u64, Fate)> {
        let list = self.words.get(&(byte / WORD));
        let list = list.map_or(&[][..], Vec::as_slice);
        let mut lives = Vec::new();
        let mut since = from;
        while since < to {
            let mut ends = list.iter().filter(|it| it.bytes >> (byte % WORD) & 1 != 0);
            let end = ends.find(|it| it.until > since).map_or(to, |it| it.until);
            lives.push((since, end.min(to), self.next(byte, since).0));
            since = end;
        }
        lives
    }

    /// How many instructions each warp has executed of those that access shared memory by `cycle`: up to its first access after that.
    pub fn cut(&self, cycle: u64) -> Vec<u64> {
        let warps = self.steps.iter().zip(&self.lengths);
        let cuts = warps.map(|(steps, length)| {
            let first = steps.iter().find(|(_, until)| *until > cycle);
            first.map_or(*length, |(step, _)| u64::from(*step))
        });
        cuts.collect()
    }
}

/// Where in shared memory an address lies, if it does.
fn offset(space: Space, address: u64) -> Option<u64> {
    match space {
        Space::Shared => Some(address),
        Space::Generic if Space::of(address) == Space::Shared => {
            Some(address - Space::Shared.window_base())
        }
        _ => None,
    }
}

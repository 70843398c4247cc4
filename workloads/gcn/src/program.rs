//! Code as it is executed: decoded once, with branches that know where they go.

use crate::decode::{Inst, Refused, decode};
use crate::object::{IMAGE_BASE, Object};

/// An instruction at its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The instruction, or why there is none.
    pub inst: Result<Inst, Refused>,
    /// First byte, from the code's first one on.
    pub offset: u32,
    /// Where a branch goes.
    pub target: u32,
}

/// No instruction begins there.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The decoded code of an object.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub code: Vec<Placed>,
    /// The instruction that begins at each word.
    at: Vec<u32>,
    base: u64,
}

impl Program {
    /// Decodes an object's code from its first word to its last one.
    pub fn new(object: &Object) -> Self {
        let words = object.words();
        let mut at = vec![NOWHERE; words.len()];
        let mut code = Vec::new();
        let mut word = 0;
        while word < words.len() {
            at[word] = code.len() as u32;
            let inst = decode(&words[word..]);
            code.push(Placed {
                inst,
                offset: 4 * word as u32,
                target: NOWHERE,
            });
            word += inst.map_or(1, |inst| usize::from(inst.words));
        }
        for placed in &mut code {
            if let Ok(inst) = placed.inst
                && inst.op.is_branch()
            {
                let next = i64::from(placed.offset / 4) + i64::from(inst.words);
                let target = next + i64::from(inst.literal as u16 as i16);
                let target = usize::try_from(target)
                    .ok()
                    .and_then(|target| at.get(target));
                placed.target = target.copied().unwrap_or(NOWHERE);
            }
        }
        Self {
            code,
            at,
            base: IMAGE_BASE + object.code.start,
        }
    }

    /// The instruction at an address.
    pub fn find(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.base)?;
        let at = *self.at.get(usize::try_from(offset / 4).ok()?)?;
        (offset.is_multiple_of(4) && at != NOWHERE).then_some(at)
    }

    /// Where an instruction lies.
    pub fn address(&self, at: u32) -> u64 {
        self.base + u64::from(self.code[at as usize].offset)
    }

    /// Where the one behind it lies.
    pub fn address_behind(&self, at: u32) -> u64 {
        let placed = &self.code[at as usize];
        self.address(at) + placed.inst.map_or(4, |inst| u64::from(inst.bytes()))
    }
}

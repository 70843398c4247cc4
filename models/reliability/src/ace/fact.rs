//! What the pass says of a warp instruction.

use warpwatt_simt::trace::LaneMask;

/// Whether a warp instruction is needed for architecturally correct execution (Mukherjee et al., MICRO 2003, section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may change the output: an ACE instruction.
    #[default]
    Needed,
    /// Nothing that is needed depends on its results: dynamically dead, at first or any later hand.
    Dead,
    /// No lane executes it: its guard is false in all of them.
    SwitchedOff,
    /// It has no results: fences and hints.
    Neutral,
}

/// What is to be said of a warp instruction. Numbers of bits are over all lanes; words are those of the vector register file, a double being two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fact {
    /// Whether it is needed.
    pub verdict: Verdict,
    /// Lanes whose results, or whose stored values, are needed.
    pub lanes: LaneMask,
    /// For each word that it writes, in the order of the destinations: bits that are needed afterwards.
    pub written: Vec<u32>,
    /// For each word that it reads, in the order of the sources: bits that it needs.
    pub read: Vec<u32>,
    /// Of these, bits that nothing needs any more before they are written again.
    pub last: Vec<u32>,
    /// At calls and returns, for each word of the warp's registers: bits that nothing needs any more. Empty elsewhere.
    pub rest: Vec<u32>,
}

impl Fact {
    pub(crate) fn clear(&mut self) {
        self.verdict = Verdict::Needed;
        self.lanes = 0;
        self.written.clear();
        self.read.clear();
        self.last.clear();
        self.rest.clear();
    }
}

//! What SMs ask of the memory system, and what comes back.

/// A coalesced request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Address of its line or segment.
    pub base: u64,
    /// Its sectors.
    pub mask: u8,
    /// Atomics on one address, at most.
    pub repeats: u8,
    /// Whether it tells which bytes it writes.
    pub masked: bool,
    /// Whether the other partition of the second-level cache asks, for its request `cookie`.
    pub crossing: bool,
    pub kind: Kind,
    pub sm: u16,
    /// Where it goes: a slice, or a controller where there is no second-level cache.
    pub slice: u16,
    /// What the SM knows it by.
    pub cookie: u32,
}

/// An answer on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub kind: Kind,
    pub mask: u8,
    pub sm: u16,
    pub cookie: u32,
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Data for the first-level cache, or where there is none.
    Load,
    /// Data that pass the first-level cache by: of copies, and of loads that say so.
    Copy,
    Store,
    Atomic,
    /// A line of instructions.
    Code,
    /// A line of constants.
    Constant,
    /// A line of a texture.
    Texture,
}

impl Kind {
    pub(crate) fn carries_data(self) -> bool {
        matches!(self, Self::Store | Self::Atomic)
    }
}

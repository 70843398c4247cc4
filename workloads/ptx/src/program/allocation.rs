//! How the registers of an entry were allocated.

/// What allocation made of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// 32-bit registers that the program's own values need at the least: as many are live at once.
    pub live: u32,
    /// How many of them 64-bit values take, where most are live; calls left aside.
    pub live_in_pairs: u32,
    /// The limit that was kept.
    pub limit: u32,
    /// What does not fit into registers.
    pub spills: Spills,
}

/// What the program needed beyond registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spills {
    /// Values that are not kept in registers.
    pub values: u32,
    /// Instructions that load them.
    pub loads: u32,
    /// Instructions that store them.
    pub stores: u32,
    /// Bytes of local memory that they take, of all routines.
    pub bytes: u32,
    /// Instructions that make values anew instead.
    pub recomputations: u32,
    /// Instructions that move predicates to and from 32-bit registers.
    pub predicate_moves: u32,
}

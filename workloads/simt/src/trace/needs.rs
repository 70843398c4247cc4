//! How an instruction uses its sources: which flips of their bits can reach its results.

/// How an instruction uses what it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// One entry a source, in their order.
    pub sources: Vec<Need>,
    /// It may access memory beyond the addresses that a step tells.
    pub opaque: bool,
}

/// How an instruction uses one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is used for.
    pub role: Role,
    /// Bits that can matter; flips of the others never do.
    pub bits: u64,
}

/// What a source is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It decides where control goes, or what others see: always needed.
    Always,
    /// The guard: it decides whether a lane executes.
    Guard,
    /// An address: needed if the access is.
    Address,
    /// It is stored.
    Stored,
    /// Any bit of the results may depend on any of its bits.
    Whole,
    /// A bit of the result depends on the same bit alone.
    Bitwise,
    /// A bit of the result depends on bits that are not above it: sums, differences, products.
    NotAbove,
    /// A bit of the result depends on the bit so many places below it: a shift to the left by a literal; negative to the right.
    Shifted(i8),
    /// A bit of the result depends on the same bit, of any lane.
    BitwiseOfLanes,
    /// Results of any lane depend on it.
    OfLanes,
}

impl Need {
    /// What is always needed: the rule where nothing is known.
    pub const ALL: Self = Self {
        role: Role::Always,
        bits: u64::MAX,
    };

    /// What a source is needed for that is used in two ways.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let bits = self.bits | other.bits;
        let role = match (self.role, other.role) {
            (one, two) if one == two => one,
            (Role::Bitwise, Role::NotAbove) | (Role::NotAbove, Role::Bitwise) => Role::NotAbove,
            (
                Role::Whole | Role::Bitwise | Role::NotAbove | Role::Shifted(_),
                Role::Whole | Role::Bitwise | Role::NotAbove | Role::Shifted(_),
            ) => Role::Whole,
            _ => Role::Always,
        };
        Self { role, bits }
    }
}

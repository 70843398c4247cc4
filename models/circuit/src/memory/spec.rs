//! Which memory.

use serde::{Deserialize, Serialize};

/// An access to a memory device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// Which kind.
    pub kind: MemoryKind,
    /// Bits of an access.
    #[serde(default = "sector")]
    pub bits: u64,
    /// Share of accesses that find their row open, in percent.
    #[serde(default = "hits")]
    pub row_hits: u8,
    /// What of it.
    #[serde(default)]
    pub part: MemoryPart,
}

/// What of a memory is priced.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    /// Accesses, with the rows that some of them open, and what a device takes when idle.
    #[default]
    Access,
    /// A row opened and closed, alone.
    Row,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $relative:literal,)+) => {
        /// Kinds of memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum MemoryKind { $($(#[$doc])* $kind,)+ }

        impl MemoryKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];
            /// Their names.
            pub const NAMES: &[&str] = &[$($name,)+];

            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// Whose currents stand in where its own are not known.
            pub(crate) const fn relative(self) -> &'static str {
                match self { $(Self::$kind => $relative,)+ }
            }
        }
    };
}

kinds! {
    /// High-bandwidth memory, second generation.
    Hbm2 "hbm2" "hbm2",
    /// The same, faster.
    Hbm2e "hbm2e" "hbm2",
    /// Third generation.
    Hbm3 "hbm3" "hbm2",
    /// Graphics memory, fifth generation.
    Gddr5 "gddr5" "gddr5",
    /// With twice the prefetch.
    Gddr5x "gddr5x" "gddr5x",
    /// Sixth generation.
    Gddr6 "gddr6" "gddr5x",
    /// With four levels on the pin.
    Gddr6x "gddr6x" "gddr5x",
    /// Low-power memory, third generation.
    Lpddr3 "lpddr3" "lpddr3",
    /// Fourth generation.
    Lpddr4 "lpddr4" "lpddr3",
    /// Main memory, third generation.
    Ddr3 "ddr3" "ddr4",
    /// Fourth generation.
    Ddr4 "ddr4" "ddr4",
}

const fn sector() -> u64 {
    256
}

const fn hits() -> u8 {
    66
}

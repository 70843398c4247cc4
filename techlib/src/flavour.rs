//! Transistor flavours.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which transistors a design uses, in ITRS terms, and that of memory cells.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// High performance.
    #[default]
    Hp,
    /// Low standby power.
    Lstp,
    /// Low operating power.
    Lop,
    /// High threshold, as in memory cells. Only the library `silicon` has it.
    Sram,
}

impl Flavour {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Hp, Self::Lstp, Self::Lop, Self::Sram];

    /// The three that the ITRS tables have.
    pub const ITRS: [Self; 3] = [Self::Hp, Self::Lstp, Self::Lop];

    /// As written in data and studies: `hp`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hp => "hp",
            Self::Lstp => "lstp",
            Self::Lop => "lop",
            Self::Sram => "sram",
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no flavour.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a transistor flavour; flavours: hp, lstp, lop, sram")]
pub struct UnknownFlavour(String);

impl FromStr for Flavour {
    type Err = UnknownFlavour;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|flavour| flavour.name() == text);
        found.ok_or_else(|| UnknownFlavour(text.to_owned()))
    }
}

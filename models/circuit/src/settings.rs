//! Whose equations a model follows and what it optimises: everything besides technology, operating point and structure.

use std::fmt;

use serde::{Deserialize, Serialize};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::rules;

use crate::{Gating, MacroStyle};

/// Whose rules the array model follows.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// CACTI 6.5 with its area objective, as architecture papers of its time used it.
    #[default]
    Cacti65,
    /// CACTI 7 with its energy-delay-squared objective.
    Cacti7,
    /// CACTI 7's method without its slips.
    Silicon,
}

/// What the search minimises, and which wires it may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Whose equations.
    pub profile: Profile,
    /// Objective of the whole structure.
    pub objective: Objective,
    /// Weights of the relative figures, used by [`Objective::Weighted`] and always for the tags of a cache.
    pub weights: Weights,
    /// How far above the least value of each figure an organisation may be, in percent; used as the weights are, but for those of the area and
    /// the read energy, which the silicon profile keeps first, in this order and whatever the objective.
    pub deviations: Weights,
    /// Wire layers and signalling.
    pub wires: WireChoice,
    /// Whether one check bit is stored for every eight data bits.
    pub ecc: bool,
    /// What stands around an array in the silicon profile; the old tools have nothing there.
    #[serde(default)]
    pub style: MacroStyle,
    /// Which memory cell the silicon profile takes, where the library has more than one.
    #[serde(default)]
    pub cell: BitCell,
    /// Which circuits a small plain memory may be in the silicon profile.
    #[serde(default)]
    pub circuits: Circuits,
    /// Power gating, where it is asked for; the switches are of the flavour of the cells.
    #[serde(default)]
    pub gating: Option<Gating>,
}

/// The memory cell of six transistors.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum BitCell {
    /// Of large caches: smallest.
    HighDensity,
    /// Of register files, first-level caches and compiled memories: wider pull-down and access transistors.
    #[default]
    HighCurrent,
}

/// Which circuits a plain memory may be.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Circuits {
    /// What suits the objective best: an SRAM array, a register file of 8T cells, latches or flip-flops, of wide words in several slices.
    #[default]
    Any,
    /// One SRAM array whatever its size and the width of its words.
    Sram,
}

/// Objective of the search.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Read energy times access time.
    EnergyDelay,
    /// Read energy times access time squared.
    #[default]
    EnergyDelaySquared,
    /// Weighted sum of the figures over their least values, among organisations within the deviations.
    Weighted,
}

/// A value for each figure that the search looks at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Of the access time.
    pub delay: f64,
    /// Of the energy of a read.
    pub dynamic: f64,
    /// Of the leakage of a bank.
    pub leakage: f64,
    /// Of the cycle time.
    pub cycle: f64,
    /// Of the area.
    pub area: f64,
}

/// The wires of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireChoice {
    /// Layer within mats.
    pub inside: Layer,
    /// Layer between mats.
    pub outside: Layer,
    /// How well the interconnect of the node turns out.
    pub projection: Projection,
    /// Signalling between mats.
    pub signalling: Signalling,
}

/// A layer of wires; cells always use the local one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Inside blocks.
    SemiGlobal,
    /// Across the chip.
    Global,
}

/// ITRS interconnect projection.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Projection {
    /// Low-k dielectrics and thin barriers arrive as hoped.
    Aggressive,
    /// They do not.
    #[default]
    Conservative,
}

/// Signalling on the wires between mats (CACTI 6.0 TR, sections 2.2 and 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signalling {
    /// Repeated wires at the delay-optimal repeater size and spacing.
    Global,
    /// At most 5 % slower than that.
    Global5,
    /// At most 10 % slower.
    Global10,
    /// At most 20 % slower.
    Global20,
    /// At most 30 % slower.
    Global30,
    /// Differential low-swing wires.
    LowSwing,
    /// Whichever of the repeated wires suits the objective.
    FullSwing,
    /// Whichever of all of them does.
    Any,
}

impl Weights {
    /// The same for each figure.
    pub const fn all(value: f64) -> Self {
        Self {
            delay: value,
            dynamic: value,
            leakage: value,
            cycle: value,
            area: value,
        }
    }

    const NONE: Self = Self::all(0.0);
    /// Deviations that let every organisation of a sane array pass.
    const WIDE: Self = Self::all(100_000.0);
    /// Those of the silicon profile whatever the objective: of the area as far as CACTI 6.5 ships for the figure that it limits, of the energy twice the least.
    const NEAR: Self = Self {
        area: 60.0,
        dynamic: 100.0,
        ..Self::WIDE
    };
}

impl Profile {
    /// The temperature for which structures are laid out that run at another. What is built does not depend on it, but the tools whose rules a profile may
    /// follow organise arrays for the temperature that they are asked about.
    pub fn design_temperature(self, running: Temperature) -> Temperature {
        match self {
            Self::Silicon => rules::DESIGN_TEMPERATURE,
            Self::Cacti65 | Self::Cacti7 => running,
        }
    }

    /// The settings that the tool ships with, or that papers used.
    pub const fn settings(self) -> Settings {
        match self {
            Self::Cacti65 => Settings {
                profile: self,
                objective: Objective::Weighted,
                weights: Weights {
                    area: 100.0,
                    ..Weights::NONE
                },
                deviations: Weights {
                    delay: 60.0,
                    area: 1_000_000.0,
                    ..Weights::WIDE
                },
                wires: WireChoice {
                    inside: Layer::Global,
                    outside: Layer::Global,
                    projection: Projection::Conservative,
                    signalling: Signalling::Global10,
                },
                ecc: false,
                style: MacroStyle::Array,
                cell: BitCell::HighCurrent,
                circuits: Circuits::Any,
                gating: None,
            },
            Self::Cacti7 | Self::Silicon => Settings {
                profile: self,
                objective: Objective::EnergyDelaySquared,
                weights: Weights {
                    cycle: 100.0,
                    ..Weights::NONE
                },
                deviations: Weights {
                    delay: 20.0,
                    ..match self {
                        Self::Silicon => Weights::NEAR,
                        Self::Cacti65 | Self::Cacti7 => Weights::WIDE,
                    }
                },
                wires: WireChoice {
                    inside: Layer::SemiGlobal,
                    outside: Layer::SemiGlobal,
                    projection: Projection::Conservative,
                    signalling: Signalling::Global30,
                },
                ecc: false,
                style: match self {
                    Self::Silicon => MacroStyle::Compiled,
                    Self::Cacti65 | Self::Cacti7 => MacroStyle::Array,
                },
                cell: BitCell::HighCurrent,
                circuits: Circuits::Any,
                gating: None,
            },
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Profile::default().settings()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cacti65 => "cacti65",
            Self::Cacti7 => "cacti7",
            Self::Silicon => "silicon",
        })
    }
}

//! The values of a board that measurements tell, each on the scale on which it is fitted.

use crate::channel::{CHANNELS, Channel};

/// Place of the first standing power; energies of [`Channel::ALL`] come before, and what all of them share.
pub const SCALE: usize = CHANNELS;
/// Watts that are there whatever runs.
pub const CONSTANT: usize = SCALE + 1;
/// Watts of the memory at rest, at its clock.
pub const MEMORY: usize = SCALE + 2;
/// Watts of clocks that always run.
pub const CLOCK: usize = SCALE + 3;
/// Watts of leakage.
pub const LEAKAGE: usize = SCALE + 4;
/// Watts of all SMs with work.
pub const ACTIVE: usize = SCALE + 5;
/// Share of the default clock above which the supply rises.
pub const KNEE: usize = SCALE + 6;
/// How steeply it does: share of the supply for a share of the clock.
pub const SLOPE: usize = SCALE + 7;
/// Power of the supply with which leakage goes.
pub const EXPONENT: usize = SCALE + 8;
/// What an operation on whole numbers that hardly change takes, as a share of one on random ones: a logit.
pub const STILL_INT: usize = SCALE + 9;
/// The same of floating point, whose loops often end in a fixed point.
pub const STILL_FLOAT: usize = SCALE + 10;
/// Documented peaks by which utilisations are given, ours for theirs: special functions, shared memory, second level.
pub const PEAKS: [(usize, Channel); 3] = [
    (SCALE + 11, Channel::Sfu),
    (SCALE + 12, Channel::Shared),
    (SCALE + 13, Channel::L2),
];
/// Share of the documented peak of DRAM that streams reach.
pub const REACHED: usize = SCALE + 14;
/// Operations after which a loaded word hardly changes any more.
pub const FRESH: usize = SCALE + 15;
/// How many values there are.
pub const PARAMETERS: usize = SCALE + 16;

/// On which scale a value is normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Its logarithm.
    Log,
    /// Itself.
    Plain,
    /// Its logit: shares between none and all.
    Logit,
}

/// A value: name, unit, scale.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name in files.
    pub key: &'static str,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// Its scale.
    pub scale: Scale,
    /// What it means.
    pub meaning: &'static str,
}

/// The one at a place.
pub fn parameter(at: usize) -> Parameter {
    if let Some(channel) = Channel::ALL.get(at) {
        return Parameter {
            key: channel.key(),
            unit: "J",
            scale: Scale::Log,
            meaning: "energy of an event at the default supply, on random operands",
        };
    }
    let (key, unit, scale, meaning) = REST[at - SCALE];
    Parameter {
        key,
        unit,
        scale,
        meaning,
    }
}

const REST: [(&str, &str, Scale, &str); PARAMETERS - SCALE] = [
    (
        "scale",
        "",
        Scale::Log,
        "what all energies of events are times their own values",
    ),
    ("board.constant", "W", Scale::Log, "whatever runs"),
    (
        "board.memory",
        "W",
        Scale::Log,
        "memory at rest, at its default clock",
    ),
    (
        "board.clock",
        "W",
        Scale::Log,
        "clocks that always run, at the default clock",
    ),
    (
        "board.leakage",
        "W",
        Scale::Log,
        "leakage at the default supply",
    ),
    (
        "board.active",
        "W",
        Scale::Log,
        "all SMs with work, whatever they do, at the default clock",
    ),
    (
        "supply.knee",
        "",
        Scale::Plain,
        "share of the default clock above which the supply rises",
    ),
    (
        "supply.slope",
        "",
        Scale::Plain,
        "rise of the supply over that of the clock above the knee",
    ),
    (
        "leakage.exponent",
        "",
        Scale::Plain,
        "leakage goes with this power of the supply",
    ),
    (
        "operands.still_int",
        "",
        Scale::Logit,
        "energy of an operation on whole numbers that hardly change, over that on random ones",
    ),
    (
        "operands.still_float",
        "",
        Scale::Logit,
        "the same of floating point",
    ),
    (
        "peak.sfu",
        "",
        Scale::Log,
        "true peak of special functions over the documented one",
    ),
    (
        "peak.shared",
        "",
        Scale::Log,
        "true peak of shared memory over the documented one",
    ),
    (
        "peak.l2",
        "",
        Scale::Log,
        "true peak of the second-level cache over the documented one",
    ),
    (
        "peak.dram",
        "",
        Scale::Log,
        "share of the documented peak of DRAM that streams reach",
    ),
    (
        "operands.fresh",
        "",
        Scale::Log,
        "operations on a loaded word after which it hardly changes any more",
    ),
];

impl Scale {
    /// The value at a place of the scale.
    pub fn value(self, at: f64) -> f64 {
        match self {
            Self::Log => libm::exp(at),
            Self::Plain => at,
            Self::Logit => 1.0 / (1.0 + libm::exp(-at)),
        }
    }

    /// The place of a value.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Log => libm::log(value),
            Self::Plain => value,
            Self::Logit => libm::log(value / (1.0 - value)),
        }
    }
}

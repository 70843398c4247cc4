//! What is published of a board, and what it is made of.

use serde::{Deserialize, Serialize};

/// A board as its maker sells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// The GPU on it: a preset.
    pub preset: String,
    /// The die, as its maker calls it: boards with the same one are alike.
    pub chip: String,
    /// The technology node of the GPU.
    pub node: String,
    /// Thermal design power, in watts.
    pub tdp_w: f64,
    /// What its regulators let through, in watts: what would draw more is slowed down.
    pub power_limit_w: f64,
    /// The core clock at which its figures hold.
    pub core_mhz: f64,
    /// The boost clock that its maker publishes: boards are compared there.
    pub boost_mhz: f64,
    /// The memory clock, as the driver names it.
    pub memory_mhz: f64,
    /// Peak of DRAM in bytes a second at that clock.
    pub dram_bytes_per_s: f64,
    /// Peak of the second-level cache in bytes a core cycle.
    pub l2_bytes_per_cycle: f64,
    /// Kind of DRAM: boards whose kind is the same are alike in what it draws at rest.
    pub memory: Memory,
    /// Where these values are from.
    pub source: String,
}

/// Kinds of DRAM by what holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// Chips around the GPU.
    Gddr,
    /// Stacks beside it.
    Hbm,
}

impl Memory {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gddr => "gddr",
            Self::Hbm => "hbm",
        }
    }
}

impl Facts {
    /// Bytes that DRAM moves in a cycle of the memory clock as the driver names it: how wide its interface is, among memories of one kind.
    pub fn memory_width(&self) -> f64 {
        self.dram_bytes_per_s / (1e6 * self.memory_mhz)
    }

    /// What is wrong with them, in a sentence each.
    pub fn faults(&self) -> Vec<String> {
        let positive = [
            ("tdp_w", self.tdp_w),
            ("power_limit_w", self.power_limit_w),
            ("core_mhz", self.core_mhz),
            ("boost_mhz", self.boost_mhz),
            ("memory_mhz", self.memory_mhz),
            ("dram_bytes_per_s", self.dram_bytes_per_s),
            ("l2_bytes_per_cycle", self.l2_bytes_per_cycle),
        ];
        let positive = positive.into_iter();
        positive
            .filter(|(_, value)| !(value.is_finite() && *value > 0.0))
            .map(|(key, value)| format!("`{key}` is {value}; it is a number above zero"))
            .collect()
    }
}

//! JSON schemas of the files that users write, for editors: completion, documentation and checks while typing.
//!
//! What stands in code is generated from there: settings of a GPU from [`GpuSpec`](warpwatt_gpu::GpuSpec), techniques and their parameters from the registry,
//! names from the catalogue. The rest of each schema is a file in `data`, and tests hold it to what the readers know.

mod gpu;
mod study;

use serde_json::Value;

/// The files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// A study.
    Study,
    /// A launch file.
    Launch,
    /// A GPU.
    Preset,
    /// A technology node.
    Technology,
}

impl Schema {
    /// The schema, in the dialect of JSON Schema 2020-12.
    pub fn document(self) -> Value {
        match self {
            Schema::Study => study::schema(),
            Schema::Launch => parsed(include_str!("data/launch.json")),
            Schema::Preset => gpu::schema(),
            Schema::Technology => parsed(include_str!("data/technology.json")),
        }
    }
}

/// A schema that ships; a test reads each of them.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;

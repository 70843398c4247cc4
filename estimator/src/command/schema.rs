//! `warpwatt schema`: JSON schemas for editors.

use clap::{Args, ValueEnum};

use super::console::{Exit, out_json};
use crate::schema::Schema;

/// Print the JSON schema of a kind of file, for editors that complete and check TOML.
///
/// Editors with a TOML language server (Taplo, Even Better TOML) take a schema from the first line of a file: #:schema ./study.schema.json
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt schema study > study.schema.json
  warpwatt schema launch > launch.schema.json

How editors find them is described in docs/editors.md.")]
pub struct SchemaArguments {
    /// Which kind of file
    pub of: Of,
}

/// The kinds of files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Of {
    /// A study: what to run, on what, and what to compare
    Study,
    /// A launch file: a kernel, its buffers and what they must hold
    Launch,
    /// A GPU: every setting of a preset
    Preset,
    /// A technology node: values with their sources
    Technology,
}

/// Prints the schema.
pub fn run(arguments: &SchemaArguments) -> Exit {
    let schema = match arguments.of {
        Of::Study => Schema::Study,
        Of::Launch => Schema::Launch,
        Of::Preset => Schema::Preset,
        Of::Technology => Schema::Technology,
    };
    out_json(&schema.document());
    Exit::Done
}

//! Attacks on the `warpwatt` command, each of many cases that are the same every time.
//!
//! An attack is a file here and a line in [`attack::ALL`]. A case is a number: what it does follows from the number and the seed alone, so that
//! one that fails can be done again.

pub mod attack;
pub mod cases;
pub mod guard;
pub mod program;
pub mod random;
pub mod scratch;
pub mod table;
pub mod worker;

mod damage;
mod disk;
mod kill;
mod matrix;
mod mutate;
mod study;

pub use mutate::input;

use std::path::{Path, PathBuf};

/// Bytes of memory that nothing may take.
pub const MOST_BYTES: u64 = 2 << 30;

/// Seconds of CPU that nothing may take.
pub const MOST_SECONDS: u64 = 10;

/// The root of the project, whose files are what attacks begin with.
pub fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).unwrap_or(folder).to_owned()
}

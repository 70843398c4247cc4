//! Launch files: everything that running a kernel needs, as TOML.
//!
//! A file names a PTX file and holds one or several cases; a case lists the arguments of the kernel in parameter order and
//! the launch's shape. `docs/launch-files.md` is the reference of the format.
//!
//! [`LaunchFile::parse`] reads the text and reports all its problems at once; [`Case::prepare`] brings the case together with
//! a PTX module and the contents of its buffers; [`crate::run_case`] executes it.

mod check;
mod compare;
mod element;
mod linear;
mod model;
mod prepare;
mod problem;
mod read;
mod rule;
mod shape;

pub use compare::{Mismatch, Tolerance, compare};
pub use element::{ElementType, Value};
pub use linear::Linear;
pub use model::{
    Access, Argument, Buffer, Case, Contents, Home, KernelLaunch, LaunchFile, Repeat, Role, Scalar,
    Step, TextureBinding, UnknownCase,
};
pub use prepare::{Files, Prepared, PreparedBuffer};
pub use problem::Problem;
pub use rule::{Rule, bits};

/// Buffers of a case may take this much memory together.
pub const MEMORY_LIMIT: u64 = 2 << 30;

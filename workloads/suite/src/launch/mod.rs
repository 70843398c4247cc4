//! Launch files: everything that running a kernel needs, as TOML.
//!
//! A file names a PTX file and holds one or several cases; a case lists the arguments of the kernel in parameter order and
//! the launch's shape. `docs/launch-files.md` is the reference of the format.
//!
//! [`LaunchFile::parse`] reads the text and reports all its problems at once; [`Case::prepare`] brings the case together with
//! a PTX module and the contents of its buffers; [`crate::run_case`] executes it.

mod begin;
mod check;
mod compare;
mod element;
mod file;
mod form;
mod model;
mod names;
mod npy;
mod numbers;
mod prepare;
mod problem;
mod read;
mod repeat;
mod rounds;
mod rule;
mod shape;
mod small;
mod verify;

pub use begin::begin;
pub use compare::{Mismatch, Tolerance, compare};
pub use element::{ElementType, Value};
pub use file::file_contents;
pub use form::{Form, Variables, Varying};
pub use model::{
    Access, Action, Argument, Buffer, Case, Contents, Copying, Field, FieldContent, Home,
    KernelLaunch, LaunchFile, Pointer, Role, Scalar, Set, Step, TextureBinding, UnknownCase,
};
pub use names::{demangled, matching_entries, readable};
pub use prepare::{Files, Prepared, PreparedBuffer};
pub use problem::Problem;
pub use repeat::{Comparison, Condition, Repeat, Stride};
pub(crate) use rounds::extents;
pub use rule::{Rule, bits};

/// Buffers of a case may take this much memory together.
pub const MEMORY_LIMIT: u64 = 2 << 30;

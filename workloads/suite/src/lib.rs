//! Launch files, input generators, the kernel suite and its references.

pub mod launch;

pub use launch::{Case, LaunchFile, Problem};

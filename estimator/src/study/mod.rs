//! Study files: what to run, on what, and what to compare.

pub mod toml_reader;

//! Study files: what to run, on what, and what to compare.

mod toml_reader;

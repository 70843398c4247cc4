//! What every reader of input shares: what is said of faults, documents whose values know their places, expressions, files up to a limit.

pub mod diag;
pub mod expression;
pub mod input;
pub mod toml_reader;

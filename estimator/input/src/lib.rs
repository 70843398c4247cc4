//! What every reader of input shares: what is said of faults, documents whose values know their places, tables,
//! expressions, goals, files up to a limit.

pub mod diag;
pub mod expression;
pub mod goal;
pub mod input;
pub mod table;
pub mod toml_reader;

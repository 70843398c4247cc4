//! Blocks of logic, functional units, interconnect and memory devices by what a user writes, and what is told of them.

mod request;
mod show;

pub use request::{Priced, Request, Wanted, read, wants_json};
pub use show::{json, list, parameters, text};

//! PTX front end: source text to a typed program with its control-flow graph.
//!
//! [`parse`] reads any syntactically valid module; [`load`] gives its entries' instructions their meaning.

pub mod ast;
pub mod cfg;
mod error;
pub mod inspect;
mod liveness;
mod lower;
mod parse;
pub mod program;
pub mod types;

pub use error::{Lines, PtxError, Span};
pub use inspect::inspect;
pub use lower::load;
pub use parse::parse;
pub use program::{Entry, Module};

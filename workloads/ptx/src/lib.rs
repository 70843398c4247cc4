//! PTX front end: source text to a typed program with its control-flow graph.
//!
//! [`parse`] reads any syntactically valid module; [`load`] gives its entries' instructions their meaning.

mod allocate;
pub mod ast;
pub mod cfg;
pub mod divergence;
pub mod encoding;
mod error;
pub mod inspect;
pub mod lifetime;
pub mod link;
mod lower;
pub mod machine;
pub mod outline;
mod parse;
pub mod program;
pub mod strands;
pub mod traits;
pub mod types;

pub use allocate::{MAX_REGISTERS, PREDICATE_REGISTERS, TooFewRegisters};
pub use error::{Lines, PtxError, Span};
pub use inspect::inspect;
pub use lower::{load, load_behind, load_lowered};
pub use machine::{Left, Lower};
pub use parse::parse;
pub use program::{Allocation, Entry, Module, Spills};

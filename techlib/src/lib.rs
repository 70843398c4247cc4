//! Quantities, technology nodes and wires, each number with its source.

pub mod quantity;

//! Quantities, technology nodes and wires, each number with its source.

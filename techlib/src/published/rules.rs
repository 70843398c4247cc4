//! Rules of standard-cell design, each with its origin. They hold for every node.

/// Transistor width of a smallest standard cell, N and P together, over the height of its row (Nangate 45 nm: 0.415 um + 0.63 um in 1.4 um).
pub const CELL_TRANSISTORS: f64 = 0.75;
/// Rent exponent of random logic (Bakoglu, "Circuits, Interconnections and Packaging for VLSI", 1990, table 9.1).
pub const RENT: f64 = 0.6;
/// Length of the shortest tree through points spread at random, over the root of their number times the area (Beardwood, Halton and Hammersley, 1959).
pub const TREE: f64 = 0.7124;
/// Part of the placed area that cells fill; the rest is left for wires (usual targets of place-and-route are 0.7 to 0.8).
pub const ROW_FILL: f64 = 0.75;
/// Short-circuit energy over that of charging (Nose and Sakurai, IEEE TCAD 19(9), 2000: about a tenth, from node to node).
pub const SHORT_CIRCUIT_SHARE: f64 = 0.1;

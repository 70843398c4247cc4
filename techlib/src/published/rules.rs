//! Rules of standard-cell design, which hold for every node, and the constants of McPAT 1.3. Each with its origin.

use crate::quantity::{Area, Energy, Length, Voltage};

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

/// Energy of an integer operation in McPAT 1.3 at [`MCPAT_NODE`] and [`MCPAT_VOLT`] (logic.cc:513-556: 1.15 nJ for four).
pub const MCPAT_OPERATION: Energy = Energy::from_nj(1.15 / 4.0);
/// Node of McPAT's functional units.
pub const MCPAT_NODE: Length = Length::from_nm(90.0);
/// Supply at which they were measured.
pub const MCPAT_VOLT: Voltage = Voltage::from_v(1.3);
/// Energies of integer operation, multiplication and floating-point operation over that of an integer operation.
pub const MCPAT_ENERGY: [f64; 3] = [1.0, 2.0, 3.0];
/// The same in embedded cores (logic.cc:456-506).
pub const MCPAT_EMBEDDED: [f64; 3] = [1.0 / 6.0, 1.0 / 3.0, 0.5];
/// Areas of integer unit and multiplier at 90 nm, shrinking with [`MCPAT_SHRINK`]; and of the floating-point unit, shrinking with the square of the node.
pub const MCPAT_AREA: [Area; 3] = [
    Area::from_um2(145_600.0),
    Area::from_um2(436_800.0),
    Area::from_um2(8_470_000.0),
];
/// Areas of an embedded core's units.
pub const MCPAT_EMBEDDED_AREA: [Area; 3] = [
    Area::from_um2(72_800.0),
    Area::from_um2(218_400.0),
    Area::from_um2(4_470_000.0),
];
/// Widths of the inverters that leak for a unit, in smallest ones.
pub const MCPAT_LEAKING: [f64; 3] = [20.0, 20.0, 5.0];
/// Node in nm, shrink of logic areas, transistors a square micrometre (technology.cc:557-561 and after each node).
pub const MCPAT_SHRINK: [(f64, f64, f64); 5] = [
    (90.0, 1.0, 0.6125),
    (65.0, 0.7, 0.875),
    (45.0, 0.49, 1.25),
    (32.0, 0.343, 1.7857),
    (22.0, 0.2401, 2.551),
];
/// NMOS and PMOS of the NAND gates in McPAT's flip-flop, in F (logic.cc:304: 20 um and 30 um at 0.8 um).
pub const MCPAT_NAND: (f64, f64) = (25.0, 37.5);

//! Which equation made a contribution, and where it is from: what the comments of the models say, for reports that derive a figure.

use serde::Serialize;

use crate::Spec;

/// An equation of a circuit model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Equation {
    /// In symbols: C capacitances, V the supply, I_off leakage per width, W widths.
    pub text: &'static str,
    /// Where it is from.
    pub origin: &'static str,
}

/// The kinds of figures that equations give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Energy of an access or operation.
    Energy,
    /// Sub-threshold leakage.
    Leakage,
    /// Gate leakage.
    GateLeakage,
    /// Area.
    Area,
    /// Time of an access.
    Delay,
}

const fn by(text: &'static str, origin: &'static str) -> Equation {
    Equation { text, origin }
}

const LEAKAGE: Equation = by(
    "sum over transistors that are off of I_off(T, V) W stack V",
    "CACTI 5.1 TR (HPL-2008-20), section 3; stacks: CACTI 7, basic_circuit.cc",
);
const GATE_LEAKAGE: Equation = by(
    "sum over gates that are on of I_gate(V) W V",
    "CACTI 7, basic_circuit.cc:713",
);
const AREA: Equation = by(
    "cells by the layout rules, transistors folded into rows, wires at their pitch",
    "CACTI 5.1 TR (HPL-2008-20), section 3",
);
const DELAY: Equation = by(
    "sum along the path of Horowitz's delays of R C stages",
    "Horowitz 1984; CACTI 5.1 TR, section 4.1",
);
const TREE: Equation = by(
    "bits x sum over levels of (C_wire length + C_repeaters + C_gates) V^2",
    "CACTI 6.0 TR (HPL-2009-85), section 2.3; CACTI 7, htree2.cc",
);
const STATIC: Equation = by(
    "sum over nodes of switching activity x (C_gate + C_drain + C_wire) V^2 / 2",
    "Najm, IEEE TCAD 12(2), 1993, at zero delay; docs/logic.md",
);

/// By part of an array.
const ARRAY: &[(&str, Equation)] = &[
    ("address tree", TREE),
    ("output tree", TREE),
    ("write tree", TREE),
    ("search tree", TREE),
    ("bank routing", TREE),
    (
        "address along slices",
        by(
            "address bits x (C_wire length + C_repeaters) V^2, along all slices and into each",
            "CACTI 6.0 TR (HPL-2009-85), section 2.2",
        ),
    ),
    (
        "predecoders",
        by(
            "active mats x sum of C V^2 of the gates and predecode lines that switch",
            "CACTI 5.1 TR, section 4.2; Amrutur and Horowitz 2001",
        ),
    ),
    (
        "row decoders and wordlines",
        by(
            "active mats x (C_decoder + columns (C_wire + 2 C_access gate) + C_driver) V^2",
            "CACTI 5.1 TR, section 4.2; Amrutur and Horowitz 2001",
        ),
    ),
    (
        "column selects",
        by(
            "active mats x (C_select line + C_driver) V^2",
            "CACTI 5.1 TR, section 4.2",
        ),
    ),
    (
        "precharge",
        by(
            "active mats x columns x (2 C_precharge gate + C_equaliser gate + C_driver) V^2",
            "CACTI 5.1 TR, section 3.5; CACTI 7, mat.cc",
        ),
    ),
    (
        "cells and bitlines",
        by(
            "active mats x 2 columns x (C_bitline + C_mux + C_isolation + C_amplifier) x swing x V",
            "CACTI 5.1 TR, section 4.3",
        ),
    ),
    (
        "sense amplifiers",
        by(
            "active mats x amplifiers x (C_latch + C_isolation + C_mux) V^2",
            "CACTI 5.1 TR, section 4.4",
        ),
    ),
    (
        "subarray outputs",
        by(
            "bits of the mats x (sum of C V^2 / 2 through both multiplexers + E_driver)",
            "CACTI 5.1 TR, section 4.5",
        ),
    ),
    (
        "comparators",
        by(
            "ways x (C_tag comparison + C_evaluation) V^2",
            "Wilton and Jouppi, WRL 93/5, appendix",
        ),
    ),
    (
        "search lines",
        by(
            "entries' bits x (C_wire + C_compare gates) V^2",
            "Wilton and Jouppi, WRL 93/5, section 6; CACTI 7, mat.cc",
        ),
    ),
    (
        "match lines",
        by(
            "entries x (C_wire + C_compare drains) V^2",
            "Wilton and Jouppi, WRL 93/5, section 6; CACTI 7, mat.cc",
        ),
    ),
    (
        "self-timing margin",
        by(
            "waiting time alone",
            "fitted to compiled memories: docs/silicon-arrays.md",
        ),
    ),
];

/// By part of a small memory of gates.
const SMALL: &[(&str, Equation)] = &[
    (
        "local bitlines",
        by(
            "bits / 2 x (entries on the line x (C_drain + C_wire) + C_gate) V^2",
            "Rabaey et al., Digital Integrated Circuits, section 12.2.3",
        ),
    ),
    ("bitline merging", NODES),
    ("read multiplexers", NODES),
    ("read decoders", NODES),
    ("write decoders", NODES),
    ("read select lines", LINE),
    ("read wordlines", LINE),
    ("write wordlines", LINE),
    ("outputs", LINE),
    ("clock", LINE),
    (
        "write lines",
        by(
            "(decoder gates that switch + lines of clock and data + gates of the bits that change) x C V^2",
            "CACTI 5.1 TR (HPL-2008-20), section 4.1; flip-flops: McPAT 1.3, logic.cc",
        ),
    ),
    ("registers", NODES),
    ("output latches", NODES),
    ("control", NODES),
];

const NODES: Equation = by(
    "gates that switch x (C_gate + C_drain) V^2",
    "CACTI 5.1 TR (HPL-2008-20), section 4.1",
);
const LINE: Equation = by(
    "lines that switch x (C_wire length + C_gates + C_driver) V^2, drivers by logical effort",
    "CACTI 5.1 TR, section 4.1; Amrutur and Horowitz 2001",
);

impl Spec {
    /// The equation of a contribution to a figure of this structure, by the contribution's name in [`Cost::breakdown`](crate::Cost::breakdown); that of a write
    /// or wake-up, which has no breakdown, by the name `write` (of an array), `write lines` (of gates) or `wake`.
    pub fn equation(&self, part: &str, quantity: Quantity) -> Equation {
        match (quantity, self) {
            (Quantity::Leakage, Self::Memory(_)) => by(
                "background and refresh currents x V",
                "Micron, technical note TN-41-01",
            ),
            (Quantity::Leakage, Self::Unit(_) | Self::Datapath(_)) => by(
                "area x leakage of an area filled with NAND2 gates",
                "docs/logic.md; rows of cells: techlib/data/operations/rows.toml",
            ),
            (Quantity::Area | Quantity::Energy, Self::Unit(_) | Self::Datapath(_)) => by(
                "weighted mean of published figures, scaled to node and supply",
                "techlib/data/operations/units.toml; scaling: Stillmaker and Baas, Integration 58, 2017",
            ),
            (Quantity::Leakage, _) => LEAKAGE,
            (Quantity::GateLeakage, _) => GATE_LEAKAGE,
            (Quantity::Area, _) => AREA,
            (Quantity::Delay, _) => DELAY,
            (Quantity::Energy, _) => self.energy(part),
        }
    }

    fn energy(&self, part: &str) -> Equation {
        let plain = part.trim_start_matches("tag ").trim_start_matches("data ");
        let known = ARRAY.iter().chain(SMALL).find(|(name, _)| *name == plain);
        match (self, plain) {
            (_, "wake") => by(
                "C_rail and nodes V (V - V_asleep) + energy of the switch's gate, on and off",
                "docs/power-gating.md",
            ),
            (Self::Memory(_), _) => by(
                "(I_active - I_standby) x V x time, over the bits of a burst",
                "Micron, technical note TN-41-01; techlib/data/operations/dram.toml",
            ),
            (Self::Mcpat(_), _) => by(
                "energy of a 90 nm processor's unit x (V / V_90)^2 x node / 90 nm",
                "McPAT 1.3, logic.cc:224-572",
            ),
            (Self::Logic(_) | Self::Noc(_), _) => STATIC,
            (_, "write") => by(
                "read - bitlines' swing - sense amplifiers + full swing of the written bitlines + trees of the data",
                "CACTI 5.1 TR, section 4.3; CACTI 7, uca.cc:771",
            ),
            _ => known.map_or(NODES, |(_, equation)| *equation),
        }
    }
}

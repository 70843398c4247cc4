//! McPAT 1.3's functional units and flip-flop as that tool computes them, to be laid beside it and beside the published figures.
//!
//! An energy of a 90 nm processor, scaled with the square of the supply and linearly with the node: whole execution pipes of a CPU, 5 to 20 times the published
//! energies of datapaths. Without McPAT's own factors on top (short circuit 1.11 to 1.15, macro layout 1.1).

use serde::{Deserialize, Serialize};
use warpwatt_techlib::published::rules as mcpat;
use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Time};
use warpwatt_techlib::{Technology, rules};

use crate::build::Sizing;
use crate::gate::{self, Kind};
use crate::logic::{self, Piece};
use crate::process::Process;
use crate::{CircuitError, Cost};

/// One of McPAT's blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpatSpec {
    /// Which.
    pub block: McpatBlock,
    /// Whether of an embedded core.
    #[serde(default)]
    pub embedded: bool,
}

/// Which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpatBlock {
    /// Integer unit.
    Alu,
    /// Multiplier and divider.
    Mul,
    /// Floating-point unit.
    Fpu,
    /// Pipeline flip-flop of NAND gates, with its load of two; the energy is a cycle's, averaged over switching and holding either value.
    FlipFlop,
}

/// A block of McPAT's.
pub(crate) fn block(at: &Sizing, spec: &McpatSpec) -> Result<Cost, CircuitError> {
    let (pieces, name) = match spec.block {
        McpatBlock::Alu => (unit(at, 0, spec.embedded), "integer unit"),
        McpatBlock::Mul => (unit(at, 1, spec.embedded), "multiplier"),
        McpatBlock::Fpu => (unit(at, 2, spec.embedded), "floating-point unit"),
        McpatBlock::FlipFlop => (flip_flop(at.run, spec.embedded), "flip-flop"),
    };
    Ok(logic::assembled(
        at.technology,
        pieces,
        &format!("{name} by McPAT 1.3"),
        Time::ZERO,
    ))
}

fn unit(at: &Sizing, which: usize, embedded: bool) -> Vec<Piece> {
    let p = at.run;
    let (factors, areas) = if embedded {
        (mcpat::MCPAT_EMBEDDED, mcpat::MCPAT_EMBEDDED_AREA)
    } else {
        (mcpat::MCPAT_ENERGY, mcpat::MCPAT_AREA)
    };
    let (shrink, density) = shrink(at.technology);
    let node = at.technology.feature / mcpat::MCPAT_NODE;
    let supply = p.vdd / mcpat::MCPAT_VOLT;
    let mut piece = Piece::named("unit");
    piece.energy = mcpat::MCPAT_OPERATION * (factors[which] * supply * supply * node);
    piece.area = areas[which] * if which == 2 { node * node } else { shrink };
    let leaking = piece.area.as_um2() * density / 2.0;
    let (n, pm) = (
        p.min_nmos() * mcpat::MCPAT_LEAKING[which],
        p.min_pmos() * mcpat::MCPAT_LEAKING[which],
    );
    piece.leakage = p.power(gate::leak(p, Kind::Inverter, n, pm)) * leaking;
    piece.gate_leakage = p.power(gate::gate_leak(p, Kind::Inverter, n, pm)) * leaking;
    vec![piece]
}

/// Shrink of logic and density of transistors, linear between two nodes.
fn shrink(technology: &Technology) -> (f64, f64) {
    let nm = technology.feature.as_nm();
    let table = &mcpat::MCPAT_SHRINK;
    let pair = table
        .windows(2)
        .find(|pair| nm <= pair[0].0 && nm >= pair[1].0);
    let Some([larger, smaller]) = pair else {
        let end = if nm > table[0].0 {
            table[0]
        } else {
            table[table.len() - 1]
        };
        return (end.1, end.2);
    };
    let share = (nm - smaller.0) / (larger.0 - smaller.0);
    let mixed = |a: f64, b: f64| a * share + b * (1.0 - share);
    (mixed(larger.1, smaller.1), mixed(larger.2, smaller.2))
}

/// Five NAND2 and a NAND3.
fn flip_flop(p: &Process, embedded: bool) -> Vec<Piece> {
    let (n, pm) = if embedded {
        (p.min_nmos(), p.min_pmos())
    } else {
        (p.f(mcpat::MCPAT_NAND.0), p.f(mcpat::MCPAT_NAND.1))
    };
    let tall = p.f(rules::CELL_HEIGHT);
    let input = gate::gate_c(p, n + pm);
    let node = |fan_in: f64, fan_out: f64| -> Capacitance {
        gate::drain_n(p, n, 2, tall) + gate::drain_p(p, pm, tall) * fan_in + input * fan_out
    };
    let load = input * 2.0;
    let switched =
        node(2.0, 1.0) * 3.0 + node(2.0, 3.0) + node(3.0, 2.0) + node(2.0, 2.0) + load * 2.0;
    let energies = [
        p.full_swing(switched) * 0.5,
        p.full_swing(node(3.0, 2.0)),
        p.full_swing(node(2.0, 3.0)),
    ];
    let mut data = Piece::named("data");
    data.energy = energies.into_iter().sum::<Energy>() / 3.0;
    data.area = nand(p, n, pm, tall) * 5.0 + nand(p, n, n, tall);
    let leak = gate::leak(p, Kind::Nand(2), n, pm) * 5.0 + gate::leak(p, Kind::Nand(3), n, n);
    data.leakage = p.power(leak);
    let through =
        gate::gate_leak(p, Kind::Nand(2), n, pm) * 5.0 + gate::gate_leak(p, Kind::Nand(3), n, n);
    data.gate_leakage = p.power(through);
    let mut clock = Piece::named("clock");
    clock.energy = p.full_swing(input * 2.0);
    clock.leakage = Power::ZERO;
    vec![data, clock]
}

fn nand(p: &Process, n: Length, pm: Length, tall: Length) -> Area {
    gate::area(p, Kind::Nand(2), pm, n, tall)
}

//! The network of a package.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use warpwatt_techlib::published::{Package, Slab};
use warpwatt_techlib::quantity::{Area, Power, Temperature, ThermalResistance, Time};

use super::spreading::spreading;

/// A part of the die.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// How much of the die it is.
    pub area: Area,
}

/// A die with its package: blocks, spreader and sink, joined by resistances to each other and to the air.
#[derive(Clone, Debug)]
pub struct Network {
    /// Between nodes, in W/K: what flows out of a node for each kelvin that another one has. The air is left out.
    conductance: DMatrix<f64>,
    /// Of each node, in J/K.
    capacity: DVector<f64>,
    /// Kelvin at each node for a watt in each: the inverse of the conductances.
    resistance: DMatrix<f64>,
    blocks: usize,
    ambient: Temperature,
}

impl Network {
    /// The network of `blocks` (at least one, each of some area) in `package`, with `convection` from the sink into air of `ambient`. A spreader or sink that is too small for
    /// the die grows with it, as HotSpot's users do it: spreader at least the die, sink at least twice the spreader's sides.
    pub fn new(
        package: &Package,
        blocks: &[Block],
        convection: ThermalResistance,
        ambient: Temperature,
    ) -> Self {
        let die: f64 = blocks.iter().map(|block| block.area.si()).sum();
        let spreader_side = package.spreader.side.value.si().max(die.sqrt());
        let sink_side = package.sink.side.value.si().max(2.0 * spreader_side);
        let (spreader, sink) = (spreader_side * spreader_side, sink_side * sink_side);
        let convection = convection.si();
        let to_air = {
            let base = &package.sink.slab;
            let through = through(base, sink) + convection;
            through + spread(base, spreader, sink, convection)
        };
        let to_sink = {
            let plate = &package.spreader.slab;
            through(plate, spreader) + spread(plate, die, spreader, to_air)
        };
        let nodes = blocks.len() + 2;
        let (spreader_node, sink_node) = (blocks.len(), blocks.len() + 1);
        let mut conductance = DMatrix::zeros(nodes, nodes);
        let mut capacity = DVector::zeros(nodes);
        for (node, block) in blocks.iter().enumerate() {
            let area = block.area.si();
            let down = through(&package.die, area) + through(&package.interface, area);
            join(&mut conductance, node, spreader_node, 1.0 / down);
            capacity[node] = takes(&package.die, area) + takes(&package.interface, area);
        }
        join(&mut conductance, spreader_node, sink_node, 1.0 / to_sink);
        conductance[(sink_node, sink_node)] += 1.0 / to_air;
        capacity[spreader_node] = takes(&package.spreader.slab, spreader);
        capacity[sink_node] = takes(&package.sink.slab, sink) + package.convection.heat.value.si();
        // Joined to the air, the matrix is irreducibly diagonally dominant and so has an inverse; that of a network without heat is none.
        let resistance = conductance.clone().try_inverse();
        Self {
            resistance: resistance.unwrap_or_else(|| DMatrix::zeros(nodes, nodes)),
            conductance,
            capacity,
            blocks: blocks.len(),
            ambient,
        }
    }

    /// The air.
    pub fn ambient(&self) -> Temperature {
        self.ambient
    }

    /// How many blocks the die has.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Kelvin that a watt in the second block makes in the first.
    pub(super) fn between(&self) -> DMatrix<f64> {
        self.resistance
            .view((0, 0), (self.blocks, self.blocks))
            .into_owned()
    }

    /// What every block and then spreader and sink come to, at last, when each block turns `powers` into heat.
    pub fn steady(&self, powers: &[Power]) -> Vec<Temperature> {
        let mut heat = DVector::zeros(self.capacity.len());
        for (node, power) in powers.iter().enumerate().take(self.blocks) {
            heat[node] = power.si();
        }
        let above = &self.resistance * heat;
        above
            .iter()
            .map(|kelvin| Temperature::from_k(self.ambient.si() + kelvin))
            .collect()
    }

    /// The times in which differences of temperature die away, longest first: one a node. They are the inverse eigenvalues of C^-1/2 G C^-1/2.
    pub fn time_constants(&self) -> Vec<Time> {
        let scale = self.capacity.map(|capacity| 1.0 / capacity.sqrt());
        let nodes = self.capacity.len();
        let scaled = DMatrix::from_fn(nodes, nodes, |row, column| {
            scale[row] * self.conductance[(row, column)] * scale[column]
        });
        let mut times: Vec<f64> = SymmetricEigen::new(scaled)
            .eigenvalues
            .iter()
            .map(|rate| 1.0 / rate)
            .collect();
        times.sort_by(|a, b| b.total_cmp(a));
        times.into_iter().map(Time::from_s).collect()
    }
}

/// Straight through a slab: thickness over conductivity and area.
fn through(slab: &Slab, area: f64) -> f64 {
    slab.thickness.value.si() / (slab.conductivity.value.si() * area)
}

fn takes(slab: &Slab, area: f64) -> f64 {
    slab.thickness.value.si() * slab.heat.value.si() * area
}

fn spread(slab: &Slab, source: f64, plate: f64, beyond: f64) -> f64 {
    spreading(
        source,
        plate,
        slab.thickness.value.si(),
        slab.conductivity.value.si(),
        beyond,
    )
}

fn join(conductance: &mut DMatrix<f64>, a: usize, b: usize, by: f64) {
    conductance[(a, a)] += by;
    conductance[(b, b)] += by;
    conductance[(a, b)] -= by;
    conductance[(b, a)] -= by;
}

//! Explicit time steps of heat flow on a chip (Huang et al., HotSpot, IEEE TVLSI 14, 2006), the whole chip at once.

use super::{Inputs, Outputs};

const AMBIENT: f32 = 80.0;

pub(crate) fn hotspot(inputs: &Inputs<'_>) -> Outputs {
    let chip = Chip {
        columns: inputs.size("columns"),
        rows: inputs.size("rows"),
        power: inputs.f32s("power"),
        conductances: ["by_rx", "by_ry", "by_rz"].map(|name| inputs.f32(name)),
        step_by_capacity: inputs.f32("step_by_capacity"),
    };
    let mut temperature = inputs.f32s("temperature");
    for _ in 0..inputs.size("steps") {
        temperature = chip.step(&temperature);
    }
    Outputs::default().f32s("next", &temperature)
}

struct Chip {
    columns: usize,
    rows: usize,
    power: Vec<f32>,
    /// Towards the neighbours in x, those in y, and the ambient.
    conductances: [f32; 3],
    step_by_capacity: f32,
}

impl Chip {
    fn step(&self, temperature: &[f32]) -> Vec<f32> {
        let cells = 0..self.columns * self.rows;
        cells.map(|cell| self.cell(temperature, cell)).collect()
    }

    /// A cell's next temperature. A cell at the edge is its own neighbour there, so that no heat flows.
    fn cell(&self, temperature: &[f32], cell: usize) -> f32 {
        let (x, y) = (cell % self.columns, cell / self.columns);
        let here = temperature[cell];
        let west = if x > 0 { temperature[cell - 1] } else { here };
        let east = if x + 1 < self.columns {
            temperature[cell + 1]
        } else {
            here
        };
        let north = if y > 0 {
            temperature[cell - self.columns]
        } else {
            here
        };
        let south = if y + 1 < self.rows {
            temperature[cell + self.columns]
        } else {
            here
        };
        let [by_rx, by_ry, by_rz] = self.conductances;
        let mut flow = self.power[cell];
        flow = here.mul_add(-2.0, south + north).mul_add(by_ry, flow);
        flow = here.mul_add(-2.0, east + west).mul_add(by_rx, flow);
        flow = (AMBIENT - here).mul_add(by_rz, flow);
        self.step_by_capacity.mul_add(flow, here)
    }
}

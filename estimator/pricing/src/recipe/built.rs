//! The structures of a GPU, designed for a process.

use std::sync::Arc;

use warpwatt_circuit::{CircuitError, Cost, Design, Gated, Gating, Spec, power_gate};
use warpwatt_techlib::Technology;

use super::{Figures, Gpu, Part, Process, World};

/// The structures of a GPU in a process, each with its organisation.
#[derive(Debug)]
pub struct Built<'r> {
    /// By name.
    pub parts: Vec<BuiltPart<'r>>,
}

/// One of them.
#[derive(Debug)]
pub struct BuiltPart<'r> {
    /// What it is.
    pub part: &'r Part,
    /// What it is made of.
    pub process: Process,
    /// How it is organised.
    pub design: Design,
    /// What it costs in its process.
    pub cost: Cost,
    /// With sleep transistors.
    pub gated: Option<Gated>,
}

impl<'r> Built<'r> {
    /// Designs every structure of `gpu`.
    ///
    /// # Errors
    /// One cannot be built; it could when the point was priced, so the models have changed.
    pub fn new(gpu: &'r Gpu, process: &Process) -> Result<Self, CircuitError> {
        let parts = gpu.parts.iter().map(|part| BuiltPart::new(part, process));
        Ok(Self {
            parts: parts.collect::<Result<_, _>>()?,
        })
    }

    /// The structure called `name`.
    pub fn part(&self, name: &str) -> Option<&BuiltPart<'r>> {
        self.parts.iter().find(|part| part.part.name == name)
    }
}

impl<'r> BuiltPart<'r> {
    /// Designs one structure of a GPU that is made in `process`.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn new(part: &'r Part, process: &Process) -> Result<Self, CircuitError> {
        let process = process.of_flavours(part.flavours);
        let made = [process.cells(), &process.technology].map(Arc::clone);
        let [cells, technology] = made;
        let both = (cells, technology);
        let design = Design::mixed(both, &process.at, process.profile, &part.spec)?;
        let world = process.world();
        let cost = resting(
            design.cost().clone(),
            &part.spec,
            &process,
            world.technology,
        )?;
        Ok(Self {
            part,
            gated: gated(part, &design, &cost, &process, world)?,
            design,
            cost,
            process,
        })
    }

    /// What it costs in its process.
    pub fn figures(&self) -> Figures {
        Figures::of(&self.cost, self.gated.as_ref())
    }

    /// What it costs if transistors and wires are those of `world`.
    ///
    /// # Errors
    /// The operating point is outside what the technology's laws cover.
    pub fn under(&self, world: World<'_>) -> Result<(Cost, Option<Gated>), CircuitError> {
        let cost = self.design.under_both((world.cells, world.technology))?;
        let cost = resting(cost, &self.part.spec, &self.process, world.technology)?;
        let gated = gated(self.part, &self.design, &cost, &self.process, world)?;
        Ok((cost, gated))
    }
}

/// `cost` with the leakage of the temperature at which its process rests: it goes as the transistors' does, as when the point was priced.
fn resting(
    mut cost: Cost,
    spec: &Spec,
    process: &Process,
    technology: &Technology,
) -> Result<Cost, CircuitError> {
    let Some(rest) = process.rest else {
        return Ok(cost);
    };
    // What DRAM takes when idle is not the leakage of these transistors.
    if matches!(spec, Spec::Memory(_)) {
        return Ok(cost);
    }
    let cold = technology.at(process.at.vdd, process.at.temperature)?;
    let hot = technology.at(process.at.vdd, rest)?;
    let ratio = |hot: f64, cold: f64| if cold > 0.0 { hot / cold } else { 1.0 };
    cost.leak(
        ratio(hot.i_off.si(), cold.i_off.si()),
        ratio(hot.i_gate.si(), cold.i_gate.si()),
    );
    Ok(cost)
}

fn gated(
    part: &Part,
    design: &Design,
    cost: &Cost,
    process: &Process,
    world: World<'_>,
) -> Result<Option<Gated>, CircuitError> {
    let Some(gates) = &part.gates else {
        return Ok(None);
    };
    let gating = Gating {
        granularity: gates.granularity,
        ..Gating::default()
    };
    let technology = world.technology;
    let (nominal, designed) = design.designed_under((world.cells, technology))?;
    let at = process.resting();
    let with = |switch| {
        let designed = (&nominal, &designed);
        power_gate(technology, switch, designed, (&at, cost), &gating)
    };
    // The supply may be too low for transistors of low leakage.
    with(world.switch).or_else(|_| with(technology)).map(Some)
}

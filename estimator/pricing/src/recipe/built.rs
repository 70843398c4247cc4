//! The structures of a GPU, designed for a process.

use warpwatt_circuit::{CircuitError, Cost, Design, Gated, Gating, Spec, power_gate};
use warpwatt_techlib::Technology;

use super::{Figures, Gpu, Part, Process};

/// The structures of a GPU in a process, each with its organisation.
#[derive(Debug)]
pub struct Built<'r> {
    /// What they are made of.
    pub process: &'r Process,
    /// By name.
    pub parts: Vec<BuiltPart<'r>>,
}

/// One of them.
#[derive(Debug)]
pub struct BuiltPart<'r> {
    /// What it is.
    pub part: &'r Part,
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
    pub fn new(gpu: &'r Gpu, process: &'r Process) -> Result<Self, CircuitError> {
        let parts = gpu.parts.iter().map(|part| BuiltPart::new(part, process));
        Ok(Self {
            process,
            parts: parts.collect::<Result<_, _>>()?,
        })
    }

    /// The structure called `name`.
    pub fn part(&self, name: &str) -> Option<&BuiltPart<'r>> {
        self.parts.iter().find(|part| part.part.name == name)
    }
}

impl<'r> BuiltPart<'r> {
    /// Designs one structure.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn new(part: &'r Part, process: &Process) -> Result<Self, CircuitError> {
        let design = Design::new(
            &process.technology,
            &process.at,
            process.profile,
            &part.spec,
        )?;
        let (technology, switch) = (&*process.technology, process.switch());
        let cost = resting(design.cost().clone(), &part.spec, process, technology)?;
        Ok(Self {
            part,
            gated: gated(part, &design, &cost, process, technology, switch)?,
            design,
            cost,
        })
    }

    /// What it costs in its process.
    pub fn figures(&self) -> Figures {
        Figures::of(&self.cost, self.gated.as_ref())
    }

    /// What it costs if transistors and wires are those of `technology`, and its sleep transistors those of `switch`.
    ///
    /// # Errors
    /// The operating point is outside what the technology's laws cover.
    pub fn under(
        &self,
        process: &Process,
        technology: &Technology,
        switch: &Technology,
    ) -> Result<(Cost, Option<Gated>), CircuitError> {
        let cost = resting(
            self.design.under(technology)?,
            &self.part.spec,
            process,
            technology,
        )?;
        let gated = gated(self.part, &self.design, &cost, process, technology, switch)?;
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
    technology: &Technology,
    switch: &Technology,
) -> Result<Option<Gated>, CircuitError> {
    let Some(gates) = &part.gates else {
        return Ok(None);
    };
    let gating = Gating {
        granularity: gates.granularity,
        ..Gating::default()
    };
    let (nominal, designed) = design.designed_under(technology)?;
    let at = process.resting();
    let with = |switch| {
        let designed = (&nominal, &designed);
        power_gate(technology, switch, designed, (&at, cost), &gating)
    };
    // The supply may be too low for transistors of low leakage.
    with(switch).or_else(|_| with(technology)).map(Some)
}

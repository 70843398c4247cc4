//! Wires as long as the floor plan has them, and transistors as fast as each structure's time asks for.
//!
//! Regions are squares as large as what is priced in them: an SM, what lies between the SMs, the die. What is laid out here has a length of its own design, as
//! little bound to an operating point as any layout.

use warpwatt_circuit::noc::NocBlock;
use warpwatt_circuit::{CircuitError, Flavours, Spec};
use warpwatt_structures::{Count, Region, Span, Structure};
use warpwatt_techlib::quantity::Area;
use warpwatt_techniques::Circuits;

use super::PricingError;

/// Areas of the regions of a floor plan.
#[derive(Clone, Copy, Debug)]
struct Plan {
    sm: Area,
    uncore: Area,
    die: Area,
}

/// `structures` on a GPU of so many SMs, with wires and clock trees as long as its floor plan has them, and each in flavours that are in time.
///
/// # Errors
/// A structure cannot be built.
pub fn laid_out(
    structures: &[Structure],
    sms: u32,
    circuits: &dyn Circuits,
) -> Result<Vec<Structure>, PricingError> {
    let mut all = structures.to_vec();
    for structure in all.iter_mut().filter(|it| it.span.is_none()) {
        choose(structure, circuits)?;
    }
    if all.iter().all(|structure| structure.span.is_none()) {
        return Ok(all);
    }
    let plan = Plan::of(&all, sms, circuits)?;
    for structure in &mut all {
        if let (Some(span), Spec::Noc(noc)) = (structure.span, &mut structure.spec) {
            plan.stretch(span, &mut noc.block);
            choose(structure, circuits)?;
        }
    }
    Ok(all)
}

/// `circuits` of the flavours of a structure.
pub(super) fn made(circuits: &dyn Circuits, flavours: Option<Flavours>) -> &dyn Circuits {
    let other = flavours.and_then(|flavours| circuits.of_flavours(flavours));
    other.unwrap_or(circuits)
}

/// Chooses the flavours of a structure that has a time.
fn choose(structure: &mut Structure, circuits: &dyn Circuits) -> Result<(), PricingError> {
    if let Some(stage) = structure.stage {
        let chosen = circuits.in_time(&structure.spec, stage);
        structure.flavours = chosen.map_err(|source| refused(structure, source))?;
    }
    Ok(())
}

fn refused(structure: &Structure, source: CircuitError) -> PricingError {
    PricingError::Circuit {
        name: structure.name.to_owned(),
        source: Box::new(source),
    }
}

impl Plan {
    /// What everything takes but the wires whose lengths it decides.
    fn of(
        structures: &[Structure],
        sms: u32,
        circuits: &dyn Circuits,
    ) -> Result<Self, PricingError> {
        let (mut sm, mut uncore) = (Area::ZERO, Area::ZERO);
        for structure in structures.iter().filter(|it| it.span.is_none()) {
            let cost = made(circuits, structure.flavours).cost(&structure.spec);
            let cost = cost.map_err(|source| refused(structure, source))?;
            match structure.count {
                Count::PerSm(count) => sm += cost.area * f64::from(count),
                Count::PerGpu(count) => uncore += cost.area * f64::from(count),
            }
        }
        let die = sm * f64::from(sms) + uncore;
        Ok(Self { sm, uncore, die })
    }

    /// Gives interconnect its length, or a clock tree what it covers; whole micrometres, at least one.
    fn stretch(&self, span: Span, block: &mut NocBlock) {
        let area = match span.region {
            Region::Sm => self.sm,
            Region::Uncore => self.uncore,
            Region::Die => self.die,
        };
        let share = f64::from(span.percent) / 100.0;
        let whole = |value: f64| value.round().max(1.0) as u64;
        match block {
            NocBlock::Link { micrometres, .. } => {
                *micrometres = whole(area.as_um2().sqrt() * share);
            }
            NocBlock::Clock {
                square_micrometres, ..
            } => *square_micrometres = whole(area.as_um2() * share),
            NocBlock::Crossbar { .. } | NocBlock::Router { .. } => {}
        }
    }
}

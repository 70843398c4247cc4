//! Functional units: energy, area and leakage by operation and precision, from published figures scaled to the technology.
//!
//! Every published figure of the same kind of unit is brought to the width, node and supply asked for, with an uncertainty that grows with the distance in
//! each; the estimate is their weighted geometric mean. Where they disagree by more than their uncertainties explain, the estimate's own grows accordingly
//! (Birge's ratio, Physical Review 40, 1932). They are datapaths alone: no operand collection, no instruction overhead.

mod estimate;
mod mcpat;
mod spec;

pub use mcpat::{McpatBlock, McpatSpec};
pub use spec::{Operation, Precision, UnitSpec};

pub(crate) use mcpat::block as mcpat_block;

use warpwatt_techlib::quantity::{Area, Energy, Time};

use crate::build::Sizing;
use crate::logic::Piece;
use crate::{CircuitError, Cost};
use estimate::{Estimate, Facts, What};

pub(crate) use estimate::Published;

/// A functional unit.
pub(crate) fn unit(at: &Sizing, spec: &UnitSpec) -> Result<Cost, CircuitError> {
    let facts = Facts::new(at)?;
    let wanted = wanted(&facts, spec, What::Energy)?;
    let area = wanted_area(&facts, spec)?;
    let mut piece = Piece::named("datapath");
    piece.energy = Energy::from_si(wanted.value());
    piece.area = Area::from_si(area.value());
    let leakage = crate::logic::leakage_of(at, piece.area)?;
    (piece.leakage, piece.gate_leakage) = leakage;
    let model = format!("{} from published figures", spec.name());
    let mut cost = crate::logic::assembled(at.technology, vec![piece], &model, Time::ZERO);
    cost.uncertainty.energy = wanted.sigma;
    cost.uncertainty.area = area.sigma;
    cost.uncertainty.leakage = cost.uncertainty.leakage.hypot(area.sigma);
    cost.uncertainty.method = wanted.sigma.min(area.sigma);
    Ok(cost)
}

/// The documents behind a unit's energy and area.
pub(crate) fn sources(at: &Sizing, spec: &UnitSpec) -> Result<Vec<String>, CircuitError> {
    let facts = Facts::new(at)?;
    let mut all = wanted(&facts, spec, What::Energy)?.sources;
    all.extend(wanted_area(&facts, spec)?.sources);
    all.sort();
    all.dedup();
    Ok(all)
}

fn wanted_area(facts: &Facts, spec: &UnitSpec) -> Result<Estimate, CircuitError> {
    wanted(facts, spec, What::Area)
}

/// What an operation takes, out of additions and multiplications where nothing is published for it as a whole.
fn wanted(facts: &Facts, spec: &UnitSpec, what: What) -> Result<Estimate, CircuitError> {
    let precision = spec.precision;
    let (add, mul) = precision.families();
    let bits = precision.bits();
    let sum = |facts: &Facts| facts.of(add, bits, what);
    let product = |facts: &Facts| facts.of(mul, bits, what);
    let fused = |facts: &Facts| -> Result<Estimate, CircuitError> {
        let parts = product(facts)?.plus(&sum(facts)?, 0.15);
        Ok(parts.and(
            precision
                .fused()
                .and_then(|unit| facts.of(unit, bits, what).ok()),
        ))
    };
    match spec.operation {
        Operation::Add => sum(facts),
        Operation::Mul => product(facts),
        Operation::Mad | Operation::Fma => fused(facts),
        Operation::Mma => {
            let each = fused(facts)?.and(
                precision
                    .matrix()
                    .and_then(|unit| facts.of(unit, bits, what).ok()),
            );
            Ok(each.times(f64::from(spec.macs)))
        }
        Operation::Sfu => Ok(fused(facts)?.times(SFU).widened(
            0.5,
            "GPUWattch's ratio of SFU to FPU (AccelWattch, logic.cc:716: 8 over 3.9)",
        )),
        // Base plus offset.
        Operation::Address => facts.of("int_add", bits, what),
    }
}

/// Energy of a special function over that of a multiply-add (AccelWattch, logic.cc:716-806).
const SFU: f64 = 8.0 / 3.9;

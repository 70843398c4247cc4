//! Functional units: energy, area and leakage by operation and precision, from published figures scaled to the technology.
//!
//! Every published figure of the same kind of unit is brought to the width, node and supply asked for, with an uncertainty that grows with the distance in
//! each; the estimate is their weighted geometric mean. Where they disagree by more than their uncertainties explain, the estimate's own grows accordingly
//! (Birge's ratio, Physical Review 40, 1932). Figures are of two kinds that are never joined: of arithmetic alone ([`Scope::Datapath`]), and of a unit as
//! products have it, with the registers of its stages, operand latches and control ([`Scope::Built`]). Neither has operand collection or instructions.

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

/// How much of a unit a price is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Arithmetic alone.
    Datapath,
    /// As products have it where such units are published; arithmetic elsewhere.
    Built,
}

/// A functional unit.
pub(crate) fn unit(at: &Sizing, spec: &UnitSpec, scope: Scope) -> Result<Cost, CircuitError> {
    let facts = Facts::new(at)?;
    let wanted = wanted(&facts, spec, scope, What::Energy)?;
    let area = self::wanted(&facts, spec, scope, What::Area)?;
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
pub(crate) fn sources(
    at: &Sizing,
    spec: &UnitSpec,
    scope: Scope,
) -> Result<Vec<String>, CircuitError> {
    let facts = Facts::new(at)?;
    let mut all = wanted(&facts, spec, scope, What::Energy)?.sources;
    all.extend(wanted(&facts, spec, scope, What::Area)?.sources);
    all.sort();
    all.dedup();
    Ok(all)
}

/// What an operation takes, out of additions and multiplications where nothing is published for it as a whole.
fn wanted(
    facts: &Facts,
    spec: &UnitSpec,
    scope: Scope,
    what: What,
) -> Result<Estimate, CircuitError> {
    let precision = spec.precision;
    let (add, mul) = precision.families();
    let bits = precision.bits();
    let built = |unit: Option<&str>| match scope {
        Scope::Built => unit.and_then(|unit| facts.built(unit, bits, what)),
        Scope::Datapath => None,
    };
    let arithmetic = || {
        Ok(facts
            .of(mul, bits, what)?
            .plus(&facts.of(add, bits, what)?, FUSING))
    };
    let fused = || built(precision.fused()).map_or_else(arithmetic, Ok);
    match spec.operation {
        Operation::Add => facts.of(add, bits, what),
        Operation::Mul => facts.of(mul, bits, what),
        Operation::Mad | Operation::Fma => fused(),
        // The multiply-adds of a matrix share what a single one has around it: where none of them is published they are arithmetic.
        Operation::Mma => {
            let each = built(precision.matrix()).map_or_else(arithmetic, Ok)?;
            Ok(each.times(f64::from(spec.macs)))
        }
        Operation::Sfu => Ok(fused()?.times(SFU).widened(
            0.5,
            "GPUWattch's ratio of SFU to FPU (AccelWattch, logic.cc:716: 8 over 3.9)",
        )),
        // Base plus offset.
        Operation::Address => facts.of("int_add", bits, what),
    }
}

/// One sigma of a multiplication and an addition joined in one unit.
const FUSING: f64 = 0.15;
/// Energy of a special function over that of a multiply-add (AccelWattch, logic.cc:716-806).
const SFU: f64 = 8.0 / 3.9;

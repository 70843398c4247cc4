//! One estimate out of several published figures.

use std::sync::Arc;

use warpwatt_techlib::published::{self, Scaling, UnitFact, UnitScope, UnitValue};
use warpwatt_techlib::quantity::{Length, Voltage};

use crate::CircuitError;
use crate::build::Sizing;

/// One sigma for each doubling of the width.
const WIDTH: f64 = 0.2;
/// One sigma of taking the one kind of 16-bit number for the other.
const KIND: f64 = 0.3;

/// Which of the two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Energy,
    Area,
}

/// What is published, and by which laws it goes from node to node.
#[derive(Debug)]
pub(crate) struct Published {
    all: Vec<UnitFact>,
    scaling: Scaling,
}

impl Published {
    pub(crate) fn read() -> Result<Self, CircuitError> {
        Ok(Self {
            all: published::units()?,
            scaling: Scaling::read()?,
        })
    }
}

/// What is published, and where it is to be brought.
pub(super) struct Facts {
    published: Arc<Published>,
    node: Length,
    vdd: Voltage,
}

/// A value with its relative uncertainty, in SI.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    log: f64,
    pub(super) sigma: f64,
    pub(super) sources: Vec<String>,
}

impl Facts {
    pub(super) fn new(at: &Sizing) -> Result<Self, CircuitError> {
        Ok(Self {
            published: at.choices.units()?,
            node: at.technology.feature,
            vdd: at.run.vdd,
        })
    }

    /// The arithmetic of a unit of some width.
    pub(super) fn of(&self, unit: &str, bits: u32, what: What) -> Result<Estimate, CircuitError> {
        self.known(unit, bits, what, UnitScope::Datapath)
            .ok_or(CircuitError::NotModelled {
                what: "a unit of this kind",
            })
    }

    /// A unit as products have it, where such are published.
    pub(super) fn built(&self, unit: &str, bits: u32, what: What) -> Option<Estimate> {
        self.known(unit, bits, what, UnitScope::Unit)
    }

    fn known(&self, unit: &str, bits: u32, what: What, scope: UnitScope) -> Option<Estimate> {
        let mut near: Vec<(f64, Estimate)> = Vec::new();
        for fact in self
            .published
            .all
            .iter()
            .filter(|fact| fact.scope == scope && kin(&fact.unit, unit))
        {
            let ((UnitValue::Energy(..), What::Energy) | (UnitValue::Area(_), What::Area)) =
                (fact.value, what)
            else {
                continue;
            };
            let distance = libm::log2(f64::from(bits) / f64::from(fact.bits)).abs();
            let estimate = self.brought(fact, unit, bits);
            // Widths of one document are no independent witnesses: its nearest one speaks for it.
            let same = near
                .iter_mut()
                .find(|(_, other)| other.sources == estimate.sources);
            match same {
                Some(other) if other.0 <= distance => {}
                Some(other) => *other = (distance, estimate),
                None => near.push((distance, estimate)),
            }
        }
        let all: Vec<Estimate> = near.into_iter().map(|(_, estimate)| estimate).collect();
        combined(&all)
    }

    /// One published figure at the width, node and supply asked for.
    fn brought(&self, fact: &UnitFact, unit: &str, bits: u32) -> Estimate {
        let scaling = &self.published.scaling;
        let (value, law) = match fact.value {
            UnitValue::Energy(energy, vdd) => {
                let law = scaling.energy(self.node, self.vdd) / scaling.energy(fact.node, vdd);
                (energy.si(), law)
            }
            UnitValue::Area(area) => (area.si(), scaling.area(self.node) / scaling.area(fact.node)),
        };
        let ratio = f64::from(bits) / f64::from(fact.bits);
        let width = WIDTH * libm::log2(ratio).abs();
        let kind = if fact.unit == unit { 0.0 } else { KIND };
        let node = scaling.uncertainty(fact.node, self.node);
        Estimate {
            log: libm::log(value * law * libm::pow(ratio, exponent(unit))),
            sigma: fact.uncertainty.hypot(width).hypot(kind).hypot(node),
            sources: vec![fact.source.clone()],
        }
    }
}

/// Whether a published unit says something about another: 16-bit numbers of both kinds are near each other.
fn kin(published: &str, wanted: &str) -> bool {
    published == wanted
        || matches!(
            (published, wanted),
            ("fp_add", "bf_add") | ("fp_mul", "bf_mul")
        )
}

/// By which power of the width a unit grows: adders linearly, multipliers with their partial products.
fn exponent(unit: &str) -> f64 {
    if unit.ends_with("_add") { 1.0 } else { 2.0 }
}

/// Weighted mean in the logarithm.
fn combined(all: &[Estimate]) -> Option<Estimate> {
    let weight = |estimate: &Estimate| 1.0 / (estimate.sigma * estimate.sigma);
    let total: f64 = all.iter().map(weight).sum();
    if all.is_empty() || !total.is_finite() {
        return None;
    }
    let log = all
        .iter()
        .map(|estimate| weight(estimate) * estimate.log)
        .sum::<f64>()
        / total;
    let spread: f64 = all
        .iter()
        .map(|estimate| weight(estimate) * (estimate.log - log) * (estimate.log - log))
        .sum();
    let birge = if all.len() > 1 {
        (spread / (all.len() - 1) as f64).sqrt()
    } else {
        1.0
    };
    let sources = all
        .iter()
        .flat_map(|estimate| estimate.sources.iter().cloned())
        .collect();
    Some(Estimate {
        log,
        sigma: birge.max(1.0) / total.sqrt(),
        sources,
    })
}

impl Estimate {
    pub(super) fn value(&self) -> f64 {
        libm::exp(self.log)
    }

    pub(super) fn times(mut self, factor: f64) -> Self {
        self.log += libm::log(factor);
        self
    }

    /// Less sure, for a reason that is a source too.
    pub(super) fn widened(mut self, by: f64, reason: &str) -> Self {
        self.sigma = self.sigma.hypot(by);
        self.sources.push(reason.to_owned());
        self
    }

    /// Two units side by side. Their errors have common causes, so they add up.
    pub(super) fn plus(&self, other: &Self, fusing: f64) -> Self {
        let (a, b) = (self.value(), other.value());
        let sigma = (a * self.sigma + b * other.sigma) / (a + b);
        let sources = self.sources.iter().chain(&other.sources).cloned().collect();
        Self {
            log: libm::log(a + b),
            sigma: sigma.hypot(fusing),
            sources,
        }
    }
}

//! The summands of energies, areas and leakage powers, with their causes of error.

use super::estimate::{Factor, Figure, Term};
use crate::outcome::PricedStructure;

/// Dynamic energy of a structure.
pub fn dynamic(structure: &PricedStructure) -> Term<'_> {
    energy(structure, structure.dynamic_j)
}

/// An energy made of events of a structure.
pub fn energy(structure: &PricedStructure, value: f64) -> Term<'_> {
    Term {
        factor: factor(structure, Figure::Energy),
        value,
        uncertainty: structure.uncertainty.energy,
    }
}

/// Leakage energy of all instances of a structure.
pub fn leakage_energy(structure: &PricedStructure) -> Term<'_> {
    Term {
        value: structure.leakage_j,
        ..leakage_power(structure)
    }
}

/// Leakage power of all instances of a structure.
pub fn leakage_power(structure: &PricedStructure) -> Term<'_> {
    Term {
        factor: factor(structure, Figure::Leakage),
        value: structure.total_leakage_w(),
        uncertainty: structure.uncertainty.leakage,
    }
}

/// Area of all instances of a structure.
pub fn area(structure: &PricedStructure) -> Term<'_> {
    Term {
        factor: factor(structure, Figure::Area),
        value: structure.total_area_m2(),
        uncertainty: structure.uncertainty.area,
    }
}

fn factor(structure: &PricedStructure, figure: Figure) -> Factor<'_> {
    Factor {
        figure,
        structure: &structure.name,
    }
}

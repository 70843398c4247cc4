//! The summands of energies, areas and leakage powers, with their causes of error.

use super::estimate::{Figure, Term};
use crate::outcome::{Outcome, PricedStructure};

/// Dynamic and leakage energy of every priced structure.
pub fn all_energy(outcome: &Outcome) -> Vec<Term<'_>> {
    let dynamic = outcome.structures.iter().map(dynamic);
    let leakage = outcome.structures.iter().map(leakage_energy);
    dynamic.chain(leakage).collect()
}

/// Dynamic energy of a structure.
pub fn dynamic(structure: &PricedStructure) -> Term<'_> {
    energy(structure, structure.dynamic_j)
}

/// An energy made of events of a structure.
pub fn energy(structure: &PricedStructure, value: f64) -> Term<'_> {
    term(
        structure,
        Figure::Energy,
        value,
        structure.uncertainty.energy,
    )
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
    let power = structure.total_leakage_w();
    term(
        structure,
        Figure::Leakage,
        power,
        structure.uncertainty.leakage,
    )
}

/// Area of all instances of a structure.
pub fn area(structure: &PricedStructure) -> Term<'_> {
    let area = structure.total_area_m2();
    term(structure, Figure::Area, area, structure.uncertainty.area)
}

fn term(structure: &PricedStructure, figure: Figure, value: f64, total: f64) -> Term<'_> {
    let method = structure.uncertainty.method;
    Term::of(&structure.name, figure, value, (total, method))
}

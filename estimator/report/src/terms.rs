//! The summands of energies, areas and leakage powers, with their causes of error.

use super::estimate::{Figure, Sum, Term, Terms};
use crate::outcome::{Outcome, PricedStructure};

/// Dynamic and leakage energy of every priced structure, with what a sample of the run is uncertain by.
pub fn all_energy(outcome: &Outcome) -> Terms<'_> {
    let mut terms = priced_energy(outcome);
    add_sample(outcome, &mut terms);
    terms
}

/// What `term` says of the structures of a group, or of all.
pub fn of_group<'o>(
    outcome: &'o Outcome,
    group: Option<&str>,
    term: fn(&'o PricedStructure) -> Term<'o>,
) -> Terms<'o> {
    let structures = outcome.structures.iter();
    let members = structures.filter(|it| group.is_none_or(|group| &*it.group == group));
    let mut terms = Terms::new();
    terms.extend(members.map(term));
    terms
}

/// An energy of the structures of a group, or of all, with what a sample of the run is uncertain by.
pub fn energy_of<'o>(
    outcome: &'o Outcome,
    group: Option<&str>,
    term: fn(&'o PricedStructure) -> Term<'o>,
) -> Terms<'o> {
    let mut terms = of_group(outcome, group, term);
    add_sample(outcome, &mut terms);
    terms
}

/// [`all_energy`] as if all of the run had been timed.
pub fn priced_energy(outcome: &Outcome) -> Terms<'_> {
    let structures = outcome.structures.iter();
    let leakage = structures.clone().map(leakage_energy);
    let mut terms = Terms::new();
    terms.extend(structures.map(dynamic));
    terms.extend(leakage);
    terms
}

/// Adds to `terms`, a part of the outcome's energy, what they are uncertain by as a part of the run was timed: as large a part of that.
pub fn add_sample<'o>(outcome: &'o Outcome, terms: &mut Terms<'o>) {
    let Some(sampled) = &outcome.sampled else {
        return;
    };
    let part: f64 = terms.iter().map(|term| term.value).sum();
    let share = part / outcome.energy_j();
    terms.extend(sampled.errors.iter().map(|error| Term {
        structure: &error.cause,
        figure: Figure::Sample,
        value: share * error.energy_j,
        own: 1.0,
        common: 0.0,
    }));
}

/// The time, in seconds, with what it is uncertain by as a part of the run was timed.
pub fn time(outcome: &Outcome) -> Sum {
    let mut time = Sum::default();
    time.add_sure(outcome.time_s);
    for error in outcome.sampled.iter().flat_map(|sampled| &sampled.errors) {
        time.add_error(Figure::Sample, &error.cause, error.time_s);
    }
    time
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

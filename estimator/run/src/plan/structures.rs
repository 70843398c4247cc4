//! Structures that a study describes itself: which points have them, whether they can be built, and what they add to a price.

use std::collections::BTreeSet;

use warpwatt_activity::Activity;
use warpwatt_circuit::CircuitError;
use warpwatt_structures::inventory;
use warpwatt_techniques::Circuits;

use super::Axes;
use crate::diag::{Diag, Sink, SourceId, did_you_mean};
use crate::label;
use crate::outcome::{BASELINE, Note, NoteKind};
use crate::pricing::{CostEntry, CostTable, NodeCircuits, PricingError};
use crate::study::{Configuration, OwnStructure, Per};

/// The structures that the points of a configuration have.
pub fn of<'s>(
    structures: &'s [OwnStructure],
    configuration: &'s Configuration,
) -> impl Iterator<Item = &'s OwnStructure> {
    structures.iter().filter(|structure| {
        let wanted = &structure.only_with;
        if configuration.is_baseline() && structure.baseline {
            return true;
        }
        match wanted.is_empty() {
            true => !configuration.is_baseline(),
            false => wanted.iter().any(|name| called(configuration, &name.value)),
        }
    })
}

/// Whether `only_with` may call a configuration so: by its label, or by the name or the label of a technique in it.
fn called(configuration: &Configuration, name: &str) -> bool {
    names(configuration).any(|known| label::fits(&known, name))
}

/// The label of a configuration, and the names and the labels of the techniques in it.
fn names(configuration: &Configuration) -> impl Iterator<Item = String> {
    let members = configuration.stack.members().iter();
    let members = members.flat_map(|member| [member.name().to_owned(), member.label()]);
    members.chain([configuration.label.clone()])
}

/// What decides the figures of a structure, as a text: equal texts, equal structures.
pub fn canonical(structure: &OwnStructure) -> String {
    let OwnStructure {
        name,
        group,
        count,
        per,
        spec,
        actions,
        // Decides which points have it, not what it is there.
        only_with: _,
        baseline: _,
    } = structure;
    let actions: Vec<(&str, &str)> = actions
        .iter()
        .map(|action| (action.name, action.count.value.text()))
        .collect();
    format!(
        "{} {group} {count} {per:?} {:?} {actions:?}",
        name.value, spec.value
    )
}

/// Checks before anything runs that every structure has a name of its own, is in some point, and can be built and priced wherever it is.
pub fn check(axes: &Axes, sink: &mut Sink, source: SourceId) {
    for structure in &axes.structures {
        check_techniques(structure, axes, sink, source);
        check_name(structure, axes, sink, source);
        for circuits in &axes.technologies {
            for diag in unpriced(structure, circuits, source) {
                if !sink.diags.contains(&diag) {
                    sink.push(diag);
                }
            }
        }
    }
}

fn check_techniques(structure: &OwnStructure, axes: &Axes, sink: &mut Sink, source: SourceId) {
    let known: BTreeSet<String> = axes.configurations.iter().flat_map(names).collect();
    for name in &structure.only_with {
        if !known.iter().any(|known| label::fits(known, &name.value)) {
            let message = format!("the study compares nothing that is called `{}`", name.value);
            let help = did_you_mean(&name.value, known.iter().map(String::as_str));
            let diag = Diag::error("study::only_with", message)
                .at(source, name.range.clone(), "")
                .help(help);
            sink.push(diag);
        }
    }
}

fn check_name(structure: &OwnStructure, axes: &Axes, sink: &mut Sink, source: SourceId) {
    let name = &structure.name;
    let has = |configuration: &&Configuration| {
        axes.gpus.iter().any(|gpu| {
            let mut others = inventory(&gpu.spec);
            configuration.stack.build(&gpu.spec, &mut others);
            others.iter().any(|other| other.name == name.value)
        })
    };
    if let Some(configuration) = axes.configurations.iter().find(has) {
        let whose = match configuration.label.as_str() {
            BASELINE => "the GPU",
            label => label,
        };
        let message = format!("{whose} has a structure `{}` already", name.value);
        let diag = Diag::error("study::structure", message)
            .at(source, name.range.clone(), "")
            .help("choose another name");
        sink.push(diag);
    }
}

/// Why a structure has no price in a technology.
fn unpriced(structure: &OwnStructure, circuits: &NodeCircuits, source: SourceId) -> Vec<Diag> {
    let entry = match entry(structure, 1, circuits) {
        Ok(entry) => entry,
        Err(error) => {
            let message = format!("`{}` cannot be built: {error}", structure.name.value);
            let diag = Diag::error("study::structure", message);
            return vec![diag.at(source, structure.spec.range.clone(), "")];
        }
    };
    let known: Vec<&str> = entry.prices().map(|(action, _)| action).collect();
    let actions = structure.actions.iter();
    let without = actions.filter(|action| entry.energy(action.name).is_none());
    without
        .map(|action| {
            let message = format!(
                "`{}` ({}) has no price for `{}`",
                structure.name.value, entry.cost.model, action.name
            );
            Diag::error("study::structure", message)
                .at(source, action.count.range.clone(), "")
                .help(format!("it has prices for: {}", known.join(", ")))
        })
        .collect()
}

/// How many of it a GPU of so many SMs has.
pub fn instances(structure: &OwnStructure, sms: u32) -> u64 {
    let places = match structure.per {
        Per::Sm => sms,
        Per::Gpu => 1,
    };
    u64::from(structure.count) * u64::from(places)
}

fn entry(
    structure: &OwnStructure,
    sms: u32,
    circuits: &dyn Circuits,
) -> Result<CostEntry, CircuitError> {
    Ok(CostEntry {
        group: structure.group.name().to_owned(),
        instances: instances(structure, sms),
        leakage_only: false,
        charges: Vec::new(),
        flavours: None,
        cost: circuits.cost(&structure.spec.value)?,
        gates: None,
    })
}

/// Puts structures into the table.
///
/// # Errors
/// A structure has no price.
pub fn enter<'s>(
    structures: impl Iterator<Item = &'s OwnStructure>,
    (sms, circuits): (u32, &dyn Circuits),
    table: &mut CostTable,
) -> Result<(), PricingError> {
    for structure in structures {
        let name = &structure.name.value;
        let entry = entry(structure, sms, circuits).map_err(|source| PricingError::Circuit {
            name: name.clone(),
            source: Box::new(source),
        })?;
        table.insert(name, entry)?;
    }
    Ok(())
}

/// Puts what happened to structures beside what was counted.
///
/// # Errors
/// An expression has no value.
pub fn count<'s>(
    structures: impl Iterator<Item = &'s OwnStructure>,
    activity: &mut Activity,
) -> Result<(), String> {
    let mut happened = Vec::new();
    for structure in structures {
        let name = &structure.name.value;
        for action in &structure.actions {
            let count = action.count.value.count(&|name| activity.get(name) as f64);
            let count = count.map_err(|error| {
                let text = action.count.value.text();
                format!(
                    "`{name}`, `{} = \"{text}\"`, has no count here: {error}",
                    action.name
                )
            })?;
            happened.push((format!("{name}.{}", action.name), count));
        }
    }
    for (name, count) in happened {
        activity.add(&name, count);
    }
    Ok(())
}

/// What a reader of the results must know: that these structures are the study's own, and where their counts come from.
pub fn notes<'s>(structures: impl Iterator<Item = &'s OwnStructure>) -> impl Iterator<Item = Note> {
    structures.map(|structure| {
        let actions = structure.actions.iter();
        let actions: Vec<String> = actions
            .map(|action| format!("{} = {}", action.name, action.count.value.text()))
            .collect();
        Note {
            kind: NoteKind::Structure,
            text: format!(
                "`{}` is a structure of the study's own: {}",
                structure.name.value,
                actions.join("; ")
            ),
        }
    })
}

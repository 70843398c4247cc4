//! Structures that a study describes itself: whether they can be built, and what they add to a price.

use std::collections::BTreeSet;
use std::sync::Arc;

use warpwatt_activity::Activity;
use warpwatt_circuit::CircuitError;
use warpwatt_structures::inventory;
use warpwatt_techniques::Circuits;

use super::Axes;
use crate::diag::{Diag, Sink, SourceId, did_you_mean};
use crate::label;
use crate::outcome::{Action, BASELINE, Note, NoteKind};
use crate::pricing::{CostEntry, CostTable, NodeCircuits, PricingError};
use crate::study::{Configuration, Faults, OwnStructure, Per, StructureAxes};

/// What decides the figures of a structure, as a text: equal texts, equal structures.
pub fn canonical(structure: &OwnStructure) -> String {
    let OwnStructure {
        name,
        group,
        count,
        per,
        spec,
        actions,
        // Says what `count` and `spec` are.
        label: _,
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

/// Checks before anything runs that every structure has a name of its own, is in some point, and can be built and priced wherever it is. `made` is what became of them.
pub fn check(
    axes: &Axes,
    (described, made): (&[StructureAxes], &[Arc<OwnStructure>]),
    sink: &mut Sink,
    source: SourceId,
) {
    let known: BTreeSet<String> = axes
        .configurations
        .iter()
        .flat_map(Configuration::called)
        .filter(|label| !label.is_empty())
        .collect();
    for structure in described {
        check_techniques(structure, &known, sink, source);
        check_name(structure, axes, sink, source);
        let mut faults = Faults::default();
        for one in made.iter().filter(|it| it.name == structure.name) {
            for circuits in &axes.technologies {
                for diag in unpriced(one, circuits, source) {
                    faults.push(diag);
                }
            }
        }
        faults.leave(sink);
    }
}

fn check_techniques(
    structure: &StructureAxes,
    known: &BTreeSet<String>,
    sink: &mut Sink,
    source: SourceId,
) {
    for name in &structure.only_with {
        if !known.iter().any(|known| label::fits(known, &name.value)) {
            let message = format!("the study compares nothing that is called `{}`", name.value);
            let techniques = known.iter().flat_map(|it| label::techniques(it));
            let all: BTreeSet<&str> = techniques.chain(known.iter().map(String::as_str)).collect();
            let help = did_you_mean(&name.value, all);
            let diag = Diag::error("study::only_with", message)
                .at(source, name.range.clone(), "")
                .help(help);
            sink.push(diag);
        }
    }
}

fn check_name(structure: &StructureAxes, axes: &Axes, sink: &mut Sink, source: SourceId) {
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
            let name = structure.label.as_ref().unwrap_or(&structure.name.value);
            let message = format!("`{name}` cannot be built: {error}");
            let diag = Diag::error("study::structure", message);
            return vec![diag.at(source, structure.spec.range.clone(), "")];
        }
    };
    let known: Vec<&str> = entry.prices().map(|(action, _)| action.name()).collect();
    let actions = structure.actions.iter();
    let price = |name: &str| entry.energy(Action::named(name)?);
    let without = actions.filter(|action| price(action.name).is_none());
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
        group: structure.group.name(),
        instances: instances(structure, sms),
        leakage_only: false,
        charges: Arc::default(),
        flavours: None,
        cost: circuits.cost(&structure.spec.value)?,
        gates: None,
    })
}

/// Puts structures into the table.
///
/// # Errors
/// A structure has no price.
pub fn enter(
    structures: &[Arc<OwnStructure>],
    (sms, circuits): (u32, &dyn Circuits),
    table: &mut CostTable,
) -> Result<(), PricingError> {
    for structure in structures {
        let name = &structure.name.value;
        let entry = entry(structure, sms, circuits).map_err(|source| PricingError::Circuit {
            name: name.clone(),
            source: Box::new(source),
        })?;
        table.insert(name.clone(), entry)?;
    }
    Ok(())
}

/// Puts what happened to structures beside what was counted.
///
/// # Errors
/// An expression has no value.
pub fn count(structures: &[Arc<OwnStructure>], activity: &mut Activity) -> Result<(), String> {
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
pub fn notes(structures: &[Arc<OwnStructure>]) -> impl Iterator<Item = Note> {
    structures.iter().map(|structure| {
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
            )
            .into(),
        }
    })
}

//! The join of an activity with a cost table.

mod before;
mod sampled;

pub use before::Before;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warpwatt_activity::Activity;
use warpwatt_circuit::Organisation;
use warpwatt_techlib::quantity::{Frequency, Power};

use self::before::{Known, KnownStructure, text};
use super::{CostEntry, CostTable, PricingError, Switched};
use crate::outcome::{
    Action, Actions, DRAM, Metric, Note, NoteKind, Outcome, Point, PricedAction, PricedStructure,
    RegisterAccesses, RelativeUncertainty, Samples, Totals,
};
use crate::peak::Windows;
use crate::performance::Performance;

/// What the GPU model says about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Cycles of the core clock.
    pub cycles: u64,
    /// The core clock.
    pub clock: Frequency,
    /// Events over the whole GPU.
    pub activity: Arc<Activity>,
    /// How the run went.
    pub performance: Arc<Performance>,
    /// What the techniques report.
    pub metrics: Arc<Vec<Metric>>,
    /// How often each physical register was accessed, where a technique says in which one a value lies.
    pub register_accesses: Option<Arc<RegisterAccesses>>,
    /// The same by windows of time, if peak power is asked for.
    pub windows: Option<Arc<Windows>>,
    /// What was timed, if not all of it was.
    pub samples: Option<Arc<Samples>>,
    /// What a reader must know.
    pub notes: Vec<Note>,
    /// What was found when it was priced before.
    pub before: Before,
}

/// Prices what was counted: dynamic energy is the sum over actions of count times energy, leakage energy is power times time.
///
/// Events on structures that the table does not hold stay unpriced, and a note lists them.
///
/// # Errors
/// If an action that was counted on a structure of the table has no price, or the clock does not run.
pub fn price(point: Point, counted: Counted, table: &CostTable) -> Result<Outcome, PricingError> {
    let clock_hz = counted.clock.si();
    if !(clock_hz.is_finite() && clock_hz > 0.0) {
        return Err(PricingError::Clock { hz: clock_hz });
    }
    let time_s = counted.cycles as f64 / clock_hz;
    let known = counted.before.get(&counted.activity, table);
    let structures = all_priced(&counted, table, known)?;
    let samples = counted.samples.as_deref();
    let totals = Totals::of(&structures);
    let energy_j = totals.dynamic_j + totals.leakage_j;
    let sampled =
        samples.map(|samples| sampled::of(samples, (&point, &counted), (time_s, energy_j), table));
    let sampled = sampled.transpose()?;
    let wakes = |name: &str| table.get(name)?.gates.as_ref().map(|gates| gates.wakes);
    let windows = counted.windows.as_ref();
    let windows = windows.map(|windows| windows.charged(table.charges()));
    let peak = windows.and_then(|windows| windows.peak(&structures, wakes));
    let (charged, scope) = match known {
        Some(known) => (Arc::clone(&known.charged), known.scope.clone()),
        None => (
            Arc::new(charged(table, &counted.activity)),
            scope_notes(&structures, table, &counted.activity),
        ),
    };
    counted.before.keep(|| Known {
        activity: Arc::clone(&counted.activity),
        structures: structures
            .iter()
            .zip(table.iter())
            .map(KnownStructure::of)
            .collect(),
        charged: Arc::clone(&charged),
        scope: scope.clone(),
    });
    let mut notes = counted.notes;
    notes.extend(scope);
    notes.extend(flavour_note(&structures));
    notes.extend(
        sampled
            .as_ref()
            .map(|sampled| sampled::note(sampled, time_s, energy_j)),
    );
    notes.sort();
    notes.dedup();
    Ok(Outcome {
        point,
        charged,
        cycles: counted.cycles,
        clock_hz,
        time_s,
        activity: counted.activity,
        performance: counted.performance,
        metrics: counted.metrics,
        register_accesses: counted.register_accesses,
        totals,
        structures,
        notes: Arc::new(notes),
        heat: None,
        peak,
        sampled,
    })
}

/// What was counted, structure by structure.
fn all_priced(
    counted: &Counted,
    table: &CostTable,
    known: Option<&Known>,
) -> Result<Vec<PricedStructure>, PricingError> {
    let entries = table.iter();
    // As many as there will be: what may fail does not say so.
    let mut all = Vec::with_capacity(entries.size_hint().0);
    for (place, (name, entry)) in entries.enumerate() {
        let before = known.and_then(|known| known.structures.get(place));
        all.push(priced((name, entry), counted, before)?);
    }
    Ok(all)
}

/// What happened to a structure that is charged for, with its price; `before` is what was counted of it at another operating point.
fn charged_for(
    (name, entry): (&str, &CostEntry),
    activity: &Activity,
    before: Option<&Actions>,
) -> Result<Actions, PricingError> {
    let mut actions = Actions::default();
    let mut add = |action: &str, count: u64| {
        let known = Action::named(action);
        let price = known.and_then(|action| Some((action, entry.energy(action)?)));
        let (action, unit) = price.ok_or_else(|| no_price(name, action, entry))?;
        let unit_j = unit.si();
        let priced = PricedAction {
            count,
            unit_j,
            total_j: count as f64 * unit_j,
        };
        actions.insert(action, priced);
        Ok(())
    };
    if let Some(before) = before {
        // What switches it on is priced by its gates.
        let mut counted = before.iter().filter(|(action, _)| *action != Action::Wake);
        counted.try_for_each(|(action, priced)| add(action.name(), priced.count))?;
    } else if !entry.leakage_only {
        let mut charges = entry.charges.iter();
        charges.try_for_each(|charge| add(charge.action, charge.count(activity)))?;
        if entry.charges.is_empty() {
            let mut events = activity.events_of(name);
            events.try_for_each(|(action, count)| add(action, count))?;
        }
    }
    Ok(actions)
}

/// A structure's price; `before` is how it came out at another operating point.
fn priced(
    (name, entry): (&str, &CostEntry),
    counted: &Counted,
    before: Option<&KnownStructure>,
) -> Result<PricedStructure, PricingError> {
    let time_s = counted.cycles as f64 / counted.clock.si();
    let counts = before.and_then(|before| before.counts(entry));
    let mut actions = charged_for((name, entry), &counted.activity, counts)?;
    let cost = &entry.cost;
    let mut area = cost.area;
    if let Some(gates) = &entry.gates {
        area += gates.gated.header_area;
        actions.insert(Action::Wake, wakes(entry, gates, &counted.activity));
    }
    Ok(PricedStructure {
        name: before.map_or_else(|| name.into(), |it| Arc::clone(&it.structure.name)),
        group: before.map_or_else(|| entry.group.into(), |it| it.group(entry)),
        instances: entry.instances,
        area_m2: area.si(),
        leakage_w: cost.leakage.si(),
        gate_leakage_w: cost.gate_leakage.si(),
        delay_s: cost.access_time.si(),
        dynamic_j: actions.total_j(),
        actions,
        leakage_j: mean_leakage(entry, counted) * time_s,
        flavour: entry.flavours.map(|flavours| {
            let known = before.and_then(|before| before.flavour(entry));
            known.unwrap_or_else(|| Arc::from(flavours.to_string()))
        }),
        model: text(before.map(|it| &it.structure.model), &cost.model),
        organisation: cost.organisation.as_ref().map(|split| {
            let known = before.and_then(|before| before.organisation(entry));
            known.unwrap_or_else(|| organisation(split))
        }),
        uncertainty: RelativeUncertainty {
            area: cost.uncertainty.area,
            delay: cost.uncertainty.delay,
            energy: cost.uncertainty.energy,
            leakage: cost.uncertainty.leakage,
            method: cost.uncertainty.method,
        },
    })
}

/// The counters behind the actions of structures that are not called after them, those of them that counted something.
fn charged(table: &CostTable, activity: &Activity) -> BTreeSet<String> {
    let charges = table.charges().flat_map(|(_, charge)| &charge.events);
    let counters = charges.map(|(counter, _)| *counter);
    let counted = counters.filter(|counter| activity.get(counter) > 0);
    counted.map(str::to_owned).collect()
}

/// Mean leakage power of everything in `table` that is on the chip.
pub(super) fn leakage_power(table: &CostTable, counted: &Counted) -> Power {
    let on_chip = table.iter().filter(|(_, entry)| entry.group != DRAM);
    let watts = on_chip.map(|(_, entry)| mean_leakage(entry, counted));
    Power::from_w(watts.sum())
}

/// Mean leakage power of all instances of a structure, in watts.
fn mean_leakage(entry: &CostEntry, counted: &Counted) -> f64 {
    let cost = &entry.cost;
    let on_w = entry.instances as f64 * (cost.leakage.si() + cost.gate_leakage.si());
    match &entry.gates {
        None => on_w,
        Some(gates) => gated_leakage(on_w, entry, gates, counted),
    }
}

/// Mean leakage power of a structure that is switched off in parts and at times.
fn gated_leakage(on_w: f64, entry: &CostEntry, gates: &Switched, counted: &Counted) -> f64 {
    let gated = &gates.gated;
    let off_w = entry.instances as f64 * (gated.leakage.si() + gated.gate_leakage.si());
    let all = gates.domains as f64 * counted.cycles as f64;
    let powered = counted.activity.get(gates.powered) as f64;
    let share = if all > 0.0 {
        (powered / all).min(1.0)
    } else {
        1.0
    };
    share * on_w + (1.0 - share) * off_w
}

/// What switching on costs: a part of the model is as many of the circuit's as their numbers say.
fn wakes(entry: &CostEntry, gates: &Switched, activity: &Activity) -> PricedAction {
    let count = activity.get(gates.wakes);
    let parts = entry.instances as f64 * gates.gated.domains as f64 / gates.domains.max(1) as f64;
    let unit_j = gates.gated.wake_energy.si() * parts;
    PricedAction {
        count,
        unit_j,
        total_j: count as f64 * unit_j,
    }
}

fn organisation(split: &Organisation) -> Arc<str> {
    let text = format!(
        "{} x {} subarrays of {} x {}, column mux {}, sense-amplifier mux {} x {}",
        split.ndwl, split.ndbl, split.rows, split.cols, split.ndcm, split.ndsam1, split.ndsam2
    );
    Arc::from(text)
}

fn no_price(structure: &str, action: &str, entry: &CostEntry) -> PricingError {
    let known: Vec<&str> = entry.prices().map(|(action, _)| action.name()).collect();
    PricingError::NoPrice {
        structure: structure.to_owned(),
        action: action.to_owned(),
        model: entry.cost.model.clone(),
        known: known.join(", "),
    }
}

/// Which structures are of which transistors, where they are not those of the technology.
fn flavour_note(structures: &[PricedStructure]) -> Option<Note> {
    let mut by_flavour: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for structure in structures {
        if let Some(flavour) = &structure.flavour {
            by_flavour.entry(flavour).or_default().push(&structure.name);
        }
    }
    let each = by_flavour.iter();
    let each = each.map(|(flavour, names)| format!("{flavour}: {}", names.join(", ")));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| Note {
        kind: NoteKind::Timing,
        text: format!(
            "transistors as slow as the time of each structure allows; {}",
            each.join("; ")
        )
        .into(),
    })
}

/// What the figures leave out: structures without events, and events without structures.
fn scope_notes(
    structures: &[PricedStructure],
    table: &CostTable,
    activity: &Activity,
) -> Vec<Note> {
    let idle: Vec<&str> = structures
        .iter()
        .filter(|structure| structure.actions.is_empty())
        .map(|structure| &*structure.name)
        .collect();
    let charged: BTreeSet<(&str, &str)> = table
        .charges()
        .flat_map(|(_, charge)| &charge.events)
        .filter_map(|(counter, _)| counter.rsplit_once('.'))
        .collect();
    let unpriced: BTreeSet<&str> = activity
        .events()
        .filter(|(event, count)| *count > 0 && !table.contains(event.structure))
        .filter(|(event, _)| !charged.contains(&(event.structure, event.action)))
        .map(|(event, _)| event.structure)
        .collect();
    let unpriced: Vec<&str> = unpriced.into_iter().collect();
    let mut notes = Vec::new();
    if !idle.is_empty() {
        notes.push(format!(
            "area and leakage only, no dynamic energy: {}",
            idle.join(", ")
        ));
    }
    if !unpriced.is_empty() {
        notes.push(format!(
            "counted but without a circuit model, hence in no energy: {}",
            unpriced.join(", ")
        ));
    }
    notes
        .into_iter()
        .map(|text| Note {
            kind: NoteKind::Scope,
            text: text.into(),
        })
        .collect()
}

#[cfg(test)]
mod tests;

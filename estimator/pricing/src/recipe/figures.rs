//! The figures of a structure that outcomes are made of.

use warpwatt_circuit::{Cost, Gated};

use super::Part;
use crate::outcome::{Action, Outcome, PricedStructure, Totals};
use crate::uncertainty::Figure;

/// What one structure costs, in SI; nothing of how it comes about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// One read.
    pub read_j: f64,
    /// One write.
    pub write_j: f64,
    /// One search; zero where there is none.
    pub search_j: f64,
    /// Sub-threshold leakage.
    pub leakage_w: f64,
    /// Gate leakage.
    pub gate_leakage_w: f64,
    /// Area, without sleep transistors.
    pub area_m2: f64,
    /// Access time.
    pub delay_s: f64,
    /// With sleep transistors.
    pub gated: Option<GatedFigures>,
}

/// What sleep transistors do to one structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatedFigures {
    /// Leakage of all kinds with everything switched off.
    pub off_w: f64,
    /// One wake-up of one of its own parts.
    pub wake_j: f64,
    /// Its own parts.
    pub domains: f64,
    /// Area of the sleep transistors.
    pub header_m2: f64,
}

impl Figures {
    /// Those of a cost.
    pub fn of(cost: &Cost, gated: Option<&Gated>) -> Self {
        Self {
            read_j: cost.read_energy.si(),
            write_j: cost.write_energy.si(),
            search_j: cost.search_energy.map_or(0.0, |energy| energy.si()),
            leakage_w: cost.leakage.si(),
            gate_leakage_w: cost.gate_leakage.si(),
            area_m2: cost.area.si(),
            delay_s: cost.access_time.si(),
            gated: gated.map(|gated| GatedFigures {
                off_w: gated.leakage.si() + gated.gate_leakage.si(),
                wake_j: gated.wake_energy.si(),
                domains: gated.domains as f64,
                header_m2: gated.header_area.si(),
            }),
        }
    }

    /// Each figure times the factor of its kind.
    #[must_use]
    pub fn times(&self, factor: impl Fn(Figure) -> f64) -> Self {
        let [energy, leakage, area, delay] = Figure::ALL.map(factor);
        Self {
            read_j: self.read_j * energy,
            write_j: self.write_j * energy,
            search_j: self.search_j * energy,
            leakage_w: self.leakage_w * leakage,
            gate_leakage_w: self.gate_leakage_w * leakage,
            area_m2: self.area_m2 * area,
            delay_s: self.delay_s * delay,
            gated: self.gated.map(|gated| GatedFigures {
                off_w: gated.off_w * leakage,
                wake_j: gated.wake_j * energy,
                header_m2: gated.header_m2 * area,
                ..gated
            }),
        }
    }

    /// Energy of one `action` on `part`; a wake-up is one of a part of the GPU model.
    pub fn energy_j(&self, part: &Part, action: Action) -> f64 {
        match (action, &self.gated, &part.gates) {
            (Action::Write, ..) => self.write_j,
            (Action::Search, ..) => self.search_j,
            (Action::Wake, Some(gated), Some(gates)) => {
                let own = part.instances as f64 * gated.domains / gates.domains.max(1) as f64;
                gated.wake_j * own
            }
            _ => self.read_j,
        }
    }

    /// Leakage power of all instances, averaged over the run.
    pub fn mean_leakage_w(&self, part: &Part, outcome: &Outcome) -> f64 {
        let instances = part.instances as f64;
        let on = instances * (self.leakage_w + self.gate_leakage_w);
        match (&self.gated, powered_share(part, outcome)) {
            (Some(gated), Some(share)) => share * on + (1.0 - share) * (instances * gated.off_w),
            _ => on,
        }
    }
}

/// The share of the time for which the parts of a structure with sleep transistors were on; the whole of it if none was counted.
pub fn powered_share(part: &Part, outcome: &Outcome) -> Option<f64> {
    let gates = part.gates.as_ref()?;
    let all = gates.domains as f64 * outcome.cycles as f64;
    let powered = outcome.activity.get(&gates.powered) as f64;
    Some(if all > 0.0 {
        (powered / all).min(1.0)
    } else {
        1.0
    })
}

/// The outcome as it is if its structures cost `figures`; `parts` and `figures` go together, and hold every structure of the outcome.
pub fn reprice<'p>(outcome: &mut Outcome, parts: impl IntoIterator<Item = (&'p Part, Figures)>) {
    for (part, figures) in parts {
        let mean_w = figures.mean_leakage_w(part, outcome);
        let time_s = outcome.time_s;
        let structure = outcome
            .structures
            .iter_mut()
            .find(|structure| *structure.name == *part.name);
        if let Some(structure) = structure {
            again(structure, part, &figures, mean_w * time_s);
        }
    }
    outcome.totals = Totals::of(&outcome.structures);
}

fn again(structure: &mut PricedStructure, part: &Part, figures: &Figures, leakage_j: f64) {
    for (action, priced) in structure.actions.iter_mut() {
        priced.unit_j = figures.energy_j(part, action);
        priced.total_j = priced.count as f64 * priced.unit_j;
    }
    structure.dynamic_j = structure.actions.total_j();
    structure.leakage_j = leakage_j;
    structure.leakage_w = figures.leakage_w;
    structure.gate_leakage_w = figures.gate_leakage_w;
    structure.area_m2 = figures.area_m2 + figures.gated.map_or(0.0, |gated| gated.header_m2);
    structure.delay_s = figures.delay_s;
}

//! What an organisation is chosen for, wires and sleep transistors, from the options of one array.

use warpwatt_circuit::{Gating, Granularity, Objective, Profile, Settings, Weights};

use super::{Faults, Request, word};
use crate::{Refusal, parse_deviations, parse_weights};

impl Request {
    pub(super) fn settings(&self, profile: Profile, faults: &mut Faults) -> Settings {
        let mut settings = profile.settings();
        settings.ecc = self.ecc;
        settings.gating = Some(Gating::default());
        let goal = faults.take("optimize", self.optimize.as_ref(), goal);
        match goal {
            None => {}
            Some(Goal::Product(objective)) => settings.objective = objective,
            Some(Goal::Single(weights)) => {
                settings.objective = Objective::Weighted;
                settings.weights = weights;
                settings.deviations = of_one(profile);
            }
            Some(Goal::Weights) => {
                settings.objective = Objective::Weighted;
                if self.weights.is_none() {
                    faults.0.push(
                        Refusal::new("--optimize weights needs --weights").help(
                            "write delay:dynamic:leakage:cycle:area, for example 0:0:0:100:0",
                        ),
                    );
                }
            }
        }
        if let Some(weights) = faults.take("weights", self.weights.as_ref(), parse_weights) {
            settings.weights = weights;
            if !matches!(goal, None | Some(Goal::Weights)) {
                faults.0.push(
                    Refusal::new("--weights says what --optimize says otherwise")
                        .help("write --optimize weights"),
                );
            }
            settings.objective = Objective::Weighted;
        }
        if let Some(deviations) =
            faults.take("deviations", self.deviations.as_ref(), parse_deviations)
        {
            settings.deviations = deviations;
        }
        if let Some(wires) = &self.wires {
            for text in wires.split(',') {
                let result = wire(&mut settings, text.trim());
                faults.keep(result);
            }
        }
        let part = faults.take("gating", self.gating.as_ref(), gated_part);
        if let Some(part) = part {
            settings.gating = part.map(|granularity| Gating {
                granularity,
                ..Gating::default()
            });
        }
        settings
    }
}

/// As wide as any deviation needs to be for no organisation to be left out.
const ANY_DEVIATION: f64 = 1e6;

/// How far a single figure may lead the others astray: as far as any does, but for what the silicon profile keeps whatever the objective.
fn of_one(profile: Profile) -> Weights {
    let any = Weights::all(ANY_DEVIATION);
    match profile {
        Profile::Cacti65 | Profile::Cacti7 => any,
        Profile::Silicon => {
            let Weights { dynamic, area, .. } = profile.settings().deviations;
            Weights {
                dynamic,
                area,
                ..any
            }
        }
    }
}

/// What an organisation is chosen for.
#[derive(Clone, Copy, Debug)]
enum Goal {
    Product(Objective),
    Single(Weights),
    Weights,
}

fn goal(text: &str) -> Result<Goal, Refusal> {
    let one = |set: fn(&mut Weights)| {
        let mut weights = Weights::all(0.0);
        set(&mut weights);
        Goal::Single(weights)
    };
    word::word(
        "objective",
        text,
        &[
            ("energy", one(|w| w.dynamic = 100.0)),
            ("delay", one(|w| w.delay = 100.0)),
            ("area", one(|w| w.area = 100.0)),
            ("leakage", one(|w| w.leakage = 100.0)),
            ("cycle", one(|w| w.cycle = 100.0)),
            ("ed", Goal::Product(Objective::EnergyDelay)),
            ("ed2", Goal::Product(Objective::EnergyDelaySquared)),
            ("weights", Goal::Weights),
        ],
    )
}

fn gated_part(text: &str) -> Result<Option<Granularity>, Refusal> {
    word::word(
        "part to gate",
        text,
        &[
            ("array", Some(Granularity::Array)),
            ("subarray", Some(Granularity::Subarray)),
            ("row", Some(Granularity::Row)),
            ("none", None),
        ],
    )
}

fn wire(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    let wires = &mut settings.wires;
    let named = |refusal: Refusal| Refusal {
        message: format!("--wires: {}", refusal.message),
        ..refusal
    };
    match text.split_once('=').map(|(key, layer)| (key.trim(), layer)) {
        Some(("inside", layer)) => wires.inside = word::layer(layer).map_err(named)?,
        Some(("outside", layer)) => wires.outside = word::layer(layer).map_err(named)?,
        Some((key, _)) => {
            return Err(Refusal::new(format!("--wires: there is no `{key}`"))
                .help("write inside=semi-global or outside=global"));
        }
        None => match word::projection(text) {
            Ok(projection) => wires.projection = projection,
            Err(_) => wires.signalling = word::signalling(text).map_err(named)?,
        },
    }
    Ok(())
}

//! What the outcomes of a run have in common at every supply and temperature, and the figures in which they differ.
//!
//! A study prices a run at thousands of operating points. All that is counted, built and named stays as it is from one to the next; what changes is some hundred
//! figures, and what notes say of times. A store keeps the one once and the others a point each.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Heat, Note, Outcome, PricedStructure, RelativeUncertainty, Totals};

/// An outcome without notes, and with zeros for the figures that go with supply and temperature. Texts, counts and what is built are shared by all outcomes that are made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Form(Outcome);

impl Form {
    /// The form of an outcome, and its figures in their order.
    pub fn of(outcome: Outcome) -> (Self, Vec<f64>) {
        let mut form = Outcome {
            notes: Arc::default(),
            ..outcome
        };
        let mut figures = Vec::new();
        each(&mut form, &mut |figure| {
            figures.push(std::mem::take(figure));
        });
        (Self(form), figures)
    }

    /// The outcome with these notes and figures, the bytes of an `f64` each, the least significant first; `None` if there are not as many as the form has.
    pub fn filled(&self, notes: Arc<Vec<Note>>, figures: &[u8]) -> Option<Outcome> {
        let (figures, rest) = figures.as_chunks();
        let mut figures = figures.iter().map(|figure| f64::from_le_bytes(*figure));
        let mut outcome = Outcome {
            notes,
            ..self.0.clone()
        };
        let mut enough = rest.is_empty();
        each(&mut outcome, &mut |place| match figures.next() {
            Some(figure) => *place = figure,
            None => enough = false,
        });
        (enough && figures.next().is_none()).then_some(outcome)
    }

    /// The same with texts that are in `texts`, where they are put if they are not there yet: forms of a study have most of them in common.
    pub fn sharing(mut self, texts: &mut BTreeSet<Arc<str>>) -> Self {
        let mut share = |text: &mut Arc<str>| match texts.get(text) {
            Some(known) => *text = Arc::clone(known),
            None => {
                texts.insert(Arc::clone(text));
            }
        };
        share(&mut self.0.point.gpu);
        share(&mut self.0.point.technique);
        let technology = &mut self.0.point.technology;
        share(&mut technology.library);
        share(&mut technology.node);
        share(&mut technology.flavour);
        share(&mut technology.profile);
        for structure in &mut self.0.structures {
            share(&mut structure.name);
            share(&mut structure.group);
            share(&mut structure.model);
        }
        self
    }

    /// The outcome, but for its notes and figures.
    pub fn outcome(&self) -> &Outcome {
        &self.0
    }
}

/// Shows every figure that goes with supply and temperature, in one order. A figure that is left out here makes more forms, not another outcome.
fn each(outcome: &mut Outcome, visit: &mut impl FnMut(&mut f64)) {
    let technology = &mut outcome.point.technology;
    visit(&mut technology.temperature_k);
    visit(&mut technology.vdd_v);
    visit(&mut outcome.clock_hz);
    visit(&mut outcome.time_s);
    for structure in &mut outcome.structures {
        of_structure(structure, visit);
    }
    let Totals {
        dynamic_j,
        leakage_j,
        area_m2,
        leakage_w,
    } = &mut outcome.totals;
    [dynamic_j, leakage_j, area_m2, leakage_w]
        .into_iter()
        .for_each(&mut *visit);
    if let Some(heat) = &mut outcome.heat {
        of_heat(heat, visit);
    }
    for error in outcome.sampled.iter_mut().flat_map(|it| &mut it.errors) {
        visit(&mut error.time_s);
        visit(&mut error.energy_j);
    }
}

fn of_structure(structure: &mut PricedStructure, visit: &mut impl FnMut(&mut f64)) {
    visit(&mut structure.leakage_w);
    visit(&mut structure.gate_leakage_w);
    visit(&mut structure.delay_s);
    for action in structure.actions.values_mut() {
        visit(&mut action.unit_j);
        visit(&mut action.total_j);
    }
    visit(&mut structure.dynamic_j);
    visit(&mut structure.leakage_j);
    // What an error comes to depends on the parts of which a figure is made, and these go their own ways.
    let RelativeUncertainty {
        area: _,
        delay,
        energy,
        leakage,
        method,
    } = &mut structure.uncertainty;
    [delay, energy, leakage, method].into_iter().for_each(visit);
}

fn of_heat(heat: &mut Heat, visit: &mut impl FnMut(&mut f64)) {
    [
        &mut heat.ambient_k,
        &mut heat.junction_k,
        &mut heat.sink_k,
        &mut heat.loop_gain,
        &mut heat.study_leakage_w,
        &mut heat.die_time_s,
        &mut heat.sink_time_s,
        &mut heat.rise_k_per_w,
        &mut heat.others_k,
    ]
    .into_iter()
    .for_each(visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{HeatState, NoteKind, PricedAction, SampleError, Sampled, by_hand};

    fn structure(name: &str, count: u64) -> PricedStructure {
        let priced = PricedAction {
            count,
            unit_j: 2e-12,
            total_j: count as f64 * 2e-12,
        };
        PricedStructure {
            name: name.into(),
            group: "front_end".into(),
            instances: 16,
            area_m2: 1e-9,
            leakage_w: 1e-3,
            gate_leakage_w: 1e-5,
            delay_s: 2e-10,
            actions: [("read".into(), priced)].into(),
            dynamic_j: priced.total_j,
            leakage_j: 1e-6,
            flavour: None,
            model: "by hand".into(),
            organisation: None,
            uncertainty: RelativeUncertainty::default(),
        }
    }

    fn outcome() -> Outcome {
        let structures = vec![structure("a", 7), structure("b", 9)];
        Outcome {
            point: by_hand::point(),
            cycles: 1300,
            clock_hz: 1.3e9,
            time_s: 1e-6,
            activity: Default::default(),
            performance: Default::default(),
            metrics: Default::default(),
            register_accesses: None,
            totals: Totals::of(&structures),
            structures,
            charged: Default::default(),
            notes: Arc::new(vec![Note {
                kind: NoteKind::Scope,
                text: "by hand".to_owned(),
            }]),
            heat: None,
            peak: None,
            sampled: None,
        }
    }

    fn filled(form: &Form, figures: &[u8]) -> Option<Outcome> {
        form.filled(outcome().notes, figures)
    }

    fn bytes(figures: &[f64]) -> Vec<u8> {
        figures.iter().flat_map(|it| it.to_le_bytes()).collect()
    }

    #[test]
    fn form_and_figures_make_the_outcome() {
        let outcome = outcome();
        let (form, figures) = Form::of(outcome.clone());
        assert_eq!(figures.len(), 4 + 2 * 11 + 4);
        assert_eq!(filled(&form, &bytes(&figures)), Some(outcome.clone()));
        assert_eq!(form.outcome().cycles, outcome.cycles);
    }

    #[test]
    fn fewer_or_more_figures_are_none() {
        let (form, figures) = Form::of(outcome());
        let bytes = bytes(&figures);
        assert_eq!(filled(&form, &bytes[8..]), None);
        assert_eq!(filled(&form, &bytes[1..]), None);
        assert_eq!(filled(&form, &[&bytes[..], &[0; 8]].concat()), None);
    }

    /// What goes with supply and temperature makes no other form; what is counted, built or named does.
    #[test]
    fn operating_points_share_a_form_and_runs_do_not() {
        let one = outcome();
        let form = |change: &dyn Fn(&mut Outcome)| {
            let mut other = one.clone();
            change(&mut other);
            Form::of(other).0
        };
        let plain = form(&|_| ());
        let cooler = form(&|it| {
            it.point.technology.temperature_k = 300.0;
            it.totals.leakage_j *= 0.5;
            it.notes = Arc::default();
            for structure in &mut it.structures {
                structure.leakage_w *= 0.5;
                let actions: Vec<&mut PricedAction> = structure.actions.values_mut().collect();
                actions.into_iter().for_each(|action| action.unit_j *= 0.5);
            }
        });
        assert_eq!(plain, cooler);
        assert_ne!(plain, form(&|it| it.cycles += 1));
        assert_ne!(plain, form(&|it| it.point.technique = "another".into()));
        assert_ne!(plain, form(&|it| it.structures[0].area_m2 *= 2.0));
        let with = |state| {
            form(&|it| {
                it.heat = Some(Heat {
                    state,
                    ambient_k: 300.0,
                    junction_k: 350.0,
                    sink_k: 320.0,
                    loop_gain: 0.1,
                    study_leakage_w: 1.0,
                    die_time_s: 1e-3,
                    sink_time_s: 60.0,
                    rise_k_per_w: 0.2,
                    others_k: 1.0,
                });
            })
        };
        let sampled = |energy_j| {
            form(&|it| {
                it.sampled = Some(Sampled {
                    timed: 0.1,
                    errors: vec![SampleError {
                        cause: "k".into(),
                        time_s: 1e-8,
                        energy_j,
                    }],
                });
            })
        };
        assert_eq!(sampled(1e-9), sampled(2e-9));
        assert_ne!(plain, sampled(1e-9));
        assert_ne!(plain, with(HeatState::Settled));
        assert_ne!(with(HeatState::Settled), with(HeatState::Runaway));
    }

    /// Outcomes of a form hold the same texts and counts, not copies of them.
    #[test]
    fn outcomes_of_a_form_share_what_they_have_in_common() {
        let (form, figures) = Form::of(outcome());
        let made = [(); 2].map(|()| filled(&form, &bytes(&figures)).unwrap());
        let [one, other] = &made;
        assert!(Arc::ptr_eq(&one.activity, &other.activity));
        assert!(Arc::ptr_eq(
            &one.structures[0].name,
            &other.structures[0].name
        ));
    }
}

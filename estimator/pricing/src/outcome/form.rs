//! What the outcomes of a run have in common at every supply and temperature, and the figures in which they differ.
//!
//! A study prices a run at thousands of operating points. All that is counted, built and named stays as it is from one to the next: it is the form. What structures
//! cost there is the same for all kernels. What a kernel makes of counts and costs follows from them, so that hardly a figure is the point's own.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Action, Heat, Note, Outcome, PricedStructure, RelativeUncertainty, Totals};

/// An outcome without notes, and with zeros for the figures that go with supply and temperature. Texts, counts and what is built are shared by all outcomes that are made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    outcome: Outcome,
    /// Whether products and sums are those of their parts, to the last bit, and so no figures.
    follows: bool,
}

/// Points of a run share what was counted: it need not be gone through, for each of a million of them.
impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        // In a form these are zero and none.
        let Outcome {
            clock_hz: _,
            time_s: _,
            totals: _,
            notes: _,
            point,
            cycles,
            activity,
            performance,
            metrics,
            register_accesses,
            structures,
            charged,
            heat,
            peak,
            sampled,
        } = &self.outcome;
        let others = &other.outcome;
        self.follows == other.follows
            && *cycles == others.cycles
            && same(activity, &others.activity)
            && same(performance, &others.performance)
            && same(metrics, &others.metrics)
            && same(charged, &others.charged)
            && *point == others.point
            && *structures == others.structures
            && *register_accesses == others.register_accesses
            && *heat == others.heat
            && *peak == others.peak
            && *sampled == others.sampled
    }
}

fn same<T: PartialEq>(one: &Arc<T>, other: &Arc<T>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

/// An outcome taken apart, but for its notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// What it shares with the others of its run.
    pub form: Form,
    /// What its structures cost at its operating point, which it shares with other runs.
    pub costs: Vec<f64>,
    /// What is its own.
    pub figures: Vec<f64>,
}

impl Form {
    /// The form of an outcome, its costs and its figures, each in their order.
    pub fn of(outcome: Outcome) -> Taken {
        let mut outcome = Outcome {
            notes: Arc::default(),
            ..outcome
        };
        let said = sums(&mut outcome);
        follow(&mut outcome);
        let found = sums(&mut outcome);
        let pairs = said.iter().zip(&found);
        let mut bits = pairs.map(|(said, found)| (said.to_bits(), found.to_bits()));
        let follows = bits.all(|(said, found)| said == found);
        let mut costs = Vec::with_capacity(2 + MOST_COSTS * outcome.structures.len());
        let mut figures = Vec::new();
        each_cost(&mut outcome, &mut |cost| costs.push(std::mem::take(cost)));
        each_figure(&mut outcome, &mut |it| figures.push(std::mem::take(it)));
        each_sum(&mut outcome, &mut |sum| *sum = 0.0);
        if !follows {
            figures.extend(said);
        }
        Taken {
            form: Self { outcome, follows },
            costs,
            figures,
        }
    }

    /// The outcome with these notes, costs and figures, the bytes of an `f64` each, the least significant first; `None` if there are not as many as the form has.
    pub fn filled(&self, notes: Arc<Vec<Note>>, costs: &[u8], figures: &[u8]) -> Option<Outcome> {
        let mut outcome = Outcome {
            notes,
            ..self.outcome.clone()
        };
        let mut costs = Given::of(costs)?;
        each_cost(&mut outcome, &mut |cost| costs.put(cost));
        let mut figures = Given::of(figures)?;
        each_figure(&mut outcome, &mut |figure| figures.put(figure));
        if self.follows {
            follow(&mut outcome);
        } else {
            each_sum(&mut outcome, &mut |sum| figures.put(sum));
        }
        (costs.were_all() && figures.were_all()).then_some(outcome)
    }

    /// The same with texts that are in `texts`, where they are put if they are not there yet: forms of a study have most of them in common.
    pub fn sharing(mut self, texts: &mut BTreeSet<Arc<str>>) -> Self {
        let mut share = |text: &mut Arc<str>| match texts.get(text) {
            Some(known) => *text = Arc::clone(known),
            None => {
                texts.insert(Arc::clone(text));
            }
        };
        share(&mut self.outcome.point.gpu);
        share(&mut self.outcome.point.technique);
        let technology = &mut self.outcome.point.technology;
        share(&mut technology.library);
        share(&mut technology.node);
        share(&mut technology.flavour);
        share(&mut technology.profile);
        for structure in &mut self.outcome.structures {
            share(&mut structure.name);
            share(&mut structure.group);
            share(&mut structure.model);
        }
        self
    }

    /// The outcome, but for its notes and figures.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}

/// Figures as bytes, to be put in their places.
struct Given<'b> {
    left: std::slice::Iter<'b, [u8; 8]>,
    enough: bool,
}

impl<'b> Given<'b> {
    /// None if the last one is cut short.
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let (figures, rest) = bytes.as_chunks();
        rest.is_empty().then_some(Self {
            left: figures.iter(),
            enough: true,
        })
    }

    fn put(&mut self, place: &mut f64) {
        match self.left.next() {
            Some(figure) => *place = f64::from_le_bytes(*figure),
            None => self.enough = false,
        }
    }

    /// Whether there were as many as places.
    fn were_all(mut self) -> bool {
        self.enough && self.left.next().is_none()
    }
}

/// The most figures that [`each_cost`] and [`each_sum`] show of a structure.
const MOST_COSTS: usize = 7 + Action::ALL.len();
const MOST_SUMS: usize = 2 + Action::ALL.len();

/// Shows every figure that goes with technology and operating point alone, in one order. A figure that goes with them and is left out here, in [`each_figure`] and
/// in [`each_sum`] makes more forms, not another outcome.
fn each_cost(outcome: &mut Outcome, visit: &mut impl FnMut(&mut f64)) {
    let technology = &mut outcome.point.technology;
    visit(&mut technology.temperature_k);
    visit(&mut technology.vdd_v);
    for structure in &mut outcome.structures {
        visit(&mut structure.leakage_w);
        visit(&mut structure.gate_leakage_w);
        visit(&mut structure.delay_s);
        for (_, action) in structure.actions.iter_mut() {
            visit(&mut action.unit_j);
        }
        // What an error comes to depends on the parts of which a figure is made, and these go their own ways.
        let RelativeUncertainty {
            area: _,
            delay,
            energy,
            leakage,
            method,
        } = &mut structure.uncertainty;
        [delay, energy, leakage, method]
            .into_iter()
            .for_each(&mut *visit);
    }
}

/// Shows every figure of the run at this operating point that follows from no other, in one order.
fn each_figure(outcome: &mut Outcome, visit: &mut impl FnMut(&mut f64)) {
    visit(&mut outcome.clock_hz);
    let structures = outcome.structures.iter_mut();
    for structure in structures.filter(|structure| is_switched(structure)) {
        visit(&mut structure.leakage_j);
    }
    if let Some(heat) = &mut outcome.heat {
        of_heat(heat, visit);
    }
    for error in outcome.sampled.iter_mut().flat_map(|it| &mut it.errors) {
        visit(&mut error.time_s);
        visit(&mut error.energy_j);
    }
}

/// Shows every figure that [`follow`] finds, in one order.
fn each_sum(outcome: &mut Outcome, visit: &mut impl FnMut(&mut f64)) {
    visit(&mut outcome.time_s);
    for structure in &mut outcome.structures {
        for (_, action) in structure.actions.iter_mut() {
            visit(&mut action.total_j);
        }
        visit(&mut structure.dynamic_j);
        if !is_switched(structure) {
            visit(&mut structure.leakage_j);
        }
    }
    let Totals {
        dynamic_j,
        leakage_j,
        area_m2,
        leakage_w,
    } = &mut outcome.totals;
    [dynamic_j, leakage_j, area_m2, leakage_w]
        .into_iter()
        .for_each(visit);
}

/// Whether parts of it are switched off at times, so that it leaks less than its cost says.
fn is_switched(structure: &PricedStructure) -> bool {
    structure.actions.of(Action::Wake).is_some()
}

/// Finds products and sums as [`price`](crate::pricing::price) does.
fn follow(outcome: &mut Outcome) {
    let time_s = outcome.cycles as f64 / outcome.clock_hz;
    outcome.time_s = time_s;
    for structure in &mut outcome.structures {
        for (_, action) in structure.actions.iter_mut() {
            action.total_j = action.count as f64 * action.unit_j;
        }
        structure.dynamic_j = structure.actions.total_j();
        if !is_switched(structure) {
            structure.leakage_j = structure.total_leakage_w() * time_s;
        }
    }
    outcome.totals = Totals::of(&outcome.structures);
}

fn sums(outcome: &mut Outcome) -> Vec<f64> {
    let mut sums = Vec::with_capacity(5 + MOST_SUMS * outcome.structures.len());
    each_sum(outcome, &mut |sum| sums.push(*sum));
    sums
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
            actions: [(Action::Read, priced)].into_iter().collect(),
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
                text: "by hand".into(),
            }]),
            heat: None,
            peak: None,
            sampled: None,
        }
    }

    /// The same with products and sums that are those of their parts.
    fn priced() -> Outcome {
        let mut outcome = outcome();
        follow(&mut outcome);
        outcome
    }

    fn bytes(figures: &[f64]) -> Vec<u8> {
        figures.iter().flat_map(|it| it.to_le_bytes()).collect()
    }

    fn filled(taken: &Taken) -> Option<Outcome> {
        let [costs, figures] = [&taken.costs, &taken.figures].map(|it| bytes(it));
        taken.form.filled(outcome().notes, &costs, &figures)
    }

    /// What follows from counts and costs is no figure; what somebody has changed by hand is.
    #[test]
    fn form_costs_and_figures_make_the_outcome() {
        let (priced, mut by_hand) = (priced(), priced());
        by_hand.structures[1].leakage_j *= 1.0 + f64::EPSILON;
        for (outcome, figures) in [(priced, 1), (by_hand, 1 + 1 + 2 * 3 + 4)] {
            let taken = Form::of(outcome.clone());
            assert_eq!(taken.costs.len(), 2 + 2 * 8);
            assert_eq!(taken.figures.len(), figures);
            assert_eq!(filled(&taken), Some(outcome.clone()));
            assert_eq!(taken.form.outcome().cycles, outcome.cycles);
        }
    }

    /// A structure of which parts are switched off leaks less than its cost says: how much less is a figure.
    #[test]
    fn leakage_of_what_is_switched_off_is_a_figure() {
        let mut outcome = priced();
        let wakes = PricedAction {
            count: 3,
            unit_j: 1e-12,
            total_j: 3.0 * 1e-12,
        };
        outcome.structures[0].actions.insert(Action::Wake, wakes);
        outcome.structures[0].leakage_j *= 0.3;
        let leakage_j = outcome.structures[0].leakage_j;
        follow(&mut outcome);
        assert_eq!(outcome.structures[0].leakage_j, leakage_j);
        let taken = Form::of(outcome.clone());
        assert_eq!(taken.figures, [outcome.clock_hz, leakage_j]);
        assert_eq!(filled(&taken), Some(outcome));
    }

    #[test]
    fn fewer_or_more_figures_are_none() {
        let taken = Form::of(priced());
        let [costs, figures] = [&taken.costs, &taken.figures].map(|it| bytes(it));
        let filled = |costs: &[u8], figures: &[u8]| {
            let filled = taken.form.filled(outcome().notes, costs, figures);
            filled.is_some()
        };
        assert!(filled(&costs, &figures));
        for other in [&costs[8..], &costs[1..], &[&costs[..], &[0; 8]].concat()] {
            assert!(!filled(other, &figures));
        }
        for other in [&[][..], &figures[1..], &[&figures[..], &[0; 8]].concat()] {
            assert!(!filled(&costs, other));
        }
    }

    /// Two kernels have the same costs at one operating point.
    #[test]
    fn costs_do_not_depend_on_what_was_counted() {
        let (one, mut other) = (priced(), priced());
        other.cycles *= 3;
        for structure in &mut other.structures {
            for (_, action) in structure.actions.iter_mut() {
                action.count += 5;
            }
        }
        follow(&mut other);
        assert_eq!(Form::of(one).costs, Form::of(other).costs);
    }

    /// What goes with supply and temperature makes no other form; what is counted, built or named does.
    #[test]
    fn operating_points_share_a_form_and_runs_do_not() {
        let one = priced();
        let form = |change: &dyn Fn(&mut Outcome)| {
            let mut other = one.clone();
            change(&mut other);
            Form::of(other).form
        };
        let plain = form(&|_| ());
        let cooler = form(&|it| {
            it.point.technology.temperature_k = 300.0;
            it.notes = Arc::default();
            for structure in &mut it.structures {
                structure.leakage_w *= 0.5;
                for (_, action) in structure.actions.iter_mut() {
                    action.unit_j *= 0.5;
                }
            }
            follow(it);
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
        let taken = Form::of(outcome());
        let made = [(); 2].map(|()| filled(&taken).unwrap());
        let [one, other] = &made;
        assert!(Arc::ptr_eq(&one.activity, &other.activity));
        assert!(Arc::ptr_eq(
            &one.structures[0].name,
            &other.structures[0].name
        ));
    }
}

//! What structures cost under each draw of their technology.

use std::collections::BTreeMap;

use rayon::prelude::*;
use warpwatt_circuit::{CircuitError, Granularity, Spec};
use warpwatt_techlib::{Cause, Technology};

use super::draws::Sampling;
use super::input::drawn;
use super::method::{Figure, method_cause, own_error};
use crate::outcome::Outcome;
use crate::recipe::{BuiltPart, Figures, Part, Process, Recipe, Recipes, reprice};

/// The costs of every structure of a study under each draw.
#[derive(Debug)]
pub struct Prices<'r> {
    recipes: &'r Recipes,
    /// How was drawn.
    pub sampling: Sampling,
    drawn: BTreeMap<Key<'r>, Drawn>,
}

/// A process, and what is made in it. Equal specifications have equal costs, whatever they are called.
type Key<'r> = (usize, &'r Spec, Option<u8>);

#[derive(Debug)]
struct Drawn {
    /// By draw.
    figures: Vec<Figures>,
    /// Of the models themselves, in the order of [`Figure::ALL`].
    own: [f64; 4],
}

/// The draws of what a structure's models are off for themselves, by structure and figure.
#[derive(Debug, Default)]
pub struct MethodDraws(BTreeMap<(String, Figure), Vec<f64>>);

const CAUSES: [Cause; 11] = [
    Cause::Voltage,
    Cause::IOn,
    Cause::DriveLaw,
    Cause::IOff,
    Cause::IOffLaw,
    Cause::IGate,
    Cause::Capacitance,
    Cause::Geometry,
    Cause::Cell,
    Cause::WireR,
    Cause::WireC,
];

impl<'r> Prices<'r> {
    /// Evaluates every structure under every draw. Organisations are chosen once, for the nominal technology; threads share the work, not the draws.
    ///
    /// # Errors
    /// A drawn technology is outside what the models cover.
    pub fn new(recipes: &'r Recipes, sampling: Sampling) -> Result<Self, CircuitError> {
        let mut wanted: BTreeMap<Key<'r>, &'r Part> = BTreeMap::new();
        for point in &recipes.points {
            for part in &recipes.gpus[point.gpu].parts {
                wanted.entry(key(point.process, part)).or_insert(part);
            }
        }
        let worlds: Vec<Vec<(Technology, Technology)>> = recipes
            .processes
            .iter()
            .map(|process| worlds(process, sampling))
            .collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let priced = wanted.into_par_iter().map(|(key, part)| {
            let process = &recipes.processes[key.0];
            Ok((key, Drawn::of(part, process, &worlds[key.0])?))
        });
        Ok(Self {
            recipes,
            sampling,
            drawn: priced.collect::<Result<_, CircuitError>>()?,
        })
    }

    /// The draws of all model errors of the study's structures.
    pub fn methods(&self) -> MethodDraws {
        let parts = self.recipes.gpus.iter().flat_map(|gpu| &gpu.parts);
        let names: std::collections::BTreeSet<&str> =
            parts.map(|part| part.name.as_str()).collect();
        let draws = names.into_iter().flat_map(|name| {
            Figure::ALL.map(|figure| {
                let draws = self.sampling.of(&method_cause(name, figure));
                ((name.to_owned(), figure), draws)
            })
        });
        MethodDraws(draws.collect())
    }

    /// `outcome` as the draw `sample` has it.
    pub fn outcome(
        &self,
        outcome: &mut Outcome,
        recipe: Recipe,
        (sample, methods): (usize, &MethodDraws),
    ) {
        let parts = self.recipes.gpus[recipe.gpu]
            .parts
            .iter()
            .filter_map(|part| {
                let drawn = self.drawn.get(&key(recipe.process, part))?;
                let error = |figure: Figure| {
                    let u = drawn.own[figure as usize];
                    methods.factor(&part.name, figure, sample, u)
                };
                Some((part, drawn.figures.get(sample)?.times(error)))
            });
        reprice(outcome, parts);
    }
}

impl MethodDraws {
    fn factor(&self, structure: &str, figure: Figure, sample: usize, u: f64) -> f64 {
        let draws = self.0.get(&(structure.to_owned(), figure));
        let z = draws
            .and_then(|draws| draws.get(sample))
            .copied()
            .unwrap_or(0.0);
        super::input::factor(u, z, false)
    }
}

fn key(process: usize, part: &Part) -> Key<'_> {
    let granularity = part.gates.as_ref().map(|gates| match gates.granularity {
        Granularity::Array => 0,
        Granularity::Subarray => 1,
        Granularity::Row => 2,
    });
    (process, &part.spec, granularity)
}

/// The technology and that of the sleep transistors under each draw.
fn worlds(process: &Process, sampling: Sampling) -> Vec<(Technology, Technology)> {
    let draws: BTreeMap<Cause, Vec<f64>> = CAUSES
        .into_iter()
        .map(|cause| (cause, sampling.of_technology(&process.technology, cause)))
        .collect();
    let world = |sample: usize| {
        let z = |cause: Cause| draws.get(&cause).map_or(0.0, |draws| draws[sample]);
        (drawn(&process.technology, z), drawn(process.switch(), z))
    };
    (0..sampling.samples).map(world).collect()
}

impl Drawn {
    fn of(
        part: &Part,
        process: &Process,
        worlds: &[(Technology, Technology)],
    ) -> Result<Self, CircuitError> {
        let built = BuiltPart::new(part, process)?;
        let figures = worlds.iter().map(|(technology, switch)| {
            let (cost, gated) = built.under(process, (technology, switch))?;
            Ok(Figures::of(&cost, gated.as_ref()))
        });
        let cost = built.design.cost();
        Ok(Self {
            figures: figures.collect::<Result<_, CircuitError>>()?,
            own: Figure::ALL.map(|figure| own_error(&process.technology, &part.spec, cost, figure)),
        })
    }
}

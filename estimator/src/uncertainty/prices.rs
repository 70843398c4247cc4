//! What structures cost under each draw of their technology.

use std::collections::BTreeMap;

use rayon::prelude::*;
use warpwatt_circuit::{CircuitError, Granularity, Spec};
use warpwatt_techlib::Cause;

use super::draws::Draws;
use super::input::drawn;
use super::method::{Figure, method_cause, own_error};
use crate::outcome::Outcome;
use crate::recipe::{BuiltPart, Figures, Part, Process, Recipe, Recipes, reprice};

/// The costs of every structure of a study under each draw.
#[derive(Debug)]
pub struct Prices<'r> {
    recipes: &'r Recipes,
    /// How was drawn.
    pub sampling: Draws,
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
    /// Evaluates every structure of the points with these recipes under every draw. Organisations are chosen once, for the nominal technology; threads share the work, not the draws.
    ///
    /// # Errors
    /// A drawn technology is outside what the models cover.
    pub fn new(
        recipes: &'r Recipes,
        points: &[Recipe],
        sampling: Draws,
    ) -> Result<Self, CircuitError> {
        let mut wanted: BTreeMap<Key<'r>, &'r Part> = BTreeMap::new();
        for point in points {
            for part in &recipes.gpus[point.gpu].parts {
                wanted.entry(key(point.process, part)).or_insert(part);
            }
        }
        let designs: Vec<(Key<'r>, BuiltPart<'r>)> = wanted
            .into_par_iter()
            .map(|(key, part)| Ok((key, BuiltPart::new(part, &recipes.processes[key.0])?)))
            .collect::<Result<_, CircuitError>>()?;
        let mut drawn: BTreeMap<Key<'r>, Drawn> = BTreeMap::new();
        for of_process in designs.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let process = &recipes.processes[of_process[0].0.0];
            for ((key, part), figures) in of_process
                .iter()
                .zip(sampled(of_process, process, sampling)?)
            {
                let own = own_errors(part, process);
                drawn.insert(*key, Drawn { figures, own });
            }
        }
        Ok(Self {
            recipes,
            sampling,
            drawn,
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

    /// The causes of error of points with these recipes, each with its draws: those of their technology, and those of their models.
    pub fn causes(&self, points: &[Recipe]) -> Vec<(String, Vec<f64>)> {
        let mut names = std::collections::BTreeSet::new();
        let mut causes = Vec::new();
        for (place, point) in points.iter().enumerate() {
            if place == 0 {
                let technology = &self.recipes.processes[point.process].technology;
                causes.extend(CAUSES.map(|cause| {
                    let draws = self.sampling.of_technology(technology, cause);
                    (cause.name().to_owned(), draws)
                }));
            }
            let parts = &self.recipes.gpus[point.gpu].parts;
            names.extend(parts.iter().map(|part| part.name.as_str()));
        }
        for name in names {
            causes.extend(Figure::ALL.map(|figure| {
                let cause = method_cause(name, figure);
                let draws = self.sampling.of(&cause);
                (cause, draws)
            }));
        }
        causes
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

/// The figures of each structure under each draw. One technology lives at a time on each thread.
fn sampled(
    parts: &[(Key<'_>, BuiltPart<'_>)],
    process: &Process,
    sampling: Draws,
) -> Result<Vec<Vec<Figures>>, CircuitError> {
    let draws: BTreeMap<Cause, Vec<f64>> = CAUSES
        .into_iter()
        .map(|cause| (cause, sampling.of_technology(&process.technology, cause)))
        .collect();
    let sample = |sample: usize| -> Result<Vec<Figures>, CircuitError> {
        let z = |cause: Cause| draws.get(&cause).map_or(0.0, |draws| draws[sample]);
        let world = (drawn(&process.technology, z), drawn(process.switch(), z));
        let figures = parts.iter().map(|(_, part)| {
            let (cost, gated) = part.under(process, (&world.0, &world.1))?;
            Ok(Figures::of(&cost, gated.as_ref()))
        });
        figures.collect()
    };
    let samples = (0..sampling.samples).into_par_iter().map(sample);
    let by_draw: Vec<Vec<Figures>> = samples.collect::<Result<_, CircuitError>>()?;
    let of_part = |place: usize| by_draw.iter().map(|figures| figures[place]).collect();
    Ok((0..parts.len()).map(of_part).collect())
}

/// What the models of a structure may be off for themselves, in the order of [`Figure::ALL`].
fn own_errors(part: &BuiltPart<'_>, process: &Process) -> [f64; 4] {
    let cost = part.design.cost();
    Figure::ALL.map(|figure| own_error(&process.technology, &part.part.spec, cost, figure))
}

//! What structures cost under each draw of their technology.

use std::collections::BTreeMap;

use rayon::prelude::*;
use warpwatt_circuit::{CircuitError, Flavours, Granularity, Spec};
use warpwatt_techlib::{Cause, Technology};

use super::Draws;
use super::input::drawn;
use super::process::{DieToDie, Varied, within_cause};
use super::{Figure, method_cause, own_error};
use crate::outcome::Outcome;
use crate::recipe::{BuiltPart, Figures, Part, Process, Recipe, Recipes, World, reprice};

/// The costs of every structure of a study under each draw.
#[derive(Debug)]
pub struct Prices<'r> {
    recipes: &'r Recipes,
    /// How was drawn.
    pub sampling: Draws,
    drawn: BTreeMap<Key<'r>, Drawn>,
}

/// A process, and what is made in it. Equal specifications have equal costs, whatever they are called.
type Key<'r> = (usize, Option<Flavours>, &'r Spec, Option<u8>);

#[derive(Debug)]
struct Drawn {
    /// By draw.
    figures: Vec<Figures>,
    /// Of the models themselves, in the order of [`Figure::ALL`].
    own: [f64; 4],
    /// What variation within a die leaves to chance of the leakage of one.
    within: f64,
}

/// The draws of what belongs to one structure alone, by structure.
#[derive(Debug, Default)]
pub struct MethodDraws {
    /// What its models are off for themselves.
    methods: BTreeMap<(String, Figure), Vec<f64>>,
    /// How its transistors came out within a die.
    within: BTreeMap<String, Vec<f64>>,
}

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
        for of_process in designs.chunk_by(|(a, _), (b, _)| (a.0, a.1) == (b.0, b.1)) {
            let process = &of_process[0].1.process;
            for ((key, part), figures) in of_process
                .iter()
                .zip(sampled(of_process, process, sampling)?)
            {
                let own = own_errors(part, process);
                let within = match varied(process, sampling)? {
                    Some([varied, ..]) => {
                        let leakage = part.cost.leakage;
                        varied.left_to_chance(&process.technology, &process.resting(), leakage)?
                    }
                    None => 0.0,
                };
                let priced = Drawn {
                    figures,
                    own,
                    within,
                };
                drawn.insert(*key, priced);
            }
        }
        Ok(Self {
            recipes,
            sampling,
            drawn,
        })
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
                causes.extend(self.of_die(technology));
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
            if self.left_to_chance(name, points) {
                let cause = within_cause(name);
                let draws = self.sampling.of(&cause);
                causes.push((cause, draws));
            }
        }
        causes
    }

    /// What dies of a technology do not have in common.
    fn of_die(&self, technology: &Technology) -> Vec<(String, Vec<f64>)> {
        let varied = self
            .sampling
            .process
            .and_then(|process| process.of(technology).ok());
        let drawn = varied.iter().flat_map(Varied::drawn);
        drawn
            .map(|cause| {
                (
                    cause.cause().to_owned(),
                    self.sampling.of_die(technology, cause),
                )
            })
            .collect()
    }

    /// Whether variation within a die leaves something of the leakage of the structures called `name` of these points to chance.
    fn left_to_chance(&self, name: &str, points: &[Recipe]) -> bool {
        let varies = |point: &Recipe| {
            let parts = self.recipes.gpus[point.gpu].parts.iter();
            let mut called = parts.filter(|part| part.name == name);
            called.any(|part| {
                let drawn = self.drawn.get(&key(point.process, part));
                drawn.is_some_and(|drawn| drawn.within > 0.0)
            })
        };
        self.sampling.process.is_some() && points.iter().any(varies)
    }

    /// `outcome` as the draw `sample` has it.
    pub fn outcome(
        &self,
        outcome: &mut Outcome,
        recipe: Recipe,
        sample: usize,
        methods: &MethodDraws,
    ) {
        let parts = self.recipes.gpus[recipe.gpu]
            .parts
            .iter()
            .filter_map(|part| {
                let drawn = self.drawn.get(&key(recipe.process, part))?;
                let within = drawn.within / (part.instances.max(1) as f64).sqrt();
                let error = |figure: Figure| {
                    let u = drawn.own[figure as usize];
                    let method = methods.factor(&part.name, figure, sample, u);
                    match figure {
                        Figure::Leakage => method * methods.chance(&part.name, sample, within),
                        _ => method,
                    }
                };
                Some((part, drawn.figures.get(sample)?.times(error)))
            });
        reprice(outcome, parts);
    }
}

impl MethodDraws {
    /// The draws of all model errors of a study's structures.
    pub fn new(recipes: &Recipes, sampling: Draws) -> Self {
        let parts = recipes.gpus.iter().flat_map(|gpu| &gpu.parts);
        let names: std::collections::BTreeSet<&str> =
            parts.map(|part| part.name.as_str()).collect();
        let draws = names.iter().flat_map(|name| {
            Figure::ALL.map(|figure| {
                let draws = sampling.of(&method_cause(name, figure));
                (((*name).to_owned(), figure), draws)
            })
        });
        let within = names.iter().filter(|_| sampling.process.is_some());
        let within = within.map(|name| ((*name).to_owned(), sampling.of(&within_cause(name))));
        Self {
            methods: draws.collect(),
            within: within.collect(),
        }
    }

    fn factor(&self, structure: &str, figure: Figure, sample: usize, u: f64) -> f64 {
        let draws = self.methods.get(&(structure.to_owned(), figure));
        let z = draws
            .and_then(|draws| draws.get(sample))
            .copied()
            .unwrap_or(0.0);
        super::input::factor(u, z, false)
    }

    /// How the leakage of a structure came out within a die.
    fn chance(&self, structure: &str, sample: usize, u: f64) -> f64 {
        let draws = self.within.get(structure);
        let z = draws.and_then(|draws| draws.get(sample)).copied();
        super::input::factor(u, z.unwrap_or(0.0), false)
    }
}

fn key(process: usize, part: &Part) -> Key<'_> {
    let granularity = part.gates.as_ref().map(|gates| match gates.granularity {
        Granularity::Array => 0,
        Granularity::Subarray => 1,
        Granularity::Row => 2,
    });
    (process, part.flavours, &part.spec, granularity)
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
    let varied = varied(process, sampling)?;
    let of_die = DieToDie::ALL.map(|cause| sampling.of_die(&process.technology, cause));
    let sample = |sample: usize| -> Result<Vec<Figures>, CircuitError> {
        let z = |cause: Cause| draws.get(&cause).map_or(0.0, |draws| draws[sample]);
        let die = |technology: Technology, place: usize| match &varied {
            Some(both) => both[place].die(&technology, |cause| of_die[cause as usize][sample]),
            None => technology,
        };
        let made = |technology: &Technology, place: usize| {
            let die = die(drawn(technology, z), place);
            match &varied {
                Some(all) => all[place].many(&die, &process.resting()),
                None => die,
            }
        };
        let technology = made(&process.technology, 0);
        let switch = made(process.switch(), 1);
        let cells = process.cells.as_ref().map(|cells| made(cells, 2));
        let world = World {
            cells: cells.as_ref().unwrap_or(&technology),
            technology: &technology,
            switch: &switch,
        };
        let figures = parts.iter().map(|(_, part)| {
            let (cost, gated) = part.under(world)?;
            let figures = Figures::of(&cost, gated.as_ref());
            let Some([varied, ..]) = &varied else {
                return Ok(figures);
            };
            let slower = varied.slowest_path(&technology, &process.at, cost.access_time)?;
            Ok(figures.times(|figure| if figure == Figure::Delay { slower } else { 1.0 }))
        });
        figures.collect()
    };
    let samples = (0..sampling.samples).into_par_iter().map(sample);
    let by_draw: Vec<Vec<Figures>> = samples.collect::<Result<_, CircuitError>>()?;
    let of_part = |place: usize| by_draw.iter().map(|figures| figures[place]).collect();
    Ok((0..parts.len()).map(of_part).collect())
}

/// The variation of a process's transistors, sleep transistors and memory cells, if it is drawn.
fn varied(process: &Process, sampling: Draws) -> Result<Option<[Varied; 3]>, CircuitError> {
    let Some(variation) = sampling.process else {
        return Ok(None);
    };
    let all = [
        variation.of(&process.technology)?,
        variation.of(process.switch())?,
        variation.of(process.cells())?,
    ];
    Ok(Some(all))
}

/// What the models of a structure may be off for themselves, in the order of [`Figure::ALL`].
fn own_errors(part: &BuiltPart<'_>, process: &Process) -> [f64; 4] {
    let cost = &part.cost;
    Figure::ALL.map(|figure| own_error(&process.technology, &part.part.spec, cost, figure))
}

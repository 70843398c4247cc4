//! Recipes as they are written down: each technology once, however many operating points it has.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_techlib::Technology;

use super::{Gpu, Recipe};

/// As [`super::Recipes`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipes {
    technologies: Vec<Technology>,
    processes: Vec<Process>,
    gpus: Vec<Gpu>,
    points: Vec<Recipe>,
}

/// As [`super::Process`], with numbers of technologies.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Process {
    technology: usize,
    switch: Option<usize>,
    at: OperatingPoint,
    profile: Profile,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<usize>,
}

impl From<super::Recipes> for Recipes {
    fn from(recipes: super::Recipes) -> Self {
        let mut known: Vec<Arc<Technology>> = Vec::new();
        let mut number = |technology: &Arc<Technology>| {
            let found = known
                .iter()
                .position(|known| Arc::ptr_eq(known, technology));
            found.unwrap_or_else(|| {
                known.push(Arc::clone(technology));
                known.len() - 1
            })
        };
        let processes = recipes.processes.iter().map(|process| Process {
            technology: number(&process.technology),
            switch: process.switch.as_ref().map(&mut number),
            at: process.at,
            profile: process.profile,
            others: process.others.iter().map(&mut number).collect(),
        });
        Self {
            processes: processes.collect(),
            technologies: known.iter().map(|known| Technology::clone(known)).collect(),
            gpus: recipes.gpus,
            points: recipes.points,
        }
    }
}

impl TryFrom<Recipes> for super::Recipes {
    type Error = String;

    fn try_from(written: Recipes) -> Result<Self, String> {
        let known: Vec<Arc<Technology>> = written.technologies.into_iter().map(Arc::new).collect();
        let at = |number: usize| {
            let technology = known.get(number).cloned();
            technology.ok_or_else(|| format!("there is no technology {number}"))
        };
        let processes = written.processes.into_iter().map(|process| {
            Ok(super::Process {
                technology: at(process.technology)?,
                cells: None,
                switch: process.switch.map(at).transpose()?,
                at: process.at,
                profile: process.profile,
                others: process
                    .others
                    .into_iter()
                    .map(at)
                    .collect::<Result<_, _>>()?,
                rest: None,
            })
        });
        Ok(Self {
            processes: processes.collect::<Result<_, String>>()?,
            gpus: written.gpus,
            points: written.points,
        })
    }
}

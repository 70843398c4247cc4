//! What the points of a plan are priced from.

use super::plan::structures;
use super::plan::{Axes, Plan, Timing};
use super::work;
use crate::recipe::{Gpu, Part, Process, Recipe, Recipes};

impl From<&Plan> for Recipes {
    /// Those of all points of `plan`.
    fn from(plan: &Plan) -> Self {
        let mut gpus: Vec<Gpu> = Vec::new();
        let of_timing: Vec<usize> = plan
            .timings
            .iter()
            .map(|timing| {
                let gpu = gpu(&plan.axes, timing);
                gpus.iter()
                    .position(|known| *known == gpu)
                    .unwrap_or_else(|| {
                        gpus.push(gpu);
                        gpus.len() - 1
                    })
            })
            .collect();
        let points = plan.points.iter().map(|point| Recipe {
            gpu: of_timing[point.timing],
            process: point.technology(),
        });
        Self {
            points: points.collect(),
            processes: plan.axes.technologies.iter().map(Process::of).collect(),
            gpus,
        }
    }
}

/// A GPU as it is timed, and what of it is priced.
fn gpu(axes: &Axes, timing: &Timing) -> Gpu {
    let sms = timing.spec.sm.count;
    let configuration = &axes.configurations[timing.configuration];
    let own = structures::of(&axes.structures, configuration).map(|structure| Part {
        name: structure.name.value.clone(),
        spec: structure.spec.value.clone(),
        instances: structures::instances(structure, sms),
        gates: None,
    });
    let built = work::built(axes, timing);
    let built = built.iter().map(|structure| Part::of(structure, sms));
    let mut parts: Vec<Part> = built.chain(own).collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Gpu {
        spec: (*timing.spec).clone(),
        parts,
    }
}

#[cfg(test)]
mod tests;

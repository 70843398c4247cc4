//! What kernels took, from the documents that the command writes.

use serde::Deserialize;
use serde_json::Value;

use super::{Spent, SpentBy};
use crate::outcome::{Outcome, Point, TechnologyName};

/// A document of `kernel --json`.
#[derive(Deserialize)]
struct OfKernel {
    kernel: String,
    case: Option<String>,
    preset: String,
    cycles: u64,
    #[serde(default)]
    technology: Option<TechnologyName>,
    #[serde(default)]
    energy_j: Option<f64>,
    #[serde(default)]
    time_s: Option<f64>,
    #[serde(default)]
    structures: Vec<SpentBy>,
}

/// A document of `run --json`, or `report.json`.
#[derive(Deserialize)]
struct OfStudy {
    points: Vec<OfPoint>,
}

/// A point, as far as it is compared.
#[derive(Deserialize)]
struct OfPoint {
    point: Point,
    cycles: u64,
    time_s: f64,
    structures: Vec<SpentBy>,
}

/// A document of `exec --json`.
#[derive(Deserialize)]
struct OfProgram {
    kernels: Vec<OfProgramKernel>,
}

#[derive(Deserialize)]
struct OfProgramKernel {
    kernel: String,
    configurations: Vec<OfConfiguration>,
}

#[derive(Deserialize)]
struct OfConfiguration {
    configuration: String,
    time_s: f64,
    energy_j: f64,
    structures: Vec<Share>,
}

#[derive(Deserialize)]
struct Share {
    name: String,
    share: f64,
}

/// What kernels took, by a document of `kernel`, `run` or `exec`.
///
/// # Errors
/// It is none of them, or one of another version: a sentence.
pub fn read(document: &Value) -> Result<Vec<Spent>, String> {
    let has = |key: &str| document.get(key).is_some();
    let another = |error: serde_json::Error| format!("it was written by another version: {error}");
    if has("points") {
        let study = OfStudy::deserialize(document).map_err(another)?;
        return Ok(study.points.into_iter().map(Spent::from).collect());
    }
    if has("kernels") && has("program") {
        let program = OfProgram::deserialize(document).map_err(another)?;
        let kernels = program.kernels.into_iter();
        return Ok(kernels.flat_map(of_program).collect());
    }
    if has("kernel") && has("cycles") {
        let kernel = OfKernel::deserialize(document).map_err(another)?;
        return Ok(vec![kernel.into()]);
    }
    Err("it is no report of `kernel --json`, `run --json` or `exec --json`".to_owned())
}

/// What a point of a study took.
pub fn spent(outcome: &Outcome) -> Spent {
    let structures = outcome.structures.iter().map(|it| SpentBy {
        name: it.name.clone(),
        dynamic_j: it.dynamic_j,
        leakage_j: it.leakage_j,
        uncertainty: Some(it.uncertainty),
    });
    of_point(
        &outcome.point,
        (outcome.cycles, outcome.time_s),
        structures.collect(),
    )
}

fn of_point(point: &Point, (cycles, time_s): (u64, f64), structures: Vec<SpentBy>) -> Spent {
    Spent {
        kernel: format!("{} {}", point.kernel.name, point.kernel.case),
        configuration: point.configuration(),
        technology: Some(point.technology.label()),
        cycles: Some(cycles),
        time_s: Some(time_s),
        energy_j: Some(sum(&structures)),
        structures,
    }
}

fn sum(structures: &[SpentBy]) -> f64 {
    let dynamic: f64 = structures.iter().map(|it| it.dynamic_j).sum();
    dynamic + structures.iter().map(|it| it.leakage_j).sum::<f64>()
}

fn of_program(kernel: OfProgramKernel) -> Vec<Spent> {
    let configurations = kernel.configurations.into_iter();
    let spent = configurations.map(|it| Spent {
        kernel: kernel.kernel.clone(),
        configuration: it.configuration,
        technology: None,
        cycles: None,
        time_s: Some(it.time_s),
        energy_j: Some(it.energy_j),
        structures: it
            .structures
            .into_iter()
            .map(|of| SpentBy {
                name: of.name.into(),
                // Not told apart there.
                dynamic_j: of.share * it.energy_j,
                leakage_j: 0.0,
                uncertainty: None,
            })
            .collect(),
    });
    spent.collect()
}

impl From<OfPoint> for Spent {
    fn from(of: OfPoint) -> Self {
        of_point(&of.point, (of.cycles, of.time_s), of.structures)
    }
}

impl From<OfKernel> for Spent {
    fn from(of: OfKernel) -> Self {
        let technology = of.technology.map(|technology| technology.label());
        let configuration = [of.preset].into_iter().chain(technology.clone());
        let names = [of.kernel].into_iter().chain(of.case);
        Self {
            kernel: names.collect::<Vec<_>>().join(" "),
            configuration: configuration.collect::<Vec<_>>().join(" · "),
            technology,
            cycles: Some(of.cycles),
            time_s: of.time_s,
            energy_j: of.energy_j,
            structures: of.structures,
        }
    }
}

//! A study that is turned: its text goes in, its report comes out.

use serde::Serialize;
use warpwatt_analysis::run::{catalogue_of, parameters, reported};
use warpwatt_pricing::outcome::{Point, gpu_label};
use warpwatt_pricing::recipe::Recipes;
use warpwatt_report::Report;
use warpwatt_run::Resolved;
use warpwatt_run::again::{Again, Counts, NOT_COUNTED};
use warpwatt_run::kept::manifest;
use warpwatt_study::Catalogue;

use crate::controls::{Control, controls};
use crate::diag::{Diag, Severity, Sink, render};

/// What was counted of a study, ready for its variants.
#[derive(Debug)]
pub struct Session {
    counts: Counts,
    catalogue: Catalogue,
}

/// What a study comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reply {
    /// The values of the study that can be turned.
    pub controls: Vec<Control>,
    /// Its report, or why there is none.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What was warned of.
    pub warnings: String,
}

/// The report, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The page, as a run of the study would write it.
    Page(String),
    /// Points that must be run: of each run that was not counted the first.
    Missing(Vec<String>),
    /// What is wrong with the study.
    Faults(String),
}

impl Session {
    /// From [`Counts`] as JSON.
    ///
    /// # Errors
    /// They are none of this version.
    pub fn open(counts: &str) -> Result<Self, String> {
        let counts: Counts = serde_json::from_str(counts).map_err(|error| error.to_string())?;
        Ok(Self {
            catalogue: catalogue_of(counts.names.clone()),
            counts,
        })
    }

    /// What the study of this text comes to.
    pub fn reply(&self, text: &str) -> Reply {
        let mut sink = Sink::default();
        let outcome = self.outcome(text, &mut sink);
        let outcome = outcome.unwrap_or_else(|problem| {
            sink.diags.extend(problem);
            Outcome::Faults(render(&sink, false))
        });
        let warned = !matches!(outcome, Outcome::Faults(_)) && !sink.diags.is_empty();
        Reply {
            controls: controls(text),
            outcome,
            warnings: match warned {
                true => render(&sink, false),
                false => String::new(),
            },
        }
    }

    fn outcome(&self, text: &str, sink: &mut Sink) -> Result<Outcome, Option<Diag>> {
        match self.counts.price(text, &self.catalogue, sink) {
            None => uncounted(text, sink).map(Outcome::Missing).ok_or(None),
            Some(Again::Missing(points)) => {
                Ok(Outcome::Missing(points.iter().map(label).collect()))
            }
            Some(Again::Priced(resolved, outcomes)) => {
                let report = report(&resolved, &outcomes, sink).map_err(Some)?;
                let page = report.html();
                let defect = |error| Diag::error("report::defect", format!("{error}"));
                page.map(Outcome::Page).map_err(|error| Some(defect(error)))
            }
        }
    }
}

fn report(
    resolved: &Resolved,
    outcomes: &[warpwatt_pricing::outcome::Outcome],
    sink: &Sink,
) -> Result<Report, Diag> {
    let manifest = manifest(resolved, &sink.sources, parameters(&resolved.plan));
    let recipes = || Ok(Recipes::from(&resolved.plan));
    reported(&manifest, outcomes, &manifest.pareto, recipes)
}

/// The kernels of which nothing was counted, if that is all that is wrong with a study.
fn uncounted(text: &str, sink: &Sink) -> Option<Vec<String>> {
    let errors = sink
        .diags
        .iter()
        .filter(|it| it.severity == Severity::Error);
    let kernels = errors.map(|diag| {
        let place = diag.labels.first().filter(|_| diag.code == NOT_COUNTED)?;
        Some(format!("the kernel {}", text.get(place.range.clone())?))
    });
    kernels.collect()
}

fn label(point: &Point) -> String {
    let kernel = &point.kernel;
    let gpu = gpu_label(&point.gpu, &point.axes);
    format!(
        "{}, case {}, {gpu}, {}",
        kernel.name, kernel.case, point.technique
    )
}

impl Reply {
    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

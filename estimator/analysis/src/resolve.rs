//! Studies as this program understands them: what ships, and the metrics of its reports.

use std::path::Path;
use std::sync::Arc;

use crate::diag::Sink;
use crate::report::metric::Metrics;
use crate::report::papers::BESIDE;
use crate::report::parameters::Parameters;
use crate::study::Catalogue;
use warpwatt_run::plan::Plan;
use warpwatt_run::{Resolved, resolve_text_with, resolve_with};

/// The names that studies may use.
pub fn catalogue() -> Catalogue {
    with_papers(Catalogue::shipped(Arc::new(Metrics::known())))
}

/// The same with the names of these kernels, where those that ship are not at hand.
pub fn catalogue_of(kernels: Vec<String>) -> Catalogue {
    with_papers(Catalogue::of_kernels(kernels, Arc::new(Metrics::known())))
}

fn with_papers(catalogue: Catalogue) -> Catalogue {
    Catalogue {
        beside: BESIDE.map(str::to_owned).to_vec(),
        ..catalogue
    }
}

/// Reads a study file and everything that it names. `None` if it cannot run; every reason is in `sink`.
pub fn resolve(path: &Path, sink: &mut Sink) -> Option<Resolved> {
    resolve_with(path, &catalogue(), sink)
}

/// As [`resolve`], for a text in hand; the files that it names are looked for in `directory`.
pub fn resolve_text(name: &str, text: &str, directory: &Path, sink: &mut Sink) -> Option<Resolved> {
    resolve_text_with(name, text, directory, &catalogue(), sink)
}

/// What a study chose, by name.
pub fn parameters(plan: &Plan) -> Vec<String> {
    let settings = plan.axes.gpus.iter().flat_map(|gpu| gpu.axes.keys());
    let techniques = plan.axes.configurations.iter();
    let techniques = techniques.map(|configuration| configuration.label.as_str());
    Parameters::names(settings.map(String::as_str), techniques)
}

//! A study's results, with what they were priced from.

use std::path::Path;

use super::report::opened;
use crate::diag::Diag;
use crate::recipe::Recipes;
use crate::report::Report;
use crate::report::beside;
use crate::report::metric::{Metric, Metrics};
use crate::select::select;
use crate::store::Store;
use crate::uncertainty::Draws;

/// What a result store holds of a study that was finished.
pub struct Results {
    /// Its points and comparisons.
    pub report: Report,
    /// What they were priced from.
    pub recipes: Recipes,
    /// How the study finds intervals, if not to first order.
    pub sampling: Option<Draws>,
}

impl Results {
    /// Reads the store in `directory`.
    ///
    /// # Errors
    /// There is none, no study was finished in it, or an older version wrote it.
    pub fn open(directory: &Path) -> Result<Self, Diag> {
        let (manifest, store) = opened(directory)?;
        let outcomes = store.collect(&manifest).map_err(|error| error.diag())?;
        Ok(Self {
            report: Report::beside(
                &manifest.title,
                &outcomes,
                beside::load(manifest.paper.as_deref()),
            ),
            recipes: recipes(&store)?.at_rest(&outcomes),
            sampling: manifest.uncertainty,
        })
    }

    /// The metric and the point that are asked for.
    ///
    /// # Errors
    /// There is no such metric, or not one such point.
    pub fn figure(&self, metric: &str, point: &str) -> Result<(Metric, usize), Diag> {
        let points = &self.report.points;
        let metric = Metrics::known().with_points(points).find(metric)?;
        Ok((metric, select(point, points)?))
    }
}

/// What the points in `store` were priced from.
///
/// # Errors
/// An older version wrote the store, or it cannot be read.
pub fn recipes(store: &Store) -> Result<Recipes, Diag> {
    let recipes = store.recipes().map_err(|error| error.diag())?;
    recipes.ok_or_else(|| {
        let message = format!(
            "the results in `{}` do not say what they were priced from",
            store.path().display()
        );
        Diag::error("store::no_recipes", message)
            .help("an older version wrote them, or the study is too large: run it, or a part of it, again")
    })
}

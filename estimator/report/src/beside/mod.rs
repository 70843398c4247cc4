//! Papers whose figures a study can ask for: `[study] paper = "filter_cache"`.

mod filter_cache;

use std::sync::Arc;

use super::paper::{Paper, PaperFigure};

pub use filter_cache::{FilterCache, Implied, NAME as FILTER_CACHE, Supply};

/// The paper of this name, if one is asked for: one of [`crate::papers::BESIDE`].
pub fn load(name: Option<&str>) -> Option<Arc<dyn Paper>> {
    (name == Some(FILTER_CACHE)).then(|| Arc::new(FilterCache::load()) as Arc<dyn Paper>)
}

/// The figures of every paper, with the paper's name.
pub fn figures() -> impl Iterator<Item = (&'static str, &'static PaperFigure)> {
    filter_cache::FIGURES
        .iter()
        .map(|figure| (filter_cache::NAME, figure))
}

//! A study's results, with what they were priced from.

use std::path::Path;

use super::report::stored;
use crate::diag::Diag;
use crate::recipe::Recipes;
use crate::report::Report;
use crate::store::Store;

/// What a result store holds of a study that was finished.
pub struct Results {
    /// Its points and comparisons.
    pub report: Report,
    /// What they were priced from.
    pub recipes: Recipes,
}

impl Results {
    /// Reads the store in `directory`.
    ///
    /// # Errors
    /// There is none, no study was finished in it, or an older version wrote it.
    pub fn open(directory: &Path) -> Result<Self, Diag> {
        let (manifest, outcomes) = stored(directory)?;
        Ok(Self {
            report: Report::new(&manifest.title, &outcomes),
            recipes: recipes(directory)?,
        })
    }
}

/// What the points in `directory` were priced from.
///
/// # Errors
/// An older version wrote the store, or it cannot be read.
pub fn recipes(directory: &Path) -> Result<Recipes, Diag> {
    let store = Store::open_existing(directory).map_err(|error| error.diag())?;
    let recipes = store.recipes().map_err(|error| error.diag())?;
    store.close();
    recipes.ok_or_else(|| {
        Diag::error(
            "store::no_recipes",
            format!(
                "the results in `{}` do not say what they were priced from",
                directory.display()
            ),
        )
        .help("an older version wrote them: run the study again, which adds that without running its kernels")
    })
}

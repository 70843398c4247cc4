//! What the points of the store were priced from.

use super::{Store, StoreError};
use crate::recipe::Recipes;

const KEY: &str = "recipes";

impl Store {
    /// Writes what the study's points were priced from.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_recipes(&self, recipes: &Recipes) -> Result<(), StoreError> {
        self.put_json(KEY, recipes)
    }

    /// What the study's points were priced from; `None` in a store that was written before recipes were kept.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn recipes(&self) -> Result<Option<Recipes>, StoreError> {
        self.json(KEY)
    }

    /// Whether there are any.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn has_recipes(&self) -> Result<bool, StoreError> {
        Ok(self.text(KEY)?.is_some())
    }
}

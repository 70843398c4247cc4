//! What the points of the store were priced from.

use super::{META, Store, StoreError};
use crate::recipe::Recipes;

const KEY: &str = "recipes";

impl Store {
    /// Writes what the study's points were priced from.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_recipes(&self, recipes: &Recipes) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(recipes).map_err(|error| self.damaged(&error.to_string()))?;
        if self.meta(KEY)?.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        self.guard(|| {
            let write = self.database.begin_write()?;
            write.open_table(META)?.insert(KEY, text.as_str())?;
            write.commit()?;
            Ok(())
        })
    }

    /// What the study's points were priced from; `None` in a store that was written before recipes were kept.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn recipes(&self) -> Result<Option<Recipes>, StoreError> {
        let text = self.meta(KEY)?;
        text.map(|text| {
            serde_json::from_str(&text).map_err(|error| self.damaged(&format!("recipes: {error}")))
        })
        .transpose()
    }

    /// Whether there are any.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn has_recipes(&self) -> Result<bool, StoreError> {
        Ok(self.meta(KEY)?.is_some())
    }
}

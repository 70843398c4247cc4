//! Which study a store belongs to.

use super::{Store, StoreError};

/// The title of the study, from before its first point.
const OWNER: &str = "study";

impl Store {
    /// Notes the study of this title, to which the store belongs from then on.
    pub(super) fn own(&self, title: &str) -> Result<(), StoreError> {
        self.put_text(OWNER, title)
    }

    /// Refuses every study but the one that the store belongs to. One that belongs to none is anybody's, and so is one without a point.
    ///
    /// # Errors
    /// It belongs to another study, or cannot be read.
    pub fn check_owner(&self, title: &str) -> Result<(), StoreError> {
        match self.owner()? {
            Some(owner) if owner != title && !self.is_empty()? => Err(StoreError::Taken {
                path: self.path.clone(),
                owner,
                title: title.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Stores of versions that wrote no owner have at most the study that was finished in them, or a part of it.
    fn owner(&self) -> Result<Option<String>, StoreError> {
        if let Some(owner) = self.text(OWNER)? {
            return Ok(Some(owner));
        }
        let study = match self.manifest()? {
            None => self.part()?,
            finished => finished,
        };
        Ok(study.map(|manifest| manifest.title))
    }
}

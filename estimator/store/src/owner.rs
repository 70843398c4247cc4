//! Which study a store belongs to.

use std::path::Path;

use super::{FILE_NAME, Store, StoreError};

/// The title of the study, from before its first point.
const OWNER: &str = "study";

impl Store {
    /// Opens the store in `directory` for the study of this title, to which it belongs from then on.
    ///
    /// # Errors
    /// As [`Store::open`], and if it belongs to another study; then it has not changed.
    pub fn open_for(directory: &Path, title: &str) -> Result<Store, StoreError> {
        if directory.join(FILE_NAME).is_file() {
            Store::open_existing(directory)?.check_owner(title)?;
        }
        let store = Store::open(directory)?;
        match store.put_meta(OWNER, title) {
            Ok(()) => Ok(store),
            Err(error) => {
                store.close();
                Err(error)
            }
        }
    }

    /// Refuses every study but the one that the store belongs to. One that belongs to none is anybody's.
    ///
    /// # Errors
    /// It belongs to another study, or cannot be read.
    pub fn check_owner(&self, title: &str) -> Result<(), StoreError> {
        match self.owner()? {
            Some(owner) if owner != title => Err(StoreError::Taken {
                path: self.path.clone(),
                owner,
                title: title.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Stores of versions that wrote no owner have at most the study that was finished in them, or a part of it.
    fn owner(&self) -> Result<Option<String>, StoreError> {
        if let Some(owner) = self.meta(OWNER)? {
            return Ok(Some(owner));
        }
        let study = match self.manifest()? {
            None => self.part()?,
            finished => finished,
        };
        Ok(study.map(|manifest| manifest.title))
    }
}

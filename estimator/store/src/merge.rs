//! Stores of parts of a study, put together.

use std::path::{Path, PathBuf};

use super::{Manifest, Store, StoreError};

/// What putting parts together came to.
#[derive(Debug)]
pub struct Merged {
    /// The study.
    pub manifest: Manifest,
    /// Points that none of the parts holds.
    pub missing: usize,
}

/// Points that are copied in one transaction.
const BATCH: usize = 1024;

/// Copies the points of the study that all `parts` are about to the store of `directory`, which may be one of them or hold some already.
///
/// # Errors
/// A store cannot be read or written, is about another study, or holds another outcome for a point than another store.
pub fn merge(directory: &Path, parts: &[PathBuf]) -> Result<Merged, StoreError> {
    let parts: Result<Vec<Store>, StoreError> = parts
        .iter()
        .filter(|part| part.as_path() != directory)
        .map(|part| Store::open_existing(part))
        .collect();
    let parts = parts?;
    let exists = directory.join(super::FILE_NAME).is_file();
    // Everything that can be wrong with what is there is found before anything is written.
    let there = exists
        .then(|| Store::open_existing(directory))
        .transpose()?;
    let manifest = common(parts.iter().chain(&there))?;
    drop(there);
    let store = Store::open_for(directory, &manifest.title)?;
    let copied = copy(&manifest, &parts, &store).and_then(|missing| {
        for recipes in parts
            .iter()
            .filter_map(|part| part.recipes().transpose())
            .take(1)
        {
            store.put_recipes(&recipes?)?;
        }
        if missing == 0 {
            store.put_manifest(&manifest)?;
        } else {
            store.put_part(&manifest)?;
        }
        Ok(missing)
    });
    store.close();
    Ok(Merged {
        missing: copied?,
        manifest,
    })
}

/// The study that all stores are about.
fn common<'s>(stores: impl Iterator<Item = &'s Store>) -> Result<Manifest, StoreError> {
    let mut common: Option<(Manifest, &Store)> = None;
    let mut none = None;
    for store in stores {
        let about: Vec<Manifest> = [store.part()?, store.manifest()?]
            .into_iter()
            .flatten()
            .collect();
        match (&common, about.first()) {
            (_, None) => none = none.or(Some(store)),
            (None, Some(_)) => common = about.into_iter().next().map(|first| (first, store)),
            (Some((first, of)), Some(other)) => {
                if !about.contains(first) {
                    return Err(StoreError::OtherStudy {
                        path: store.path.clone(),
                        other: of.path.clone(),
                        difference: difference(first, other),
                    });
                }
            }
        }
    }
    match (none, common) {
        (Some(store), _) => Err(StoreError::NoStudy {
            path: store.path.clone(),
        }),
        (None, Some((manifest, _))) => Ok(manifest),
        (None, None) => Err(StoreError::NoStudy {
            path: PathBuf::new(),
        }),
    }
}

/// What two studies differ in, in words.
fn difference(one: &Manifest, other: &Manifest) -> String {
    if one.title != other.title {
        return format!("`{}` and `{}`", one.title, other.title);
    }
    if one.version != other.version {
        return format!("written by versions {} and {}", one.version, other.version);
    }
    let changed = one
        .inputs
        .iter()
        .find(|(name, hash)| other.inputs.get(*name) != Some(*hash));
    let more = other
        .inputs
        .keys()
        .find(|name| !one.inputs.contains_key(*name));
    match changed.map(|(name, _)| name).or(more) {
        Some(name) => format!("`{name}` is not the same in both"),
        None => "of one title, with other points".to_owned(),
    }
}

/// Copies what the store does not hold, in the order of the study; returns how many points nobody holds.
fn copy(manifest: &Manifest, parts: &[Store], store: &Store) -> Result<usize, StoreError> {
    let mut missing = 0;
    for keys in manifest.points.chunks(BATCH) {
        let mut found = store.stored(keys)?;
        let mut new = vec![false; keys.len()];
        for part in parts {
            for (place, bytes) in part.stored(keys)?.into_iter().enumerate() {
                match (&found[place], bytes) {
                    (Some(known), Some(bytes)) if *known != bytes => {
                        return Err(StoreError::Conflict {
                            path: part.path.clone(),
                            key: keys[place].to_string(),
                        });
                    }
                    (None, Some(bytes)) => {
                        found[place] = Some(bytes);
                        new[place] = true;
                    }
                    _ => {}
                }
            }
        }
        missing += found.iter().filter(|bytes| bytes.is_none()).count();
        let new = keys.iter().zip(found).zip(new).filter(|(_, new)| *new);
        let points: Vec<_> = new
            .filter_map(|((key, bytes), _)| Some((*key, bytes?)))
            .collect();
        if !points.is_empty() {
            store.put_stored(&points)?;
        }
    }
    Ok(missing)
}

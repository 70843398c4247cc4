//! Stores of parts of a study, put together.

use std::path::{Path, PathBuf};

use super::database::PLAIN;
use super::open::{is_there, look_over};
use super::{BATCH, FILE_NAME, Manifest, PointKey, Store, StoreError};

/// What putting parts together came to.
#[derive(Debug)]
pub struct Merged {
    /// The study.
    pub manifest: Manifest,
    /// Points that none of the parts holds.
    pub missing: usize,
}

/// Copies the points of the study that all `parts` are about to the store of `directory`, which may be one of them or hold some already. With `fresh`,
/// what it holds is thrown away first.
///
/// # Errors
/// A store cannot be read or written, is damaged, is about another study, or holds another outcome for a point than another store. Nothing is written or
/// thrown away before all that can be known.
pub fn merge(directory: &Path, parts: &[PathBuf], fresh: bool) -> Result<Merged, StoreError> {
    if fresh && parts.iter().any(|part| is_same(part, directory)) {
        let path = directory.join(FILE_NAME);
        return Err(StoreError::OwnPart { path });
    }
    let parts: Result<Vec<Store>, StoreError> = parts
        .iter()
        .filter(|part| !is_same(part, directory))
        .map(|part| whole(part))
        .collect();
    let parts = parts?;
    let there = if fresh { None } else { there(directory)? };
    let manifest = common(parts.iter().chain(&there))?;
    for store in parts.iter().chain(&there) {
        let sound = store.verify(&manifest.points);
        sound.map_err(|error| error.numbered(&manifest.points))?;
    }
    drop(there);
    if fresh {
        Store::clear(directory)?;
    }
    let store = Store::open_for(directory, &manifest.title)?;
    let copied = put_together(&manifest, &parts, &store);
    store.close();
    Ok(Merged {
        missing: copied?,
        manifest,
    })
}

/// Whether two names are of one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    one == other || place(one).is_some_and(|place_of| Some(place_of) == place(other))
}

/// A part, every page of it looked over: where one is damaged, a point may be under another key, and a part need not have every point.
fn whole(directory: &Path) -> Result<Store, StoreError> {
    let path = directory.join(FILE_NAME);
    if is_there(&path) {
        look_over(&path, None, PLAIN)?;
    }
    Store::open_existing(directory)
}

/// What the store that gets all points holds already. One without a point is begun again.
fn there(directory: &Path) -> Result<Option<Store>, StoreError> {
    match whole(directory) {
        Ok(store) => Ok(Some(store).filter(|store| !store.is_empty().unwrap_or(false))),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes what of the study is in `parts`; returns how many points nobody holds.
fn put_together(manifest: &Manifest, parts: &[Store], store: &Store) -> Result<usize, StoreError> {
    // A merge that is killed can be repeated: what it has begun says of which study it is.
    store.put_part(manifest)?;
    let missing = copy(manifest, parts, store)?;
    let mut recipes = parts.iter().filter_map(|part| part.recipes().transpose());
    if let Some(recipes) = recipes.next() {
        store.put_recipes(&recipes?)?;
    }
    if missing == 0 {
        store.put_manifest(manifest)?;
    }
    Ok(missing)
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
        (Some(store), _) => Err(Store::unfinished(store.path.clone())),
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
        let found = store.kept(keys)?.into_iter();
        let mut found: Vec<Option<Vec<u8>>> =
            found.map(|kept| kept.map(|kept| kept.stored)).collect();
        let mut new: Vec<Vec<(PointKey, Vec<u8>)>> = Vec::new();
        for part in parts {
            let mut own = Vec::new();
            for (place, kept) in part.kept(keys)?.into_iter().enumerate() {
                match (&found[place], kept.map(|kept| kept.stored)) {
                    (Some(known), Some(bytes)) if *known != bytes => {
                        return Err(StoreError::Conflict {
                            path: part.path.clone(),
                            key: keys[place].to_string(),
                        });
                    }
                    (None, Some(bytes)) => {
                        own.push((keys[place], bytes.clone()));
                        found[place] = Some(bytes);
                    }
                    _ => {}
                }
            }
            new.push(own);
        }
        for (part, own) in parts.iter().zip(new).filter(|(_, own)| !own.is_empty()) {
            store.put_prepared(&part.batch(own)?)?;
        }
        missing += found.iter().filter(|bytes| bytes.is_none()).count();
    }
    Ok(missing)
}

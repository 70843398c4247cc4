//! What points have in common: forms, of which one serves thousands of points, notes, and costs, which serve all kernels. It is kept once, under a name.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::seal;
use crate::outcome::{Form, KernelName, Note, Outcome, Taken};

/// SHA-256 of what is named: of its JSON, or of the bytes of costs.
pub(super) type Name = [u8; 32];

/// The table that checksums of what points have in common name.
const COMMON_SEAL: &str = "common";

/// More than any form takes; a size beyond it is no size.
const MOST_BYTES: usize = 64 << 20;

/// Forms that are remembered at once, some 30 kB each: with more it is begun again.
const MOST_FORMS: usize = 1024;

/// Costs that are remembered at once, and notes, each of which takes a kilobyte or some. Points come kernel by kernel, and those of one have the costs of all operating
/// points and configurations; notes tell of the timing of techniques there.
const MOST_OF_A_KERNEL: usize = 1 << 16;

/// Names of what is known to be in the store that are remembered.
const MOST_WRITTEN: usize = 1 << 20;

/// The name of a form or of notes, and their JSON.
///
/// # Errors
/// They cannot be written.
fn named(common: &impl Serialize) -> Result<(Name, Vec<u8>), serde_json::Error> {
    let text = serde_json::to_vec(common)?;
    Ok((Sha256::digest(&text).into(), text))
}

/// What is stored under that name.
///
/// # Errors
/// The bytes are none of its kind, or not what was stored under it.
pub(super) fn unpack<T: DeserializeOwned>(
    name: &Name,
    stored: &[u8],
) -> Result<T, Box<dyn Error + Send + Sync>> {
    let bytes = seal::open(COMMON_SEAL, name, stored).ok_or("not what was written")?;
    let size = bytes
        .first_chunk()
        .map(|size| u32::from_le_bytes(*size) as usize);
    if size.is_none_or(|size| size > MOST_BYTES) {
        return Err("not a size".into());
    }
    let text = decompress_size_prepended(bytes)?;
    if Name::from(Sha256::digest(&text)) != *name {
        return Err("of another name".into());
    }
    Ok(serde_json::from_slice(&text)?)
}

/// What was read, by its name, or named.
#[derive(Debug)]
pub(super) struct Met {
    pub(super) forms: Read<Form>,
    pub(super) notes: Read<Vec<Note>>,
    pub(super) costs: Read<Vec<u8>>,
    /// Names of what is in the store.
    written: Mutex<BTreeSet<Name>>,
    texts: Mutex<BTreeSet<Arc<str>>>,
    named: Mutex<Named>,
}

impl Default for Met {
    fn default() -> Self {
        Self {
            forms: Read::most(MOST_FORMS),
            notes: Read::most(MOST_OF_A_KERNEL),
            costs: Read::most(MOST_OF_A_KERNEL),
            written: Mutex::default(),
            texts: Mutex::default(),
            named: Mutex::default(),
        }
    }
}

/// What was read.
#[derive(Debug)]
pub(super) struct Read<T> {
    known: Mutex<BTreeMap<Name, Arc<T>>>,
    most: usize,
}

impl<T> Read<T> {
    fn most(most: usize) -> Self {
        Self {
            known: Mutex::default(),
            most,
        }
    }

    /// What was read under this name.
    pub(super) fn get(&self, name: &Name) -> Option<Arc<T>> {
        lock(&self.known).get(name).cloned()
    }

    /// Remembers what was read.
    pub(super) fn keep(&self, name: Name, common: T) -> Arc<T> {
        let common = Arc::new(common);
        let mut read = lock(&self.known);
        if read.len() >= self.most {
            read.clear();
        }
        read.insert(name, Arc::clone(&common));
        common
    }
}

/// A form or notes as they are stored: under their name, compressed and behind their checksum.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub name: Name,
    pub bytes: Arc<[u8]>,
}

impl Stored {
    fn of(common: &impl Serialize) -> Result<Self, serde_json::Error> {
        let (name, text) = named(common)?;
        let bytes = seal::sealed(COMMON_SEAL, &name, &compress_prepend_size(&text));
        Ok(Self {
            name,
            bytes: bytes.into(),
        })
    }
}

/// A run's kernel, GPU and technique: what most forms differ in.
type Run = (Arc<KernelName>, Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct Named {
    forms: BTreeMap<Run, Vec<(Stored, Form)>>,
    forms_count: usize,
    notes: BTreeMap<Arc<Vec<Note>>, Stored>,
}

/// An outcome taken apart.
pub(super) struct Parts {
    pub form: Stored,
    pub notes: Stored,
    pub costs: Costs,
    /// Its own figures, eight bytes each.
    pub figures: Vec<u8>,
}

/// What structures cost, eight bytes a figure.
#[derive(Debug)]
pub(super) struct Costs {
    pub name: Name,
    pub bytes: Vec<u8>,
}

impl Costs {
    fn of(costs: &[f64]) -> Self {
        let bytes = bytes(costs);
        Self {
            name: Sha256::digest(&bytes).into(),
            bytes,
        }
    }

    /// As they are stored.
    pub(super) fn sealed(&self) -> Arc<[u8]> {
        seal::sealed(COMMON_SEAL, &self.name, &self.bytes).into()
    }
}

/// The costs that are stored under that name; nothing if they are not what was stored under it.
pub(super) fn costs(name: &Name, stored: &[u8]) -> Option<Vec<u8>> {
    seal::open(COMMON_SEAL, name, stored).map(<[u8]>::to_vec)
}

fn bytes(figures: &[f64]) -> Vec<u8> {
    let bytes: Vec<[u8; 8]> = figures.iter().map(|it| it.to_le_bytes()).collect();
    bytes.into_flattened()
}

impl Met {
    /// The same form with the texts of others that were read.
    pub(super) fn sharing(&self, form: Form) -> Form {
        form.sharing(&mut lock(&self.texts))
    }

    /// The parts of an outcome.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn parts(&self, outcome: Outcome) -> Result<Parts, serde_json::Error> {
        let notes = Arc::clone(&outcome.notes);
        let Taken {
            form,
            costs,
            figures,
        } = Form::of(outcome);
        let (costs, figures) = (Costs::of(&costs), bytes(&figures));
        let mut named = lock(&self.named);
        Ok(Parts {
            form: named.form(form)?,
            notes: named.notes(&notes)?,
            costs,
            figures,
        })
    }

    /// Whether costs are in the store already.
    pub(super) fn is_written(&self, name: &Name) -> bool {
        lock(&self.written).contains(name)
    }

    /// Remembers that what has these names is in the store.
    pub(super) fn wrote<'n>(&self, names: impl IntoIterator<Item = &'n Name>) {
        let mut written = lock(&self.written);
        for name in names {
            if written.len() >= MOST_WRITTEN {
                written.clear();
            }
            written.insert(*name);
        }
    }
}

impl Named {
    fn form(&mut self, form: Form) -> Result<Stored, serde_json::Error> {
        if self.forms_count >= MOST_FORMS {
            self.forms.clear();
            self.forms_count = 0;
        }
        let point = &form.outcome().point;
        let run = (
            Arc::clone(&point.kernel),
            Arc::clone(&point.gpu),
            Arc::clone(&point.technique),
        );
        let alike = self.forms.entry(run).or_default();
        if let Some((stored, _)) = alike.iter().find(|(_, known)| *known == form) {
            return Ok(stored.clone());
        }
        let stored = Stored::of(&form)?;
        alike.push((stored.clone(), form));
        self.forms_count += 1;
        Ok(stored)
    }

    fn notes(&mut self, notes: &Arc<Vec<Note>>) -> Result<Stored, serde_json::Error> {
        if let Some(stored) = self.notes.get(notes) {
            return Ok(stored.clone());
        }
        if self.notes.len() >= MOST_OF_A_KERNEL {
            self.notes.clear();
        }
        let stored = Stored::of(notes)?;
        self.notes.insert(Arc::clone(notes), stored.clone());
        Ok(stored)
    }
}

/// A panic of another thread cannot leave it half-written: an insertion is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::outcome;

    #[test]
    fn a_form_is_read_under_its_name_alone() {
        let form = Form::of(outcome(7)).form;
        let Stored { name, bytes } = Stored::of(&form).unwrap();
        assert_eq!(unpack::<Form>(&name, &bytes).unwrap(), form);
        assert!(unpack::<Vec<Note>>(&name, &bytes).is_err());
        assert!(unpack::<Form>(&Name::default(), &bytes).is_err());
        assert!(unpack::<Form>(&name, &bytes[1..]).is_err());
        assert!(unpack::<Form>(&name, &[]).is_err());
    }

    /// An outcome that differs in figures alone has the same form, in the same bytes.
    #[test]
    fn what_was_met_is_not_made_again() {
        let met = Met::default();
        let one = outcome(7);
        let mut cooler = one.clone();
        cooler.point.technology.temperature_k = 300.0;
        let [first, second, other] =
            [one, cooler, outcome(8)].map(|outcome| met.parts(outcome).unwrap());
        assert!(Arc::ptr_eq(&first.form.bytes, &second.form.bytes));
        assert_ne!(first.form.name, other.form.name);
        assert!(Arc::ptr_eq(&first.notes.bytes, &other.notes.bytes));
        assert_ne!(first.costs.name, second.costs.name);
        assert_eq!(first.costs.name, other.costs.name);
        let stored = first.costs.sealed();
        assert_eq!(costs(&first.costs.name, &stored), Some(first.costs.bytes));
        assert_eq!(costs(&second.costs.name, &stored), None);
    }
}

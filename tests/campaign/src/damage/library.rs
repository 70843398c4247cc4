//! What the library makes of a damaged store: a hundred times faster than through the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use warpwatt::outcome::Outcome;
use warpwatt::store::{Manifest, RECORD, Repaired, Store, StoreError, merge, repair};

use super::change::damaged;
use crate::random::Random;
use crate::scratch::Scratch;
use crate::study::{RESULTS, STORE};
use crate::worker::{Job, Work};

/// What workers are asked for.
const NAME: &str = "store";

/// The work on the store of a finished study in `whole`.
pub fn job(whole: &Scratch) -> Job<'_> {
    Job {
        name: NAME,
        folder: whole.path(),
    }
}

/// What a worker does that is asked for a damaged store.
pub fn work(job: Job<'_>) -> Option<Work> {
    if job.name != NAME {
        return None;
    }
    let results = job.folder.join(RESULTS);
    let (manifest, store) = Store::open_finished(&results).ok()?;
    let finished = Finished {
        outcomes: store.collect(&manifest).ok()?,
        bytes: fs::read(results.join(STORE)).ok()?,
        record: fs::read(results.join(RECORD)).ok()?,
        manifest,
    };
    Some(Box::new(move |random| {
        if let Err(error) = finished.case(random) {
            panic!("{error}");
        }
    }))
}

/// A study with its store as it was written, and as it must be whatever happens to the file.
struct Finished {
    manifest: Manifest,
    outcomes: Vec<Outcome>,
    bytes: Vec<u8>,
    record: Vec<u8>,
}

/// A store that was damaged, in a folder of its own.
struct Damaged {
    folder: Scratch,
    directory: PathBuf,
    bytes: Vec<u8>,
    how: String,
}

impl Finished {
    /// Reads, goes on with, merges and repairs a damaged store.
    fn case(&self, mut random: Random) -> io::Result<()> {
        let folder = Scratch::new()?;
        let directory = folder.join(RESULTS);
        fs::create_dir(&directory)?;
        let (bytes, how) = damaged(self.bytes.clone(), &mut random);
        fs::write(directory.join(STORE), &bytes)?;
        // Where it is, the manifest knows better.
        if random.below(2) == 0 {
            fs::write(directory.join(RECORD), &self.record)?;
        }
        let damaged = Damaged {
            folder,
            directory,
            bytes,
            how,
        };
        self.read(&damaged)?;
        self.merge(&damaged)?;
        self.resume(&damaged)?;
        fs::write(damaged.directory.join(STORE), &damaged.bytes)?;
        self.repair(&damaged);
        Ok(())
    }

    /// What a report would be of.
    fn read(&self, damaged: &Damaged) -> io::Result<()> {
        match self.collected(&damaged.directory) {
            Ok(found) => assert!(found == self.outcomes, "{}: read wrong", damaged.how),
            Err(error) => damaged.refused("reading", &error),
        }
        damaged.unchanged("reading")
    }

    fn merge(&self, damaged: &Damaged) -> io::Result<()> {
        let out = damaged.folder.join("merged");
        match merge(&out, std::slice::from_ref(&damaged.directory), false) {
            Err(error) => damaged.refused("merging", &error),
            Ok(merged) if merged.missing > 0 => {
                panic!("{}: {} points lost by a merge", damaged.how, merged.missing)
            }
            Ok(_) => self.is_whole(&out, damaged, "merged"),
        }
        damaged.unchanged("merging")
    }

    /// What a run would go on with: each point that is taken for finished is the one that was written.
    fn resume(&self, damaged: &Damaged) -> io::Result<()> {
        let store = match Store::open_for(&damaged.directory, &self.manifest.title) {
            Ok(store) => store,
            Err(error) => {
                damaged.refused("going on", &error);
                return damaged.unchanged("going on");
            }
        };
        if let Err(error) = self.fill(&store) {
            damaged.refused("going on", &error);
        }
        store.close();
        match self.collected(&damaged.directory) {
            Ok(found) => assert!(
                found == self.outcomes,
                "{}: gone on with wrong",
                damaged.how
            ),
            Err(error) => damaged.refused("reading what was gone on with", &error),
        }
        Ok(())
    }

    fn repair(&self, damaged: &Damaged) {
        match repair(&damaged.directory, &self.manifest) {
            Ok(Repaired::Sound | Repaired::Kept(_)) => {}
            // One of another format, or nothing at all.
            Err(error) => return damaged.refused("repairing", &error),
        }
        let store = Store::open_for(&damaged.directory, &self.manifest.title);
        let store = store.unwrap_or_else(|error| panic!("{}: repaired: {error}", damaged.how));
        let filled = self.fill(&store);
        store.close();
        filled.unwrap_or_else(|error| panic!("{}: repaired, then run: {error}", damaged.how));
        self.is_whole(&damaged.directory, damaged, "repaired");
    }

    /// Writes the points that are missing, as a run would.
    fn fill(&self, store: &Store) -> Result<(), StoreError> {
        let keys = &self.manifest.points;
        let held = store.held(keys)?;
        let points = keys.iter().zip(&self.outcomes);
        let missing = points.zip(held).filter(|(_, held)| !held);
        let missing: Vec<_> = missing.map(|((key, outcome), _)| (*key, outcome)).collect();
        store.put_all(&missing)?;
        store.put_manifest(&self.manifest)
    }

    fn collected(&self, directory: &Path) -> Result<Vec<Outcome>, StoreError> {
        let (manifest, store) = Store::open_finished(directory)?;
        store.collect(&manifest)
    }

    fn is_whole(&self, directory: &Path, damaged: &Damaged, what: &str) {
        match self.collected(directory) {
            Ok(found) => assert!(found == self.outcomes, "{}: {what} wrong", damaged.how),
            Err(error) => panic!("{}: {what}, then read: {error}", damaged.how),
        }
    }
}

impl Damaged {
    /// It must be for what is in the file.
    fn refused(&self, doing: &str, error: &StoreError) {
        let about_it = matches!(
            error,
            StoreError::Damaged { .. } | StoreError::Format { .. } | StoreError::Missing { .. }
        );
        assert!(about_it, "{}: {doing}: {error}", self.how);
    }

    fn unchanged(&self, doing: &str) -> io::Result<()> {
        let now = fs::read(self.directory.join(STORE))?;
        assert!(now == self.bytes, "{}: {doing} changes it", self.how);
        Ok(())
    }
}

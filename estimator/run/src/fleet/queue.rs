//! The files of a queue, and how a unit goes from one folder to the next.
//!
//! ```text
//! queue.json                       what there is to do; it is written last, so that a queue that has it is whole
//! todo/UNIT                        nobody has taken it
//! taken/UNIT@WORKER+HAND           a thread of a worker has it
//! done/UNIT                        what it came to
//! failed/UNIT                      why it cannot be done
//! workers/WORKER                   a sign of life
//! traces/                          what executions left
//! ```
//!
//! A unit is in one of the first four folders at any time. It goes from `todo` to `taken`, and from one worker to another, by a rename, which one of several
//! that try comes through with. What it came to is put in place before it is no longer taken.

use std::fs;
use std::path::{Path, PathBuf};

use super::cost::Job;
use super::outcome_file;
use super::sheet::{FILE, PLAN_ANEW, Sheet};
use super::write::{begin, moved, names, part_of, removed, replace, unusable};
use crate::cache::TraceCache;
use crate::diag::Diag;

/// What stands between a unit and who has taken it.
const AT: char = '@';
/// What stands between a worker and which of its threads it is.
pub const HAND: char = '+';

/// A queue that is whole.
#[derive(Clone, Debug)]
pub struct Queue {
    directory: PathBuf,
    /// What there is to do.
    pub sheet: Sheet,
}

/// What laying out a queue came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Laid {
    /// There was none.
    New,
    /// It was there, and so many units that had failed or were damaged are to be done again.
    Again(usize),
}

/// A unit that a thread of a worker has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// The unit's name.
    pub unit: String,
    /// The name of the worker's thread.
    pub hand: String,
}

impl Taken {
    /// The worker.
    pub fn worker(&self) -> &str {
        self.hand.split(HAND).next().unwrap_or_default()
    }
}

impl Queue {
    /// The queue in `directory`.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, Diag> {
        let Some(sheet) = Sheet::read(directory)? else {
            let message = format!("`{}` holds no queue", directory.display());
            return Err(Diag::error("fleet::no_queue", message).help(PLAN_ANEW));
        };
        Ok(Self {
            directory: directory.to_path_buf(),
            sheet,
        })
    }

    /// Whether there is a queue in `directory`, readable or not.
    pub fn is_there(directory: &Path) -> bool {
        directory.join(FILE).is_file()
    }

    /// Lays out a queue in `directory`. One of the same study that is there stays, and what failed in it, or is damaged, is to be done again.
    ///
    /// # Errors
    /// The directory cannot be written, or holds the queue of another study.
    pub fn lay(directory: &Path, sheet: Sheet) -> Result<(Self, Laid), Diag> {
        let queue = Self {
            directory: directory.to_path_buf(),
            sheet,
        };
        match Sheet::read(directory)? {
            Some(there) if there.is_alike(&queue.sheet) => {
                let again = queue.put_back()?;
                Ok((queue, Laid::Again(again)))
            }
            Some(there) => {
                let place = directory.display();
                let message = format!(
                    "`{place}` holds a queue of the study `{}` with other inputs or of another version",
                    there.title
                );
                Err(Diag::error("fleet::other_queue", message)
                    .help("name another directory, or remove this one if nothing in it is needed"))
            }
            None => {
                queue.fill()?;
                Ok((queue, Laid::New))
            }
        }
    }

    /// Where traces are kept: all of them, for as long as the queue is there.
    pub fn traces(&self) -> TraceCache {
        TraceCache::new(self.directory.join("traces"), u64::MAX)
    }

    fn fill(&self) -> Result<(), Diag> {
        for folder in ["todo", "taken", "done", "failed", "workers"] {
            let folder = self.directory.join(folder);
            fs::create_dir_all(&folder).map_err(|error| unusable(&folder, &error))?;
        }
        for job in &self.sheet.units {
            let path = self.path("todo", &job.name);
            begin(&path).map_err(|error| unusable(&path, &error))?;
        }
        let path = self.directory.join(FILE);
        let part = part_of(&self.directory, FILE);
        replace(&part, &path, &self.sheet.bytes()?).map_err(|error| unusable(&path, &error))
    }

    /// Puts back what failed and what is damaged; says how much that is.
    fn put_back(&self) -> Result<usize, Diag> {
        let mut again = 0;
        for folder in ["failed", "done"] {
            for unit in self.listed(folder)? {
                let spoilt = folder == "failed" || !self.is_sound(&unit)?;
                if spoilt && self.rename(&self.path(folder, &unit), &self.path("todo", &unit))? {
                    again += 1;
                }
            }
        }
        Ok(again)
    }

    fn is_sound(&self, unit: &str) -> Result<bool, Diag> {
        let path = self.path("done", unit);
        let read = outcome_file::read(&path).map_err(|error| unusable(&path, &error))?;
        Ok(read.is_some())
    }

    /// The place of a file.
    pub fn path(&self, folder: &str, name: &str) -> PathBuf {
        self.directory.join(folder).join(name)
    }

    /// The files of a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn listed(&self, folder: &str) -> Result<Vec<String>, Diag> {
        names(&self.directory.join(folder))
    }

    /// The units that workers have.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn taken(&self) -> Result<Vec<Taken>, Diag> {
        let names = self.listed("taken")?.into_iter();
        let taken = names.filter_map(|name| {
            let (unit, hand) = name.split_once(AT)?;
            Some(Taken {
                unit: unit.to_owned(),
                hand: hand.to_owned(),
            })
        });
        Ok(taken.collect())
    }

    /// Whether a unit is done.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn is_done(&self, unit: &str) -> Result<bool, Diag> {
        self.is_in("done", unit)
    }

    /// Whether a unit has failed.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn has_failed(&self, unit: &str) -> Result<bool, Diag> {
        self.is_in("failed", unit)
    }

    fn is_in(&self, folder: &str, unit: &str) -> Result<bool, Diag> {
        let path = self.path(folder, unit);
        path.try_exists().map_err(|error| unusable(&path, &error))
    }

    /// Takes a unit that nobody has; says whether it came through.
    ///
    /// # Errors
    /// The folders cannot be written.
    pub fn take(&self, unit: &str, hand: &str) -> Result<bool, Diag> {
        self.rename(&self.path("todo", unit), &self.taken_path(unit, hand))
    }

    /// Takes a unit from a worker that has fallen silent, with what it began to write; says whether it came through.
    ///
    /// # Errors
    /// As [`Queue::take`].
    pub fn take_from(&self, taken: &Taken, hand: &str) -> Result<bool, Diag> {
        let from = self.taken_path(&taken.unit, &taken.hand);
        let came_through = self.rename(&from, &self.taken_path(&taken.unit, hand))?;
        if came_through {
            let _ = fs::remove_file(self.part("done", &taken.unit, &taken.hand));
        }
        Ok(came_through)
    }

    /// Puts in place what a unit came to, and gives it up.
    ///
    /// # Errors
    /// The folders cannot be written; then the worker has it still.
    pub fn finish(&self, unit: &str, hand: &str, bytes: &[u8]) -> Result<(), Diag> {
        self.end("done", unit, hand, bytes)
    }

    /// Says why a unit cannot be done, and gives it up.
    ///
    /// # Errors
    /// As [`Queue::finish`].
    pub fn fail(&self, unit: &str, hand: &str, why: &str) -> Result<(), Diag> {
        self.end("failed", unit, hand, why.as_bytes())
    }

    fn end(&self, folder: &str, unit: &str, hand: &str, bytes: &[u8]) -> Result<(), Diag> {
        let path = self.path(folder, unit);
        let part = self.part(folder, unit, hand);
        replace(&part, &path, bytes).map_err(|error| unusable(&path, &error))?;
        self.drop_taken(unit, hand)
    }

    /// Gives up a unit that is done.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn drop_taken(&self, unit: &str, hand: &str) -> Result<(), Diag> {
        let path = self.taken_path(unit, hand);
        removed(&path).map_err(|error| unusable(&path, &error))
    }

    fn part(&self, folder: &str, unit: &str, hand: &str) -> PathBuf {
        part_of(&self.directory.join(folder), &format!("{unit}{AT}{hand}"))
    }

    fn taken_path(&self, unit: &str, hand: &str) -> PathBuf {
        self.path("taken", &format!("{unit}{AT}{hand}"))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<bool, Diag> {
        moved(from, to).map_err(|error| unusable(from, &error))
    }

    /// The unit of this name.
    pub fn job(&self, name: &str) -> Option<&Job> {
        let units = &self.sheet.units;
        let place = units.binary_search_by(|job| job.name.as_str().cmp(name));
        Some(&units[place.ok()?])
    }
}

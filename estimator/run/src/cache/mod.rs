//! Traces kept between runs: one file an execution, named by the hash of everything that decides it.
//!
//! Nothing that lies there is trusted: a file that is not exactly what was written is noticed and written anew. Nothing depends on it either:
//! a cache that cannot be read or written costs time, not results. Files appear whole (they are renamed into place), so any number of processes may use one directory.

mod evict;
mod key;

pub use key::key;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use warpwatt_simt::Execution;
use warpwatt_simt::trace::file::{Key, decode, encode};
use warpwatt_simt::trace::{DEFAULT_MEMORY, KernelTrace, Store};

use crate::digest::hex;

/// Bytes that all files of a cache may take together, if nothing else is said.
pub const DEFAULT_LIMIT: u64 = 1 << 30;

/// Bytes of memory that the records of one execution may take to be kept.
const LARGEST: u64 = 1 << 30;

/// Bytes of memory that reading a file may take, whatever it claims: records, and the code that they name.
pub const MEMORY_LIMIT: u64 = 2 * LARGEST;

/// The ending of trace files.
const ENDING: &str = "trace";
/// The ending of files that are being written.
const PART: &str = "part";

/// How much memory traces may take while they are needed, and the directory in which they are kept between runs, if there is one.
#[derive(Debug)]
pub struct TraceCache {
    directory: Option<PathBuf>,
    limit: u64,
    memory: u64,
    written: AtomicU64,
    notes: Mutex<BTreeSet<String>>,
}

impl TraceCache {
    /// The cache in `directory`, whose files may take `limit` bytes together. The directory is made when something is first written to it.
    pub fn new(directory: PathBuf, limit: u64) -> TraceCache {
        TraceCache {
            directory: Some(directory),
            limit,
            ..Self::none()
        }
    }

    /// One that keeps nothing.
    pub fn none() -> TraceCache {
        TraceCache {
            directory: None,
            limit: 0,
            memory: DEFAULT_MEMORY,
            written: AtomicU64::new(0),
            notes: Mutex::default(),
        }
    }

    /// The same, with so many bytes of memory for the traces of a kernel; what is more lies in a file.
    #[must_use]
    pub fn with_memory(self, memory: u64) -> TraceCache {
        TraceCache { memory, ..self }
    }

    /// Whether there is a directory.
    pub fn keeps(&self) -> bool {
        self.directory.is_some()
    }

    /// Bytes of memory that the traces of a kernel may take.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The launches that were executed under `key`, if they are kept.
    pub fn load(&self, key: &Key) -> Option<Vec<Execution>> {
        let path = self.path(key)?;
        let bytes = match read(&path) {
            Ok(bytes) => bytes?,
            Err(error) => {
                self.note(format!("cannot read `{}`: {error}", path.display()));
                return None;
            }
        };
        let problem = match decode(&bytes, MEMORY_LIMIT, &Store::new(self.memory)) {
            Ok(stored) if stored.key == *key => return Some(stored.executions),
            Ok(_) => "it was stored under another name".to_owned(),
            Err(error) => error.to_string(),
        };
        let name = path.display();
        self.note(format!("`{name}` was not used and is replaced: {problem}"));
        None
    }

    /// Keeps the traces of an execution, and removes what was used longest ago if there is too much.
    pub fn store(&self, key: &Key, label: &str, traces: &[&KernelTrace]) {
        let Some(directory) = &self.directory else {
            return;
        };
        let memory: usize = traces.iter().map(|trace| trace.record_bytes()).sum();
        if memory as u64 > LARGEST {
            return;
        }
        let bytes = match encode(key, label, traces) {
            Ok(bytes) if bytes.len() as u64 <= self.limit => bytes,
            Ok(_) => return,
            Err(error) => return self.note(error.to_string()),
        };
        let path = directory.join(name(key));
        let written = self.write(directory, &path, &bytes);
        if let Err(error) = written.and_then(|()| evict::evict(directory, self.limit)) {
            let name = directory.display();
            self.note(format!("cannot keep traces in `{name}`: {error}"));
        }
    }

    /// What the user should know: each thing once.
    pub fn notes(&self) -> Vec<String> {
        let notes = self.notes.lock();
        notes.map_or_else(|_| Vec::new(), |notes| notes.iter().cloned().collect())
    }

    fn note(&self, note: String) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.insert(note);
        }
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(name(key)))
    }

    /// Writes a file of the directory under another name and puts it in its place.
    fn write(&self, directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let (part, mut file) = self.part(directory)?;
        let written = file.write_all(bytes).and_then(|()| {
            drop(file);
            fs::rename(&part, path)
        });
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// A new file that nobody else writes to.
    fn part(&self, directory: &Path) -> io::Result<(PathBuf, File)> {
        loop {
            let number = self.written.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}.{PART}", std::process::id());
            let part = directory.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&part) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => return opened.map(|file| (part, file)),
            }
        }
    }
}

/// What a file is called.
fn name(key: &Key) -> String {
    format!("{}.{ENDING}", hex(key))
}

/// The bytes of a file, which is marked as used just now; `None` if there is none.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    // One byte more than may be read makes the checksum wrong.
    (&file).take(MEMORY_LIMIT + 1).read_to_end(&mut bytes)?;
    // On a file system that does not let us, files are removed in the order in which they were written.
    let _ = file.set_modified(SystemTime::now());
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests;

//! Where the records of traces lie: in memory up to a bound, and beyond it in a file that has no name, compressed.
//!
//! The file grows and nothing in it changes, so that traces which share it need no order among them. It goes with the last of them, and with the process.

use std::collections::VecDeque;
use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a block before compression: few enough that one is soon read again, many enough that they compress.
const BLOCK: usize = 256 << 10;

/// Blocks that are kept decompressed: warps of CTAs that run together lie in a few, and so for each thread that times them.
const KEPT: usize = 32;

/// Bytes of records that are held in memory where nothing else is said: 2 GiB.
pub const DEFAULT_MEMORY: u64 = 2 << 30;

/// Places from here on are of the file.
const FILED: u64 = 1 << 63;

/// Why records could not be kept, or not be had back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(Box<Reason>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} records of a trace beyond {} MiB of memory in `{directory}`: {cause}", memory >> 20)]
struct Reason {
    doing: &'static str,
    memory: u64,
    directory: String,
    cause: String,
}

impl From<StoreError> for String {
    fn from(error: StoreError) -> Self {
        error.to_string()
    }
}

/// A bound of memory, and the file behind it, of any number of traces: those of a program's launches.
#[derive(Clone, Debug)]
pub struct Store(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Bytes that may be held in memory.
    memory: u64,
    /// Those that are.
    held: AtomicU64,
    log: Mutex<Option<Log>>,
}

impl Default for Store {
    /// As much as there is.
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl Store {
    /// Holds so many bytes of records in memory.
    pub fn new(memory: u64) -> Self {
        Self(Arc::new(Shared {
            memory,
            held: AtomicU64::new(0),
            log: Mutex::new(None),
        }))
    }

    /// An empty one with the same bound.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.0.memory)
    }

    /// Whether so many bytes more may be held in memory; then they are.
    fn takes(&self, bytes: u64) -> bool {
        let held = &self.0.held;
        let more = |held: u64| held.checked_add(bytes).filter(|all| *all <= self.0.memory);
        held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn logged<T>(
        &self,
        doing: &'static str,
        with: impl FnOnce(&mut Log) -> io::Result<T>,
    ) -> Result<T, StoreError> {
        let done = (|| {
            let mut log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *log {
                Some(log) => with(log),
                none => with(none.insert(Log::new()?)),
            }
        })();
        done.map_err(|error: io::Error| self.error(doing, error.to_string()))
    }

    fn error(&self, doing: &'static str, cause: impl Into<String>) -> StoreError {
        StoreError(Box::new(Reason {
            doing,
            memory: self.0.memory,
            directory: env::temp_dir().display().to_string(),
            cause: cause.into(),
        }))
    }
}

/// The records of a trace: those in memory, and the store that has the others.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    pub store: Store,
}

impl Held {
    pub fn new(store: Store) -> Self {
        Self {
            bytes: Vec::new(),
            store,
        }
    }

    /// Keeps the records of a warp.
    pub fn keep(&mut self, records: &[u8]) -> Result<Place, StoreError> {
        let store = &self.store;
        let length = u32::try_from(records.len());
        let length = length.map_err(|_| store.error("keep", "a warp has more than 4 GiB"))?;
        if store.takes(u64::from(length)) {
            let start = self.bytes.len() as u64;
            self.bytes.extend_from_slice(records);
            return Ok(Place { start, length });
        }
        let start = store.logged("keep", |log| log.append(records))?;
        Ok(Place {
            start: start | FILED,
            length,
        })
    }

    /// The records at a place.
    pub fn read<R>(&self, place: Place) -> Result<R, StoreError>
    where
        R: From<Vec<u8>> + for<'b> From<&'b [u8]>,
    {
        let (start, length) = (place.start, place.length as usize);
        if place.is_filed() {
            let read = |log: &mut Log| log.read(start & !FILED, length);
            return Ok(self.store.logged("read", read)?.into());
        }
        let start = start as usize;
        Ok(R::from(&self.bytes[start..start + length]))
    }

    /// Whether a place of `other` is one of these records too: where both have the same file.
    pub fn has(&self, place: Place, other: &Self) -> bool {
        place.is_filed() && Arc::ptr_eq(&self.store.0, &other.store.0)
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        let bytes = self.bytes.clone();
        let held = &self.store.0.held;
        held.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Self {
            bytes,
            store: self.store.clone(),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let held = &self.store.0.held;
        held.fetch_sub(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// Where the records of a warp lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    start: u64,
    length: u32,
}

impl Place {
    /// Bytes of the records.
    pub fn length(self) -> u32 {
        self.length
    }

    pub fn is_filed(self) -> bool {
        self.start & FILED != 0
    }
}

/// A file of blocks, each compressed for itself, and the block that is being filled.
#[derive(Debug)]
struct Log {
    file: File,
    /// Where the compressed blocks lie in the file, and how long they are.
    blocks: Vec<(u64, usize)>,
    end: u64,
    pending: Vec<u8>,
    /// Decompressed blocks by their numbers, the one used last at the end.
    kept: VecDeque<(usize, Vec<u8>)>,
}

impl Log {
    fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            blocks: Vec::new(),
            end: 0,
            pending: Vec::new(),
            kept: VecDeque::new(),
        })
    }

    /// Adds bytes; where they begin.
    fn append(&mut self, mut bytes: &[u8]) -> io::Result<u64> {
        let start = (self.blocks.len() * BLOCK + self.pending.len()) as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.pending.len()));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == BLOCK {
                self.flush()?;
            }
        }
        Ok(start)
    }

    fn flush(&mut self) -> io::Result<()> {
        let compressed = lz4_flex::block::compress(&self.pending);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&compressed)?;
        self.blocks.push((self.end, compressed.len()));
        self.end += compressed.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn read(&mut self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        let mut at = start as usize;
        while bytes.len() < length {
            let block = self.block(at / BLOCK)?;
            let rest = block.get(at % BLOCK..).filter(|rest| !rest.is_empty());
            let rest = rest.ok_or(io::ErrorKind::UnexpectedEof)?;
            let here = &rest[..rest.len().min(length - bytes.len())];
            bytes.extend_from_slice(here);
            at += here.len();
        }
        Ok(bytes)
    }

    /// The contents of a block.
    fn block(&mut self, number: usize) -> io::Result<&[u8]> {
        let Some(&(start, length)) = self.blocks.get(number) else {
            return Ok(&self.pending);
        };
        let known = self.kept.iter().position(|(kept, _)| *kept == number);
        let block = match known.and_then(|place| self.kept.remove(place)) {
            Some(known) => known,
            None => {
                let mut compressed = vec![0; length];
                self.file.seek(SeekFrom::Start(start))?;
                self.file.read_exact(&mut compressed)?;
                let block = lz4_flex::block::decompress(&compressed, BLOCK);
                (number, block.map_err(io::Error::other)?)
            }
        };
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(block);
        Ok(self.kept.back().map_or(&[], |(_, block)| block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is beyond the bound comes back as it was, whatever was kept before and after it, in any order.
        #[test]
        fn what_is_kept_comes_back(
            memory in 0u64..100_000,
            lengths in prop::collection::vec(0usize..300_000, 1..12),
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..30),
        ) {
            let store = Store::new(memory);
            let mut held = Held::new(store);
            let records = |number: usize, length: usize| -> Vec<u8> {
                (0..length).map(|at| ((at * at) >> 3) as u8 ^ number as u8).collect()
            };
            let all: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(number, &length)| records(number, length)).collect();
            let places: Vec<Place> = all.iter().map(|records| held.keep(records).unwrap()).collect();
            prop_assert!(held.bytes.len() as u64 <= memory);
            for index in order {
                let number = index.index(all.len());
                let read: Vec<u8> = held.read(places[number]).unwrap();
                prop_assert!(read == all[number]);
            }
        }
    }

    #[test]
    fn traces_share_a_bound_for_as_long_as_they_are_there() {
        let store = Store::new(100);
        let (mut one, mut other) = (Held::new(store.clone()), Held::new(store.clone()));
        one.keep(&[1; 60]).unwrap();
        assert!(other.keep(&[2; 60]).unwrap().is_filed());
        assert!(!other.keep(&[3; 40]).unwrap().is_filed());
        assert!(
            !Held::new(store.another())
                .keep(&[4; 60])
                .unwrap()
                .is_filed()
        );
        drop(one);
        assert!(!other.keep(&[5; 60]).unwrap().is_filed());
        assert!(other.keep(&[6; 1]).unwrap().is_filed());
    }

    #[test]
    fn a_place_in_the_file_is_one_for_all_who_share_it() {
        let store = Store::new(0);
        let (mut one, other) = (Held::new(store.clone()), Held::new(store));
        let place = one.keep(&[1, 2, 3]).unwrap();
        assert!(other.has(place, &one));
        assert_eq!(other.read(place), Ok(vec![1, 2, 3]));
        let elsewhere = Held::new(one.store.another());
        assert!(!elsewhere.has(place, &one));
    }

    #[test]
    fn an_error_says_what_to_change() {
        let error = StoreError(Box::new(Reason {
            doing: "keep",
            memory: 2 << 30,
            directory: "somewhere".to_owned(),
            cause: "no space left".to_owned(),
        }));
        assert_eq!(
            error.to_string(),
            "cannot keep records of a trace beyond 2048 MiB of memory in `somewhere`: no space left"
        );
    }
}

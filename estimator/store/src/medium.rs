//! What the database reads and writes: a file, or a file with what is written to it kept in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::{BackendError, StorageBackend};

/// The unit in which writes are kept: the database's page.
const BLOCK: usize = 4096;

/// Between the database and its file.
#[derive(Debug)]
pub(super) struct Medium {
    inner: Box<dyn StorageBackend>,
    /// What was written, if the file must not change.
    kept: Option<RwLock<Kept>>,
    cut: Cut,
}

/// A switch that keeps a database from writing: one that panicked is closed without a last word.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut(Arc<AtomicBool>);

impl Cut {
    pub(super) fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> io::Result<()> {
        match self.0.load(Ordering::Acquire) {
            true => Err(io::Error::other("the database was given up")),
            false => Ok(()),
        }
    }
}

/// What a file would hold.
#[derive(Debug)]
struct Kept {
    len: u64,
    /// Of the file itself so much still counts.
    below: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

impl Medium {
    /// What is written reaches the file.
    pub(super) fn direct(inner: Box<dyn StorageBackend>, cut: Cut) -> Self {
        Self {
            inner,
            kept: None,
            cut,
        }
    }

    /// What is written stays in memory, and is gone when the database is closed.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub(super) fn kept(inner: Box<dyn StorageBackend>, cut: Cut) -> io::Result<Self> {
        let len = inner.len()?;
        let kept = Kept {
            len,
            below: len,
            blocks: BTreeMap::new(),
        };
        Ok(Self {
            inner,
            kept: Some(RwLock::new(kept)),
            cut,
        })
    }
}

fn reading(kept: &RwLock<Kept>) -> RwLockReadGuard<'_, Kept> {
    kept.read().unwrap_or_else(PoisonError::into_inner)
}

fn writing(kept: &RwLock<Kept>) -> RwLockWriteGuard<'_, Kept> {
    kept.write().unwrap_or_else(PoisonError::into_inner)
}

/// The pieces of so many bytes from `offset` on that lie in one block each: the block, where in it, and where among the bytes.
fn pieces(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % BLOCK as u64) as usize;
        let piece = (bytes - done).min(BLOCK - within);
        let range = done..done + piece;
        done += piece;
        (piece > 0).then_some((at / BLOCK as u64, within, range))
    })
}

impl Kept {
    fn read(&self, inner: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset + out.len() as u64 > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let of_file = self.below.saturating_sub(offset).min(out.len() as u64) as usize;
        let (file, beyond) = out.split_at_mut(of_file);
        if !file.is_empty() {
            inner.read(offset, file)?;
        }
        beyond.fill(0);
        let last = offset + out.len() as u64;
        let blocks = offset / BLOCK as u64..last.div_ceil(BLOCK as u64);
        if self.blocks.range(blocks).next().is_none() {
            return Ok(());
        }
        for (block, within, range) in pieces(offset, out.len()) {
            if let Some(bytes) = self.blocks.get(&block) {
                let piece = range.len();
                out[range].copy_from_slice(&bytes[within..within + piece]);
            }
        }
        Ok(())
    }

    fn write(&mut self, inner: &dyn StorageBackend, offset: u64, data: &[u8]) -> io::Result<()> {
        for (block, within, range) in pieces(offset, data.len()) {
            let mut bytes = match self.blocks.remove(&block) {
                Some(bytes) => bytes,
                None => self.block(inner, block)?,
            };
            let piece = range.len();
            bytes[within..within + piece].copy_from_slice(&data[range]);
            self.blocks.insert(block, bytes);
        }
        self.len = self.len.max(offset + data.len() as u64);
        Ok(())
    }

    /// A block as the file has it.
    fn block(&self, inner: &dyn StorageBackend, block: u64) -> io::Result<Box<[u8]>> {
        let mut bytes = vec![0; BLOCK].into_boxed_slice();
        let start = block * BLOCK as u64;
        let there = self.below.saturating_sub(start).min(BLOCK as u64) as usize;
        if there > 0 {
            inner.read(start, &mut bytes[..there])?;
        }
        Ok(bytes)
    }

    fn set_len(&mut self, inner: &dyn StorageBackend, len: u64) -> io::Result<()> {
        if len < self.len {
            // What lies behind the end is zero when it comes back.
            let (last, within) = (len / BLOCK as u64, (len % BLOCK as u64) as usize);
            if within > 0 && !self.blocks.contains_key(&last) {
                let bytes = self.block(inner, last)?;
                self.blocks.insert(last, bytes);
            }
            if let Some(bytes) = self.blocks.get_mut(&last) {
                bytes[within..].fill(0);
            }
            self.blocks.retain(|block, _| *block <= last);
            self.below = self.below.min(len);
        }
        self.len = len;
        Ok(())
    }
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        match &self.kept {
            Some(kept) => Ok(reading(kept).len),
            None => self.inner.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &self.kept {
            Some(kept) => reading(kept).read(self.inner.as_ref(), offset, out),
            None => self.inner.read(offset, out),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.cut.check()?;
        match &self.kept {
            Some(kept) => writing(kept).set_len(self.inner.as_ref(), len),
            None => self.inner.set_len(len),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.cut.check()?;
        match &self.kept {
            Some(_) => Ok(()),
            None => self.inner.sync_data(),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.cut.check()?;
        match &self.kept {
            Some(kept) => writing(kept).write(self.inner.as_ref(), offset, data),
            None => self.inner.write(offset, data),
        }
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    /// Who does not write may read beside others who do not.
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        match &self.kept {
            Some(_) => self.inner.try_lock_shared_range(start, end),
            None => self.inner.try_lock_range(start, end),
        }
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match &self.kept {
            Some(_) => self.inner.lock_shared_range(start, end),
            None => self.inner.lock_range(start, end),
        }
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    fn over(bytes: &[u8]) -> Medium {
        let file = InMemoryBackend::new();
        file.set_len(bytes.len() as u64).unwrap();
        file.write(0, bytes).unwrap();
        Medium::kept(Box::new(file), Cut::default()).unwrap()
    }

    fn all(medium: &Medium) -> Vec<u8> {
        let mut bytes = vec![7; medium.len().unwrap() as usize];
        medium.read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_written_is_read_and_the_file_stays() {
        let before: Vec<u8> = (0..10_000_u32).map(|byte| byte as u8).collect();
        let medium = over(&before);
        let mut model = before.clone();
        for (offset, len) in [(0, 10), (4090, 20), (8000, 2000), (3, 9000)] {
            let data: Vec<u8> = (0..len).map(|byte| (byte * 31 + offset) as u8).collect();
            medium.write(offset as u64, &data).unwrap();
            model[offset..offset + len].copy_from_slice(&data);
            assert!(all(&medium) == model);
        }
        let mut there = vec![0; before.len()];
        medium.inner.read(0, &mut there).unwrap();
        assert!(there == before);
    }

    #[test]
    fn what_was_cut_off_comes_back_as_zeros() {
        let medium = over(&[9; 9000]);
        medium.write(5000, &[8; 10]).unwrap();
        medium.set_len(100).unwrap();
        assert!(medium.read(90, &mut [0; 20]).is_err());
        medium.set_len(9000).unwrap();
        let mut model = vec![9; 100];
        model.resize(9000, 0);
        assert!(all(&medium) == model);
    }

    #[test]
    fn nothing_is_written_after_the_cut() {
        let cut = Cut::default();
        let medium = Medium::direct(Box::new(InMemoryBackend::new()), cut.clone());
        medium.set_len(1).unwrap();
        cut.now();
        assert!(medium.write(0, b"a").is_err());
        assert!(medium.set_len(0).is_err() && medium.sync_data().is_err());
        assert_eq!(all(&medium), [0]);
    }
}

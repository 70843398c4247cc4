//! A file that fails at a chosen call.

use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

/// What happens at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails, as on a full disk, and those after it do not.
    Error,
    /// Neither it nor any after it does anything, as after a kill.
    Stop,
    /// It writes half of its bytes, and then as [`Fault::Stop`].
    Torn,
}

/// Counts the calls that change a file, of all files opened through it, and fails at one of them.
#[derive(Clone, Debug)]
pub struct Disk {
    calls: Arc<AtomicU64>,
    /// From 1 on; none if it is 0.
    at: u64,
    fault: Fault,
}

impl Disk {
    /// One that works.
    pub fn sound() -> Self {
        Self::failing(0, Fault::Stop)
    }

    /// One with a fault at the `at`th call that writes, cuts or syncs, from 1 on.
    pub fn failing(at: u64, fault: Fault) -> Self {
        Self {
            calls: Arc::default(),
            at,
            fault,
        }
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The file, on this disk.
    pub fn file(&self, file: FileBackend) -> Box<dyn StorageBackend> {
        Box::new(OnDisk {
            file,
            disk: self.clone(),
        })
    }

    /// What becomes of the next call.
    fn next(&self) -> Option<Fault> {
        let call = 1 + self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            _ if self.at == 0 || call < self.at => None,
            fault if call == self.at => Some(fault),
            Fault::Error => None,
            Fault::Stop | Fault::Torn => Some(Fault::Stop),
        }
    }

    fn change(&self, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        match self.next() {
            None => work(),
            Some(_) => Err(failed()),
        }
    }
}

fn failed() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

#[derive(Debug)]
struct OnDisk {
    file: FileBackend,
    disk: Disk,
}

impl StorageBackend for OnDisk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.change(|| self.file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.change(|| self.file.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match self.disk.next() {
            None => self.file.write(offset, data),
            Some(Fault::Torn) => {
                self.file.write(offset, &data[..data.len() / 2])?;
                Err(failed())
            }
            Some(_) => Err(failed()),
        }
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

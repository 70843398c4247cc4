//! Keeping a cache small.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{ENDING, PART};

/// A file that was begun so long before the newest one was ended is nobody's any more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Removes the files that were used longest ago until all of them take at most `limit` bytes. Other processes may do the same at the same time.
pub fn evict(directory: &Path, limit: u64) -> io::Result<()> {
    let mut traces = files(directory, ENDING)?;
    traces.sort();
    let newest = traces.last().map(|file| file.used);
    for part in files(directory, PART)? {
        if newest.is_some_and(|newest| part.used + ABANDONED < newest) {
            remove(&part.path)?;
        }
    }
    let mut total: u64 = traces.iter().map(|file| file.bytes).sum();
    for file in traces {
        if total <= limit {
            break;
        }
        remove(&file.path)?;
        total -= file.bytes;
    }
    Ok(())
}

/// A file; the one that was used longest ago comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    used: SystemTime,
    path: PathBuf,
    bytes: u64,
}

/// The files of a directory that this program named. One that vanishes meanwhile is not there.
fn files(directory: &Path, ending: &str) -> io::Result<Vec<Kept>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if !is_ours(&path, ending) {
            continue;
        }
        let Ok(metadata) = path.metadata() else {
            continue;
        };
        found.push(Kept {
            used: metadata.modified()?,
            bytes: metadata.len(),
            path,
        });
    }
    Ok(found)
}

fn is_ours(path: &Path, ending: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let named = stem.is_some_and(|stem| match ending {
        ENDING => stem.len() == 64 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()),
        _ => stem
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-'),
    });
    named && path.extension().is_some_and(|found| found == ending)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

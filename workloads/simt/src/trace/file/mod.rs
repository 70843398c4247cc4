//! Traces as files: compressed, with a checksum; what is read is checked before anyone replays it.
//!
//! `docs/traces.md` describes the format. Nothing here touches a file: [`encode`] gives its bytes, [`decode`] takes them.

mod blocks;
mod code;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;
use sha2::{Digest, Sha256};

use super::{KernelTrace, LaunchShape, Malformed, StaticInst, Store, StoreError, Unsound};
use crate::Execution;
use blocks::{BlockReader, BlockWriter};

/// The version of the format and of the records in it. Raise it when either changes.
pub const FORMAT: u32 = 12;

/// The first bytes of every trace file.
pub const MAGIC: [u8; 8] = *b"WWTRACE\n";

/// What decided an execution, as a hash.
pub type Key = [u8; 32];

/// Magic, format, key.
const HEADER: usize = 8 + 4 + 32;
const CHECKSUM: usize = 32;

/// What a trace file holds.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What decided the execution.
    pub key: Key,
    /// What was executed, for people.
    pub label: String,
    /// The launches in order, each with its trace.
    pub executions: Vec<Execution>,
}

/// Why bytes are not read as traces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceFileError {
    /// Something else.
    #[error("this is no trace file")]
    Foreign,
    /// Written by another version.
    #[error("the trace has format {found}; this version reads and writes format {FORMAT}")]
    Format {
        /// The format it names.
        found: u32,
    },
    /// Cut short or changed.
    #[error("the trace is damaged: its checksum does not agree with its contents")]
    Damaged,
    /// Whole, but written by something else than this program.
    #[error("the trace is of no execution: {0}")]
    Malformed(#[from] Malformed),
    /// Its records cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It would take more memory than it may.
    #[error("the trace takes more than {} MiB of memory", limit >> 20)]
    TooLarge {
        /// Bytes that it may take.
        limit: u64,
    },
}

impl From<Unsound> for TraceFileError {
    fn from(unsound: Unsound) -> Self {
        match unsound {
            Unsound::Malformed(malformed) => malformed.into(),
            Unsound::Store(error) => error.into(),
        }
    }
}

/// The bytes of a trace file.
///
/// # Errors
/// Records were not held in memory, and cannot be read where they are.
pub fn encode(key: &Key, label: &str, launches: &[&KernelTrace]) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(key);
    let mut writer = BlockWriter::new(bytes);
    writer.text(label);
    let codes = distinct_codes(launches);
    writer.unsigned(codes.len() as u64);
    for code in &codes {
        code::write(&mut writer, code);
    }
    writer.unsigned(launches.len() as u64);
    for trace in launches {
        let code = codes.iter().position(|code| *code == &*trace.code);
        write_launch(&mut writer, trace, code.unwrap_or_default() as u64)?;
    }
    let mut bytes = writer.finish();
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    Ok(bytes)
}

/// A number that two lists of traces share if they would be the same file, and else hardly ever do: no proof, but ready before a file is.
///
/// # Errors
/// As [`encode`].
pub fn fingerprint(launches: &[&KernelTrace]) -> Result<u64, StoreError> {
    let mut hasher = FxHasher::default();
    for trace in launches {
        let LaunchShape {
            grid,
            block,
            warp_width,
            shared_bytes,
            registers,
        } = trace.launch;
        (&trace.kernel, grid, block).hash(&mut hasher);
        (warp_width, shared_bytes, registers).hash(&mut hasher);
        // Code of one kernel differs where its lowering does, and so does what warps did of it.
        trace.code.len().hash(&mut hasher);
        for warp in &trace.warps {
            warp.steps.hash(&mut hasher);
            trace.records(*warp)?.hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}

/// The launches' codes, each once.
fn distinct_codes<'t>(launches: &[&'t KernelTrace]) -> Vec<&'t [StaticInst]> {
    let mut codes: Vec<&[StaticInst]> = Vec::new();
    for trace in launches {
        if !codes.contains(&&*trace.code) {
            codes.push(&trace.code);
        }
    }
    codes
}

fn write_launch(
    writer: &mut BlockWriter,
    trace: &KernelTrace,
    code: u64,
) -> Result<(), StoreError> {
    let LaunchShape {
        grid,
        block,
        warp_width,
        shared_bytes,
        registers,
    } = trace.launch;
    writer.text(&trace.kernel);
    writer.unsigned(code);
    for number in [grid, block].concat() {
        writer.unsigned(u64::from(number));
    }
    for number in [warp_width, shared_bytes, registers] {
        writer.unsigned(u64::from(number));
    }
    for warp in &trace.warps {
        writer.unsigned(u64::from(warp.place.length()));
        writer.unsigned(u64::from(warp.steps));
    }
    for warp in &trace.warps {
        writer.bytes(&trace.records(*warp)?);
    }
    Ok(())
}

/// Reads a trace file that takes at most `limit` bytes of memory, and keeps its records in `store`.
///
/// # Errors
/// Records that cannot be kept, and anything but the bytes that [`encode`] wrote: then nothing is trusted, and no more memory taken than `limit`, whatever they claim.
pub fn decode(bytes: &[u8], limit: u64, store: &Store) -> Result<Stored, TraceFileError> {
    let (head, rest) = bytes
        .split_at_checked(HEADER)
        .ok_or(TraceFileError::Foreign)?;
    if head[..8] != MAGIC {
        return Err(TraceFileError::Foreign);
    }
    let found = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if found != FORMAT {
        return Err(TraceFileError::Format { found });
    }
    let blocks = rest
        .len()
        .checked_sub(CHECKSUM)
        .ok_or(TraceFileError::Damaged)?;
    let (contents, checksum) = bytes.split_at(HEADER + blocks);
    if Sha256::digest(contents).as_slice() != checksum {
        return Err(TraceFileError::Damaged);
    }
    let mut key = Key::default();
    key.copy_from_slice(&head[12..]);
    let mut reader = BlockReader::new(&rest[..blocks], limit);
    let stored = read_body(&mut reader, key, store)?;
    reader.finish()?;
    Ok(stored)
}

fn read_body(
    reader: &mut BlockReader<'_>,
    key: Key,
    store: &Store,
) -> Result<Stored, TraceFileError> {
    let label = reader.text()?;
    let count = reader.unsigned()?;
    let mut codes = reader.list(count, 1)?;
    for _ in 0..count {
        codes.push(code::read(reader)?);
    }
    let count = reader.unsigned()?;
    let mut executions = reader.list(count, 12)?;
    for _ in 0..count {
        executions.push(read_launch(reader, &codes, store)?);
    }
    Ok(Stored {
        key,
        label,
        executions,
    })
}

fn read_launch(
    reader: &mut BlockReader<'_>,
    codes: &[Arc<[StaticInst]>],
    store: &Store,
) -> Result<Execution, TraceFileError> {
    let kernel = reader.text()?;
    let code = usize::try_from(reader.unsigned()?).ok();
    let code = code.and_then(|code| codes.get(code));
    let code = Arc::clone(code.ok_or(Malformed("a launch names code that there is not"))?);
    let launch = LaunchShape {
        grid: [reader.number()?, reader.number()?, reader.number()?],
        block: [reader.number()?, reader.number()?, reader.number()?],
        warp_width: reader.number()?,
        shared_bytes: reader.number()?,
        registers: reader.number()?,
    };
    let count = launch.checked_warps()?;
    let mut lengths = reader.list(count, 2)?;
    for _ in 0..count {
        lengths.push((reader.number()?, reader.number()?));
    }
    let mut trace = KernelTrace::kept_in(store.clone(), kernel, code, launch);
    trace.warps = reader.list(count, 0)?;
    for (length, steps) in lengths {
        trace.push(&reader.bytes(u64::from(length))?, steps)?;
    }
    let counts = trace.counts()?;
    Ok(Execution {
        races: Vec::new(),
        warp_instructions: counts.warp_instructions,
        thread_instructions: counts.thread_instructions,
        predicated_off: counts.predicated_off,
        spread: 0,
        trace: Some(trace),
    })
}

#[cfg(test)]
mod tests;

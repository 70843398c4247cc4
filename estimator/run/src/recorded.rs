//! Kernels that were recorded elsewhere as machine code: traces of Accel-Sim's tracer. Nothing is executed; what was is read.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use warpwatt_sass::{Fault, KernelTrace, Limits, Packing, Recorded, is_listing, listing, read};
use warpwatt_simt::Execution;
use warpwatt_simt::trace::{DEFAULT_MEMORY, Store, Unsound};
use warpwatt_suite::launch::Prepared;
use warpwatt_suite::{CaseRun, RunOptions};

use crate::diag::Diag;
use crate::digest::hex;
use crate::input;
use crate::trace_store::unstored;

/// Lanes of a warp of what the tracer runs on.
const WARP_WIDTH: u32 = 32;

/// The launches of a program, in files.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What the program is called.
    pub name: String,
    /// How it was run.
    pub case: String,
    /// SHA-256 of all files.
    pub hash: String,
    launches: Vec<(PathBuf, Packing)>,
}

/// Whether a path names recorded launches, by its file's name.
pub fn is_recording(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    is_listing(&name) || Packing::of(&name).is_some()
}

/// What is wrong with options that choose what is executed, where nothing is: each comes with whether it was given. The file was recorded as `what`.
pub fn needless(path: &Path, what: &str, asked: &[(&str, bool)]) -> Vec<Diag> {
    let given = asked.iter().filter(|(_, is_asked)| *is_asked);
    let told = given.map(|(option, _)| {
        let message = format!(
            "`{}` was recorded as {what}: it has nothing that {option} could choose",
            path.display()
        );
        Diag::error("kernel::recorded", message)
    });
    told.collect()
}

/// The files of a list of launches, by names relative to it, if the text is one.
pub fn launches(text: &str) -> Vec<String> {
    listing(text).map_or_else(|_| Vec::new(), |listing| listing.launches)
}

impl Recording {
    /// Looks a recording up: a list of launches, or one launch.
    ///
    /// # Errors
    /// What is wrong with the list, every line of it; files that are not there.
    pub fn open(path: &Path) -> Result<Self, Vec<Diag>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let launches = match Packing::of(&name) {
            Some(packing) => vec![(path.to_path_buf(), packing)],
            None => listed(path)?,
        };
        let mut hash = Sha256::new();
        let unreadable = launches.iter().filter_map(|(path, _)| {
            let error = hash_file(path, &mut hash).err()?;
            let message = format!("cannot read the trace `{}`: {error}", path.display());
            Some(Diag::error("input::unreadable", message))
        });
        let unreadable: Vec<Diag> = unreadable.collect();
        if !unreadable.is_empty() {
            return Err(unreadable);
        }
        let (name, case) = names(path);
        Ok(Self {
            name,
            case,
            hash: hex(&hash.finalize()),
            launches,
        })
    }

    /// Reads all launches.
    ///
    /// # Errors
    /// A file that is no trace, with the place; warps of other than 32 lanes.
    pub fn replay(&self, options: RunOptions) -> Result<CaseRun, Diag> {
        if options.warp_width != WARP_WIDTH {
            let message = format!(
                "`{}` was recorded in warps of {WARP_WIDTH} lanes; the GPU's have {}",
                self.name, options.warp_width
            );
            return Err(Diag::error("trace::warp_width", message));
        }
        let mut executions = Vec::new();
        let store = Store::new(options.trace_memory);
        self.each((options.limit, &store), |mut execution, _| {
            execution.trace = execution.trace.filter(|_| options.record);
            executions.push(execution);
        })?;
        Ok(CaseRun::kept(executions, &Prepared::default()))
    }

    /// The instructions of all launches, a line each, with the numbers that the traces have for them. Everything is read once more.
    ///
    /// # Errors
    /// As [`replay`](Self::replay).
    pub fn listing(&self, limit: u64) -> Result<String, Diag> {
        let mut lines = Vec::new();
        let store = Store::new(DEFAULT_MEMORY);
        self.each((limit, &store), |_, new| lines.extend_from_slice(new))?;
        Ok(lines.join("\n"))
    }

    /// Reads launch after launch, of which each hands over what it left, and the lines of its instructions if no launch before had the same.
    fn each(
        &self,
        (limit, store): (u64, &Store),
        mut each: impl FnMut(Execution, &[String]),
    ) -> Result<(), Diag> {
        let mut known: Vec<(Vec<String>, u32)> = Vec::new();
        let (mut left, mut lines) = (limit, 0);
        for (path, packing) in &self.launches {
            let Recorded {
                mut trace, listing, ..
            } = one(path, *packing, (left, store))?;
            let first = known.iter().find(|(known, _)| *known == listing);
            let (first, new) = match first {
                Some((_, first)) => (*first, &[][..]),
                None => (lines, &listing[..]),
            };
            for inst in Arc::make_mut(&mut trace.code) {
                inst.line += first;
            }
            let execution = execution(path, trace)?;
            left = left.saturating_sub(execution.warp_instructions);
            each(execution, new);
            if !new.is_empty() {
                lines += new.len() as u32;
                known.push((listing, first));
            }
        }
        Ok(())
    }
}

/// Adds a file of any size.
fn hash_file(path: &Path, hash: &mut Sha256) -> std::io::Result<()> {
    let mut file = BufReader::with_capacity(1 << 16, input::open(path)?);
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            // Two files are not one file of both.
            hash.update([0]);
            return Ok(());
        }
        hash.update(bytes);
        let read = bytes.len();
        file.consume(read);
    }
}

fn one(path: &Path, packing: Packing, (left, store): (u64, &Store)) -> Result<Recorded, Diag> {
    let limits = Limits {
        instructions: left,
        store: store.clone(),
    };
    let file = input::open(path).map_err(Fault::from);
    let recorded = file.and_then(|file: File| read(file, packing, limits));
    recorded.map_err(|fault| {
        let message = format!("`{}`: {fault}", path.display());
        let help = fault.help.map(str::to_owned);
        Diag::error("trace::invalid", message).maybe_help(help)
    })
}

/// What an execution that left this trace would have counted.
fn execution(path: &Path, trace: KernelTrace) -> Result<Execution, Diag> {
    let counts = trace.counts().map_err(|unsound| match unsound {
        Unsound::Store(error) => unstored(&error),
        Unsound::Malformed(malformed) => {
            let message = format!("`{}`: {malformed}", path.display());
            Diag::error("trace::invalid", message)
        }
    })?;
    Ok(Execution {
        trace: Some(trace),
        warp_instructions: counts.warp_instructions,
        thread_instructions: counts.thread_instructions,
        predicated_off: counts.predicated_off,
        spread: 0,
        races: Vec::new(),
    })
}

/// The launches of a list.
fn listed(path: &Path) -> Result<Vec<(PathBuf, Packing)>, Vec<Diag>> {
    let wrong = |message: String| Diag::error("trace::list", message);
    let text = input::text(path, input::KERNEL).map_err(|error| {
        let message = format!("cannot read the list `{}`: {error}", path.display());
        vec![Diag::error("input::unreadable", message)]
    })?;
    let listing = listing(&text).map_err(|faults| {
        let faults = faults.into_iter();
        let shown = faults.map(|fault| wrong(format!("`{}`: {fault}", path.display())));
        shown.collect::<Vec<Diag>>()
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut launches = Vec::new();
    let mut unknown = Vec::new();
    for name in listing.launches {
        match Packing::of(&name) {
            Some(packing) => launches.push((folder.join(name), packing)),
            None => unknown.push(
                wrong(format!("`{}` names `{name}`, which is no `.traceg`, `.traceg.xz` or `.tracez`", path.display()))
                    .help("run Accel-Sim's `post-traces-processing` on the traces, and give its `kernelslist.g`"),
            ),
        }
    }
    if unknown.is_empty() {
        Ok(launches)
    } else {
        Err(unknown)
    }
}

/// What a recording is called: the tracer keeps one as `PROGRAM/ARGUMENTS/traces/kernelslist.g`. Elsewhere its file and folder say what there is to say.
fn names(path: &Path) -> (String, String) {
    let part = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned())
    };
    let folder = path.parent();
    if part(folder).as_deref() == Some("traces") {
        let arguments = folder.and_then(Path::parent);
        let program = arguments.and_then(Path::parent);
        if let (Some(program), Some(arguments)) = (part(program), part(arguments)) {
            return (program, arguments);
        }
    }
    let file = part(Some(path)).unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default().to_owned();
    match part(folder) {
        Some(folder) if is_listing(&file) => (folder, stem),
        _ => (stem, "recorded".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_the_tracers_folders() {
        let of = |path: &str| names(Path::new(path));
        let pair = |name: &str, case: &str| (name.to_owned(), case.to_owned());
        assert_eq!(
            of("hw_run/9.1/backprop-rodinia/4096/traces/kernelslist.g"),
            pair("backprop-rodinia", "4096")
        );
        assert_eq!(of("mine/kernelslist.g"), pair("mine", "kernelslist"));
        assert_eq!(of("kernelslist.g"), pair("kernelslist", "recorded"));
        assert_eq!(of("a/kernel-1.traceg.xz"), pair("kernel-1", "recorded"));
    }

    #[test]
    fn recordings_by_their_names() {
        for name in [
            "a/kernelslist.g",
            "kernel-1.traceg",
            "kernel-1.traceg.xz",
            "kernel-2.tracez",
        ] {
            assert!(is_recording(Path::new(name)), "{name}");
        }
        for name in ["my.toml", "kernel-1.trace", "kernelslist"] {
            assert!(!is_recording(Path::new(name)), "{name}");
        }
    }
}

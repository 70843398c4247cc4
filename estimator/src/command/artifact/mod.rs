//! `warpwatt artifact`: a study with all that it takes to run it again.

mod inputs;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use sha2::{Digest, Sha256};

use super::console::{Exit, out, reject, show};
use super::reproduce::read;
use crate::diag::{Diag, Rejection, Sink};
use crate::digest::hex;
use crate::run::resolve_text;
use crate::store::{RECORD, Record};

/// Pack a study for others to run again: its text, every file that it names, what came out, versions, checksums, and a script that runs it and compares bit by bit.
///
/// The files are looked for relative to --from, as they were when the study ran; one that has changed since, or lies outside, is an error.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt artifact results                              what the study names lies in this directory
  warpwatt artifact results --from study/ --out paper-artifact
  sh paper-artifact/reproduce.sh                         exit code 0: every point came out the same, bit for bit

Exit codes: 0 done; 2 there are no such results, or the study's files are not those that it ran on; nothing was written.")]
pub struct ArtifactArguments {
    /// The directory that `warpwatt run` wrote its results to
    #[arg(value_name = "RESULTS_DIR")]
    pub results: PathBuf,
    /// Where the files are that the study names
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub from: PathBuf,
    /// The directory to make
    #[arg(long, value_name = "DIR", default_value = "artifact")]
    pub out: PathBuf,
}

/// What results consist of, beside the tables.
const RESULTS: [&str; 3] = [RECORD, "report.json", "report.html"];
/// Endings of tables.
const TABLES: [&str; 2] = ["csv", "parquet"];
/// Where they are in an artifact.
const FOLDER: &str = "results";

/// Packs.
pub fn run(arguments: &ArtifactArguments) -> Exit {
    let mut sink = Sink::default();
    match packed(arguments, &mut sink) {
        Some(files) => {
            show(&sink);
            let shown = arguments.out.display();
            out(&format!(
                "{shown}: {} files\nThen: sh {shown}/reproduce.sh\n",
                files
            ));
            Exit::Done
        }
        None => reject(&Rejection(sink), false),
    }
}

/// A file of an artifact: its path in it, and what it holds.
type Packed = (PathBuf, Vec<u8>);

fn packed(arguments: &ArtifactArguments, sink: &mut Sink) -> Option<usize> {
    let record = read(&arguments.results)
        .map_err(|diag| sink.push(diag))
        .ok()?;
    unchanged(&record, &arguments.from, sink)?;
    let mut files = inputs::of(&record.manifest.study, &arguments.from, sink);
    files.extend(results(&arguments.results, sink));
    if sink.has_errors() {
        return None;
    }
    files.extend(about(&record));
    files.sort();
    files.dedup();
    let sums = files.iter().map(|(path, bytes)| {
        let sum = hex(&Sha256::digest(bytes));
        format!("{sum}  {}\n", path.display())
    });
    files.push((
        PathBuf::from("SHA256SUMS"),
        sums.collect::<String>().into_bytes(),
    ));
    let made = written(&arguments.out, &files, |folder| {
        let mut again = Sink::default();
        unchanged(&record, folder, &mut again).is_some()
    });
    match made {
        Ok(true) => Some(files.len()),
        Ok(false) => {
            let message = "the study does not run from what was packed: it names a file in a way that was not understood";
            sink.push(Diag::error("artifact::incomplete", message));
            None
        }
        Err(error) => {
            let message = format!("cannot write `{}`: {error}", arguments.out.display());
            let help = "name a directory that is not there yet with `--out`";
            sink.push(Diag::error("output::unwritable", message).help(help));
            None
        }
    }
}

/// That the study, with the files in `from`, is what it was.
fn unchanged(record: &Record, from: &Path, sink: &mut Sink) -> Option<()> {
    let resolved = resolve_text(
        "the study in the manifest",
        &record.manifest.study,
        from,
        sink,
    )?;
    let now = resolved.plan.inputs();
    let mut same = true;
    for (name, content) in &record.manifest.inputs {
        if now.get(name) != Some(content) {
            same = false;
            let message = format!("`{name}` is not what the study ran on");
            let help = "run the study again, or name the directory of its files with `--from`";
            sink.push(Diag::error("artifact::changed", message).help(help));
        }
    }
    same.then_some(())
}

/// What came out, without the store: whoever runs the study again makes it again.
fn results(directory: &Path, sink: &mut Sink) -> Vec<Packed> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let wanted = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        let ending = path.extension().and_then(|ending| ending.to_str());
        name.is_some_and(|name| RESULTS.contains(&name))
            || ending.is_some_and(|ending| TABLES.contains(&ending))
    });
    let read = wanted.filter_map(|path| {
        let name = Path::new(FOLDER).join(path.file_name()?);
        match fs::read(&path) {
            Ok(bytes) => Some((name, bytes)),
            Err(error) => {
                sink.push(inputs::unreadable(&path, &error));
                None
            }
        }
    });
    read.collect()
}

/// The study as a file, and what tells a reader what to do.
fn about(record: &Record) -> [Packed; 3] {
    let file = |name: &str, text: String| (PathBuf::from(name), text.into_bytes());
    let manifest = &record.manifest;
    let (title, version) = (&manifest.title, &manifest.version);
    let points = manifest.points.len();
    [
        file("study.toml", manifest.study.clone()),
        file(
            "README.md",
            format!(
                include_str!("README.md.in"),
                title = title,
                version = version,
                points = points
            ),
        ),
        file(
            "reproduce.sh",
            include_str!("reproduce.sh").replace("@version@", version),
        ),
    ]
}

/// Makes the directory, whole or not at all; `complete` judges it before.
fn written(
    target: &Path,
    files: &[Packed],
    complete: impl FnOnce(&Path) -> bool,
) -> io::Result<bool> {
    if target.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let part = target.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let made = fill(&part, files).and_then(|()| {
        let complete = complete(&part);
        if complete {
            fs::rename(&part, target)?;
        }
        Ok(complete)
    });
    if !matches!(made, Ok(true)) {
        let _ = fs::remove_dir_all(&part);
    }
    made
}

fn fill(folder: &Path, files: &[Packed]) -> io::Result<()> {
    fs::create_dir(folder)?;
    for (path, bytes) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

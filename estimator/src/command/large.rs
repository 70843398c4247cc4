//! The report of a study of very many points: tables as files, written a stretch at a time, and a digest to look at.

use std::fs;
use std::path::Path;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::console::{Exit, err, out, out_json};
use super::files::write_all;
use super::present::{Formats, defect, width};
use super::tables::{Rows, Tables};
use crate::diag::{Diag, Rejection};
use crate::digest::hex;
use crate::gather::{self, Study};
use crate::report::digest::Digest;
use crate::report::json::document;
use crate::report::metric::Objective;
use crate::report::parameters::Parameters;
use crate::report::{Report, answer_sheet};
use crate::store::{
    FILE_NAME, Manifest, RECORD, Record, Store, StoreError, hash_of, hashes, remove_files,
};
use crate::study::Format;

/// The digest's file: beside the tables it is all that a later report needs.
pub const DIGEST: &str = "digest.json";

/// Writes the files and prints the digest. Where they are there already, of these results, only the digest is read.
///
/// # Errors
/// The store cannot be read or a file cannot be written; then no file has changed.
pub fn present(
    manifest: &Manifest,
    store: &Store,
    objectives: &[Objective],
    formats: &Formats,
) -> Result<Exit, Rejection> {
    let objectives = match objectives {
        [] => gather::objectives()?,
        asked => asked.to_vec(),
    };
    let hash = hash(manifest)?;
    let tables = Tables::names(&formats.files, manifest.budget.is_some());
    let directory = &formats.directory;
    let (digest, made) = match known(directory, &hash, &objectives, &tables) {
        Some(digest) => (digest, None),
        None => {
            let study = Study {
                manifest,
                store,
                hash: &hash,
                objectives: &objectives,
            };
            let (digest, record) = gather(&study, formats)?;
            (digest, Some(record))
        }
    };
    let mut files = vec![(DIGEST.to_owned(), pretty(&digest)?)];
    if formats.files.contains(&Format::Html) {
        let page = digest.html().map_err(defect)?;
        files.push(("report.html".to_owned(), page.into_bytes()));
    }
    let mut written = Vec::new();
    if made.is_some() {
        written.push(FILE_NAME.to_owned());
        written.extend(tables);
    }
    let made = made.or_else(|| listing_others(directory, &files));
    written.extend(write(directory, files, made)?);
    if formats.json {
        out_json(&json!({ "digest": digest }));
    } else {
        out(&digest.terminal(width(), &formats.details));
    }
    if !formats.quiet {
        let directory = directory.display();
        err(&format!("\nwrote {} in {directory}\n", written.join(", ")));
    }
    Ok(match digest.inside_budget {
        Some(0) => Exit::NotMet,
        _ => Exit::Done,
    })
}

/// Which results these are.
fn hash(manifest: &Manifest) -> Result<String, Diag> {
    let text = serde_json::to_vec(manifest).map_err(defect)?;
    Ok(hex(&Sha256::digest(&text)))
}

/// The digest that was made of these results before, if everything that was written with it is still there.
fn known(
    directory: &Path,
    hash: &str,
    objectives: &[Objective],
    tables: &[String],
) -> Option<Digest> {
    let mut names = tables.iter().map(String::as_str).chain([RECORD]);
    if !names.all(|name| directory.join(name).is_file()) {
        return None;
    }
    let text = fs::read(directory.join(DIGEST)).ok()?;
    let written = Record::beside(directory)?.files;
    if written.get(DIGEST) != Some(&hex(&Sha256::digest(&text))) {
        return None;
    }
    let digest: Digest = serde_json::from_slice(&text).ok()?;
    (digest.manifest == hash && digest.objectives == objectives).then_some(digest)
}

/// The manifest, if it does not name these files as they are about to be written.
fn listing_others(directory: &Path, files: &[(String, Vec<u8>)]) -> Option<Record> {
    let mut files = files.iter();
    let there = files.all(|(name, contents)| {
        fs::read(directory.join(name)).is_ok_and(|found| found == *contents)
    });
    if there {
        None
    } else {
        Record::beside(directory)
    }
}

/// Writes the files and the manifest that names them, and removes those of other results; returns the names of what was written.
fn write(
    directory: &Path,
    mut files: Vec<(String, Vec<u8>)>,
    made: Option<Record>,
) -> Result<Vec<String>, Rejection> {
    let left = match made {
        Some(mut record) => {
            record.files.extend(hashes(&files));
            let left = record.take_over(Record::beside(directory));
            let record = record.text().map_err(defect)?;
            files.insert(0, (RECORD.to_owned(), record.into_bytes()));
            left
        }
        None => Default::default(),
    };
    write_all(directory, &files)?;
    remove_files(directory, &left).map_err(|error| error.diag())?;
    Ok(files.into_iter().map(|(name, _)| name).collect())
}

/// Goes over all points: writes the tables, and gathers the digest and the manifest that names them.
fn gather(study: &Study<'_>, formats: &Formats) -> Result<(Digest, Record), Rejection> {
    let manifest = study.manifest;
    let budget = manifest.budget.is_some();
    let mut tables = Tables::create(&formats.directory, &formats.files, budget)?;
    let wanted = tables.wanted();
    let rows = |report: &Report| {
        let sheets = wanted.iter().filter_map(|table| report.sheet(*table));
        let rows = sheets.map(|sheet| Rows::of(sheet, &formats.files));
        rows.collect::<Result<Vec<Rows>, Diag>>()
    };
    let gathered = study.gather(rows, |rows| tables.add(&rows))?;
    let answer = answer_sheet(&gathered.answer, &Parameters::named(&manifest.parameters));
    tables.answer(&Rows::of(answer, &formats.files)?);
    tables.commit()?;
    let mut record = Record::with(manifest, gathered.digests);
    let names = Tables::names(&formats.files, budget).into_par_iter();
    let hashes = names.map(|name| {
        let path = formats.directory.join(&name);
        let hash = hash_of(&path).map_err(|error| StoreError::Io { path, error }.diag())?;
        Ok((name, hash))
    });
    let hashes: Result<Vec<(String, String)>, Diag> = hashes.collect();
    record.files.extend(hashes?);
    Ok((gathered.digest, record))
}

fn pretty(digest: &Digest) -> Result<Vec<u8>, Diag> {
    let text = document(digest).map_err(defect)?;
    Ok(text.into_bytes())
}

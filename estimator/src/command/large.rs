//! The report of a study of very many points: tables as files, written a stretch at a time, and a digest to look at.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::console::{Exit, err, out, out_json};
use super::files::write_all;
use super::present::{Formats, width};
use super::tables::{Rows, Tables};
use crate::diag::{Diag, Rejection};
use crate::digest::hex;
use crate::outcome::Outcome;
use crate::report::beside;
use crate::report::digest::{Digest, Gathering};
use crate::report::json::document;
use crate::report::metric::{Metrics, Objective};
use crate::report::parameters::Parameters;
use crate::report::{Report, answer_sheet};
use crate::store::{
    Digests, FILE_NAME, Manifest, PointKey, RECORD, Record, Store, StoreError, hash_of, hashes,
    remove_files,
};
use crate::study::Format;

/// Points that are decoded at once, and those that make a piece for one thread.
const STRETCH: usize = 1024;
const PIECE: usize = 128;

/// The digest's file: beside the tables it is all that a later report needs.
pub const DIGEST: &str = "digest.json";

/// What the best compromises are between, unless the study says.
const OBJECTIVES: [&str; 2] = ["energy_j", "time_s"];

/// Writes the files and prints the digest. Where they are there already, of these results, only the digest is read.
///
/// # Errors
/// The store cannot be read or a file cannot be written; then no file has changed.
pub fn present(
    manifest: &Manifest,
    store: &Store,
    (objectives, formats): (&[Objective], &Formats),
) -> Result<Exit, Rejection> {
    let objectives = match objectives {
        [] => defaults()?,
        asked => asked.to_vec(),
    };
    let hash = hash(manifest)?;
    let tables = Tables::names(&formats.files, manifest.budget.is_some());
    let directory = &formats.directory;
    let (digest, made) = match known(directory, (&hash, &objectives), &tables) {
        Some(digest) => (digest, None),
        None => {
            let (digest, record) = gather(manifest, store, (hash, &objectives), formats)?;
            (digest, Some(record))
        }
    };
    let mut files = vec![(DIGEST.to_owned(), pretty(&digest)?)];
    if formats.files.contains(&Format::Html) {
        let page = digest.html().map_err(|error| defect(&error))?;
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

fn defaults() -> Result<Vec<Objective>, Diag> {
    let known = Metrics::known();
    let read = OBJECTIVES.iter().map(|name| Objective::read(name, &known));
    read.collect()
}

/// Which results these are.
fn hash(manifest: &Manifest) -> Result<String, Diag> {
    let text = serde_json::to_vec(manifest).map_err(|error| defect(&error))?;
    Ok(hex(&Sha256::digest(&text)))
}

/// The digest that was made of these results before, if everything that was written with it is still there.
fn known(
    directory: &Path,
    (hash, objectives): (&str, &[Objective]),
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
            let record = record.text().map_err(|error| defect(&error))?;
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
fn gather(
    manifest: &Manifest,
    store: &Store,
    (hash, objectives): (String, &[Objective]),
    formats: &Formats,
) -> Result<(Digest, Record), Rejection> {
    let budget = manifest.budget.is_some();
    let mut tables = Tables::create(&formats.directory, &formats.files, budget)?;
    let wanted = tables.wanted();
    let parameters = Parameters::named(&manifest.parameters);
    let mut gathering = Gathering::new(&manifest.title, hash, objectives);
    let mut digests = Digests::default();
    let mut waiting: Vec<Outcome> = Vec::new();
    let mut keys = manifest.points.chunks(STRETCH);
    loop {
        let next = keys.next();
        let next_points = outcomes(manifest, store, next.unwrap_or_default())?;
        for (outcome, digest) in next_points {
            digests.add_digest(&digest);
            waiting.push(outcome);
        }
        let pieces = pieces(&mut waiting, next.is_none());
        let reports: Result<Vec<Piece>, Diag> = pieces
            .into_par_iter()
            .map(|points| {
                let report = report(manifest, &points, &parameters)?;
                let sheets = wanted.iter().filter_map(|table| report.sheet(*table));
                let rows = sheets.map(|sheet| Rows::of(sheet, &formats.files));
                let rows = rows.collect::<Result<_, _>>()?;
                Ok(Piece { report, rows })
            })
            .collect();
        for piece in reports? {
            gathering.add(&piece.report);
            tables.add(&piece.rows);
        }
        if next.is_none() {
            break;
        }
    }
    let results = store.check_results(&digests.all());
    results.map_err(|error| error.diag())?;
    let (digest, answer) = gathering.finish();
    let answer = Rows::of(answer_sheet(&answer, &parameters), &formats.files)?;
    tables.answer(&answer);
    tables.commit()?;
    let mut record = Record::with(manifest, digests);
    for name in Tables::names(&formats.files, budget) {
        let path = formats.directory.join(&name);
        let hash = hash_of(&path).map_err(|error| StoreError::Io { path, error }.diag())?;
        record.files.insert(name, hash);
    }
    Ok((digest, record))
}

/// Cuts what waits before plain GPUs, so that what is compared with one stands with it; what may go on stays, unless nothing follows.
fn pieces(waiting: &mut Vec<Outcome>, last: bool) -> Vec<Vec<Outcome>> {
    let mut cuts: Vec<usize> = Vec::new();
    for (place, outcome) in waiting.iter().enumerate() {
        let enough = place >= cuts.last().unwrap_or(&0) + PIECE;
        if enough && outcome.point.is_baseline() {
            cuts.push(place);
        }
    }
    let mut pieces = Vec::new();
    if last {
        cuts.push(waiting.len());
    }
    for place in cuts.into_iter().rev() {
        pieces.push(waiting.split_off(place));
    }
    // What is behind the last cut goes on waiting; the first piece is what is left before the first cut.
    if pieces.is_empty() {
        return pieces;
    }
    let rest = pieces.remove(0);
    pieces.push(std::mem::replace(waiting, rest));
    pieces.reverse();
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The points of a stretch with their digests, decoded by all threads.
fn outcomes(
    manifest: &Manifest,
    store: &Store,
    keys: &[PointKey],
) -> Result<Vec<(Outcome, [u8; 32])>, Diag> {
    let pieces = keys.par_chunks(64).map(|keys| store.outcomes(keys));
    let found: Result<Vec<_>, StoreError> = pieces.collect();
    let found = found.map_err(|error| error.numbered(&manifest.points).diag())?;
    Ok(found.into_iter().flatten().collect())
}

/// Some points with what is compared with them, and their rows.
struct Piece {
    report: Report,
    rows: Vec<Rows>,
}

/// The report of some points of a study.
fn report(
    manifest: &Manifest,
    points: &[Outcome],
    parameters: &Parameters,
) -> Result<Report, Diag> {
    let paper = beside::load(manifest.paper.as_deref());
    let report = Report::of_stretch(&manifest.title, points, paper, parameters.clone());
    report.with_goals(manifest.budget.as_ref(), &[])
}

fn pretty(digest: &Digest) -> Result<Vec<u8>, Diag> {
    let text = document(digest).map_err(|error| defect(&error))?;
    Ok(text.into_bytes())
}

fn defect(error: &dyn std::error::Error) -> Diag {
    Diag::error(
        "report::defect",
        format!("the report cannot be made: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::BASELINE;
    use crate::report::sample;

    /// Points come in stretches that cut groups anywhere; pieces begin with a plain GPU, keep the order and lose nothing.
    #[test]
    fn pieces_are_cut_before_plain_gpus() {
        let one = sample::outcomes().remove(0);
        let point = |number: usize| {
            let mut outcome = one.clone();
            outcome.cycles = number as u64;
            let plain = number.is_multiple_of(5);
            outcome.point.technique = if plain { BASELINE } else { "t" }.to_owned();
            outcome
        };
        for stretch in [1, 7, 128, 300, 1000] {
            let (mut waiting, mut seen) = (Vec::new(), Vec::new());
            let all: Vec<usize> = (0..1000).collect();
            let mut stretches = all.chunks(stretch).peekable();
            while let Some(numbers) = stretches.next() {
                waiting.extend(numbers.iter().map(|number| point(*number)));
                for piece in pieces(&mut waiting, stretches.peek().is_none()) {
                    assert!(piece[0].point.is_baseline());
                    assert!(piece.len() >= PIECE || seen.len() + piece.len() == 1000);
                    seen.extend(piece.iter().map(|outcome| outcome.cycles));
                }
            }
            assert!(waiting.is_empty());
            assert!(seen.into_iter().eq(0..1000), "{stretch}");
        }
    }
}

//! The report of a study of very many points: tables as files, written a stretch at a time, and a digest to look at.

use rayon::prelude::*;
use serde_json::json;

use super::console::{Exit, err, out, out_json};
use super::files::write_one;
use super::present::Formats;
use super::tables::Tables;
use crate::diag::{Diag, Rejection};
use crate::outcome::Outcome;
use crate::report::Report;
use crate::report::digest::Digest;
use crate::store::{Digests, FILE_NAME, Manifest, PointKey, RECORD, Record, Store};
use crate::study::Format;

/// Points that are in memory at once.
const STRETCH: usize = 2048;

/// Writes the files and prints the digest.
///
/// # Errors
/// The store cannot be read or a file cannot be written; then no file has changed.
pub fn present(manifest: &Manifest, store: &Store, formats: &Formats) -> Result<Exit, Rejection> {
    let budget = manifest.budget.is_some();
    let mut tables = Tables::create(&formats.directory, &formats.files, budget)?;
    let mut digest = Digest::new(&manifest.title);
    let mut digests = Digests::default();
    let mut inside = 0;
    let mut waiting: Vec<Outcome> = Vec::new();
    let mut keys = manifest.points.chunks(STRETCH);
    loop {
        let next = keys.next();
        waiting.extend(outcomes(store, next.unwrap_or_default())?);
        // A stretch ends before a plain GPU, so that what is compared with one stands with it.
        let whole = match next {
            Some(_) => waiting
                .iter()
                .rposition(|o| o.point.is_baseline())
                .unwrap_or(0),
            None => waiting.len(),
        };
        let rest = waiting.split_off(whole);
        let stretch = std::mem::replace(&mut waiting, rest);
        if !stretch.is_empty() {
            let report =
                Report::new(&manifest.title, &stretch).with_goals(manifest.budget.as_ref(), &[])?;
            inside += report
                .budget
                .as_ref()
                .map_or(0, |budget| budget.count(&report).inside);
            stretch.iter().for_each(|outcome| digests.add(outcome));
            digest.add(&report);
            tables.add(&report);
        }
        if next.is_none() {
            break;
        }
    }
    let digest = digest.finish();
    let mut written = vec![FILE_NAME.to_owned()];
    written.extend(tables.commit()?);
    let defect = |error: serde_json::Error| Diag::error("report::defect", error.to_string());
    let record = Record::with(manifest, digests).text().map_err(defect)?;
    write_one(&formats.directory.join(RECORD), record.as_bytes())?;
    written.push(RECORD.to_owned());
    if formats.files.contains(&Format::Json) {
        let text = serde_json::to_vec_pretty(&digest);
        let text = text.map_err(defect)?;
        write_one(&formats.directory.join("digest.json"), &text)?;
        written.push("digest.json".to_owned());
    }
    if formats.json {
        out_json(
            &json!({ "digest": digest, "inside_budget": manifest.budget.as_ref().map(|_| inside) }),
        );
    } else {
        out(&digest.table());
        if manifest.budget.is_some() {
            out(&format!(
                "\nbudget: {inside} points with a technique are inside\n"
            ));
        }
    }
    if !formats.quiet {
        err(&format!(
            "\nwrote {} in {}\n",
            written.join(", "),
            formats.directory.display()
        ));
    }
    Ok(match manifest.budget {
        Some(_) if inside == 0 => Exit::NotMet,
        _ => Exit::Done,
    })
}

/// The points of a stretch, decoded by all threads.
fn outcomes(store: &Store, keys: &[PointKey]) -> Result<Vec<Outcome>, Diag> {
    let found: Result<Vec<Option<Outcome>>, Diag> = keys
        .par_chunks(64)
        .flat_map_iter(|keys| {
            keys.iter()
                .map(|key| store.get(key).map_err(|error| error.diag()))
        })
        .collect();
    Ok(found?.into_iter().flatten().collect())
}

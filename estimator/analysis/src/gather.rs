//! Going over the points of a study, a stretch at a time: none of them stays.

use rayon::prelude::*;

use crate::diag::Diag;
use crate::outcome::Outcome;
use crate::report::digest::{Digest, Gathering};
use crate::report::metric::{Metrics, Objective};
use crate::report::parameters::Parameters;
use crate::report::{Answer, Report, beside};
use crate::store::{Digests, Manifest, PointKey, Store, StoreError};

/// Points that are decoded at once, and those that make a piece for one thread.
const STRETCH: usize = 1024;
const PIECE: usize = 128;

/// What the best compromises are between, unless the study says.
const OBJECTIVES: [&str; 2] = ["energy_j", "time_s"];

/// The study of very many points whose digest is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Study<'s> {
    /// What its results were made from.
    pub manifest: &'s Manifest,
    /// The points.
    pub store: &'s Store,
    /// SHA-256 of the manifest.
    pub hash: &'s str,
    /// What the fronts are between.
    pub objectives: &'s [Objective],
}

/// What all points come to.
#[derive(Debug)]
pub struct AllPoints {
    /// What is shown of them.
    pub digest: Digest,
    /// All rows of the answer.
    pub answer: Vec<Answer>,
    /// The digests of the points.
    pub digests: Digests,
}

/// What the fronts are between where the study names nothing.
///
/// # Errors
/// A metric of that name is not there.
pub fn objectives() -> Result<Vec<Objective>, Diag> {
    let known = Metrics::known();
    let read = OBJECTIVES.iter().map(|name| Objective::read(name, &known));
    read.collect()
}

impl Study<'_> {
    /// Goes over all points: threads make what `rows` wants of a piece of them, and `take` is given that in the order of the points.
    ///
    /// # Errors
    /// The store cannot be read or is not what was written; as `rows`.
    pub fn gather<R: Send>(
        &self,
        rows: impl Fn(&Report) -> Result<R, Diag> + Sync,
        mut take: impl FnMut(R) + Send,
    ) -> Result<AllPoints, Diag> {
        let parameters = Parameters::named(&self.manifest.parameters);
        let hash = self.hash.to_owned();
        let mut gathering = Gathering::new(&self.manifest.title, hash, self.objectives);
        let mut digests = Digests::default();
        let mut waiting: Vec<Outcome> = Vec::new();
        let mut keys = self.manifest.points.chunks(STRETCH);
        let mut reported: Vec<(Report, R)> = Vec::new();
        loop {
            let next = keys.next();
            let report = || {
                for (outcome, digest) in self.outcomes(next.unwrap_or_default())? {
                    digests.add(&digest);
                    waiting.push(outcome);
                }
                let pieces = pieces(&mut waiting, next.is_none()).into_par_iter();
                let reports = pieces.map(|points| {
                    let report = self.report(points, &parameters)?;
                    let rows = rows(&report)?;
                    Ok((report, rows))
                });
                reports.collect::<Result<Vec<(Report, R)>, Diag>>()
            };
            // One thread adds what came before while the others go on.
            let before = std::mem::take(&mut reported);
            let add = || {
                for (report, rows) in before {
                    gathering.add(&report);
                    take(rows);
                }
            };
            let (reports, ()) = rayon::join(report, add);
            reported = reports?;
            if next.is_none() {
                break;
            }
        }
        for (report, rows) in reported {
            gathering.add(&report);
            take(rows);
        }
        let results = self.store.check_results(&digests.all());
        results.map_err(|error| error.diag())?;
        let (digest, answer) = gathering.finish();
        Ok(AllPoints {
            digest,
            answer,
            digests,
        })
    }

    /// The points of a stretch with their digests, decoded by all threads.
    fn outcomes(&self, keys: &[PointKey]) -> Result<Vec<(Outcome, [u8; 32])>, Diag> {
        let pieces = keys.par_chunks(64).map(|keys| self.store.outcomes(keys));
        let found: Result<Vec<_>, StoreError> = pieces.collect();
        let found = found.map_err(|error| error.numbered(&self.manifest.points).diag())?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The report of some points, with what is compared with them.
    fn report(&self, points: Vec<Outcome>, parameters: &Parameters) -> Result<Report, Diag> {
        let manifest = self.manifest;
        let paper = beside::load(manifest.paper.as_deref());
        let report = Report::of_stretch(&manifest.title, points, paper, parameters.clone());
        report.with_goals(manifest.budget.as_ref(), &[])
    }
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
            outcome.point.technique = if plain { BASELINE } else { "t" }.into();
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

//! Going over the points of a study, a stretch at a time: none of them stays.

use rayon::prelude::*;

use crate::diag::Diag;
use crate::outcome::Outcome;
use crate::report::digest::{Digest, Gathering};
use crate::report::metric::{Metrics, Objective};
use crate::report::parameters::Parameters;
use crate::report::{Answer, Report, beside};
use crate::store::{Digests, Kept, Manifest, PointKey, Store, StoreError};

/// Points that are decoded at once, and those that make a piece for one thread.
const STRETCH: usize = 4096;
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
        let mut waiting: Vec<Kept> = Vec::new();
        let mut keys = self.manifest.points.chunks(STRETCH);
        let empty = gathering.of_stretch();
        let mut gathered: Vec<(Gathering, R)> = Vec::new();
        loop {
            let next = keys.next();
            // One thread adds what came before while the others go on.
            let before = std::mem::take(&mut gathered);
            let add = || {
                for (piece, rows) in before {
                    gathering.merge(piece);
                    take(rows);
                }
            };
            let go_on = || {
                for kept in self.kept(next.unwrap_or_default())? {
                    digests.add(kept.digest());
                    waiting.push(kept);
                }
                let pieces = pieces(&mut waiting, next.is_none()).into_par_iter();
                let pieces = pieces.map(|points| {
                    let report = self.report(&points, &parameters)?;
                    let mut piece = empty.clone();
                    piece.add(&report);
                    Ok((piece, rows(&report)?))
                });
                pieces.collect::<Result<Vec<(Gathering, R)>, Diag>>()
            };
            let (pieces, ()) = rayon::join(go_on, add);
            gathered = pieces?;
            if next.is_none() {
                break;
            }
        }
        for (piece, rows) in gathered {
            gathering.merge(piece);
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

    /// The points of a stretch, read by all threads.
    fn kept(&self, keys: &[PointKey]) -> Result<Vec<Kept>, Diag> {
        // Points that are stored beside each other are many operating points apart.
        let part = keys.len().div_ceil(rayon::current_num_threads()).max(1);
        let pieces = keys.par_chunks(part).map(|keys| self.store.all_kept(keys));
        let found: Result<Vec<_>, StoreError> = pieces.collect();
        let found = found.map_err(|error| self.told(error))?;
        Ok(found.into_iter().flatten().collect())
    }

    fn told(&self, error: StoreError) -> Diag {
        error.numbered(&self.manifest.points).diag()
    }

    /// The report of some points, with what is compared with them.
    fn report(&self, points: &[Kept], parameters: &Parameters) -> Result<Report, Diag> {
        let manifest = self.manifest;
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(points.len());
        for kept in points {
            let outcome = self.store.outcome(kept);
            outcomes.push(outcome.map_err(|error| self.told(error))?);
        }
        let paper = beside::load(manifest.paper.as_deref());
        let report = Report::of_stretch(&manifest.title, outcomes, paper, parameters.clone());
        report.with_goals(manifest.budget.as_ref(), &[])
    }
}

/// Points as far as it matters where they may be cut.
trait Cut {
    /// Whether it is of a plain GPU.
    fn is_plain(&self) -> bool;
}

impl Cut for Kept {
    fn is_plain(&self) -> bool {
        self.is_baseline()
    }
}

/// Cuts what waits before plain GPUs, so that what is compared with one stands with it; what may go on stays, unless nothing follows.
fn pieces<P: Cut>(waiting: &mut Vec<P>, last: bool) -> Vec<Vec<P>> {
    let mut cuts: Vec<usize> = Vec::new();
    for (place, point) in waiting.iter().enumerate() {
        let enough = place >= cuts.last().unwrap_or(&0) + PIECE;
        if enough && point.is_plain() {
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

    impl Cut for usize {
        fn is_plain(&self) -> bool {
            self.is_multiple_of(5)
        }
    }

    /// Points come in stretches that cut groups anywhere; pieces begin with a plain GPU, keep the order and lose nothing.
    #[test]
    fn pieces_are_cut_before_plain_gpus() {
        for stretch in [1, 7, 128, 300, 1000] {
            let (mut waiting, mut seen) = (Vec::<usize>::new(), Vec::new());
            let all: Vec<usize> = (0..1000).collect();
            let mut stretches = all.chunks(stretch).peekable();
            while let Some(numbers) = stretches.next() {
                waiting.extend(numbers);
                for piece in pieces(&mut waiting, stretches.peek().is_none()) {
                    assert!(piece[0].is_plain());
                    assert!(piece.len() >= PIECE || seen.len() + piece.len() == 1000);
                    seen.extend(piece);
                }
            }
            assert!(waiting.is_empty());
            assert!(seen.into_iter().eq(0..1000), "{stretch}");
        }
    }
}

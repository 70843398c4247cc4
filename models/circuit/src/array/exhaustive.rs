//! The search as CACTI does it: every organisation is evaluated, for any objective (Ucache.cc, calc_time_mt_wrapper).

use super::bound::spreads;
use super::choice::{Candidate, Figures, Goal};
use super::shape::{MOST_MUX, MOST_SPLITS, MOST_SPREAD};
use super::shared::Shared;
use super::{Array, Limits, Need, Shape, Split};
use crate::process::Process;

/// The best organisation for a goal; `whole` gives the figures of an array together with what is around it.
pub(super) fn best(
    process: &Process,
    need: &Need,
    limits: Limits,
    goal: &Goal,
    whole: impl Fn(&Array) -> Figures,
) -> Option<Array> {
    let offers: Vec<Process> = process
        .repeaters
        .offers
        .iter()
        .map(|(kind, _)| process.with_wires(*kind))
        .collect();
    let mut shared: Vec<Shared> = offers.iter().map(|_| Shared::default()).collect();
    let mut found = Vec::new();
    let mut candidates = Vec::new();
    for split in splits(process, need, limits) {
        let shape = Shape::new(process, need, split, limits)?;
        for (wires, shared) in offers.iter().zip(&mut shared) {
            let array = Array::new(wires, need, shape, shared);
            found.push((split, wires));
            candidates.push(Candidate {
                alone: Figures::of(&array),
                whole: whole(&array),
            });
        }
    }
    let (split, wires) = found[goal.choose(&candidates)?];
    let shape = Shape::new(process, need, split, limits)?;
    Some(Array::new(wires, need, shape, &mut Shared::default()))
}

/// Every organisation that works, in the order of CACTI's list: by Nspd, Ndwl, Ndbl, then by the multiplexers.
fn splits(process: &Process, need: &Need, limits: Limits) -> Vec<Split> {
    let powers = || (0..=MOST_SPLITS.ilog2()).map(|i| 1_u32 << i);
    let mut found = Vec::new();
    let mut nspd = need.least_spread();
    while nspd <= MOST_SPREAD {
        for ndwl in powers() {
            for ndbl in powers() {
                let split = Split {
                    ndwl,
                    ndbl,
                    nspd,
                    ndcm: 1,
                    ndsam1: 1,
                    ndsam2: 1,
                };
                let from = found.len();
                found.extend(muxes(process, need, limits, split));
                found[from..].sort_by_key(|split: &Split| (split.ndcm, split.ndsam1, split.ndsam2));
            }
        }
        nspd *= 2.0;
    }
    found
}

/// Every way to multiplex the columns of an organisation.
fn muxes<'a>(
    process: &'a Process,
    need: &'a Need,
    limits: Limits,
    split: Split,
) -> impl Iterator<Item = Split> + 'a {
    let least = Shape::least_mux(need, &split);
    (least..=3 * MOST_MUX)
        .flat_map(move |mux| {
            spreads(need, mux).map(move |(ndcm, ndsam1, ndsam2)| Split {
                ndcm,
                ndsam1,
                ndsam2,
                ..split
            })
        })
        .filter(move |&split| Shape::new(process, need, split, limits).is_some())
}

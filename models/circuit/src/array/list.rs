//! Every organisation, in the order of CACTI's list (Ucache.cc, calc_time_mt_wrapper).

use super::bound::spreads;
use super::shape::{MOST_MUX, MOST_SPLITS, MOST_SPREAD};
use super::{Limits, Need, Shape, Split};
use crate::process::Process;

/// Every organisation that works, in the order of CACTI's list: by Nspd, Ndwl, Ndbl, then by the multiplexers.
pub(super) fn splits(process: &Process, need: &Need, limits: Limits) -> Vec<Split> {
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

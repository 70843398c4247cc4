//! Every organisation in the order of CACTI's list: by Nspd, Ndwl, Ndbl, then by the multiplexers (Ucache.cc, calc_time_mt_wrapper).

use super::bound::spreads;
use super::shape::{MOST_MUX, MOST_SPLITS, MOST_SPREAD};
use super::{Limits, Need, Shape, Split};
use crate::process::Process;

/// Every way to split the rows and the columns that leaves subarrays of a size that works, without multiplexers.
pub(super) fn splits<'a>(
    process: &'a Process,
    need: &'a Need,
    limits: Limits,
) -> impl Iterator<Item = Split> + use<'a> {
    let powers = || (0..=MOST_SPLITS.ilog2()).map(|i| 1_u32 << i);
    let doubled = |nspd: &f64| Some(nspd * 2.0);
    std::iter::successors(Some(need.least_spread()), doubled)
        .take_while(|&nspd| nspd <= MOST_SPREAD)
        .flat_map(move |nspd| powers().map(move |ndwl| (nspd, ndwl)))
        .flat_map(move |(nspd, ndwl)| {
            powers().map(move |ndbl| Split {
                ndwl,
                ndbl,
                nspd,
                ndcm: 1,
                ndsam1: 1,
                ndsam2: 1,
            })
        })
        .filter(move |split| Shape::lines(process, need, split, limits).is_some())
}

/// Every way to multiplex the columns of a split.
pub(super) fn muxes(process: &Process, need: &Need, limits: Limits, split: Split) -> Vec<Split> {
    let least = Shape::least_mux(need, &split);
    let mut found: Vec<Split> = Vec::new();
    for mux in least..=3 * MOST_MUX {
        let known = found.len();
        let spread = spreads(need, mux).map(|(ndcm, ndsam1, ndsam2)| Split {
            ndcm,
            ndsam1,
            ndsam2,
            ..split
        });
        found.extend(spread.filter(|&split| Shape::new(process, need, split, limits).is_some()));
        // Beyond the first degree that works, none that is larger does where one does not.
        if found.len() == known && (known > 0 || mux > least + 2) {
            break;
        }
    }
    found.sort_by(Split::order);
    found
}

//! Sums of a matrix's rows out of exclusive-ors that rows share.
//!
//! Two nets that stand together in several rows are added once for all of these, those first that the most rows share (Paar, "Optimized Arithmetic for Reed-Solomon
//! Encoders", IEEE ISIT 1997). What is left of each row is joined shallowest first, so that no row is deeper than it must be after that.

use super::netlist::{Net, Netlist};

/// A net that rows still have to add.
#[derive(Clone, Copy, Debug)]
struct Term {
    net: Net,
    /// The rows that have it.
    rows: u32,
    /// Exclusive-ors on the way to it.
    depth: u32,
}

/// The parity of each of so many rows over the nets, each of which comes with the rows that it takes part in. A row without nets has none.
pub(super) fn row_parities(
    n: &mut Netlist,
    nets: impl IntoIterator<Item = (Net, u32)>,
    rows: u32,
) -> Vec<Option<Net>> {
    let nets = nets.into_iter();
    let mut terms: Vec<Term> = nets
        .map(|(net, rows)| Term {
            net,
            rows,
            depth: 0,
        })
        .collect();
    for shared in (2..=rows).rev() {
        share(n, &mut terms, shared);
    }
    (0..rows).map(|row| join(n, &terms, row)).collect()
}

/// Adds pairs that stand together in `shared` rows once. A sum stands in no more rows than that, so that no pair is found later that more rows share.
fn share(n: &mut Netlist, terms: &mut Vec<Term>, shared: u32) {
    let mut first = 0;
    while first < terms.len() {
        for second in 0..first {
            let (a, b) = (terms[first], terms[second]);
            let rows = a.rows & b.rows;
            if rows.count_ones() == shared {
                terms[first].rows &= !rows;
                terms[second].rows &= !rows;
                terms.push(Term {
                    net: n.xor(b.net, a.net),
                    rows,
                    depth: a.depth.max(b.depth) + 1,
                });
            }
        }
        first += 1;
    }
}

/// What is left of a row, the two shallowest added first.
fn join(n: &mut Netlist, terms: &[Term], row: u32) -> Option<Net> {
    let of_row = terms.iter().filter(|term| term.rows >> row & 1 == 1);
    let mut left: Vec<(u32, Net)> = of_row.map(|term| (term.depth, term.net)).collect();
    left.sort_by_key(|(depth, _)| *depth);
    while left.len() > 1 {
        let (_, a) = left.remove(0);
        let (depth, b) = left.remove(0);
        let at = left.partition_point(|(other, _)| *other <= depth + 1);
        left.insert(at, (depth + 1, n.xor(a, b)));
    }
    left.first().map(|(_, net)| *net)
}

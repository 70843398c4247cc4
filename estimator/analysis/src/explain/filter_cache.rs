//! The figures that the filter-cache paper adds to a comparison, by name.

use super::side::Side;
use super::tree::{Formula, Node};
use super::versus::{Pair, Versus, half_width, ratio};
use crate::outcome::PricedStructure;

/// The derivation of one of them; `None` if it is none, or the study does not ask for the paper.
pub(super) fn metric(versus: &Versus<'_>, name: &str) -> Option<Node> {
    let beside = versus.comparison.beside.as_ref()?;
    let changed = |name: &str| {
        name.strip_suffix("_change")
            .and_then(|what| sums(versus, what))
    };
    let side = |suffix: &str, which: usize| {
        let pair = sums(versus, name.strip_suffix(suffix)?)?;
        pair.into_iter().nth(which)
    };
    match name {
        "filter_cache_hit_rate" => {
            let [hits, probes] =
                ["data", "tag"].map(|part| versus.with.count(&format!("filter_cache.{part}.read")));
            Some(Node::quotient(name, "1", hits, probes))
        }
        "paper_hit_rate" | "paper_icache_ratio" | "paper_front_end_saving" => Some(Node::given(
            name,
            beside.get(name)?.value,
            "1",
            "the filter-cache paper (Lashgar et al., ARCS 2013), Table 4",
        )),
        "icache_saving" => Some(ratio(Formula::Saving, sums(versus, "icache")?)),
        _ => match name.strip_suffix("_halfwidth") {
            Some(change) => Some(half_width(name, beside.get(change)?)),
            None => changed(name)
                .map(|pair| ratio(Formula::Change, pair))
                .or_else(|| side("_without_j", 0))
                .or_else(|| side("_with_j", 1)),
        },
    }
}

/// The two sums that a change is about.
fn sums(versus: &Versus<'_>, what: &str) -> Option<Pair> {
    Some(match what {
        "icache" => {
            let baseline = versus.without.outcome;
            let supplies = |s: &PricedStructure| {
                Side::is_front_end(s)
                    && (s.name.starts_with("icache.") || baseline.structure(&s.name).is_none())
            };
            versus.both(|side| side.dynamic("energy", supplies))
        }
        "implied_icache" => implied(versus)?,
        "implied_front_end" => {
            let [without, with] = implied(versus)?;
            let [others_without, others_with] =
                versus.both(|side| side.dynamic("others", is_other));
            let sum = |name: &str, part: Node, others: Node| {
                Node::sum(name, "J", vec![part, others.called("others")])
            };
            [
                sum("baseline", without, others_without),
                sum("with the technique", with, others_with),
            ]
        }
        _ => return None,
    })
}

/// I-cache energies under the sum that the filter-cache paper's Table 4 implies.
fn implied(versus: &Versus<'_>) -> Option<Pair> {
    let side = |side: &Side<'_>, name: &str, count: Node| {
        let structure = side.outcome.structure(name)?;
        Some(side.events(structure, "read", count))
    };
    let reads = |of: &Side<'_>, name: &str| side(of, name, of.count(&format!("{name}.read")));
    let without = vec![
        reads(versus.without, "icache.tag")?,
        reads(versus.without, "icache.data")?,
    ];
    let probes = || versus.with.count("filter_cache.tag.read");
    let hits = || versus.with.count("filter_cache.data.read");
    let misses = || Node::of("misses", "1", Formula::Difference, vec![probes(), hits()]);
    let two = || {
        Node::given(
            "two",
            2.0,
            "1",
            "the filter-cache paper's Table 4, as docs/theory-pricing.md reads it",
        )
    };
    let twice = |of: Node| Node::product("twice", "1", vec![two(), of]);
    let tags = Node::sum("hits and misses twice", "1", vec![hits(), twice(misses())]);
    let with = vec![
        side(versus.with, "filter_cache.tag", tags)?,
        side(versus.with, "filter_cache.data", twice(hits()))?,
        side(versus.with, "icache.tag", misses())?,
        side(versus.with, "icache.data", misses())?,
    ];
    Some([
        Node::sum("baseline", "J", without),
        Node::sum("with the technique", "J", with),
    ])
}

/// The front end without the I-cache and the filter cache.
fn is_other(structure: &PricedStructure) -> bool {
    Side::is_front_end(structure)
        && !structure.name.starts_with("icache.")
        && !structure.name.starts_with("filter_cache.")
}

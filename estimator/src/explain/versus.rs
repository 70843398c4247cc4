//! Metrics of a comparison with the baseline, by name: both sides, and what is made of them.

use super::side::Side;
use super::tree::{Formula, Node};
use crate::outcome::PricedStructure;
use crate::report::Comparison;
use crate::report::estimate::Estimate;

/// A point with a technique beside its baseline.
pub struct Versus<'s> {
    /// The baseline.
    pub without: &'s Side<'s>,
    /// With the technique.
    pub with: &'s Side<'s>,
    /// What the report makes of them.
    pub comparison: &'s Comparison,
}

type Pair = [Node; 2];

impl Versus<'_> {
    /// The derivation of a metric; `None` if there is none of the name.
    pub fn metric(&self, name: &str) -> Option<Node> {
        let made = self
            .counted(name)
            .or_else(|| self.changed(name))
            .or_else(|| self.saved(name))
            .or_else(|| self.half_width(name))?;
        Some(made.called(name))
    }

    /// Baseline and technique.
    fn both(&self, of: impl Fn(&Side<'_>) -> Node) -> Pair {
        [
            of(self.without).called("baseline"),
            of(self.with).called("with the technique"),
        ]
    }

    fn counted(&self, name: &str) -> Option<Node> {
        let [without, with] = self.both(|side| side.cycles());
        Some(match name {
            "baseline_cycles" => without,
            "slowdown" => ratio(Formula::Change, [without, with]),
            "speedup" => Node::quotient(name, "1", without, with),
            "filter_cache_hit_rate" => {
                let data = self.with.count("filter_cache.data.read");
                Node::quotient(name, "1", data, self.with.count("filter_cache.tag.read"))
            }
            _ => {
                let paper = self.comparison.paper.as_ref()?;
                let value = match name {
                    "paper_hit_rate" => paper.hit_rate,
                    "paper_icache_ratio" => paper.icache_ratio,
                    "paper_front_end_saving" => paper.front_end_saving,
                    _ => return None,
                };
                Node::given(
                    name,
                    value,
                    "1",
                    "the filter-cache paper (Lashgar et al., ARCS 2013), Table 4",
                )
            }
        })
    }

    /// The two sums that a change is about.
    fn sums(&self, what: &str) -> Option<Pair> {
        let energy =
            |which: fn(&PricedStructure) -> bool| self.both(|side| side.dynamic("energy", which));
        let area = |which: fn(&PricedStructure) -> bool| self.both(|side| side.area("area", which));
        let leakage = |which: fn(&PricedStructure) -> bool| {
            self.both(|side| side.leakage_power("leakage", which))
        };
        Some(match what {
            "total" => self.both(|side| side.energy()),
            "front_end" => energy(Side::is_front_end),
            "icache" => {
                let baseline = self.without.outcome;
                let supplies = |s: &PricedStructure| {
                    Side::is_front_end(s)
                        && (s.name.starts_with("icache.") || baseline.structure(&s.name).is_none())
                };
                self.both(|side| side.dynamic("energy", supplies))
            }
            "implied_icache" => self.implied()?,
            "implied_front_end" => {
                let [without, with] = self.implied()?;
                let [others_without, others_with] =
                    self.both(|side| side.dynamic("others", is_other));
                [
                    Node::sum(
                        "baseline",
                        "J",
                        vec![without, others_without.called("others")],
                    ),
                    Node::sum(
                        "with the technique",
                        "J",
                        vec![with, others_with.called("others")],
                    ),
                ]
            }
            "front_end_area" => area(Side::is_front_end),
            "area" | "sm_area" => area(|_| true),
            "front_end_leakage" => leakage(Side::is_front_end),
            "leakage" | "sm_leakage" => leakage(|_| true),
            _ => return None,
        })
    }

    fn changed(&self, name: &str) -> Option<Node> {
        let place = |which: usize| move |pair: Pair| pair.into_iter().nth(which);
        if let Some(what) = name.strip_suffix("_without_j") {
            return self.sums(what).and_then(place(0));
        }
        if let Some(what) = name.strip_suffix("_with_j") {
            return self.sums(what).and_then(place(1));
        }
        let overhead = name.strip_suffix("_overhead");
        let what = name.strip_suffix("_change").or(overhead);
        if let Some(pair) = what.and_then(|what| self.sums(what)) {
            return Some(ratio(Formula::Change, pair));
        }
        let what = name.strip_suffix("_saving")?;
        let what = if what == "energy" { "total" } else { what };
        Some(ratio(Formula::Saving, self.sums(what)?))
    }

    /// Gross saving, overhead and net saving of the front end.
    fn saved(&self, name: &str) -> Option<Node> {
        let parts = &self.comparison.front_end_parts;
        let structure = |side: &Side<'_>, name: &str| match side.outcome.structure(name) {
            Some(priced) => side.structure_dynamic(priced),
            None => Node::given(name, 0.0, "J", "the configuration does not have it"),
        };
        let moved = |name: &str, rises: bool| {
            let chosen = parts
                .iter()
                .filter(|part| (part.with_j > part.without_j) == rises);
            let each = chosen.map(|part| {
                let [without, with] =
                    [self.without, self.with].map(|side| structure(side, &part.structure));
                let [first, second] = if rises {
                    [with, without]
                } else {
                    [without, with]
                };
                Node::of(
                    &part.structure,
                    "J",
                    Formula::Difference,
                    vec![first, second],
                )
            });
            Node::sum(name, "J", each.collect())
        };
        let gross = || moved("gross saving", false);
        let overhead = || moved("overhead", true);
        Some(match name {
            "front_end_gross_saving_j" => gross(),
            "front_end_overhead_j" => overhead(),
            "front_end_net_saving_j" => {
                Node::of(name, "J", Formula::Difference, vec![gross(), overhead()])
            }
            _ => return None,
        })
    }

    /// I-cache energies under the sum that the filter-cache paper's Table 4 implies.
    fn implied(&self) -> Option<Pair> {
        let side = |side: &Side<'_>, name: &str, count: Node| {
            let structure = side.outcome.structure(name)?;
            Some(side.events(structure, "read", count))
        };
        let reads = |of: &Side<'_>, name: &str| side(of, name, of.count(&format!("{name}.read")));
        let without = vec![
            reads(self.without, "icache.tag")?,
            reads(self.without, "icache.data")?,
        ];
        let probes = || self.with.count("filter_cache.tag.read");
        let hits = || self.with.count("filter_cache.data.read");
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
            side(self.with, "filter_cache.tag", tags)?,
            side(self.with, "filter_cache.data", twice(hits()))?,
            side(self.with, "icache.tag", misses())?,
            side(self.with, "icache.data", misses())?,
        ];
        Some([
            Node::sum("baseline", "J", without),
            Node::sum("with the technique", "J", with),
        ])
    }

    /// Half an interval, as the report propagates structures' errors.
    fn half_width(&self, name: &str) -> Option<Node> {
        let change = match name {
            "icache_change_halfwidth" => self.comparison.icache.relative,
            "front_end_change_halfwidth" => self.comparison.front_end.relative,
            "total_change_halfwidth" => self.comparison.total.relative,
            _ => return None,
        }?;
        let half = Estimate {
            sigma: 1.0,
            ..change
        }
        .half_width();
        let factor = Node::given(
            "half a 95 % interval of a normal error",
            half,
            "1",
            "Student 1908; JCGM 100:2008, annex G",
        );
        let sigma = Node::given(
            "standard deviation of the change",
            change.sigma,
            "1",
            "structures' errors to first order, JCGM 100:2008, eq. 10: docs/theory-pricing.md",
        );
        Some(Node::product(name, "1", vec![factor, sigma]))
    }
}

/// With over without, by a formula.
fn ratio(formula: Formula, [without, with]: Pair) -> Node {
    Node::of("ratio", "1", formula, vec![with, without])
}

/// The front end without the I-cache and the filter cache.
fn is_other(structure: &PricedStructure) -> bool {
    Side::is_front_end(structure)
        && !structure.name.starts_with("icache.")
        && !structure.name.starts_with("filter_cache.")
}

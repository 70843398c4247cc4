//! Metrics of a comparison with the baseline, by name: both sides, and what is made of them.

use super::filter_cache;
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

/// Without and with.
pub(super) type Pair = [Node; 2];

impl Versus<'_> {
    /// The derivation of a metric; `None` if there is none of the name.
    pub fn metric(&self, name: &str) -> Option<Node> {
        let made = self
            .counted(name)
            .or_else(|| self.changed(name))
            .or_else(|| self.saved(name))
            .or_else(|| self.half_width(name))
            .or_else(|| filter_cache::metric(self, name))?;
        Some(made.called(name))
    }

    /// Baseline and technique.
    pub(super) fn both(&self, of: impl Fn(&Side<'_>) -> Node) -> Pair {
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
            _ => return None,
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

    /// Half an interval, as the report propagates structures' errors.
    fn half_width(&self, name: &str) -> Option<Node> {
        let change = match name {
            "front_end_change_halfwidth" => self.comparison.front_end.relative,
            "total_change_halfwidth" => self.comparison.total.relative,
            _ => return None,
        }?;
        Some(half_width(name, change))
    }
}

/// With over without, by a formula.
pub(super) fn ratio(formula: Formula, [without, with]: Pair) -> Node {
    Node::of("ratio", "1", formula, vec![with, without])
}

/// Half the interval of a change.
pub(super) fn half_width(name: &str, change: Estimate) -> Node {
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
    Node::product(name, "1", vec![factor, sigma])
}

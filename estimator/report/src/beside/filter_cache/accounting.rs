//! The sum that Table 4 of the filter-cache paper implies.
//!
//! The rows of that table lie on a straight line in the hit rate. With the prices of the paper's Table 1 the line says:
//!
//! - A hit costs the filter cache's tag once and its data *twice*.
//! - A miss costs an I-cache access and the filter cache's tag *twice*.
//! - I-cache fills are free.
//!
//! Structural counting, as everywhere else here, charges a hit one tag and one data read. It charges a miss the I-cache access, one tag read, one tag
//! write and one data write, and every fill of an I-cache line its writes. Both are reported, from the same counts and prices.

use serde::Serialize;

use crate::estimate::Term;
use crate::outcome::{FRONT_END, Outcome, PricedStructure};
use crate::{Change, terms};

/// Energies under the paper's sum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Implied {
    /// I-cache accesses without; the paper's sum for I-cache and filter cache with.
    pub icache: Change,
    /// The front end with the I-cache part exchanged for that.
    pub front_end: Change,
}

/// How often the filter cache was asked and how often it had the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookups {
    /// Reads of its tags.
    pub probes: u64,
    /// Reads of its data, which only follow a hit.
    pub hits: u64,
}

/// The structures that both sums are about.
struct Parts<'a> {
    icache_tag: &'a PricedStructure,
    icache_data: &'a PricedStructure,
    filter: Option<(&'a PricedStructure, &'a PricedStructure)>,
}

impl Lookups {
    /// The lookups of a run; `None` without a filter cache or without a fetch.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let lookups = Self {
            probes: outcome.structure("filter_cache.tag")?.count("read"),
            hits: outcome.structure("filter_cache.data")?.count("read"),
        };
        (lookups.probes > 0 && lookups.hits <= lookups.probes).then_some(lookups)
    }

    /// Fraction of the probes that hit.
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.probes as f64
    }
}

impl Implied {
    /// Both energies; `None` unless `with` has a filter cache.
    pub fn of(without: &Outcome, with: &Outcome) -> Option<Self> {
        let lookups = Lookups::of(with)?;
        let (baseline, technique) = (Parts::of(without)?, Parts::of(with)?);
        let icache = (baseline.accesses(), technique.paper_sum(lookups)?);
        let front_end = (
            [others(without), icache.0.clone()].concat(),
            [others(with), icache.1.clone()].concat(),
        );
        Some(Self {
            icache: Change::between(&icache.0, &icache.1),
            front_end: Change::between(&front_end.0, &front_end.1),
        })
    }
}

impl<'a> Parts<'a> {
    fn of(outcome: &'a Outcome) -> Option<Self> {
        Some(Self {
            icache_tag: outcome.structure("icache.tag")?,
            icache_data: outcome.structure("icache.data")?,
            filter: outcome
                .structure("filter_cache.tag")
                .zip(outcome.structure("filter_cache.data")),
        })
    }

    /// I-cache reads without fills.
    fn accesses(&self) -> Vec<Term<'a>> {
        let reads = |structure: &'a PricedStructure| {
            let energy = structure.count("read") as f64 * structure.unit_j("read");
            terms::energy(structure, energy)
        };
        vec![reads(self.icache_tag), reads(self.icache_data)]
    }

    /// Hits at one tag and two data accesses, misses at an I-cache access and two tag accesses.
    fn paper_sum(&self, lookups: Lookups) -> Option<Vec<Term<'a>>> {
        let (tag, data) = self.filter?;
        let (hits, misses) = (lookups.hits as f64, (lookups.probes - lookups.hits) as f64);
        let term = |structure: &'a PricedStructure, accesses: f64| {
            terms::energy(structure, accesses * structure.unit_j("read"))
        };
        Some(vec![
            term(tag, hits + 2.0 * misses),
            term(data, 2.0 * hits),
            term(self.icache_tag, misses),
            term(self.icache_data, misses),
        ])
    }
}

/// The front end without the I-cache and the filter cache.
fn others(outcome: &Outcome) -> Vec<Term<'_>> {
    outcome
        .group(FRONT_END)
        .filter(|s| !s.name.starts_with("icache.") && !s.name.starts_with("filter_cache."))
        .map(terms::dynamic)
        .collect()
}

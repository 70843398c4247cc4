//! Section 5 of the uniform-vector paper against a study's points.

use warpwatt_circuit::memory::{MemoryKind, MemorySpec};
use warpwatt_circuit::{CircuitError, Spec};
use warpwatt_gpu::SECTOR_BYTES;
use warpwatt_techniques::Circuits;

use super::{Check, Tolerance};
use crate::outcome::{BASELINE, Outcome};
use crate::papers::{Modes, UniformVectorPaper};

/// Averages that differ by more than a third have an explanation on the validation page.
const THIRD: Tolerance = Tolerance::Relative(1.0 / 3.0);
/// What 64 scalar registers may lose where they are said to be enough, and 256 against any number.
const ENOUGH: f64 = 0.01;

const WIDE: &str = "gtx285-16lane";
const NARROW: &str = "gtx285";

/// Points of one study, looked up by GPU and technique.
struct Points<'o> {
    /// Each with the energy of memory.
    outcomes: Vec<(&'o Outcome, f64)>,
}

/// A point beside its baseline.
#[derive(Clone, Copy)]
struct Pair<'o> {
    before: &'o Outcome,
    after: &'o Outcome,
    memory_j: [f64; 2],
}

impl Pair<'_> {
    fn gain(&self) -> f64 {
        self.before.cycles as f64 / self.after.cycles as f64 - 1.0
    }

    fn dynamic(&self) -> f64 {
        1.0 - self.after.totals.dynamic_j / self.before.totals.dynamic_j
    }

    /// With that of memory.
    fn dynamic_with_memory(&self) -> f64 {
        let [before, after] = self.memory_j;
        1.0 - (self.after.totals.dynamic_j + after) / (self.before.totals.dynamic_j + before)
    }

    fn leakage(&self) -> f64 {
        1.0 - self.after.totals.leakage_j / self.before.totals.leakage_j
    }

    fn total(&self) -> f64 {
        let energy = |of: &Outcome| of.totals.dynamic_j + of.totals.leakage_j;
        1.0 - energy(self.after) / energy(self.before)
    }

    fn metric(&self, name: &str) -> f64 {
        let found = self.after.metrics.iter().find(|metric| metric.name == name);
        found.map_or(f64::NAN, |metric| metric.value)
    }
}

impl<'o> Points<'o> {
    fn pairs(&self, gpu: &str, technique: &str) -> Vec<Pair<'o>> {
        let of = |technique: &str| {
            let wanted = technique.to_owned();
            self.outcomes
                .iter()
                .filter(move |(o, _)| o.point.gpu == gpu && o.point.technique == wanted)
        };
        of(technique)
            .filter_map(|(after, memory_after)| {
                let mut plain = of(BASELINE);
                let (before, memory_before) =
                    plain.find(|(o, _)| o.point.kernel == after.point.kernel)?;
                Some(Pair {
                    before,
                    after,
                    memory_j: [*memory_before, *memory_after],
                })
            })
            .collect()
    }
}

fn label(design: &str, mode: &str, more: &str) -> String {
    format!("uniform_vector(design={design}, mode={mode}{more})")
}

fn abbreviation(kernel: &str) -> &'static str {
    let paper = warpwatt_suite::paper("uniform_vectors");
    let rows = paper.into_iter().flat_map(|paper| paper.benchmarks);
    let mut named = rows.filter(|row| row.stands.is_some_and(|(stands, _)| stands == kernel));
    named.next().map_or("", |row| row.abbreviation)
}

/// Gains as the paper averages them: geometric mean of the speedups, less one.
fn mean_gain(pairs: &[Pair<'_>]) -> f64 {
    let logs: f64 = pairs.iter().map(|pair| libm::log(1.0 + pair.gain())).sum();
    libm::exp(logs / pairs.len() as f64) - 1.0
}

fn mean(pairs: &[Pair<'_>], of: impl Fn(&Pair<'_>) -> f64) -> f64 {
    pairs.iter().map(of).sum::<f64>() / pairs.len() as f64
}

/// The geometric mean of the shares of those that have any: with the others it would be nothing.
fn geometric(pairs: &[Pair<'_>], of: impl Fn(&Pair<'_>) -> f64) -> f64 {
    let shares = pairs.iter().map(of).filter(|share| *share > 0.0);
    let logs: Vec<f64> = shares.map(libm::log).collect();
    libm::exp(logs.iter().sum::<f64>() / logs.len() as f64)
}

fn largest(pairs: &[Pair<'_>], of: impl Fn(&Pair<'_>) -> f64) -> f64 {
    pairs.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
}

/// The value of one benchmark.
fn one(pairs: &[Pair<'_>], benchmark: &str, of: impl Fn(&Pair<'_>) -> f64) -> f64 {
    let is_it = |pair: &&Pair<'_>| abbreviation(&pair.after.point.kernel.name) == benchmark;
    pairs.iter().find(is_it).map_or(f64::NAN, of)
}

/// What `with` takes more than `without`, of what both save.
fn more(with: &[Pair<'_>], without: &[Pair<'_>], saved: impl Fn(&Pair<'_>) -> f64) -> f64 {
    (1.0 - mean(with, &saved)) / (1.0 - mean(without, &saved)) - 1.0
}

fn check(place: &str, what: impl Into<String>, published: f64, ours: f64) -> Check {
    Check::new((place, what.into(), ""), published, ours, THIRD)
}

fn at_most(place: &str, what: impl Into<String>, published: f64, ours: f64) -> Check {
    Check::new((place, what.into(), ""), published, ours, Tolerance::AtMost)
}

/// The energy of what memory served: sectors that the second-level cache asked for or sent back. GDDR5 stands for the GDDR3 of the paper's GPU, of which no
/// currents are known here.
fn memory_j(outcome: &Outcome, circuits: &dyn Circuits) -> Result<f64, CircuitError> {
    let n = |name: &str| outcome.activity.get(name) as f64;
    let (hits, misses) = (n("dram_row_hits"), n("dram_row_misses"));
    let row_hits = 100.0 * hits / (hits + misses).max(1.0);
    let access = circuits.cost(&Spec::Memory(MemorySpec {
        kind: MemoryKind::Gddr5,
        bits: 8 * u64::from(SECTOR_BYTES),
        row_hits: row_hits.round() as u8,
    }))?;
    Ok(n("l2_read_misses") * access.read_energy.si()
        + n("l2_write_backs") * access.write_energy.si())
}

/// Every number of the paper's section 5 that a point of the study answers, in the order of its figures. The node of `circuits` plays no part: they price memory.
///
/// # Errors
/// If memory cannot be priced.
pub fn uniform_vector_study(
    outcomes: &[Outcome],
    circuits: &dyn Circuits,
) -> Result<Vec<Check>, CircuitError> {
    let priced = outcomes
        .iter()
        .map(|outcome| Ok((outcome, memory_j(outcome, circuits)?)));
    let points = Points {
        outcomes: priced.collect::<Result<_, CircuitError>>()?,
    };
    let paper = UniformVectorPaper::load();
    let mut checks = redundancy(&points, &paper);
    checks.extend(performance(&points, &paper));
    checks.extend(energy(&points, &paper));
    checks.extend(sizes(&points, &paper));
    checks.extend(wide(&points, &paper));
    checks.extend(reliability(&points, &paper));
    Ok(checks)
}

/// A reuse buffer with values of 64 bits that knows results a cycle after the issue: the experiment that explains gains among warps.
const EARLY: &str = ", irb_value_bits=64, irb_early=true";

/// Figure 2, of what the token design with eight entries detects.
fn redundancy(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let pairs = points.pairs(NARROW, &label("token", "combined", ""));
    let published = paper.redundant_operations;
    let kinds = [
        ("intra", published.intra),
        ("inter", published.inter),
        ("combined", published.combined),
    ];
    let rows = kinds.into_iter().flat_map(|(kind, published)| {
        let name = format!("uniform_vector.redundant.{kind}");
        let of = |pair: &Pair<'_>| pair.metric(&name);
        [
            check(
                "Figure 2",
                format!("redundant operations, {kind}, geometric mean of those that have any"),
                published.mean,
                geometric(&pairs, of),
            ),
            check(
                "Figure 2",
                format!("redundant operations, {kind}, largest"),
                published.max,
                largest(&pairs, of),
            ),
        ]
    });
    let mut checks: Vec<Check> = rows.collect();
    let early = points.pairs(NARROW, &label("token", "inter", EARLY));
    let of = |pair: &Pair<'_>| pair.metric("uniform_vector.redundant.inter");
    for (what, published, ours) in [
        (
            "geometric mean of those that have any",
            published.inter.mean,
            geometric(&early, of),
        ),
        ("largest", published.inter.max, largest(&early, of)),
    ] {
        let what = format!("inter, {what}, with results known early and values of 64 bits");
        checks.push(check("Figure 2", what, published, ours));
    }
    checks
}

/// The three modes of a design.
fn modes(published: Modes) -> [(&'static str, f64); 3] {
    [
        ("intra", published.intra),
        ("inter", published.inter),
        ("combined", published.combined),
    ]
}

/// Figures 5 to 7.
fn performance(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let mut checks = Vec::new();
    let speedup = paper.speedup;
    for (figure, design, published) in [
        ("Figure 5", "token", speedup.token),
        ("Figure 6", "srf", speedup.srf),
    ] {
        for (mode, published) in modes(published) {
            let pairs = points.pairs(NARROW, &label(design, mode, ""));
            let what = format!("gain, {design}, {mode}");
            checks.push(check(figure, what, published, mean_gain(&pairs)));
        }
    }
    checks.extend(enough_scalar_registers(points, speedup.srf));
    for (mode, more, published, what) in [
        (
            "intra",
            ", convert=all",
            speedup.token.intra,
            "branches, loads and stores too",
        ),
        (
            "combined",
            ", convert=all",
            speedup.token.combined,
            "branches, loads and stores too",
        ),
        (
            "inter",
            EARLY,
            speedup.token.inter,
            "results known early, values of 64 bits",
        ),
        (
            "combined",
            EARLY,
            speedup.token.combined,
            "results known early, values of 64 bits",
        ),
    ] {
        let pairs = points.pairs(NARROW, &label("token", mode, more));
        let what = format!("gain, token, {mode}, {what}");
        checks.push(check("Figure 5", what, published, mean_gain(&pairs)));
    }
    checks.extend(single_benchmarks(points, paper));
    checks.extend(copies(points, paper));
    checks
}

/// What section 5.1 says of single benchmarks.
fn single_benchmarks(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let speedup = paper.speedup;
    let combined = points.pairs(NARROW, &label("token", "combined", ""));
    let intra = points.pairs(NARROW, &label("token", "intra", ""));
    let inter = points.pairs(NARROW, &label("token", "inter", ""));
    vec![
        check(
            "section 5.1",
            "gain, token, combined, largest",
            speedup.token_max,
            largest(&combined, |pair| pair.gain()),
        ),
        check(
            "section 5.1",
            "gain, token, intra, RAY",
            speedup.ray_token_intra,
            one(&intra, "RAY", |pair| pair.gain()),
        ),
        check(
            "section 5.1",
            "gain, token, inter, VA",
            speedup.va_token_inter,
            one(&inter, "VA", |pair| pair.gain()),
        ),
        check(
            "section 5.1",
            "gain, token, inter, VA, results known early, values of 64 bits",
            speedup.va_token_inter,
            one(
                &points.pairs(NARROW, &label("token", "inter", EARLY)),
                "VA",
                |pair| pair.gain(),
            ),
        ),
    ]
}

/// Figure 7.
fn copies(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let combined = points.pairs(NARROW, &label("token", "combined", ""));
    let copies = |pair: &Pair<'_>| pair.metric("uniform_vector.copies_of_sources");
    let divergent =
        |pair: &Pair<'_>| copies(pair) - pair.metric("uniform_vector.copies_of_sources.guarded");
    vec![
        check(
            "Figure 7",
            "copies over warp instructions, mean",
            paper.copies.mean,
            mean(&combined, copies),
        ),
        check(
            "Figure 7",
            "copies over warp instructions, largest",
            paper.copies.max,
            largest(&combined, copies),
        ),
        check(
            "Figure 7",
            "the same without those of guarded instructions in whole warps, mean",
            paper.copies.mean,
            mean(&combined, divergent),
        ),
        check(
            "Figure 7",
            "the same without those of guarded instructions in whole warps, largest",
            paper.copies.max,
            largest(&combined, divergent),
        ),
    ]
}

/// Figure 6 with as many scalar registers as hold 128 pointers of 64 bits, and where results are reused with values as wide that are known early.
fn enough_scalar_registers(points: &Points<'_>, published: Modes) -> Vec<Check> {
    let rows = modes(published).into_iter().map(|(mode, published)| {
        let (early, what) = match mode {
            "intra" => ("", ""),
            _ => (EARLY, ", results known early, values of 64 bits"),
        };
        let more = format!(", srf_entries=256{early}");
        let pairs = points.pairs(NARROW, &label("srf", mode, &more));
        let what = format!("gain, srf, {mode}, 256 entries{what}");
        check("Figure 6", what, published, mean_gain(&pairs))
    });
    rows.collect()
}

/// Figures 8 to 10, of what is priced.
fn energy(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let published = paper.energy;
    let mut checks = Vec::new();
    let mut largest_dynamic = f64::NEG_INFINITY;
    for (design, published) in [
        ("token", published.dynamic_token),
        ("srf", published.dynamic_srf),
    ] {
        let pairs = points.pairs(NARROW, &label(design, "combined", ""));
        largest_dynamic = largest_dynamic.max(largest(&pairs, |pair| pair.dynamic()));
        let what = format!("dynamic energy saved, {design}, combined");
        checks.push(check(
            "Figure 8",
            what,
            published,
            mean(&pairs, |pair| pair.dynamic()),
        ));
    }
    checks.push(check(
        "Figure 8",
        "dynamic energy saved, largest",
        published.dynamic_max,
        largest_dynamic,
    ));
    for (design, published) in [
        ("token", published.dynamic_token),
        ("srf", published.dynamic_srf),
    ] {
        let pairs = points.pairs(NARROW, &label(design, "combined", ""));
        checks.push(check(
            "Figure 8",
            format!("the same with GDDR5, {design}, combined"),
            published,
            mean(&pairs, |pair| pair.dynamic_with_memory()),
        ));
    }
    for (figure, design, published) in [
        ("Figure 9", "token", published.total_token),
        ("Figure 10", "srf", published.total_srf),
    ] {
        for (mode, published) in modes(published) {
            let pairs = points.pairs(NARROW, &label(design, mode, ""));
            let what = format!("total energy saved, {design}, {mode}");
            checks.push(check(
                figure,
                what,
                published,
                mean(&pairs, |pair| pair.total()),
            ));
        }
    }
    let pairs = points.pairs(NARROW, &label("srf", "combined", ""));
    let area = |of: &Outcome| of.totals.area_m2;
    let added = mean(&pairs, |pair| area(pair.after) / area(pair.before) - 1.0);
    checks.push(at_most(
        "section 5.2",
        "area added, of what is priced, srf",
        published.area_share_of_sm_upper_bound,
        added,
    ));
    checks
}

/// Figures 11 and 12.
fn sizes(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let srf = |entries: &str| {
        let more = format!(", srf_entries={entries}");
        points.pairs(NARROW, &label("srf", "combined", &more))
    };
    let (unlimited, some) = (srf("unlimited"), srf("64"));
    let mut checks = Vec::new();
    for benchmark in &paper.srf.enough_64 {
        let cycles = |pairs: &[Pair<'_>]| one(pairs, benchmark, |pair| pair.after.cycles as f64);
        checks.push(at_most(
            "Figure 11",
            format!("{benchmark}: lost by 64 scalar registers against any number"),
            ENOUGH,
            cycles(&some) / cycles(&unlimited) - 1.0,
        ));
    }
    checks.push(at_most(
        "Figure 11",
        "gain lost by 256 scalar registers against any number",
        ENOUGH,
        mean_gain(&unlimited) - mean_gain(&srf("256")),
    ));
    let irb = paper.irb;
    for (entries, published) in [
        (2, irb.entries_2),
        (4, irb.entries_4),
        (8, irb.entries_8),
        (16, irb.entries_16),
    ] {
        let more = match entries {
            8 => String::new(),
            entries => format!(", irb_entries={entries}"),
        };
        let pairs = points.pairs(NARROW, &label("token", "combined", &more));
        let what = format!("gain, token, combined, {entries} entries of the reuse buffer");
        checks.push(check("Figure 12", &what[..], published, mean_gain(&pairs)));
        let pairs = points.pairs(
            NARROW,
            &label("token", "combined", &format!("{more}{EARLY}")),
        );
        let what = format!("{what}, results known early, values of 64 bits");
        checks.push(check("Figure 12", what, published, mean_gain(&pairs)));
    }
    checks
}

/// Figure 13 and what section 5.3 says of energy on wide SMs.
fn wide(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let mut checks = Vec::new();
    for (mode, published) in modes(paper.speedup.simd_16) {
        let pairs = points.pairs(WIDE, &label("token", mode, ""));
        let what = format!("gain, token, {mode}, 16 lanes");
        checks.push(check("Figure 13", what, published, mean_gain(&pairs)));
    }
    let published = paper.speedup.simd_16;
    for (mode, published) in [("inter", published.inter), ("combined", published.combined)] {
        let pairs = points.pairs(WIDE, &label("token", mode, EARLY));
        let what = format!("gain, token, {mode}, 16 lanes, results known early, values of 64 bits");
        checks.push(check("Figure 13", what, published, mean_gain(&pairs)));
    }
    let inter = points.pairs(WIDE, &label("token", "inter", ""));
    checks.push(check(
        "Figure 13",
        "gain, token, inter, 16 lanes, MT",
        paper.speedup.mt_simd_16_inter,
        one(&inter, "MT", |pair| pair.gain()),
    ));
    let pairs = points.pairs(WIDE, &label("token", "combined", ""));
    let published = paper.energy;
    for (what, published, ours) in [
        (
            "dynamic",
            published.simd_16_dynamic,
            mean(&pairs, |pair| pair.dynamic()),
        ),
        (
            "static",
            published.simd_16_static,
            mean(&pairs, |pair| pair.leakage()),
        ),
        (
            "total",
            published.simd_16_total,
            mean(&pairs, |pair| pair.total()),
        ),
    ] {
        let what = format!("{what} energy saved, token, combined, 16 lanes");
        checks.push(check("section 5.3", what, published, ours));
    }
    checks
}

/// Figures 14 to 16.
fn reliability(points: &Points<'_>, paper: &UniformVectorPaper) -> Vec<Check> {
    let published = paper.reliability;
    let of = |design| points.pairs(NARROW, &label(design, "combined", ", reliability=true"));
    let (token, srf) = (of("token"), of("srf"));
    let mut checks = Vec::new();
    for (name, what) in [
        ("alu_coverage", "lane operations covered"),
        (
            "alu_coverage.of_instructions",
            "the same of all instructions",
        ),
    ] {
        let name = format!("uniform_vector.{name}");
        let alu = |pair: &Pair<'_>| pair.metric(&name);
        for (who, published, ours) in [
            ("token", published.alu_token, mean(&token, alu)),
            ("srf", published.alu_srf, mean(&srf, alu)),
            ("largest", published.alu_max, largest(&token, alu)),
        ] {
            checks.push(check(
                "Figure 14",
                format!("{what}, {who}"),
                published,
                ours,
            ));
        }
    }
    let vrf = |pair: &Pair<'_>| pair.metric("uniform_vector.vrf_coverage");
    let of_words = |pair: &Pair<'_>| pair.metric("uniform_vector.vrf_coverage.of_words");
    for (who, published, ours) in [
        ("token", published.vrf_token, mean(&token, vrf)),
        (
            "token, of registers of 32 bits",
            published.vrf_token,
            mean(&token, of_words),
        ),
        (
            "token, largest",
            published.vrf_token_max,
            largest(&token, vrf),
        ),
        ("token, BFS", published.vrf_bfs, one(&token, "BFS", vrf)),
    ] {
        let what = format!("live registers covered, {who}");
        checks.push(check("Figure 15", what, published, ours));
    }
    let of_token = [
        published.dynamic_overhead_token,
        published.total_overhead_token,
    ];
    let of_srf = [published.dynamic_overhead_srf, published.total_overhead_srf];
    for (design, pairs, published) in [("token", &token, of_token), ("srf", &srf, of_srf)] {
        checks.extend(price_of_redundancy(points, design, pairs, published));
    }
    checks
}

/// Figure 16: dynamic and total energy of the reliability mode over those without.
fn price_of_redundancy(
    points: &Points<'_>,
    design: &str,
    pairs: &[Pair<'_>],
    [dynamic, total]: [f64; 2],
) -> [Check; 2] {
    let without = points.pairs(NARROW, &label(design, "combined", ""));
    let what = format!("energy of the redundancy, {design}");
    [
        check(
            "Figure 16",
            format!("dynamic {what}"),
            dynamic,
            more(pairs, &without, |pair| pair.dynamic()),
        ),
        check(
            "section 5.4",
            format!("total {what}"),
            total,
            more(pairs, &without, |pair| pair.total()),
        ),
    ]
}

//! The filter-cache paper (Lashgar, Baniasadi, Khonsari, ARCS 2013) beside our circuit models. What holds must go on holding, and what is a gap must
//! go on being one: a gap that closes is news and belongs into `docs/validation.md`.

use std::path::Path;

use approx::assert_relative_eq;
use warpwatt::diag::{Sink, render};
use warpwatt::outcome::{BASELINE, KernelName, Outcome, Point};
use warpwatt::pricing::{CostTable, Counted, NodeCircuits, price, technology_name};
use warpwatt::report::Report;
use warpwatt::report::beside::{self, Supply};
use warpwatt::run::{resolve_text, run_all};
use warpwatt::validate::suite::{Studies, Suite};
use warpwatt::validate::{Check, Status, Validation};
use warpwatt_activity::Activity;
use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::GpuSpec;
use warpwatt_structures::plain;
use warpwatt_techlib::quantity::{Energy, Frequency, Temperature};
use warpwatt_techlib::{Flavour, Library};
use warpwatt_techniques::filter_cache::{FetchEnergies, implied_by_the_paper, structural};
use warpwatt_techniques::{Technique, find};

/// The paper does not name a temperature; at 350 K the leakages are those of its Table 1.
const KELVIN: f64 = 350.0;

fn circuits(profile: Profile) -> NodeCircuits {
    let technology = Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap();
    let point = OperatingPoint::at(Temperature::from_k(KELVIN));
    NodeCircuits::new(technology, point, profile)
}

/// The rows that need no points by themselves, and with the points of the study those of Table 4 and section 5.2.
fn compared(profile: Profile, studies: &Studies) -> Vec<Check> {
    let text = include_str!("../../estimator/validation/suites/filter_cache.toml");
    let priced = format!("[circuits]\nprofile = \"{profile}\"\n");
    let mut sink = Sink::default();
    let text = text.replace("[circuits]", &priced);
    let source = sink.sources.add("filter_cache.toml", &text);
    let Some(suite) = Suite::read(&mut sink, source) else {
        panic!("{}", render(&sink, false));
    };
    suite.checks(studies).unwrap()
}

fn checks(profile: Profile) -> Vec<Check> {
    compared(profile, &Studies::new())
}

fn gaps(checks: &[Check]) -> Vec<&str> {
    let gaps = checks.iter().filter(|check| check.status == Status::Gap);
    gaps.map(|check| check.what.as_str()).collect()
}

#[test]
fn table_1_holds_but_for_the_known_gaps() {
    let checks = checks(Profile::Cacti65);
    assert_eq!(checks.len(), 45);
    // The operand buffer's real input is not in the paper. The smallest arrays are extrapolated in the paper by a straight line through six larger
    // ones (section 5.1), ours are modelled. The bound on the SM's leakage is exceeded by the paper's own table as well (0.14 / 18.75 mW).
    assert_eq!(
        gaps(&checks),
        [
            "operand_buffer area",
            "operand_buffer leakage",
            "fc_tag_16 area",
            "fc_tag_16 read energy",
            "fc_tag_16 delay",
            "fc_data_16 area",
            "fc_data_16 read energy",
            "32-entry filter cache, leakage over the SM's",
        ]
    );
}

#[test]
fn arrays_with_known_inputs_agree_to_the_printed_digits() {
    for check in checks(Profile::Cacti65) {
        let known = [
            "icache_tag ",
            "icache_data ",
            "instruction_buffer ",
            "scoreboard ",
        ];
        if known.iter().any(|name| check.what.starts_with(name)) {
            // Half of the last printed digit of areas, leakages and energies; delays, which are printed with two decimals, to a twentieth of a picosecond.
            let digit = match check.unit.as_str() {
                "µm²" => 0.5,
                "ps" => 0.05,
                _ => 0.005,
            };
            assert!((check.ours - check.published).abs() <= digit, "{check:?}");
        }
    }
}

/// CACTI 7's rules choose other organisations: the figures of the paper need CACTI 6.5's.
#[test]
fn another_profile_has_more_gaps() {
    let (old, new) = (checks(Profile::Cacti65), checks(Profile::Cacti7));
    assert!(gaps(&new).len() > gaps(&old).len(), "{:?}", gaps(&new));
}

const FETCHES: u64 = 100_000;
const HITS: u64 = 95_000;

fn activity(filtered: bool) -> Activity {
    let (hits, misses) = if filtered {
        (HITS, FETCHES - HITS)
    } else {
        (0, FETCHES)
    };
    let mut activity: Activity = [
        ("fetches", FETCHES),
        ("icache.tag.read", misses),
        ("icache.data.read", misses),
        ("icache.tag.write", 10),
        ("icache.data.write", 160),
    ]
    .into_iter()
    .collect();
    if filtered {
        activity.add("filter_cache_hits", hits);
        activity.add("filter_cache.tag.read", FETCHES);
        activity.add("filter_cache.tag.write", misses);
        activity.add("filter_cache.data.read", hits);
        activity.add("filter_cache.data.write", misses);
        activity.add("filter_cache.mux.read", FETCHES);
    }
    activity
}

fn outcome(circuits: &NodeCircuits, technique: Option<&dyn Technique>) -> Outcome {
    let gpu = GpuSpec::preset("tesla-16sm").unwrap();
    let mut structures = plain::structures(&gpu);
    structures.extend(technique.map(|t| t.structures(&gpu)).into_iter().flatten());
    let point = Point {
        kernel: KernelName {
            name: "matrix_mul".to_owned(),
            case: "by hand".to_owned(),
            paper: vec!["MTM".to_owned()],
        }
        .into(),
        gpu: "tesla-16sm".into(),
        axes: Default::default(),
        technology: technology_name(circuits),
        technique: technique.map_or_else(|| BASELINE.into(), |it| it.label().into()),
    };
    let counted = Counted {
        before: Default::default(),
        windows: None,
        samples: None,
        cycles: 300_000,
        clock: Frequency::from_mhz(1300.0),
        activity: activity(technique.is_some()).into(),
        metrics: Vec::new().into(),
        register_accesses: None,
        performance: Default::default(),
        notes: Vec::new(),
    };
    let table = CostTable::of(&structures, gpu.sm.count, circuits).unwrap();
    price(point, counted, &table).unwrap()
}

fn energies(outcome: &Outcome) -> FetchEnergies {
    let price = |structure: &str, action: &str| {
        Energy::from_j(
            outcome
                .structure(structure)
                .map_or(0.0, |s| s.unit_j(action)),
        )
    };
    FetchEnergies {
        icache_tag: price("icache.tag", "read"),
        icache_data: price("icache.data", "read"),
        icache_tag_write: price("icache.tag", "write"),
        icache_data_write: price("icache.data", "write"),
        filter_tag: price("filter_cache.tag", "read"),
        filter_data: price("filter_cache.data", "read"),
        filter_tag_write: price("filter_cache.tag", "write"),
        filter_data_write: price("filter_cache.data", "write"),
        mux: price("filter_cache.mux", "read"),
    }
}

/// The report sums up priced structures, the technique's file states both sums as formulas: they are the same sums.
#[test]
fn both_accountings_are_those_of_the_technique() {
    let circuits = circuits(Profile::Cacti65);
    let technique = find("filter_cache")
        .unwrap()
        .parse(&toml::Table::new())
        .unwrap();
    let without = outcome(&circuits, None);
    let with = outcome(&circuits, Some(technique.as_ref()));
    let report = beside_the_paper("by hand", &[without.clone(), with.clone()]);
    let comparison = &report.blocks[0].comparisons[0];
    let supply = Supply::of(&without, &with);
    let implied = supply.implied.unwrap().icache;
    let same =
        |ours: f64, theirs: Energy| assert_relative_eq!(ours, theirs.si(), max_relative = 1e-12);
    same(
        supply.icache.without_j,
        structural(&without.activity, &energies(&without)),
    );
    same(
        supply.icache.with_j,
        structural(&with.activity, &energies(&with)),
    );
    same(
        implied.without_j,
        implied_by_the_paper(&without.activity, &energies(&without)),
    );
    same(
        implied.with_j,
        implied_by_the_paper(&with.activity, &energies(&with)),
    );
    let row = comparison.beside.as_ref().unwrap().row.as_deref();
    assert_eq!(row, Some("MTM"));
    // A delta is surer than its sides, whose common errors it has lost.
    let change = comparison.front_end.relative.unwrap();
    assert!(change.sigma < comparison.front_end.without_sigma_j / comparison.front_end.without_j);
}

/// Kernels of Table 4 that run in a moment.
const SMALL: &str = r#"
[study]
title = "Small rows of Table 4"

[gpu]
preset = "tesla-16sm"
node = "32nm"
library = "itrs"
profile = "cacti65"
temperature = "350 K"

[workloads]
build = "papers"
kernels = [
    { name = "bfs", case = "paper" },
    { name = "matrix_mul", case = "paper" },
    { name = "srad", case = "paper_small" },
]

[[technique]]
name = "filter_cache"
entries = [16, 32]

[output]
directory = "results"
"#;

/// A report with the paper's figures beside ours.
fn beside_the_paper(title: &str, points: &[Outcome]) -> Report {
    Report::beside(title, points, beside::load(Some(beside::FILTER_CACHE)))
}

fn small_study() -> Vec<Outcome> {
    let mut sink = Sink::default();
    let resolved =
        resolve_text("small.toml", SMALL, Path::new(""), &mut sink).expect("a valid study");
    run_all(&resolved, &sink.sources, Some(2), |_| ()).expect("it runs")
}

/// `docs/validation.md` is printed by `warpwatt validate --markdown`.
#[test]
fn the_validation_page_shows_the_current_numbers() {
    let page = include_str!("../../docs/validation.md");
    let circuits = Validation::new(checks(Profile::Cacti65)).markdown();
    for line in circuits.lines().filter(|line| {
        ["holds |", "gap |", "by construction |"]
            .iter()
            .any(|end| line.ends_with(end))
    }) {
        assert!(page.contains(line), "not on the page: {line}");
    }
    let points = Studies::from([("filter_cache_table_4.toml".to_owned(), small_study())]);
    let rows = compared(Profile::Cacti65, &points);
    let rows: Vec<&Check> = rows
        .iter()
        .filter(|check| check.place == "Table 4")
        .collect();
    assert_eq!(rows.len(), 12);
    let mut moved = Vec::new();
    for check in rows {
        let line = page
            .lines()
            .find(|line| line.contains(&check.what))
            .expect("on the page");
        let shown: f64 = line.split('|').nth(4).unwrap().trim().parse().unwrap();
        // The page is printed now and then; the GPU model may move a hit rate by a fetch in two hundred before it must be printed again.
        if (shown - check.ours).abs() > 0.005 {
            moved.push(format!("{line}: now {}", check.ours));
        }
    }
    assert_eq!(moved, Vec::<String>::new());
}

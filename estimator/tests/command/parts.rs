//! Studies in parts: dry runs, shards, stores put together, very many points.

use std::fs;

use warpwatt::diag::Sink;
use warpwatt::outcome::Outcome;
use warpwatt::run::{resolve_text, run_all};
use warpwatt::store::{Manifest, PointKey, Store};

use crate::common::{Scratch, same_reports, stderr, stdout, warpwatt};

const STUDY: &str = r#"
[study]
title = "In parts"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "40nm"]
[workloads]
kernels = ["vector_add", "reduction", "matrix_mul"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
"#;

fn ok(scratch: &Scratch, arguments: &[&str]) -> (String, String) {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (stdout(&output), stderr(&output))
}

fn refused(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let (text, said) = ok(&scratch, &["run", "study.toml", "--dry-run"]);
    assert_eq!(said, "");
    for line in [
        "points       18, 0 of them",
        "executions   3, 0.",
        "timing runs  9, ",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert_eq!(
        fs::read_dir(scratch.path("")).unwrap().count(),
        1,
        "nothing is written"
    );
    ok(
        &scratch,
        &["run", "study.toml", "--quiet", "--shard", "1/3"],
    );
    let (text, _) = ok(
        &scratch,
        &["run", "study.toml", "--dry-run", "--json", "--jobs", "2"],
    );
    let forecast: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&forecast["points"], &forecast["held"]),
        (&18.into(), &6.into())
    );
    assert_eq!(
        (&forecast["executions"], &forecast["timing_runs"]),
        (&2.into(), &6.into())
    );
    let seconds = forecast["seconds"].as_f64().unwrap();
    assert!(
        seconds > 0.0 && forecast["store_bytes"].as_u64() > Some(0),
        "{text}"
    );
    // What is recorded of the two kernels that are left, executed once and timed three times each.
    let counts = ["reduction", "matrix_mul"].map(|name| {
        let kernel = warpwatt_suite::kernel(name).unwrap();
        kernel.counts("default").unwrap().warp_instructions
    });
    assert_eq!(forecast["executed_instructions"], counts[0] + counts[1]);
    assert_eq!(forecast["timed_instructions"], 3 * (counts[0] + counts[1]));
}

/// The studies whose time is told are as large as that says; a million points are planned in seconds.
#[test]
fn studies_that_are_measured_are_of_their_size() {
    let scratch = Scratch::new();
    for (study, points) in [
        (include_str!("../../benches/hundred_thousand.toml"), 100_000),
        (include_str!("../../benches/million.toml"), 1_000_000),
    ] {
        scratch.write("study.toml", study);
        let (text, _) = ok(&scratch, &["run", "study.toml", "--dry-run", "--json"]);
        let forecast: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(forecast["points"], points);
    }
}

#[test]
fn parts_put_together_are_the_whole_to_the_byte() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let (whole, _) = ok(
        &scratch,
        &["run", "study.toml", "--quiet", "--out", "whole"],
    );
    for of in ["2", "4"] {
        let count: usize = of.parse().unwrap();
        let parts: Vec<String> = (1..=count)
            .map(|part| format!("part{part}of{of}"))
            .collect();
        let mut points = 0;
        for (number, part) in parts.iter().enumerate() {
            let shard = format!("{}/{of}", number + 1);
            ok(
                &scratch,
                &[
                    "run",
                    "study.toml",
                    "--quiet",
                    "--shard",
                    &shard,
                    "--out",
                    part,
                ],
            );
            points += Store::open_existing(&scratch.path(part))
                .unwrap()
                .len()
                .unwrap();
        }
        assert_eq!(points, 18, "no point is in two parts");
        let out = format!("merged{of}");
        let mut arguments = vec!["merge", out.as_str()];
        // One part is missing, and is told; the order of the others does not matter.
        arguments.extend(parts[1..].iter().rev().map(String::as_str));
        let output = warpwatt(&scratch.path(""), &arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("of 18 points are missing"),
            "{}",
            stderr(&output)
        );
        arguments.push(&parts[0]);
        assert_eq!(ok(&scratch, &arguments).0, whole, "{of} parts");
        same_reports(&scratch.path("whole"), &scratch.path(&out));
        // A run finds everything there.
        let (_, said) = ok(&scratch, &["run", "study.toml", "--out", &out]);
        assert!(said.contains("all 18 points"), "{said}");
    }
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let scratch = Scratch::new();
    let small = STUDY.replace(r#", "reduction", "matrix_mul""#, "");
    scratch.write("study.toml", &small);
    scratch.write("other.toml", &small.replace("40nm", "45nm"));
    scratch.write("renamed.toml", &small.replace("In parts", "Otherwise"));
    for (study, out) in [
        ("study.toml", "a"),
        ("other.toml", "b"),
        ("renamed.toml", "c"),
    ] {
        ok(
            &scratch,
            &["run", study, "--quiet", "--shard", "1/2", "--out", out],
        );
    }
    let said = refused(&scratch, &["merge", "out", "a", "b"]);
    assert!(
        said.contains("error[store::other_study]") && said.contains("technology"),
        "{said}"
    );
    let said = refused(&scratch, &["merge", "out", "a", "c"]);
    assert!(said.contains("`In parts` and `Otherwise`"), "{said}");
    let said = refused(&scratch, &["merge", "out", "a", "nowhere"]);
    assert!(said.contains("error[store::missing]"), "{said}");
    fs::create_dir(scratch.path("empty")).unwrap();
    let empty = Store::open(&scratch.path("empty")).unwrap();
    let said = refused(&scratch, &["merge", "out", "a", "empty"]);
    assert!(said.contains("error[store::locked]"), "{said}");
    drop(empty);
    let said = refused(&scratch, &["merge", "out", "a", "empty"]);
    assert!(said.contains("error[store::unfinished]"), "{said}");
    assert!(!scratch.path("out").exists(), "nothing is written");
    let said = refused(&scratch, &["run", "study.toml", "--shard", "3/2"]);
    assert!(said.contains("write a part and their number"), "{said}");
}

#[test]
fn another_outcome_of_the_same_point_is_a_conflict() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    for out in ["a", "b"] {
        ok(
            &scratch,
            &[
                "run",
                "study.toml",
                "--quiet",
                "--shard",
                "1/3",
                "--out",
                out,
            ],
        );
    }
    let store = Store::open(&scratch.path("b")).unwrap();
    let key = store.part().unwrap().unwrap().points[0];
    let mut outcome = store.get(&key).unwrap().unwrap();
    outcome.cycles += 1;
    store.put(&key, &outcome).unwrap();
    store.close();
    let said = refused(&scratch, &["merge", "out", "a", "b"]);
    assert!(
        said.contains("error[store::conflict]") && said.contains(&key.to_string()),
        "{said}"
    );
}

/// `pairs` of a plain point and one with a technique have all of their rows in the tables.
fn whole_tables(scratch: &Scratch, pairs: usize) {
    let rows = |name: &str| {
        fs::read_to_string(scratch.path("results").join(name))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(
        (rows("points.csv"), rows("comparisons.csv")),
        (2 * pairs + 1, pairs + 1)
    );
    #[cfg(feature = "parquet")]
    {
        ok(scratch, &["report", "results", "--formats", "parquet"]);
        let rows = |name: &str| crate::columns::rows(&scratch.path("results").join(name)).len();
        let counted = (rows("points.parquet"), rows("comparisons.parquet"));
        assert_eq!(counted, (2 * pairs, pairs));
    }
}

/// Points of a small study again and again, each at another supply: as many as make a report a digest.
#[test]
fn very_many_points_are_reported_by_a_digest_and_whole_tables() {
    const PAIRS: usize = 1_001;
    let mut sink = Sink::default();
    let small = STUDY
        .replace(r#", "reduction", "matrix_mul""#, "")
        .replace("[16, 32]", "16")
        .replace("[\"32nm\", \"40nm\"]", "\"32nm\"");
    let resolved = resolve_text("study.toml", &small, "".as_ref(), &mut sink).unwrap();
    let outcomes = run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap();
    let scratch = Scratch::new();
    // The same study with two points was there before.
    scratch.write("few.toml", &small.replace("In parts", "Many"));
    ok(&scratch, &["run", "few.toml", "--quiet"]);
    assert!(scratch.path("results/report.json").exists());
    let store = Store::open(&scratch.path("results")).unwrap();
    let mut keys = Vec::new();
    for pair in 0..PAIRS {
        let copies: Vec<(PointKey, Outcome)> = outcomes
            .iter()
            .enumerate()
            .map(|(number, outcome)| {
                let mut outcome = outcome.clone();
                outcome.point.technology.vdd_v = 0.5 + pair as f64 / 10_000.0;
                let mut key = [0; 32];
                key[..8].copy_from_slice(&(2 * pair as u64 + number as u64).to_be_bytes());
                (PointKey(key), outcome)
            })
            .collect();
        keys.extend(copies.iter().map(|(key, _)| *key));
        assert_eq!(copies.len(), 2);
        let copies: Vec<(PointKey, &Outcome)> = copies
            .iter()
            .map(|(key, outcome)| (*key, outcome))
            .collect();
        store.put_all(&copies).unwrap();
    }
    let manifest = Manifest {
        paper: None,
        parameters: vec![
            "gpu.node".to_owned(),
            "technique.filter_cache.entries".to_owned(),
        ],
        title: "Many".to_owned(),
        study: String::new(),
        version: "0".to_owned(),
        inputs: Default::default(),
        sampling: None,
        budget: None,
        pareto: Vec::new(),
        uncertainty: None,
        points: keys,
    };
    store.put_manifest(&manifest).unwrap();
    store.close();
    let (text, _) = ok(&scratch, &["report", "results"]);
    assert!(
        text.contains("2,002 points, too many to show one by one"),
        "{text}"
    );
    assert!(text.lines().count() <= 40, "{text}");
    let narrow = |line: &str| line.chars().count() <= 100;
    assert!(text.lines().all(narrow), "{text}");
    // Along the axis of a thousand supplies, in stretches of them.
    let (details, _) = ok(&scratch, &["report", "results", "--show", "kernels"]);
    assert!(details.contains("0.5 to 0.5124"), "{details}");
    assert!(details.lines().all(narrow), "{details}");
    assert!(!scratch.path("results/report.json").exists());
    whole_tables(&scratch, PAIRS);
    the_digest_holds_all(&scratch, &outcomes, PAIRS);
    a_later_report_reads_the_digest(&scratch, &text);
    ok(&scratch, &["run", "few.toml", "--quiet"]);
    assert!(!scratch.path("results/digest.json").exists());
}

/// What the digest says of `pairs` copies of two points.
fn the_digest_holds_all(scratch: &Scratch, outcomes: &[Outcome], pairs: usize) {
    let digest = fs::read_to_string(scratch.path("results/digest.json")).unwrap();
    let digest: serde_json::Value = serde_json::from_str(&digest).unwrap();
    assert_eq!(digest["points"], 2 * pairs);
    let with = &digest["configurations"][1];
    assert_eq!(
        (&with["technique"], &with["points"]),
        (&"filter_cache(entries=16)".into(), &pairs.into())
    );
    assert_eq!(
        with["energy_change"]["least"], with["energy_change"]["most"],
        "all are alike"
    );
    let front = &digest["fronts"][0];
    assert_eq!(front["kernel"]["name"], "vector_add");
    let least = outcomes
        .iter()
        .map(Outcome::energy_j)
        .fold(f64::INFINITY, f64::min);
    assert_eq!(front["points"][0]["values"][0], least);
    // Equal points are on the front together, as one.
    assert_eq!(front["points"][0]["alike"], pairs);
    // A row a supply, in `report.json`'s form.
    let answer = digest["answer"].as_array().unwrap();
    assert_eq!(answer.len(), pairs);
    assert_eq!(answer[0]["technique"], "filter_cache(entries=16)");
    assert_eq!(answer[0]["technique.filter_cache.entries"], 16);
    assert_eq!(answer[0]["energy_change"], with["energy_change"]["least"]);
    let rows = fs::read_to_string(scratch.path("results/answer.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + pairs);
    assert!(
        digest["scope"]["priced"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
}

/// The same text and the same files, and only those written that are missing.
fn a_later_report_reads_the_digest(scratch: &Scratch, text: &str) {
    let names = [
        "points.csv",
        "comparisons.csv",
        "digest.json",
        "report.html",
        "manifest.json",
    ];
    let files = || names.map(|name| fs::read(scratch.path("results").join(name)).unwrap());
    let before = files();
    let (again, said) = ok(scratch, &["report", "results"]);
    assert_eq!(again, text);
    assert!(said.contains("wrote digest.json, report.html in"), "{said}");
    assert!(files() == before);
    fs::remove_file(scratch.path("results/points.csv")).unwrap();
    let (_, said) = ok(scratch, &["report", "results"]);
    assert!(said.contains("points.csv, comparisons.csv"), "{said}");
    assert!(files() == before);
    // Other compromises are another digest.
    let (other, _) = ok(
        scratch,
        &[
            "report",
            "results",
            "--pareto",
            "area_m2,cycles",
            "--show",
            "kernels",
        ],
    );
    assert!(
        other.contains("area_m2") && !text.contains("area_m2"),
        "{other}"
    );
}

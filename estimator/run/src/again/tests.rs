use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Again, Counts};
use crate::diag::{Sink, render};
use crate::kept::manifest;
use crate::outcome::Outcome;
use crate::study::Catalogue;
use crate::{resolve_text_with, run_all};

const STUDY: &str = r#"
[study]
title = "again"
[gpu]
preset = "tesla-16sm"
node = "16nm"
[workloads]
kernels = ["vector_add", "bfs"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
[[technique]]
stack = [{ name = "power_gating" }, { name = "ecc" }]
[[structure]]
name = "own"
group = "front_end"
array = { words = 64, bits = 32, ports = "1rw" }
read = "icache.data.read"
"#;

fn names() -> Catalogue {
    Catalogue::shipped(Arc::new(()))
}

/// The outcomes of a study, run, and what was counted.
fn run(text: &str) -> (Vec<Outcome>, Option<Counts>) {
    let mut sink = Sink::default();
    let resolved = resolve_text_with("study.toml", text, Path::new(""), &names(), &mut sink);
    let resolved = resolved.unwrap_or_else(|| panic!("{}", render(&sink, false)));
    let outcomes = run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap();
    let manifest = manifest(&resolved, &sink.sources, Vec::new());
    let counts = Counts::of(&manifest, &outcomes, &names());
    (outcomes.iter().map(kept).collect(), counts)
}

/// An outcome as results keep it.
fn kept(outcome: &Outcome) -> Outcome {
    serde_json::from_str(&serde_json::to_string(outcome).unwrap()).unwrap()
}

fn again(counts: &Counts, text: &str) -> Result<Again, String> {
    let mut sink = Sink::default();
    let again = counts.price(text, &names(), &mut sink);
    again.ok_or_else(|| render(&sink, false))
}

fn priced(counts: &Counts, text: &str) -> Vec<Outcome> {
    match again(counts, text) {
        Ok(Again::Priced(_, outcomes)) => outcomes.iter().map(kept).collect(),
        Ok(Again::Missing(points)) => panic!("{points:?}"),
        Err(told) => panic!("{told}"),
    }
}

/// The counts as a page carries them.
fn written(counts: &Counts) -> Counts {
    serde_json::from_str(&serde_json::to_string(counts).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_study_that_counts_the_same_is_priced_as_if_it_were_run(
        node in prop::sample::select(vec!["45nm", "28nm", "16nm", "7nm", "3nm"]),
        flavour in prop::sample::select(vec!["hp", "lop", "lstp"]),
        kelvin in 300..390_u32,
        words in 16..2000_u32,
        two_nodes: bool,
    ) {
        let (_, counts) = run(STUDY);
        let counts = written(&counts.unwrap());
        let nodes = if two_nodes { format!("[\"{node}\", \"10nm\"]") } else { format!("\"{node}\"") };
        let operation = format!("node = {nodes}\nflavour = \"{flavour}\"\ntemperature = \"{kelvin} K\"");
        let other = STUDY.replace("node = \"16nm\"", &operation);
        let other = other.replace("words = 64", &format!("words = {words}"));
        match again(&counts, &other) {
            // Where its cells are slow, a filter cache takes another cycle, and that was not counted.
            Ok(Again::Missing(points)) => {
                prop_assert!(points.iter().all(|it| it.technique.contains("filter_cache")));
            }
            _ => prop_assert!(priced(&counts, &other) == run(&other).0),
        }
    }
}

#[test]
fn the_study_itself_comes_out_as_it_was() {
    let (ran, counts) = run(STUDY);
    assert!(priced(&written(&counts.unwrap()), STUDY) == ran);
}

#[test]
fn fewer_kernels_and_techniques_need_no_run() {
    let (ran, counts) = run(STUDY);
    let fewer = STUDY
        .replace("\"vector_add\", ", "")
        .replace("[16, 32]", "32");
    let again = priced(&counts.unwrap(), &fewer);
    assert!(again.len() < ran.len());
    assert!(again.iter().all(|one| ran.contains(one)));
}

#[test]
fn what_counts_otherwise_is_named() {
    let (_, counts) = run(STUDY);
    let other = STUDY.replace("[16, 32]", "[32, 64]");
    let Ok(Again::Missing(points)) = again(&counts.unwrap(), &other) else {
        panic!("64 entries were never counted");
    };
    let techniques: Vec<&str> = points.iter().map(|it| &*it.technique).collect();
    assert_eq!(techniques, ["filter_cache(entries=64)"; 2]);
}

#[test]
fn a_parameter_that_only_prices_hang_on_needs_no_run() {
    let (_, counts) = run(STUDY);
    let parameters = "[16, 32]\nentries_per_tag = [1, 4]\nentry_bits = 80";
    let other = STUDY.replace("[16, 32]", parameters);
    let again = priced(&counts.unwrap(), &other);
    assert!(again == run(&other).0);
    assert!(
        again
            .iter()
            .any(|it| it.point.technique.contains("entries_per_tag=4"))
    );
}

#[test]
fn another_kernel_and_following_bits_need_a_run() {
    let (_, counts) = run(STUDY);
    let counts = counts.unwrap();
    let other = STUDY.replace("\"vector_add\"", "\"hotspot\"");
    let told = again(&counts, &other).unwrap_err();
    insta::assert_snapshot!(told);
    let followed = format!("{STUDY}[reliability]\n");
    let told = again(&counts, &followed).unwrap_err();
    insta::assert_snapshot!("only_run", told);
    assert_eq!(run(&followed).1, None, "its counts hold no bits");
}

#[test]
fn watts_of_a_board_follow_the_technology() {
    let study = r#"
[study]
title = "board"
[gpu]
preset = "v100"
board = "v100"
node = "12nm"
[workloads]
kernels = ["vector_add"]
"#;
    let (ran, counts) = run(study);
    let counts = written(&counts.unwrap());
    assert!(priced(&counts, study) == ran);
    let other = study.replace("12nm", "7nm");
    assert!(priced(&counts, &other) == run(&other).0);
}

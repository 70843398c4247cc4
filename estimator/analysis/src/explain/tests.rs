//! Every figure of every point of a study recombines from the tree that explains it.

use std::path::Path;

use super::*;
use crate::diag::Sink;
use crate::report::metric::Metrics;
use crate::run::{resolve_text, run_all};

const STUDY: &str = r#"
[study]
title = "explained"
[gpu]
preset = "tesla-16sm"
node = "7nm"
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
[[technique]]
name = "power_gating"
"#;

fn results(study: &str) -> (Report, Recipes) {
    let mut sink = Sink::default();
    let resolved = resolve_text("study.toml", study, Path::new(""), &mut sink).unwrap();
    let outcomes = run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap();
    (
        Report::new("explained", &outcomes),
        Recipes::from(&resolved.plan).at_rest(&outcomes),
    )
}

/// Holds each node to its formula.
fn recombined(node: &Node, metric: &str) {
    if let Some(value) = node.evaluated() {
        assert!(
            (value - node.value).abs() <= 1e-9 * node.value.abs() || value == node.value,
            "{metric}: {} is {}, its inputs make {value}",
            node.name,
            node.value
        );
    }
    match &node.formula {
        Formula::Given | Formula::Technology { .. } | Formula::Method { .. } => {
            assert!(
                node.inputs.is_empty() && node.source.is_some(),
                "{metric}: {}",
                node.name
            );
        }
        Formula::Model { equation } => {
            assert!(!equation.is_empty() && node.source.is_some());
            let all = node.inputs.iter();
            // Beside values of the technology only the temperature that was found.
            let known = |input: &Node| {
                matches!(input.formula, Formula::Technology { .. })
                    || input.name == "junction temperature"
            };
            assert!(all.into_iter().all(known));
        }
        _ => {}
    }
    node.inputs
        .iter()
        .for_each(|input| recombined(input, metric));
}

#[test]
fn every_metric_of_every_point_recombines() {
    assert!(recombines(STUDY).len() > 150);
}

/// The same of points priced at the temperature of their own heat, with windows of time and bits followed.
#[test]
fn heat_peaks_and_failures_recombine() {
    let more = "[thermal]\nsink = \"2 K/W\"\n[peak_power]\nwindow = \"200 ns\"\n[reliability]\nstructures = [\"register_file\", \"shared_memory\"]\n";
    let explained = recombines(&format!("{STUDY}{more}"));
    let of = |name: &str| -> Vec<&Explanation> {
        let found = explained
            .iter()
            .filter(|explanation| explanation.metric == name);
        found.collect()
    };
    for name in [
        "junction_k",
        "loop_gain",
        "peak_power_w",
        "avf.register_file",
        "sdc_avf.register_file",
        "fit_sdc",
        "fit_unprotected",
    ] {
        assert_eq!(of(name).len(), 3, "{name}");
    }
    for junction in of("junction_k") {
        let terms = &junction.derivation.inputs;
        let residual = terms
            .iter()
            .find(|node| node.name == "residual of the fixed point")
            .unwrap();
        assert!(residual.value.abs() < 0.01, "{} K", residual.value);
        assert!(junction.value > 318.0 && terms[1].value > 0.0);
    }
    for leakage in of("leakage_w") {
        let nodes = leakage.derivation.all();
        assert!(nodes.iter().any(|node| node.name == "junction temperature"));
    }
    for failures in of("fit_unprotected") {
        // The rate is all that is uncertain, and stands behind every structure.
        assert_eq!(failures.causes.len(), 1);
        let relative = failures.sigma / failures.value;
        assert!(
            (relative - 1.0).abs() < 1e-9,
            "held below 16 nm: {relative}"
        );
    }
}

#[test]
fn ratios_that_techniques_report_are_derived_from_counts() {
    let explained = recombines(STUDY);
    let rate = explained
        .iter()
        .find(|explanation| explanation.metric == "filter_cache.hit_rate")
        .unwrap();
    assert_eq!(rate.derivation.formula, Formula::Quotient);
    let names: Vec<&str> = rate
        .derivation
        .inputs
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    assert!(names[0].contains("filter_cache_hits"), "{names:?}");
    assert!(names[1].contains("filter_cache.tag.read"), "{names:?}");
}

/// Everything that can be explained of a study's points, held to its formulas and to the report.
fn recombines(study: &str) -> Vec<Explanation> {
    let (report, recipes) = results(study);
    let metrics = Metrics::known().with_points(&report.points);
    let mut names: Vec<String> = metrics.iter().map(|m| m.name().to_owned()).collect();
    names.push("activity.fetches".to_owned());
    for figure in [
        "area_m2",
        "leakage_w",
        "gate_leakage_w",
        "delay_s",
        "dynamic_j",
        "leakage_j",
        "instances",
    ] {
        names.push(format!("structures.icache.data.{figure}"));
        names.push(format!("structures.register_file.{figure}"));
    }
    let wanted: Vec<_> = names
        .iter()
        .map(|name| metrics.find(name).unwrap())
        .collect();
    let mut explained = Vec::new();
    for number in 0..report.points.len() {
        let all = explain_all(&report, &recipes, None, &wanted, number)
            .unwrap_or_else(|diag| panic!("{}", diag.message));
        for (metric, explanation) in wanted.iter().zip(all) {
            let (name, value) = (
                metric.name(),
                metric.value(&report.points[number], report.comparison(number)),
            );
            assert_eq!(value.is_some(), explanation.is_some(), "{name}");
            let (Some(value), Some(explanation)) = (value, explanation) else {
                continue;
            };
            assert!(
                (explanation.value - value).abs() <= 1e-9 * value.abs(),
                "{name}"
            );
            recombined(&explanation.derivation, name);
            let leaves = explanation
                .derivation
                .all()
                .into_iter()
                .filter(|node| node.inputs.is_empty());
            let shares: f64 = leaves.filter_map(|leaf| leaf.variance_share).sum();
            assert!(
                explanation.sigma == 0.0 || (shares - 1.0).abs() < 1e-9,
                "{name}: shares of {shares}"
            );
            explained.push(explanation);
        }
    }
    explained
}

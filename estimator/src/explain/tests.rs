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
        Recipes::of(&resolved.plan),
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
            assert!(
                all.into_iter()
                    .all(|input| matches!(input.formula, Formula::Technology { .. }))
            );
        }
        _ => {}
    }
    node.inputs
        .iter()
        .for_each(|input| recombined(input, metric));
}

#[test]
fn every_metric_of_every_point_recombines() {
    let (report, recipes) = results(STUDY);
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
    let mut explained = 0;
    for number in 0..report.points.len() {
        let all = explain_all(&report, &recipes, None, (&wanted, number))
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
            explained += 1;
        }
    }
    assert!(explained > 150, "{explained}");
}

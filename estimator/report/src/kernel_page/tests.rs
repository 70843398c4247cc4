//! The page has everything that it was given, and nothing of it as markup.

use std::collections::BTreeMap;

use super::*;
use crate::sample;

const SPANS: [(f64, f64); 2] = [(0.0, 1e-6), (1e-6, 2e-6)];

fn line(number: u32, text: &str, dynamic_j: f64) -> Line {
    Line {
        number,
        text: text.to_owned(),
        source: Some("k.cu:7".to_owned()),
        issues: 32,
        dynamic_j,
    }
}

fn page() -> String {
    let outcome = sample::outcomes().swap_remove(0);
    let all: BTreeMap<String, f64> = outcome
        .structures
        .iter()
        .map(|it| (it.name.to_string(), it.dynamic_j))
        .collect();
    let watts = vec![vec![0.5; outcome.structures.len()]; 2];
    let layer = |name: &str, share: f64| Layer {
        name: name.to_owned(),
        values: vec![share; 2],
        is_idle: name == "idle",
    };
    let half = outcome.totals.dynamic_j / 2.0;
    let page = KernelPage {
        title: "matrix<T>, case small".to_owned(),
        lead: "On tesla-16sm.".to_owned(),
        outcome: &outcome,
        over_time: WatchedRun {
            spans: &SPANS,
            launches: vec![(0.0, "first".to_owned()), (1e-6, "second".to_owned())],
            watts: &watts,
            cycles: vec![layer("issue", 0.25), layer("idle", 0.75)],
            sms: vec![OfSm {
                sm: 0,
                watts: vec![1.0, 2.0],
            }],
        },
        classes: vec![("integer".to_owned(), all)],
        lines: vec![
            line(1, "add.s32 %r1, %r2, %r3; // a<b", half),
            line(2, "ret;", half),
        ],
        scope: Some("Counted, not priced: dram_reads.".to_owned()),
        version: "0",
    };
    page.html().unwrap()
}

#[test]
fn everything_is_there_and_escaped() {
    let html = page();
    for expected in [
        "<h1>matrix&lt;T&gt;, case small</h1>",
        "a&lt;b",
        "Counted, not priced: dram_reads.",
        "From instructions to structures",
        "integer to",
        "Power over time: mean",
        "first: from 0 s, for 1.000 us",
        "issue: mean 25.0%, at most 25.0%",
        "SM 0: mean 1.500 W, at most 2.000 W",
        "Priced area to scale",
        r#"<td class="e6">"#,
        "50.0%",
        "k.cu:7",
        "exportable();",
    ] {
        assert!(html.contains(expected), "{expected}");
    }
    assert!(!html.contains("a<b") && !html.contains("matrix<T>"));
}

/// Pictures are told apart by their names where a reader of the page hears them.
#[test]
fn names_in_the_page_are_unique() {
    let html = page();
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count > 10, "{count}");
}

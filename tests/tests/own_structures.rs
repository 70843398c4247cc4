//! Structures that a study describes itself: priced as a technique's are, kept apart by their content, and as the documentation says.

use std::fmt::Write as _;
use std::path::Path;

use warpwatt::diag::{Sink, render};
use warpwatt::outcome::{NoteKind, Outcome, PricedStructure};
use warpwatt::report::{Report, Table};
use warpwatt::run::{Resolved, resolve_text, run_all};

fn resolved(text: &str, sink: &mut Sink) -> Resolved {
    match resolve_text("study.toml", text, Path::new(""), sink) {
        Some(resolved) => resolved,
        None => panic!("{}", render(sink, false)),
    }
}

fn outcomes(text: &str) -> Vec<Outcome> {
    let mut sink = Sink::default();
    let resolved = resolved(text, &mut sink);
    run_all(&resolved, &sink.sources, Some(2), |_| ()).expect("it runs")
}

/// The keys of a study's points, in their order.
fn keys(text: &str) -> Vec<String> {
    let plan = resolved(text, &mut Sink::default()).plan;
    let points = plan.points.into_iter();
    points.map(|point| point.key.to_string()).collect()
}

const FILTER_CACHE: &str = r#"
[study]
title = "A filter cache by hand"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "7nm"]
[workloads]
kernels = ["vector_add"]
[[technique]]
name = "filter_cache"
"#;

/// The three structures of the technique, with its counters.
const BY_HAND: &str = r#"
[[structure]]
name = "hand.tag"
group = "front_end"
array = { kind = "tags", words = 16, bits = 28, ports = "1r1w" }
read = "filter_cache.tag.read"
write = "filter_cache.tag.write"
only_with = "filter_cache(entries=32)"
[[structure]]
name = "hand.data"
group = "front_end"
array = { kind = "data", capacity = "256B", line = "8B", tag_bits = 28, ports = "1r1w" }
read = "filter_cache.data.read"
write = "filter_cache.data.write"
only_with = "filter_cache"
[[structure]]
name = "hand.mux"
group = "front_end"
logic = { block = "mux", width = 64 }
read = "filter_cache.mux.read"
only_with = "filter_cache"
"#;

#[test]
fn what_a_technique_has_costs_the_same_by_hand_to_the_last_bit() {
    let outcomes = outcomes(&format!("{FILTER_CACHE}{BY_HAND}"));
    let mut compared = 0;
    for outcome in &outcomes {
        let hands = outcome.structures.iter();
        let hands: Vec<&PricedStructure> = hands.filter(|s| s.name.starts_with("hand.")).collect();
        if outcome.point.is_baseline() {
            assert!(hands.is_empty(), "only with the filter cache");
            continue;
        }
        for hand in hands {
            let name = hand.name.replace("hand", "filter_cache");
            let technique = outcome.structure(&name).expect("the technique has it");
            let renamed = PricedStructure {
                name: technique.name.clone(),
                ..hand.clone()
            };
            assert_eq!(&renamed, technique);
            assert!(hand.dynamic_j > 0.0 && hand.leakage_j > 0.0);
            compared += 1;
        }
    }
    assert_eq!(compared, 6, "three structures at two nodes");
}

#[test]
fn structures_are_in_comparisons_and_in_the_notes() {
    let text = format!("{FILTER_CACHE}{BY_HAND}");
    let outcomes = outcomes(&text);
    let technique = &outcomes[1];
    let notes = technique.notes.iter();
    let own = notes.filter(|note| note.kind == NoteKind::Structure);
    assert_eq!(own.count(), 3);
    let [report, plain] = [&text, FILTER_CACHE].map(|text| {
        let outcomes = self::outcomes(text);
        Report::new("x", &outcomes)
    });
    let area = |report: &Report| {
        let text = report.sheet(Table::Comparisons).unwrap().csv();
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let column = rows
            .headers()
            .unwrap()
            .iter()
            .position(|name| name == "front_end_area_overhead")
            .unwrap();
        let row = rows.records().next().unwrap().unwrap();
        row[column].parse::<f64>().unwrap()
    };
    let ratio = area(&report) / area(&plain);
    assert!((ratio - 2.0).abs() < 1e-12, "twice the structures: {ratio}");
}

#[test]
fn only_the_points_that_have_a_structure_change_with_it() {
    let plain = keys(FILTER_CACHE);
    let with = keys(&format!("{FILTER_CACHE}{BY_HAND}"));
    let other = BY_HAND.replace("words = 16", "words = 32");
    let other = keys(&format!("{FILTER_CACHE}{other}"));
    for number in 0..plain.len() {
        let baseline = number % 2 == 0;
        assert_eq!(plain[number] == with[number], baseline, "{number}");
        assert_eq!(with[number] == other[number], baseline, "{number}");
    }
}

/// What the baseline has too is no overhead; without techniques a configuration of its own has what the baseline has not.
#[test]
fn the_baseline_has_a_structure_only_if_the_study_says_so() {
    let head = FILTER_CACHE.replace("[\"32nm\", \"7nm\"]", "\"7nm\"");
    let table = "[[structure]]\nname = \"table\"\narray = { words = 4096, bits = 96 }\nread = \"warp_instructions\"\n";
    let head_alone = head.split("[[technique]]").next().unwrap();
    let answer = |text: &str| {
        let outcomes = outcomes(text);
        let has: Vec<(String, bool)> = outcomes
            .iter()
            .map(|it| {
                (
                    it.point.technique.to_string(),
                    it.structure("table").is_some(),
                )
            })
            .collect();
        let answers = Report::new("x", &outcomes).answer();
        let answer = answers.into_iter().next();
        (has, answer.map(|it| it.area_change.unwrap()))
    };
    let filter = "filter_cache(entries=32)".to_owned();
    let baseline = "baseline".to_owned();
    let (has, more) = answer(&format!("{head}{table}"));
    assert_eq!(has, [(baseline.clone(), false), (filter.clone(), true)]);
    let (has, less) = answer(&format!("{head}{table}baseline = true\n"));
    assert_eq!(has, [(baseline.clone(), true), (filter, true)]);
    assert!(more > less, "{more:?} {less:?}");
    let (has, alone) = answer(&format!("{head_alone}{table}"));
    assert_eq!(has, [(baseline, false), ("structures".to_owned(), true)]);
    assert!(alone > Some(0.0), "{alone:?}");
}

/// Each size costs what it costs in a study of its own, and what is the same in all is timed once.
#[test]
fn sizes_are_points_that_differ_in_nothing_else() {
    let head = FILTER_CACHE.replace("[\"32nm\", \"7nm\"]", "\"7nm\"");
    let of = |words: &str| {
        format!(
            "{head}[[structure]]\nname = \"table\"\narray = {{ words = {words}, bits = 96 }}\nread = \"warp_instructions\"\n"
        )
    };
    let swept = outcomes(&of("[32, 64]"));
    let labels: Vec<&str> = swept.iter().map(|it| &it.point.technique[..]).collect();
    let filter = "filter_cache(entries=32) + structure.table(words=";
    assert_eq!(
        labels,
        ["baseline", &format!("{filter}32)"), &format!("{filter}64)")]
    );
    for (place, words) in [(1, "32"), (2, "64")] {
        let alone = outcomes(&of(words));
        assert_eq!(
            swept[place].structures, alone[1].structures,
            "{words} words"
        );
        assert_eq!(swept[0].structures, alone[0].structures);
    }
    let resolved = resolved(&of("[32, 64]"), &mut Sink::default());
    assert_eq!(
        resolved.plan.timings.len(),
        2,
        "with the technique and without"
    );
    let report = Report::new("x", &swept);
    let text = report.sheet(Table::Points).unwrap().csv();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let mut names = rows.headers().unwrap().iter();
    let column = names.position(|name| name == "structure.table.words");
    let column = column.expect("its sizes are a column");
    let cells: Vec<String> = rows
        .records()
        .map(|row| row.unwrap()[column].to_owned())
        .collect();
    assert_eq!(cells, ["", "32", "64"]);
    let area: Vec<f64> = report
        .answer()
        .iter()
        .filter_map(|row| row.area_change)
        .collect();
    assert!(area.len() == 2 && area[0] < area[1], "{area:?}");
}

#[test]
fn a_count_that_is_none_is_an_error_with_the_kernel() {
    let text = format!(
        "{FILTER_CACHE}[[structure]]\nname = \"odd\"\narray = {{ words = 16, bits = 8 }}\nread = \"warp_instructions / fp64.read\"\n"
    );
    let mut sink = Sink::default();
    let resolved = resolved(&text, &mut sink);
    let diag = run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap_err();
    assert!(
        diag.message.contains(
            "`odd`, `read = \"warp_instructions / fp64.read\"`, has no count here: `fp64.read` is zero"
        ),
        "{}",
        diag.message
    );
}

fn faults(text: &str) -> String {
    let mut sink = Sink::default();
    assert!(
        resolve_text("study.toml", text, Path::new(""), &mut sink).is_none(),
        "it must be refused"
    );
    render(&sink, false)
}

#[test]
fn what_cannot_be_built_or_priced_or_found_is_said_before_anything_runs() {
    let said = faults(&format!(
        "{FILTER_CACHE}{}",
        r#"
[[structure]]
name = "shared_memory"
array = { words = 16, bits = 8 }
read = "cycles"
search = "cycles"
[[structure]]
name = "odd_banks"
array = { words = 16, bits = 8, banks = 3 }
read = "cycles"
only_with = ["filter_cash", "filter_cache(entries=16)"]
"#
    ));
    insta::assert_snapshot!(said);
}

/// The example of the page and its table.
#[test]
fn the_example_of_the_page_is_what_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/own-structures.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let study = page.split("```toml\n").nth(1).unwrap();
    let study = study.split("```").next().unwrap();
    let mut table = String::new();
    for outcome in outcomes(study) {
        let own = ["reuse_table", "filter_cache_code"];
        for structure in own.iter().filter_map(|name| outcome.structure(name)) {
            let events: u64 = structure
                .actions
                .iter()
                .map(|(_, action)| action.count)
                .sum();
            writeln!(
                table,
                "| {} | {} | `{}` | {events} | {:.1} nJ | {:.1} nJ | {:.0} um2 |",
                outcome.point.kernel.name,
                outcome.point.technique,
                structure.name,
                1e9 * structure.dynamic_j,
                1e9 * structure.leakage_j,
                1e12 * structure.total_area_m2(),
            )
            .unwrap();
        }
    }
    let begin = "| --- | --- | --- | --- | --- | --- | --- |\n";
    let start = page.find(begin).expect("the page has its table") + begin.len();
    let stop = page.find("\n<!-- end of example -->").unwrap();
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let new = format!("{}{table}{}", &page[..start], &page[stop..]);
        std::fs::write(&path, new).unwrap();
    } else {
        assert_eq!(&page[start..stop], table);
    }
}

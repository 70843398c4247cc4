//! What the renderings look like, on three hand-made kernels.

use std::sync::Arc;

use super::sample;
use super::{Detail, Details, Report, Table, beside};

fn report() -> Report {
    Report::new("Filter cache, by hand", &sample::outcomes())
}

fn all() -> Details {
    Details::of(Detail::ALL)
}

#[test]
fn terminal_table() {
    insta::assert_snapshot!(report().terminal(200, &all()));
}

#[test]
fn a_narrow_terminal_gets_several_tables_that_fit() {
    let text = report().terminal(80, &all());
    let widest = text
        .lines()
        .filter(|line| line.contains(['│', '┌', '╞', '└']))
        .map(|line| line.chars().count())
        .max();
    assert!(widest.is_some_and(|widest| widest <= 80), "{text}");
    assert!(text.matches("kernel").count() >= 2);
}

#[test]
fn csv() {
    let report = report();
    insta::assert_snapshot!(format!(
        "{}\n{}",
        report.sheet(Table::Points).unwrap().csv(),
        report.sheet(Table::Comparisons).unwrap().csv()
    ));
}

#[test]
fn csv_rows_have_as_many_fields_as_the_header() {
    let text = report().sheet(Table::Comparisons).unwrap().csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    // The reader refuses rows of another length.
    assert_eq!(reader.records().filter(|row| row.is_ok()).count(), 3);
}

#[test]
fn json() {
    let mut first = report();
    first.points.truncate(1);
    first.blocks[0].comparisons.truncate(1);
    insta::assert_snapshot!(first.json().unwrap());
}

#[test]
fn points_read_back_from_json_as_they_were() {
    let report = report();
    let document: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let points: Vec<crate::outcome::Outcome> =
        serde_json::from_value(document["points"].clone()).unwrap();
    assert_eq!(points, report.points);
}

#[test]
fn a_study_without_a_technique_shows_its_points() {
    let baselines: Vec<_> = sample::outcomes()
        .into_iter()
        .filter(|outcome| outcome.point.is_baseline())
        .collect();
    let text = Report::new("plain", &baselines).terminal(100, &Details::default());
    assert!(
        text.contains("matrix_mul") && text.contains("300,000"),
        "{text}"
    );
}

#[test]
fn the_page_is_self_contained_and_has_its_charts() {
    let page = report().html().unwrap();
    assert!(!page.contains("<script") && !page.contains("http://fonts") && !page.contains("src="));
    // The change, kernel by kernel, the chip without and with, the flow of joules, energy by structure.
    assert_eq!(page.matches("<svg").count(), 6);
    assert_eq!(page.matches("<figcaption>").count(), 6);
    assert!(!page.contains("The paper's values"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
    assert!(page.matches("scope=\"row\"").count() >= 3 && page.contains("scope=\"col\""));
    assert!(page.contains("96 published, 31 scaled, 4 assumed"));
}

#[test]
fn without_a_technique_the_page_shows_where_energy_goes() {
    let mut points = sample::outcomes();
    points.retain(|outcome| outcome.point.is_baseline());
    for outcome in &mut points {
        Arc::make_mut(&mut outcome.activity).add("int_add.read", 1000);
        Arc::make_mut(&mut outcome.activity).add("load_bytes", 500);
    }
    let page = Report::new("plain", &points).html().unwrap();
    for id in ["die-1", "flow", "roofline"] {
        assert!(page.contains(&format!("id=\"{id}-title\"")), "no {id}");
    }
    assert!(page.contains("Where the energy goes") && !page.contains("die-2"));
    let one = Report::new("one run", &points[..1]).html().unwrap();
    assert!(one.contains("flow-title") && !one.contains("roofline-title"));
}

#[test]
fn a_paper_that_is_asked_for_is_on_the_page() {
    let paper = beside::load(Some(beside::FILTER_CACHE));
    let page = Report::beside("Beside", &sample::outcomes(), paper)
        .html()
        .unwrap();
    assert_eq!(page.matches("<svg").count(), 6 + 4);
    assert!(page.contains("Beside the paper") && page.contains("The paper's values"));
}

#[test]
fn every_element_of_the_page_is_closed() {
    let paper = beside::load(Some(beside::FILTER_CACHE));
    let page = Report::beside("Beside", &sample::outcomes(), paper)
        .html()
        .unwrap();
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').expect("a tag ends");
        let name = inside
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap();
        let void = ["!DOCTYPE", "meta", "br", "hr"].contains(&name) || inside.ends_with('/');
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closing {name}");
        } else if !void {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_escapes_what_it_is_given() {
    let mut points = super::sample::outcomes();
    for outcome in &mut points {
        Arc::make_mut(&mut outcome.point.kernel).name = "<script>alert(1)</script>".to_owned();
    }
    let page = Report::new("a <b> & c", &points).html().unwrap();
    assert!(!page.contains("<script>") && page.contains("a &lt;b&gt; &amp; c"));
}

#[test]
fn the_same_points_give_the_same_bytes() {
    let (first, second) = (report(), report());
    assert_eq!(first.html().unwrap(), second.html().unwrap());
    assert_eq!(first.json().unwrap(), second.json().unwrap());
}

/// Accesses of physical registers have a picture of their own, with words for those who do not see it, and stand in the JSON document.
#[test]
fn registers_have_a_heat_map_where_they_are_known() {
    let mut points = super::sample::outcomes();
    for outcome in points
        .iter_mut()
        .filter(|outcome| !outcome.point.is_baseline())
    {
        outcome.register_accesses = Some(
            crate::outcome::RegisterAccesses {
                banks: 4,
                counts: (0..64).collect(),
            }
            .into(),
        );
    }
    let report = Report::new("by hand", &points);
    let page = report.html().unwrap();
    assert_eq!(page.matches("<svg").count(), 7);
    assert!(page.contains("most 63 accesses, 1 registers none"));
    assert!(page.contains("class=\"h8\"") && page.contains(".chart .h0 {"));
    let document: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    let point = &document["points"][1]["register_accesses"];
    assert_eq!(
        (&point["banks"], &point["counts"][9]),
        (&4.into(), &9.into())
    );
    assert!(document["points"][0].get("register_accesses").is_none());
}

/// Writes the page of the hand-made kernels for a look at it: `WARPWATT_PAGE=page.html cargo test`.
#[test]
fn page_for_a_look() {
    if let Some(path) = std::env::var_os("WARPWATT_PAGE") {
        std::fs::write(path, report().html().unwrap()).unwrap();
    }
}

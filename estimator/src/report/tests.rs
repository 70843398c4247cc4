//! What the renderings look like, on three hand-made kernels.

use super::Report;
use super::sample;

fn report() -> Report {
    Report::new("Filter cache, by hand", &sample::outcomes())
}

#[test]
fn terminal_table() {
    insta::assert_snapshot!(report().table(200));
}

#[test]
fn a_narrow_terminal_gets_several_tables_that_fit() {
    let text = report().table(80);
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
        report.points_csv(),
        report.comparisons_csv()
    ));
}

#[test]
fn csv_rows_have_as_many_fields_as_the_header() {
    let text = report().comparisons_csv();
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
    let text = Report::new("plain", &baselines).table(100);
    assert!(
        text.contains("matrix_mul") && text.contains("300,000"),
        "{text}"
    );
}

use approx::assert_relative_eq;
use serde_json::json;

use super::*;
use crate::sample;

fn kernel(name: &str, cycles: u64, dynamic_j: f64) -> Spent {
    let document = json!({
        "kernel": name, "case": "default", "preset": "v100", "cycles": cycles,
        "energy_j": dynamic_j + 1.0, "time_s": (dynamic_j + 1.0) / 4.0, "left": "unread",
        "structures": [
            {"name": "l2", "dynamic_j": dynamic_j, "leakage_j": 0.25},
            {"name": "rf", "dynamic_j": 0.5, "leakage_j": 0.25},
        ],
    });
    read(&document).unwrap().remove(0)
}

#[test]
fn a_kernel_is_compared_with_itself() {
    let before = [kernel("a", 100, 2.0), kernel("b", 50, 1.0)];
    let after = [kernel("c", 1, 1.0), kernel("a", 110, 1.0)];
    let difference = Difference::between(&before, &after);
    assert_eq!(difference.only_before, ["b default · v100"]);
    assert_eq!(difference.only_after, ["c default · v100"]);
    let row = &difference.rows[0];
    assert_eq!(
        (row.kernel.as_str(), difference.rows.len()),
        ("a default", 1)
    );
    // 3 J before, 2 J after, each at 4 W.
    assert_relative_eq!(row.energy_j.unwrap().change.unwrap(), -1.0 / 3.0);
    assert_relative_eq!(row.time_s.unwrap().before, 0.75);
    assert_relative_eq!(row.cycles.unwrap().change.unwrap(), 0.1);
    let moved = [Moved {
        structure: "l2".to_owned(),
        change_j: -1.0,
    }];
    assert_eq!(row.most, moved);
    assert_eq!(row.energy_change_halfwidth, None);
    assert!(difference.all.is_none());
    // Time went down with the energy, but it is what the report has a clock for.
    assert_eq!(difference.beyond(0.0).count(), 0);
}

#[test]
fn what_both_have_is_summed() {
    let before = [kernel("a", 100, 2.0), kernel("b", 50, 1.0)];
    let after = [kernel("a", 100, 3.0), kernel("b", 50, 1.0)];
    let difference = Difference::between(&before, &after);
    let all = difference.all.as_ref().unwrap();
    assert_relative_eq!(all.energy_j.unwrap().before, 5.0);
    assert_relative_eq!(all.energy_j.unwrap().after, 6.0);
    assert_relative_eq!(all.power_w.unwrap().after, 4.0);
    let beyond: Vec<&str> = difference
        .beyond(0.1)
        .map(|row| row.kernel.as_str())
        .collect();
    assert_eq!(beyond, ["a default"]);
    assert_eq!(difference.beyond(0.5).count(), 0);
}

#[test]
fn two_single_kernels_are_compared_whatever_they_are_called() {
    let difference = Difference::between(&[kernel("a", 1, 1.0)], &[kernel("b", 1, 1.0)]);
    assert_eq!(difference.rows[0].kernel, "a default → b default");
}

/// Errors that both have in common cancel: the same structure before and after is known exactly, though its energy is not.
#[test]
fn points_know_how_sure_their_change_is() {
    let mut points = sample::outcomes();
    let before: Vec<Spent> = points.iter().map(spent).collect();
    let same = Difference::between(&before, &before);
    assert!(
        same.rows
            .iter()
            .all(|row| row.energy_change_halfwidth == Some(0.0))
    );
    let structure = &mut points[0].structures[0];
    structure.dynamic_j *= 2.0;
    let after: Vec<Spent> = points.iter().map(spent).collect();
    let row = &Difference::between(&before, &after).rows[0];
    assert!(row.energy_change_halfwidth.unwrap() > 0.0);
    assert!(row.energy_j.unwrap().change.unwrap() > 0.0);
    // The same, read from what the report writes.
    let report = crate::Report::new("sample", &points).json().unwrap();
    let document = serde_json::from_str(&report).unwrap();
    assert_eq!(read(&document).unwrap(), after);
}

#[test]
fn both_renderings_have_every_row() {
    let before = [kernel("a|b", 100, 2.0), kernel("c", 50, 1.0)];
    let after = [kernel("a|b", 100, 3.0), kernel("c", 50, 1.0)];
    let difference = Difference::between(&before, &after);
    insta::assert_snapshot!("text", difference.text());
    insta::assert_snapshot!("markdown", difference.markdown());
}

#[test]
fn what_is_no_report_is_said() {
    assert!(read(&json!({"a": 1})).unwrap_err().contains("no report"));
    let another = read(&json!({"kernel": "a", "cycles": "many"})).unwrap_err();
    assert!(another.contains("another version"), "{another}");
}

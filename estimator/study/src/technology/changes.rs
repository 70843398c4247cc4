//! What a user's node changes of the one that it extends, for tables, programs and notes.

use serde_json::{Value, json};
use warpwatt_techlib::{Override, OwnNode};

use super::how;
use crate::outcome::{Note, NoteKind};

/// A row a change: name, the library's value, the user's, its uncertainty, its source, how it was obtained.
pub fn changes_table(node: &OwnNode) -> Vec<[String; 6]> {
    let values = node.overrides().iter().map(|change| {
        [
            change.name.clone(),
            change.before.clone(),
            change.value.clone(),
            percent(change.uncertainty),
            change.source.clone(),
            obtained(change),
        ]
    });
    let ranges = node.ranges().map(|(flavour, (low, high))| {
        let range = format!("{low} to {high}");
        let nothing = String::new;
        [
            format!("{flavour}, range of supplies"),
            nothing(),
            range,
            nothing(),
            nothing(),
            nothing(),
        ]
    });
    values.chain(ranges).collect()
}

/// The same for programs.
pub fn changes_json(node: &OwnNode) -> Value {
    let changes = node.overrides().iter().map(|change| {
        let (how, detail) = how(&change.how);
        json!({
            "name": change.name, "before": change.before, "value": change.value, "uncertainty": change.uncertainty, "source": change.source,
            "how": how, "detail": detail,
        })
    });
    let ranges = node.ranges().map(|(flavour, (low, high))| {
        json!({ "flavour": flavour.name(), "vdd_range_v": [low.si(), high.si()] })
    });
    json!({ "extends": node.base(), "overrides": changes.collect::<Vec<_>>(), "ranges": ranges.collect::<Vec<_>>() })
}

/// What a reader of results must know of a node that is the user's own.
pub fn notes(node: &OwnNode) -> Vec<Note> {
    let note = |text: String| Note {
        kind: NoteKind::OwnTechnology,
        text: format!("`{}`: {text}", node.name()).into(),
    };
    let values = node.overrides().iter().map(|change| {
        note(format!(
            "{} is {} instead of {} of {}, {} ({}; {})",
            change.name,
            change.value,
            change.before,
            node.base(),
            percent(change.uncertainty),
            obtained(change),
            change.source
        ))
    });
    let ranges = node.ranges().map(|(flavour, (low, high))| {
        note(format!(
            "the laws of {flavour} are taken to hold from {low} to {high}"
        ))
    });
    let all: Vec<Note> = values.chain(ranges).collect();
    if all.is_empty() {
        return vec![note(format!("it changes nothing of {}", node.base()))];
    }
    all
}

fn obtained(change: &Override) -> String {
    match how(&change.how) {
        (how, Some(detail)) => format!("{how}: {detail}"),
        (how, None) => how.to_owned(),
    }
}

fn percent(uncertainty: f64) -> String {
    format!("{:.0} %", 100.0 * uncertainty)
}

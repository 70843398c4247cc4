//! `zip`: axes that walk together, the first value of one with the first of the others, and so on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::de::DeValue;

use crate::axes::Noted;
use crate::diag::Diag;
use crate::reader::{Fault, Placed, Reader, Section, text};

const EXAMPLE: &str = "zip = [[\"gpu.node\", \"gpu.vdd\"]]";

/// The groups of axes; a group alone needs no outer brackets.
pub(super) fn read(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<Vec<Placed<String>>> {
    let Some(value) = section.get("zip") else {
        return Vec::new();
    };
    let groups = match value.get_ref() {
        DeValue::Array(items) if items.iter().all(|item| item.get_ref().is_array()) => {
            items.iter().collect()
        }
        _ => vec![value],
    };
    let mut zips: Vec<Vec<Placed<String>>> = Vec::new();
    let mut placed: BTreeMap<String, Range<usize>> = BTreeMap::new();
    for group in groups {
        let named = reader.axis_of("zip", group, |item| text("an axis", item, EXAMPLE));
        let Some(named) = named else {
            continue;
        };
        if named.len() < 2 {
            let fault = Fault {
                code: "study::zip",
                message: format!("`{}` walks with nothing", named[0].value),
                label: "one axis alone".to_owned(),
                help: Some(format!("name two axes or more, `{EXAMPLE}`")),
            };
            reader.fault(group.span(), fault);
        }
        for axis in &named {
            if let Some(first) = placed.get(&axis.value) {
                let diag = Diag::error(
                    "study::zip",
                    format!("`{}` walks with two groups", axis.value),
                )
                .at(reader.source, axis.range.clone(), "again here")
                .at(reader.source, first.clone(), "first here")
                .help("put all that walk together into one group");
                reader.sink.push(diag);
            }
        }
        for axis in &named {
            let first = placed.entry(axis.value.clone());
            first.or_insert_with(|| axis.range.clone());
        }
        zips.push(named);
    }
    zips
}

/// All axes of a group must have as many values as its first, or all must be drawn.
pub(super) fn check(reader: &mut Reader<'_>, zip: &[Placed<String>], axes: &[Noted]) {
    let names: BTreeSet<&str> = zip.iter().map(|name| name.value.as_str()).collect();
    let mut members = axes
        .iter()
        .filter(|axis| names.contains(axis.name.as_str()));
    let Some(first) = members.next() else {
        return;
    };
    for other in members.filter(|axis| axis.written != first.written) {
        let values = |axis: &Noted| match axis.written {
            Some(1) => "1 value".to_owned(),
            Some(count) => format!("{count} values"),
            None => "a range without steps".to_owned(),
        };
        let message = format!(
            "`{}` and `{}` walk together, but have {} and {}",
            first.name,
            other.name,
            values(first),
            values(other)
        );
        let diag = Diag::error("study::zip", message)
            .at(reader.source, other.range.clone(), values(other))
            .at(reader.source, first.range.clone(), values(first))
            .help("give each as many values as the other, or take one of them out of `zip`");
        reader.sink.push(diag);
    }
}

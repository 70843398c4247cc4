//! One `[[value]]` of a user's node file.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{OwnNode, Report, known_keys, text_of};
use crate::library::file::{Method, Value};
use crate::library::schema;

/// A relative uncertainty above this is a slip: three factors of e.
const MOST_UNCERTAIN: f64 = 3.0;

/// Reads one.
pub(super) fn read(
    report: &mut Report<'_>,
    (table, place): (&DeTable<'_>, Range<usize>),
    node: &mut OwnNode,
    places: &mut BTreeMap<String, Range<usize>>,
) {
    let before = report.faults.len();
    known_keys(
        report,
        table,
        &["name", "value", "source", "how", "uncertainty"],
        "a value",
    );
    let mut need = |key: &str, example: &str| {
        if table.get(key).is_none() {
            let message = format!("this value has no `{key}`");
            report.push(
                place.clone(),
                "tech::missing_key",
                message,
                &format!("write for example `{example}`"),
            );
        }
        text_of(report, table, key)
    };
    let name = need("name", "name = \"hp.i_on_n\"");
    let text = need("value", "value = \"1.3e-3 A/um\"");
    let source = need(
        "source",
        "source = \"ring oscillators of our test chip, lot 7\"",
    );
    let how = method(report, table, &place);
    let uncertainty = uncertainty(report, table, &place);
    let Some(name) = name else { return };
    let at = span(table, "name", &place);
    if !node.file.has(&name) {
        let candidates = node.file.names().map(str::to_owned).collect();
        report.unknown(
            at,
            format!("`{}` has no value `{name}`", node.base),
            candidates,
        );
        return;
    }
    if places.insert(name.clone(), at.clone()).is_some() {
        report.push(
            at,
            "tech::twice",
            format!("`{name}` stands there twice"),
            "remove one of them",
        );
    }
    if let Some(Err(problem)) = text.as_deref().map(|text| schema::check(&name, text)) {
        report.push(
            span(table, "value", &place),
            "tech::wrong_value",
            problem,
            "",
        );
    }
    if report.faults.len() > before {
        return;
    }
    if let (Some(value), Some(source), Some(how), Some(uncertainty)) =
        (text, source, how, uncertainty)
    {
        node.change(Value {
            name,
            value,
            source,
            how,
            uncertainty,
        });
    }
}

fn span(table: &DeTable<'_>, key: &str, otherwise: &Range<usize>) -> Range<usize> {
    table.get(key).map_or(otherwise.clone(), Spanned::span)
}

fn uncertainty(report: &mut Report<'_>, table: &DeTable<'_>, place: &Range<usize>) -> Option<f64> {
    let entry = table.get("uncertainty");
    let number = entry.and_then(|entry| match entry.get_ref() {
        DeValue::Float(number) => number.as_str().replace('_', "").parse::<f64>().ok(),
        DeValue::Integer(number) => number.as_str().replace('_', "").parse::<f64>().ok(),
        _ => None,
    });
    match number {
        Some(number) if number > 0.0 && number <= MOST_UNCERTAIN => Some(number),
        _ => {
            let message =
                "this value needs an `uncertainty`: relative, one sigma, above 0 and at most 3";
            let help = "write for example `uncertainty = 0.1` for 10 %";
            report.push(
                span(table, "uncertainty", place),
                "tech::uncertainty",
                message.to_owned(),
                help,
            );
            None
        }
    }
}

/// `how = "measured"` or `how = { scaled = "by which rule" }`.
fn method(report: &mut Report<'_>, table: &DeTable<'_>, place: &Range<usize>) -> Option<Method> {
    let found = table.get("how").and_then(|entry| match entry.get_ref() {
        DeValue::String(text) => match text.as_ref() {
            "published" => Some(Method::Published),
            "measured" => Some(Method::Measured),
            _ => None,
        },
        DeValue::Table(inner) => {
            let (key, reason) = inner.iter().next()?;
            let reason = reason.get_ref().as_str()?.trim().to_owned();
            let only = inner.len() == 1 && !reason.is_empty();
            match key.get_ref().as_ref() {
                "scaled" if only => Some(Method::Scaled(reason)),
                "fitted" if only => Some(Method::Fitted(reason)),
                "assumed" if only => Some(Method::Assumed(reason)),
                _ => None,
            }
        }
        _ => None,
    });
    if found.is_none() {
        let message = "this value needs a `how`: the way it was obtained";
        let help = "write `how = \"published\"`, `\"measured\"`, `{ scaled = \"by which rule\" }`, `{ fitted = \"by which script\" }` or `{ assumed = \"why\" }`";
        report.push(
            span(table, "how", place),
            "tech::how",
            message.to_owned(),
            help,
        );
    }
    found
}

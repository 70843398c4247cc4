//! How often something happens to a structure: an expression over the counters of the study.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::alone;
use crate::Catalogue;
use crate::expression::Expression;
use crate::reader::{Fault, Placed, Reader, text};

/// An expression over counters.
pub(super) fn read(
    reader: &mut Reader<'_>,
    value: &Spanned<DeValue<'_>>,
    action: &str,
    catalogue: &Catalogue,
    counters: &[&str],
) -> Option<Placed<Expression>> {
    let example = format!("{action} = \"2 * icache.tag.read\"");
    let text = match text(&format!("`{action}`"), value.get_ref(), &example) {
        Ok(text) => text,
        Err(fault) => {
            reader.fault(value.span(), alone(value.get_ref(), fault));
            return None;
        }
    };
    let mut faults = Vec::new();
    let expression = Expression::parse(&text);
    let expression = expression.map_err(|fault| faults.push(fault)).ok();
    if let Some(expression) = &expression {
        let mut unknown = expression.unknown("counter", counters.iter().copied());
        for fault in &mut unknown {
            let name = text.get(fault.range.clone()).unwrap_or_default();
            let mut others = catalogue.counters.iter();
            let of = others.find(|counter| counter.name == name);
            fault.help = match of.and_then(|counter| counter.technique.as_ref()) {
                Some(technique) => Some(format!(
                    "`{name}` is a counter of `{technique}`, with which the study compares nothing"
                )),
                None => fault.help.take().filter(|help| help.starts_with("did you")),
            };
            let all = "`warpwatt list counters` shows them all";
            fault.help = Some(match fault.help.take() {
                Some(help) => format!("{help} ({all})"),
                None => all.to_owned(),
            });
        }
        faults.extend(unknown);
    }
    let whole = faults.is_empty();
    for fault in faults {
        let range = inside(reader, value.span(), &text, fault.range);
        let fault = Fault {
            code: "study::expression",
            message: format!("`{action}`: {}", fault.message),
            label: String::new(),
            help: fault.help,
        };
        reader.fault(range, fault);
    }
    expression
        .filter(|_| whole)
        .map(|expression| Placed::new(expression, value.span()))
}

/// A part of a text value in the file, if the value stands there as it is; else the whole of it.
fn inside(reader: &Reader<'_>, span: Range<usize>, text: &str, part: Range<usize>) -> Range<usize> {
    let written = reader.sink.sources.text(reader.source);
    let written = written.get(span.clone()).unwrap_or_default();
    match written.find(text) {
        Some(start) if !text.is_empty() => {
            span.start + start + part.start..span.start + start + part.end
        }
        _ => span,
    }
}

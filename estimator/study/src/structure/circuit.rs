//! What a structure is made of: an array or a block of logic, by the options of `warpwatt array` and `warpwatt logic`.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use warpwatt_circuit::Spec;
use warpwatt_circuit::registry::{self, SettingError};

use crate::array::{Refusal, Request};
use crate::diag::did_you_mean;
use crate::reader::known;
use crate::reader::{Fault, Placed, Reader, Section, plain, text};

/// `array` or `logic`.
///
/// What is wrong with it goes to the reader.
pub fn read(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Placed<Spec>> {
    match (section.get("array"), section.get("logic")) {
        (Some(value), None) => {
            let table = reader.as_section("structure.array".to_owned(), value)?;
            let options = options(reader, &table)?;
            let pairs: Vec<(&str, &str)> = options
                .iter()
                .map(|(key, _, text)| (*key, text.as_str()))
                .collect();
            match Request::structure(&pairs) {
                Ok(spec) => Some(Placed::new(spec, value.span())),
                Err(refusals) => {
                    for refusal in refusals {
                        array_fault(reader, &table, refusal);
                    }
                    None
                }
            }
        }
        (None, Some(value)) => {
            let table = reader.as_section("structure.logic".to_owned(), value)?;
            Some(Placed::new(read_logic(reader, &table)?, value.span()))
        }
        (array, logic) => {
            let fault = Fault {
                code: "study::missing_key",
                message: "a structure is an `array` or `logic`, not both or neither".to_owned(),
                label: String::new(),
                help: Some("write for example `array = { words = 64, bits = 96, ports = \"1r1w\" }` or `logic = { block = \"secded\", width = 32 }`; the keys are the options of `warpwatt array` and `warpwatt logic`".to_owned()),
            };
            let place = logic.or(array).map_or(section.range.clone(), Spanned::span);
            reader.fault(place, fault);
            None
        }
    }
}

/// The entries of a table as texts: key, its place, value.
fn options<'d>(
    reader: &mut Reader<'_>,
    table: &Section<'d>,
) -> Option<Vec<(&'d str, Range<usize>, String)>> {
    let mut whole = true;
    let mut options = Vec::new();
    for (key, value) in table.in_file_order() {
        let text = match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(_) => plain(value.get_ref()).ok().map(|number| number.to_string()),
            _ => None,
        };
        match text {
            Some(text) => options.push((key.get_ref().as_ref(), key.span(), text)),
            None => {
                whole = false;
                let fault = Fault {
                    code: "study::wrong_type",
                    message: format!("`{}` is one number or one text", key.get_ref()),
                    label: format!("this is {}", value.get_ref().type_str()),
                    help: Some("a structure is no sweep axis: describe each under its own `[[structure]]`, in studies of their own or with `only_with`".to_owned()),
                };
                reader.fault(value.span(), fault);
            }
        }
    }
    whole.then_some(options)
}

/// What is wrong with an array, at the key that it is about.
fn array_fault(reader: &mut Reader<'_>, table: &Section<'_>, refusal: Refusal) {
    let place = table
        .in_file_order()
        .into_iter()
        .find(|(key, _)| refusal.about.as_deref() == Some(key.get_ref().as_ref()))
        .map(|(key, _)| key.span());
    let fault = Fault {
        code: "study::structure",
        message: as_keys(&refusal.message),
        label: String::new(),
        help: refusal.help.as_deref().map(as_keys),
    };
    reader.fault(place.unwrap_or(table.range.clone()), fault);
}

/// Options of the command line as keys of a table: `--words 256` as `words = 256`.
pub(super) fn as_keys(text: &str) -> String {
    let mut keys = String::new();
    let mut parts = text.split("--");
    keys += parts.next().unwrap_or_default();
    for part in parts {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let inside = keys.matches('`').count() % 2 == 1;
        let quote = if inside { "" } else { "`" };
        keys += &format!("{quote}{}{quote}", name.replace('-', "_"));
        // A value follows, up to the end of the quotation or the next option.
        let value = rest.strip_prefix(' ').filter(|_| inside);
        let end = value.and_then(|value| value.find(['`', ' ']));
        let Some((value, end)) = value.zip(end) else {
            keys += rest;
            continue;
        };
        let (value, rest) = value.split_at(end);
        let number = value.bytes().all(|b| b.is_ascii_digit());
        keys += &match number {
            true => format!(" = {value}"),
            false => format!(" = \"{value}\""),
        };
        keys += if rest == " " { ", " } else { rest };
    }
    keys
}

/// A block of `warpwatt logic` and its parameters.
fn read_logic(reader: &mut Reader<'_>, table: &Section<'_>) -> Option<Spec> {
    if table.get("block").is_none() {
        reader.missing(table, "block", "block = \"secded\", width = 32");
    }
    let block = reader.one(table, "block", |value| {
        let name = text("`block`", value, "block = \"secded\"")?;
        let names = registry::blocks().map(|block| block.name);
        known("block of logic", "study::structure", &name, names)
    });
    let options = options(reader, table)?;
    let block = registry::find(&block?.value)?;
    let settings: Vec<(String, String)> = options
        .iter()
        .filter(|(key, ..)| *key != "block")
        .map(|(key, _, text)| ((*key).to_owned(), text.clone()))
        .collect();
    let problems = match block.spec(&settings) {
        Ok(spec) => return Some(spec),
        Err(problems) => problems,
    };
    for problem in problems {
        let (name, help) = match &problem {
            SettingError::Unknown { name, .. } => {
                let own = block.parameters.iter().map(|parameter| parameter.name);
                (name.as_str(), Some(did_you_mean(name, own)))
            }
            SettingError::Value { name, .. } => (*name, None),
        };
        let place = options.iter().find(|(key, ..)| *key == name);
        let fault = Fault {
            code: "study::structure",
            message: problem.to_string(),
            label: String::new(),
            help,
        };
        reader.fault(
            place.map_or(table.range.clone(), |(_, range, _)| range.clone()),
            fault,
        );
    }
    None
}

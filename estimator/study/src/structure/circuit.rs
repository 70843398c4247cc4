//! What a structure is made of: an array or a block of logic, by the options of `warpwatt array` and `warpwatt logic`.

use std::ops::Range;

use toml::de::DeValue;
use toml::{Spanned, Value};
use warpwatt_circuit::Spec;
use warpwatt_circuit::registry::{self, SettingError};

use super::no_axis;
use crate::array::{Refusal, Request};
use crate::diag::did_you_mean;
use crate::reader::known;
use crate::reader::{Fault, Placed, Reader, Section, plain};
use crate::sweep::NUMBERS;
use crate::technique::Parameter;
use crate::variants::shown;

/// What a structure is made of: the keys of its table with the values that each takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Circuit {
    kind: Kind,
    /// Where its table stands.
    pub range: Range<usize>,
    /// Its keys in the order of the file.
    pub options: Vec<Parameter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Array,
    Logic,
}

/// A fault and where it is.
pub(super) type Misfit = (Range<usize>, Fault);

/// A key and the value that is chosen for it.
pub(super) type Chosen<'c> = (&'c Parameter, &'c Placed<Value>);

/// `array` or `logic` of the structure whose axes begin with `axis`.
///
/// What is wrong with it goes to the reader.
pub(super) fn read(reader: &mut Reader<'_>, section: &Section<'_>, axis: &str) -> Option<Circuit> {
    let (kind, name, value) = match (section.get("array"), section.get("logic")) {
        (Some(value), None) => (Kind::Array, "structure.array", value),
        (None, Some(value)) => (Kind::Logic, "structure.logic", value),
        (array, logic) => {
            let fault = Fault {
                code: "study::missing_key",
                message: "a structure is an `array` or `logic`, not both or neither".to_owned(),
                label: String::new(),
                help: Some("write for example `array = { words = 64, bits = 96, ports = \"1r1w\" }` or `logic = { block = \"secded\", width = 32 }`; the keys are the options of `warpwatt array` and `warpwatt logic`".to_owned()),
            };
            let place = logic.or(array).map_or(section.range.clone(), Spanned::span);
            reader.fault(place, fault);
            return None;
        }
    };
    if value.get_ref().is_array() {
        let fault = Fault::wrong_type(
            "a structure",
            value.get_ref(),
            "array = { words = [32, 64], bits = 96 }",
        );
        reader.fault(value.span(), no_axis(fault));
        return None;
    }
    let table = reader.as_section(name.to_owned(), value)?;
    if kind == Kind::Logic && table.get("block").is_none() {
        reader.missing(&table, "block", "block = \"secded\", width = 32");
        return None;
    }
    let options = options(reader, &table, axis)?;
    let range = value.span();
    Some(Circuit {
        kind,
        range,
        options,
    })
}

/// `array` or `logic` where each key has one value.
///
/// What is wrong with it goes to the reader.
pub fn read_spec(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Placed<Spec>> {
    let circuit = read(reader, section, "")?;
    if let Some(swept) = circuit.options.iter().find(|option| option.is_swept()) {
        let fault = Fault {
            code: "study::wrong_type",
            message: format!("`{}` is one number or one text here", swept.name),
            label: "several values".to_owned(),
            help: None,
        };
        reader.fault(swept.key.clone(), fault);
        return None;
    }
    let chosen: Vec<Chosen<'_>> = circuit.firsts().collect();
    match circuit.made(&chosen) {
        Ok(spec) => Some(Placed::new(spec, circuit.range)),
        Err(misfits) => {
            for (range, fault) in misfits {
                reader.fault(range, fault);
            }
            None
        }
    }
}

/// The keys of a table with their values.
fn options(reader: &mut Reader<'_>, table: &Section<'_>, axis: &str) -> Option<Vec<Parameter>> {
    let mut whole = true;
    let mut options = Vec::new();
    for (key, value) in table.in_file_order() {
        let name = key.get_ref();
        let one = |value: &DeValue<'_>| match value {
            DeValue::String(_) | DeValue::Integer(_) => plain(value),
            _ => Err(Fault {
                code: "study::wrong_type",
                message: format!("`{name}` is a number or a text, or a list of them"),
                label: format!("this is {}", value.type_str()),
                help: None,
            }),
        };
        match reader.values(&format!("{axis}{name}"), value, one, Some(&NUMBERS)) {
            Some(values) => options.push(Parameter {
                name: name.to_string(),
                key: key.span(),
                values,
                axis: reader.sweep.last(),
            }),
            None => whole = false,
        }
    }
    whole.then_some(options)
}

impl Circuit {
    /// Every key with its first value.
    pub fn firsts(&self) -> impl Iterator<Item = Chosen<'_>> {
        self.options
            .iter()
            .map(|option| (option, &option.values[0]))
    }

    /// The structure with a value for each of its keys.
    ///
    /// # Errors
    /// It cannot be; everything that is wrong with it, each where it stands.
    pub fn made(&self, chosen: &[Chosen<'_>]) -> Result<Spec, Vec<Misfit>> {
        match self.kind {
            Kind::Array => self.array(chosen),
            Kind::Logic => self.logic(chosen),
        }
    }

    fn array(&self, chosen: &[Chosen<'_>]) -> Result<Spec, Vec<Misfit>> {
        let texts: Vec<(&str, String)> = chosen
            .iter()
            .map(|(option, value)| (option.name.as_str(), shown(&value.value)))
            .collect();
        let pairs: Vec<(&str, &str)> = texts
            .iter()
            .map(|(key, text)| (*key, text.as_str()))
            .collect();
        Request::structure(&pairs).map_err(|refusals| {
            let misfit = |refusal: Refusal| {
                let place = self.place(chosen, refusal.about.as_deref());
                let fault = Fault {
                    code: "study::structure",
                    message: as_keys(&refusal.message),
                    label: String::new(),
                    help: refusal.help.as_deref().map(as_keys),
                };
                (place, fault)
            };
            refusals.into_iter().map(misfit).collect()
        })
    }

    /// A block of `warpwatt logic` and its parameters.
    fn logic(&self, chosen: &[Chosen<'_>]) -> Result<Spec, Vec<Misfit>> {
        let (blocks, others): (Vec<&Chosen<'_>>, Vec<&Chosen<'_>>) = chosen
            .iter()
            .partition(|(option, _)| option.name == "block");
        let Some((_, asked)) = blocks.first() else {
            return Err(Vec::new());
        };
        let names = registry::blocks().map(|block| block.name);
        let name = known(
            "block of logic",
            "study::structure",
            &shown(&asked.value),
            names,
        );
        let name = name.map_err(|fault| vec![(asked.range.clone(), fault)])?;
        let Some(block) = registry::find(&name) else {
            return Err(Vec::new());
        };
        let settings: Vec<(String, String)> = others
            .iter()
            .map(|(option, value)| (option.name.clone(), shown(&value.value)))
            .collect();
        block.spec(&settings).map_err(|problems| {
            let misfit = |problem: SettingError| {
                let (name, help) = match &problem {
                    SettingError::Unknown { name, .. } => {
                        let own = block.parameters.iter().map(|parameter| parameter.name);
                        (name.as_str(), Some(did_you_mean(name, own)))
                    }
                    SettingError::Value { name, .. } => (*name, None),
                };
                let fault = Fault {
                    code: "study::structure",
                    message: problem.to_string(),
                    label: String::new(),
                    help,
                };
                (self.place(chosen, Some(name)), fault)
            };
            problems.into_iter().map(misfit).collect()
        })
    }

    /// Where a key stands, of several values the chosen one; the whole table for what is about no key.
    fn place(&self, chosen: &[Chosen<'_>], about: Option<&str>) -> Range<usize> {
        let mut named = chosen.iter();
        match named.find(|(option, _)| about == Some(&option.name)) {
            Some((option, value)) if option.is_swept() => value.range.clone(),
            Some((option, _)) => option.key.clone(),
            None => self.range.clone(),
        }
    }
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

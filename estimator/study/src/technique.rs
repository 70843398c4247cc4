//! `[[technique]]`: what is compared with the plain GPU.

use std::ops::Range;

use toml::de::DeValue;

use super::reader::known;
use super::reader::{Fault, Placed, Reader, Section, plain, text};
use super::sweep::NUMBERS;
use super::{Axis, AxisId, Catalogue};

/// What one `[[technique]]` asks for: a technique, or several that work together.
#[derive(Clone, Debug, PartialEq)]
pub struct StackAxes {
    /// The techniques: one, or those of `stack`.
    pub members: Vec<TechniqueAxes>,
    /// Whether all of them could be read; the others are looked at all the same, so that no fault hides another.
    pub whole: bool,
    /// Where the study asks for it.
    pub range: Range<usize>,
}

/// A technique and the values of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct TechniqueAxes {
    /// Its name.
    pub name: Placed<String>,
    /// The parameters that the study sets, in the order of the file. The technique judges them.
    pub parameters: Vec<Parameter>,
}

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where its key stands.
    pub key: Range<usize>,
    /// Its values.
    pub values: Axis<toml::Value>,
    /// The axis that they are.
    pub axis: AxisId,
}

impl Parameter {
    /// Whether it has several values.
    pub fn is_swept(&self) -> bool {
        self.values.len() > 1
    }
}

/// The techniques of a study; none is fine: the study then only shows the plain GPU.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
) -> Vec<StackAxes> {
    let Some(list) = root.get("technique") else {
        return Vec::new();
    };
    let DeValue::Array(items) = list.get_ref() else {
        let fault = Fault {
            code: "study::wrong_type",
            message: "techniques are written as `[[technique]]`, with two brackets".to_owned(),
            label: "one table, not a list of tables".to_owned(),
            help: Some(
                "a study may compare several techniques, each under its own `[[technique]]`"
                    .to_owned(),
            ),
        };
        reader.fault(list.span(), fault);
        return Vec::new();
    };
    items
        .iter()
        .filter_map(|item| {
            let section = reader.as_section("technique".to_owned(), item)?;
            if section.get("stack").is_some() {
                return read_stack(reader, &section, catalogue);
            }
            let alone = read_one(reader, &section, catalogue)?;
            Some(StackAxes {
                range: alone.name.range.clone(),
                members: vec![alone],
                whole: true,
            })
        })
        .collect()
}

/// How a stack is written.
const STACK: &str = "stack = [{ name = \"filter_cache\" }, { name = \"uniform_vector\" }]";

/// `stack`: the techniques that work together, each a table of its own.
fn read_stack(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    catalogue: &Catalogue,
) -> Option<StackAxes> {
    let mut entries = section.in_file_order();
    entries.retain(|(key, _)| key.get_ref() != "stack");
    for (key, _) in entries {
        let fault = Fault {
            code: "study::unknown_key",
            message: format!("`{}` cannot stand beside `stack`", key.get_ref()),
            label: String::new(),
            help: Some(format!(
                "names and parameters belong to the members: `{STACK}`"
            )),
        };
        reader.fault(key.span(), fault);
    }
    let (key, value) = section.table.get_key_value("stack")?;
    let DeValue::Array(items) = value.get_ref() else {
        let fault = Fault::wrong_type("`stack`", value.get_ref(), STACK);
        reader.fault(value.span(), fault);
        return None;
    };
    if items.len() < 2 {
        let fault = Fault {
            code: "study::empty_list",
            message: format!("a stack is of two techniques or more, not {}", items.len()),
            label: String::new(),
            help: Some(format!(
                "write for example `{STACK}`; a technique alone has its `name` directly under `[[technique]]`"
            )),
        };
        reader.fault(key.span(), fault);
    }
    let members: Vec<TechniqueAxes> = items
        .iter()
        .filter_map(|item| {
            let member = reader.as_section("technique.stack".to_owned(), item)?;
            read_one(reader, &member, catalogue)
        })
        .collect();
    Some(StackAxes {
        whole: members.len() == items.len(),
        members,
        range: key.span(),
    })
}

fn read_one(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    catalogue: &Catalogue,
) -> Option<TechniqueAxes> {
    if section.get("name").is_none() {
        reader.missing(section, "name", "name = \"filter_cache\"");
    }
    let name = reader.one(section, "name", |value| {
        let name = text("`name`", value, "name = \"filter_cache\"")?;
        known(
            "technique",
            "study::unknown_technique",
            &name,
            catalogue.techniques.iter().map(String::as_str),
        )
    });
    let mut parameters = Vec::new();
    for (key, value) in section.in_file_order() {
        if key.get_ref() == "name" {
            continue;
        }
        let axis = format!(
            "technique.{}.{}",
            name.as_ref().map_or("", |name| &name.value),
            key.get_ref()
        );
        if let Some(values) = reader.values(&axis, value, plain, Some(&NUMBERS)) {
            parameters.push(Parameter {
                name: key.get_ref().to_string(),
                key: key.span(),
                values,
                axis: reader.sweep.last(),
            });
        }
    }
    Some(TechniqueAxes {
        name: name?,
        parameters,
    })
}

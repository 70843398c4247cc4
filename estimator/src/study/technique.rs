//! `[[technique]]`: what is compared with the plain GPU.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::gpu::known;
use super::toml_reader::{Fault, Placed, Reader, Section, plain, text};
use super::{Axis, Catalogue};

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
}

/// The techniques of a study; none is fine: the study then only shows the plain GPU.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
) -> Vec<TechniqueAxes> {
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
        .filter_map(|item| read_one(reader, item, catalogue))
        .collect()
}

fn read_one(
    reader: &mut Reader<'_>,
    item: &Spanned<DeValue<'_>>,
    catalogue: &Catalogue,
) -> Option<TechniqueAxes> {
    let section = reader.as_section("technique".to_owned(), item)?;
    if section.get("name").is_none() {
        reader.missing(&section, "name", "name = \"filter_cache\"");
    }
    let name = reader.one(&section, "name", |value| {
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
        if let Some(values) = reader.axis_of(key.get_ref(), value, plain) {
            parameters.push(Parameter {
                name: key.get_ref().to_string(),
                key: key.span(),
                values,
            });
        }
    }
    Some(TechniqueAxes {
        name: name?,
        parameters,
    })
}

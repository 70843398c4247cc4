//! `[[structure]]`: a structure that no technique knows, out of a circuit, how many there are, and what happens to it.

use toml::Value;
use toml::de::DeValue;
use warpwatt_activity::Event;
use warpwatt_techniques::Group;

use super::reader::known;
use super::reader::{Fault, Placed, Reader, Section, integer, text};
use super::sweep::{NUMBERS, is_span};
use super::technique::Parameter;
use super::{Catalogue, StackAxes};
use crate::diag::Diag;
use crate::expression::Expression;
use crate::label;
use circuit::Circuit;

mod circuit;
mod count;
mod made;

pub use circuit::read_spec;
pub(crate) use made::called;
pub use made::{OwnStructure, OwnStructures};

/// A structure that a study describes, with the values that its keys take.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureAxes {
    /// Its name, as in the counters of its actions.
    pub name: Placed<String>,
    /// What it belongs to.
    pub group: Group,
    /// How many there are; one if the study does not say it.
    count: Option<Parameter>,
    /// Of what.
    pub per: Per,
    /// What it is made of.
    circuit: Circuit,
    /// What happens to it, over the whole GPU.
    pub actions: Vec<OwnAction>,
    /// The configurations or techniques that it belongs to, any of them; empty if all but the baseline have it.
    pub only_with: Vec<Placed<String>>,
    /// Whether the baseline has it too.
    pub baseline: bool,
}

/// Something that happens to a structure, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnAction {
    /// `read`, `write` or `search`.
    pub name: &'static str,
    /// How often, over the whole GPU.
    pub count: Placed<Expression>,
}

/// What there are so many structures of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// Of each SM.
    Sm,
    /// Of the GPU.
    Gpu,
}

/// The actions that circuit models price.
const ACTIONS: [&str; 3] = ["read", "write", "search"];
const KEYS: [&str; 11] = [
    "name",
    "group",
    "per",
    "count",
    "array",
    "logic",
    "read",
    "write",
    "search",
    "only_with",
    "baseline",
];
/// More of one structure than any GPU has.
const MOST: i64 = 1_000_000;

const EXAMPLE: &str = "[[structure]]\nname = \"reuse_table\"\nper = \"sm\"\narray = { words = 64, bits = 96, ports = \"1r1w\" }\nread = \"warp_instructions\"";

/// The structures of a study, in the order of the file.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
    stacks: &[StackAxes],
) -> Vec<StructureAxes> {
    let Some(list) = root.get("structure") else {
        return Vec::new();
    };
    let DeValue::Array(items) = list.get_ref() else {
        let fault = Fault {
            code: "study::wrong_type",
            message: "structures are written as `[[structure]]`, with two brackets".to_owned(),
            label: "one table, not a list of tables".to_owned(),
            help: Some(format!("write for example:\n{EXAMPLE}")),
        };
        reader.fault(list.span(), fault);
        return Vec::new();
    };
    let counters = counters(catalogue, stacks);
    let mut found: Vec<StructureAxes> = Vec::new();
    let source = reader.source;
    for item in items.iter() {
        let section = reader.as_section("structure".to_owned(), item);
        let read = section.and_then(|section| read_one(reader, &section, catalogue, &counters));
        let Some(read) = read else { continue };
        match found
            .iter()
            .find(|other| other.name.value == read.name.value)
        {
            Some(first) => reader.sink.push(
                Diag::error(
                    "study::duplicate_value",
                    format!("two structures are called `{}`", read.name.value),
                )
                .at(source, read.name.range, "again here")
                .at(source, first.name.range.clone(), "first here")
                .help("give one of them another name"),
            ),
            None => found.push(read),
        }
    }
    found
}

/// The counters that some point of the study has.
fn counters<'c>(catalogue: &'c Catalogue, stacks: &[StackAxes]) -> Vec<&'c str> {
    let members = stacks.iter().flat_map(|stack| &stack.members);
    let members: Vec<&str> = members.map(|member| member.name.value.as_str()).collect();
    let there = |technique: &Option<String>| match technique {
        Some(name) => members.contains(&name.as_str()),
        None => true,
    };
    let counters = catalogue.counters.iter();
    let counters = counters.filter(|counter| there(&counter.technique));
    counters.map(|counter| counter.name.as_str()).collect()
}

fn read_one(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    catalogue: &Catalogue,
    counters: &[&str],
) -> Option<StructureAxes> {
    reader.refuse_unknown(section, &KEYS);
    if section.get("name").is_none() {
        reader.missing(section, "name", "name = \"reuse_table\"");
    }
    let name = reader.one(section, "name", |value| {
        own_name(value, catalogue).map_err(|fault| alone(value, fault))
    });
    let group = reader.one(section, "group", |value| {
        let name = text("`group`", value, "group = \"front_end\"");
        let groups = [Group::FrontEnd, Group::Storage, Group::Execution];
        let name = name.map_err(|fault| alone(value, fault))?;
        choice("part of an SM", &name, &groups.map(|g| (g.name(), g)))
    });
    let per = reader.one(section, "per", |value| {
        let name = text("`per`", value, "per = \"sm\"");
        let name = name.map_err(|fault| alone(value, fault))?;
        choice("place", &name, &[("sm", Per::Sm), ("gpu", Per::Gpu)])
    });
    let axis = name.as_ref().map_or("", |name| &name.value);
    let axis = format!("{}{axis}.", label::STRUCTURE);
    let count = read_count(reader, section, &axis);
    let circuit = circuit::read(reader, section, &axis);
    let actions: Vec<OwnAction> = ACTIONS
        .iter()
        .filter_map(|action| {
            let count = count::read(reader, section.get(action)?, action, catalogue, counters)?;
            Some(OwnAction {
                name: action,
                count,
            })
        })
        .collect();
    if !ACTIONS.iter().any(|action| section.get(action).is_some()) {
        let example = "read = \"warp_instructions\"` for what reads it, likewise `write` and `search`, or `read = \"0";
        reader.missing(section, "read", example);
    }
    let only_with = section.get("only_with").and_then(|value| {
        reader.axis_of("only_with", value, |value| {
            text("`only_with`", value, "only_with = \"filter_cache\"")
        })
    });
    let baseline = reader.one(section, "baseline", is_there);
    let circuit = circuit?;
    if circuit.options.iter().all(|option| !option.is_swept()) {
        judge(reader, &circuit);
    }
    Some(StructureAxes {
        name: name?,
        group: group.map_or(Group::Execution, |group| group.value),
        count,
        per: per.map_or(Per::Sm, |per| per.value),
        circuit,
        actions,
        only_with: only_with.unwrap_or_default(),
        baseline: baseline.is_some_and(|baseline| baseline.value),
    })
}

/// Says at once what is wrong with a structure of one form, whatever else cannot be read.
fn judge(reader: &mut Reader<'_>, circuit: &Circuit) {
    let chosen: Vec<circuit::Chosen<'_>> = circuit.firsts().collect();
    for (range, fault) in circuit.made(&chosen).err().unwrap_or_default() {
        reader.fault(range, fault);
    }
}

fn is_there(value: &DeValue<'_>) -> Result<bool, Fault> {
    match value {
        DeValue::Boolean(is_there) => Ok(*is_there),
        _ => Err(alone(
            value,
            Fault {
                code: "study::wrong_type",
                message: "`baseline` is `true` or `false`".to_owned(),
                label: String::new(),
                help: Some(
                    "write `baseline = true` for a structure that the plain GPU has too".to_owned(),
                ),
            },
        )),
    }
}

/// A fault of a key that is no axis: if several values are the reason, says which keys are.
fn alone(value: &DeValue<'_>, fault: Fault) -> Fault {
    match value.is_array() || is_span(value) {
        true => no_axis(fault),
        false => fault,
    }
}

/// With the keys of a structure that are axes as the remedy.
fn no_axis(fault: Fault) -> Fault {
    Fault {
        help: Some("of a structure `count` and the keys of `array` and `logic` may have several values; describe what differs otherwise under a `[[structure]]` of its own, each with its `only_with`".to_owned()),
        ..fault
    }
}

/// A name that no other structure has, as far as counters tell.
fn own_name(value: &DeValue<'_>, catalogue: &Catalogue) -> Result<String, Fault> {
    const LONGEST: usize = 64;
    let name = text("`name`", value, "name = \"reuse_table\"")?;
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let fault = |message: String, help: &str| Fault {
        code: "study::structure",
        message,
        label: String::new(),
        help: Some(help.to_owned()),
    };
    if name.len() > LONGEST || !name.split('.').all(part) {
        return Err(fault(
            format!("`{name}` is no name of a structure"),
            "write lower-case words with underscores, and dots between the parts, such as \"reuse_table.tag\"",
        ));
    }
    let taken = catalogue
        .counters
        .iter()
        .any(|counter| Event::of(&counter.name).is_some_and(|event| event.structure == name));
    if taken {
        return Err(fault(
            format!("the GPU or a technique has a structure `{name}` already"),
            "choose another name",
        ));
    }
    Ok(name)
}

fn choice<T: Copy>(what: &str, name: &str, words: &[(&str, T)]) -> Result<T, Fault> {
    let names = words.iter().map(|(name, _)| *name);
    let name = known(what, "study::structure", name, names)?;
    let found = words.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| *value).ok_or(Fault {
        code: "study::structure",
        message: format!("no {what} is called `{name}`"),
        label: String::new(),
        help: None,
    })
}

fn read_count(reader: &mut Reader<'_>, section: &Section<'_>, axis: &str) -> Option<Parameter> {
    let (key, value) = section.table.get_key_value("count")?;
    let values = reader.values(&format!("{axis}count"), value, how_many, Some(&NUMBERS))?;
    Some(Parameter {
        name: "count".to_owned(),
        key: key.span(),
        values,
        axis: reader.sweep.last(),
    })
}

fn how_many(value: &DeValue<'_>) -> Result<Value, Fault> {
    let DeValue::Integer(number) = value else {
        return Err(Fault::wrong_type("`count`", value, "count = 4"));
    };
    let number = integer(number.as_str(), number.radix())?;
    match (1..=MOST).contains(&number) {
        true => Ok(Value::Integer(number)),
        false => Err(Fault {
            code: "study::absurd_size",
            message: format!("`count` is {number}"),
            label: format!("from 1 to {MOST}"),
            help: None,
        }),
    }
}

#[cfg(test)]
mod tests;

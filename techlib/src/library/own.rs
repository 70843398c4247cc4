//! A user's own node: a file that extends a node of a library, or another such file, and says what is different and why.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeTable;

use super::file::{NodeFile, Value};
use super::{Library, read};
use crate::quantity::{Length, Voltage};
use crate::{Flavour, How, TechError, Technology};

mod value;

/// Files that extend each other, at most this many in a row.
const DEEPEST: usize = 8;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, by the name it was loaded under.
    pub file: String,
    /// Bytes of it.
    pub range: Range<usize>,
    /// A stable name, `tech::fault`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Names that may have been meant.
    pub candidates: Vec<String>,
}

/// A node that a user wrote.
#[derive(Clone, Debug)]
pub struct OwnNode {
    name: String,
    base: String,
    feature: Length,
    file: NodeFile,
    overrides: Vec<Override>,
    ranges: BTreeMap<Flavour, Supplies>,
}

/// Two supplies between which laws hold.
type Supplies = (Voltage, Voltage);

/// A value that a user's node has instead of the library's.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Its name: `hp.i_on_n`.
    pub name: String,
    /// What the library has.
    pub before: String,
    /// What the user's file says instead, in its own words.
    pub value: String,
    /// Why.
    pub source: String,
    /// How it was obtained.
    pub how: How,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

/// How the files that a file extends are had: the name of the file that extends, what it wrote, to the name and the text of the other.
pub type Load<'l> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'l;

impl OwnNode {
    /// Reads the file `name` with the contents `text`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it and with the files that it extends.
    pub fn read(name: &str, text: &str, load: &mut Load<'_>) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut chain = Vec::new();
        let node = layer(name, text, load, &mut chain, &mut faults);
        match node {
            Some(node) if faults.is_empty() => Ok(node),
            _ => Err(faults),
        }
    }

    /// The library's node that everything else is from: `silicon:7nm`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The name that it was read under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values that differ from it, each once.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// The supplies between which the laws of a flavour hold here, where a file says so.
    pub fn ranges(&self) -> impl Iterator<Item = (Flavour, (Voltage, Voltage))> {
        self.ranges.iter().map(|(flavour, ends)| (*flavour, *ends))
    }

    /// Puts a value in the place of the one that was there.
    fn change(&mut self, value: Value) {
        let found = self
            .overrides
            .iter_mut()
            .find(|known| known.name == value.name);
        let before = match &found {
            Some(known) => known.before.clone(),
            None => self.file.text(&value.name).unwrap_or_default().to_owned(),
        };
        let change = Override {
            name: value.name.clone(),
            before,
            value: value.value.clone(),
            source: value.source.clone(),
            how: value.how.clone().into(),
            uncertainty: value.uncertainty,
        };
        match found {
            Some(known) => *known = change,
            None => self.overrides.push(change),
        }
        self.file.replace(value);
    }

    /// Its flavours.
    pub fn flavours(&self) -> Vec<Flavour> {
        self.file.flavours().collect()
    }

    /// The technology of one of its flavours.
    ///
    /// # Errors
    ///
    /// The node has no such flavour.
    pub fn technology(&self, flavour: Flavour) -> Result<Technology, TechError> {
        let library = format!("{} ({})", self.name, self.base);
        read::technology(&library, &self.file, self.feature, flavour)
    }
}

/// Where faults of one file go.
struct Report<'r> {
    file: &'r str,
    faults: &'r mut Vec<Fault>,
}

impl Report<'_> {
    fn push(&mut self, range: Range<usize>, code: &'static str, message: String, help: &str) {
        self.faults.push(Fault {
            file: self.file.to_owned(),
            range,
            code,
            message,
            help: (!help.is_empty()).then(|| help.to_owned()),
            candidates: Vec::new(),
        });
    }

    fn unknown(&mut self, range: Range<usize>, message: String, candidates: Vec<String>) {
        self.push(range, "tech::unknown_name", message, "");
        if let Some(fault) = self.faults.last_mut() {
            fault.candidates = candidates;
        }
    }
}

fn layer(
    name: &str,
    text: &str,
    load: &mut Load<'_>,
    chain: &mut Vec<String>,
    faults: &mut Vec<Fault>,
) -> Option<OwnNode> {
    chain.push(name.to_owned());
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut report = Report { file: name, faults };
    for error in errors {
        let message = error.message().lines().next().unwrap_or("syntax error");
        let range = error.span().unwrap_or(0..0);
        report.push(
            range,
            "toml::syntax",
            format!("not valid TOML: {message}"),
            "",
        );
    }
    let table = document.get_ref();
    known_keys(
        &mut report,
        table,
        &["extends", "valid", "sketch", "value", "range"],
        "a node file",
    );
    let mut node = extended(&mut report, table, load, chain)?;
    let mut report = Report {
        file: name,
        faults: report.faults,
    };
    name.clone_into(&mut node.name);
    if let Some(valid) = text_of(&mut report, table, "valid") {
        node.file.valid = valid.into();
    }
    if let Some(sketch) = text_of(&mut report, table, "sketch") {
        node.file.sketch = Some(sketch.into());
    }
    let mut places = BTreeMap::new();
    for entry in tables(&mut report, table, "value") {
        value::read(&mut report, entry, &mut node, &mut places);
    }
    for entry in tables(&mut report, table, "range") {
        range(&mut report, entry, &mut node);
    }
    consistent(&mut report, &node);
    Some(node)
}

/// The node that `extends` names.
fn extended(
    report: &mut Report<'_>,
    table: &DeTable<'_>,
    load: &mut Load<'_>,
    chain: &mut Vec<String>,
) -> Option<OwnNode> {
    let help = "write for example `extends = \"silicon:7nm\"`; libraries: silicon, itrs; or the path of another node file";
    let Some(entry) = table.get("extends") else {
        report.push(
            0..0,
            "tech::missing_key",
            "a node file needs the key `extends`".to_owned(),
            help,
        );
        return None;
    };
    let Some(written) = entry.get_ref().as_str() else {
        report.push(
            entry.span(),
            "tech::wrong_type",
            "`extends` must be a text".to_owned(),
            help,
        );
        return None;
    };
    if let Some((library, node)) = written.split_once(':')
        && !written.ends_with(".toml")
    {
        return match base(library, node) {
            Ok(node) => Some(node),
            Err(TechError::NodeOutOfRange { nodes, .. }) => {
                let message =
                    format!("`{written}` has no table of its own; nodes with one: {nodes}");
                report.push(entry.span(), "tech::extends", message, help);
                None
            }
            Err(error) => {
                report.push(entry.span(), "tech::extends", error.to_string(), help);
                None
            }
        };
    }
    let (name, text) = match load(report.file, written) {
        Ok(loaded) => loaded,
        Err(error) => {
            report.push(entry.span(), "tech::extends", error, help);
            return None;
        }
    };
    if chain.contains(&name) || chain.len() >= DEEPEST {
        let message = if chain.contains(&name) {
            format!("`{name}` extends itself: {} -> {name}", chain.join(" -> "))
        } else {
            format!("more than {DEEPEST} files extend each other")
        };
        report.push(
            entry.span(),
            "tech::extends",
            message,
            "let the chain end at a library: `extends = \"silicon:7nm\"`",
        );
        return None;
    }
    layer(&name, &text, load, chain, report.faults)
}

fn base(library: &str, node: &str) -> Result<OwnNode, TechError> {
    let library = Library::named(library)?;
    let (feature, file) = library.table(node)?;
    Ok(OwnNode {
        name: String::new(),
        base: format!("{}:{:.0}nm", library.name(), feature.as_nm()),
        feature,
        file,
        overrides: Vec::new(),
        ranges: BTreeMap::new(),
    })
}

fn known_keys(report: &mut Report<'_>, table: &DeTable<'_>, known: &[&str], what: &str) {
    for (key, _) in table.iter() {
        if !known.contains(&key.get_ref().as_ref()) {
            let message = format!("{what} has no key `{}`", key.get_ref());
            let candidates = known.iter().map(|&name| name.to_owned()).collect();
            report.unknown(key.span(), message, candidates);
        }
    }
}

fn text_of(report: &mut Report<'_>, table: &DeTable<'_>, key: &str) -> Option<String> {
    let entry = table.get(key)?;
    let text = entry.get_ref().as_str().map(str::trim);
    match text {
        Some(text) if !text.is_empty() => Some(text.to_owned()),
        _ => {
            let message = format!("`{key}` must be a text that says something");
            report.push(entry.span(), "tech::wrong_type", message, "");
            None
        }
    }
}

/// The entries of `[[key]]`.
fn tables<'d>(
    report: &mut Report<'_>,
    table: &'d DeTable<'d>,
    key: &str,
) -> Vec<(&'d DeTable<'d>, Range<usize>)> {
    let Some(entry) = table.get(key) else {
        return Vec::new();
    };
    let mut wrong = |range| {
        let message = format!("`{key}` must be a list of tables");
        report.push(
            range,
            "tech::wrong_type",
            message,
            &format!("write `[[{key}]]` above each"),
        );
    };
    let Some(items) = entry.get_ref().as_array() else {
        wrong(entry.span());
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items.iter() {
        match item.get_ref().as_table() {
            Some(table) => found.push((table, item.span())),
            None => wrong(item.span()),
        }
    }
    found
}

/// One `[[range]]`: the supplies between which a flavour's laws hold.
fn range(
    report: &mut Report<'_>,
    (table, place): (&DeTable<'_>, Range<usize>),
    node: &mut OwnNode,
) {
    known_keys(report, table, &["flavour", "vdd"], "a range");
    let help = "write for example `flavour = \"hp\"` and `vdd = [\"0.5 V\", \"0.9 V\"]`";
    let flavour = table
        .get("flavour")
        .and_then(|entry| entry.get_ref().as_str());
    let flavour = flavour.and_then(|text| text.parse::<Flavour>().ok());
    let ends: Option<Vec<Voltage>> = table
        .get("vdd")
        .and_then(|entry| entry.get_ref().as_array())
        .and_then(|items| {
            items
                .iter()
                .map(|item| item.get_ref().as_str()?.parse().ok())
                .collect()
        });
    match (flavour, ends.as_deref()) {
        (Some(flavour), Some(&[low, high])) if Voltage::ZERO < low && low < high => {
            node.file.set_range(flavour, (low, high));
            node.ranges.insert(flavour, (low, high));
        }
        _ => report.push(
            place,
            "tech::range",
            "a range needs a flavour and two rising supplies".to_owned(),
            help,
        ),
    }
}

/// What no single value shows: wires with no metal left, laws that end above their threshold, supplies outside their range.
fn consistent(report: &mut Report<'_>, node: &OwnNode) {
    for flavour in node.flavours() {
        let technology = match node.technology(flavour) {
            Ok(technology) => technology,
            Err(error) => {
                let message = format!("with these values the node makes no sense: {error}");
                report.push(0..0, "tech::inconsistent", message, "");
                return;
            }
        };
        let (drive, vdd) = (&technology.device.drive, technology.device.vdd.value);
        if drive.low <= drive.threshold.value || vdd < drive.low || vdd > drive.high {
            let message = format!(
                "{flavour}: the nominal supply of {vdd} must lie in its range of {} to {}, which must begin above the threshold of the drive law, {}",
                drive.low, drive.high, drive.threshold.value
            );
            let help = format!(
                "give it a range: `[[range]]`, `flavour = \"{flavour}\"`, `vdd = [\"...\", \"...\"]`, or change the values"
            );
            report.push(0..0, "tech::inconsistent", message, &help);
        }
    }
}

#[cfg(test)]
mod tests;

//! A user's own node: a file that extends a node of a library, or another such file, and says what is different and why.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{Method, NodeFile, Value};
use super::{Library, read, schema};
use crate::quantity::{Length, Voltage};
use crate::{Flavour, TechError, Technology};

/// Files that extend each other, at most this many in a row.
const DEEPEST: usize = 8;
/// A relative uncertainty above this is a slip: three factors of e.
const MOST_UNCERTAIN: f64 = 3.0;

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
    overrides: Vec<String>,
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

    /// Names of the values that differ from it.
    pub fn overrides(&self) -> &[String] {
        &self.overrides
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
        value(&mut report, entry, &mut node, &mut places);
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

/// One `[[value]]`.
fn value(
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
        node.overrides.push(name.clone());
        node.file.replace(Value {
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

//! The values of a study that can be turned, with their places in its text.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use warpwatt_array::LibraryName;
use warpwatt_study::Clock;
use warpwatt_techlib::Flavour;
use warpwatt_techniques::find;

use crate::diag::Sink;
use crate::toml_reader::parse_document;

/// A value, or one that could be written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Control {
    /// The table that it stands in, for people: `gpu`, `filter_cache`.
    pub group: String,
    /// Its key: `node`, `scheduler.policy`.
    pub name: String,
    /// How it is written: TOML. Empty if it is not there.
    pub text: String,
    /// Where it stands in the text, in UTF-16 units.
    pub place: Range<usize>,
    /// What must stand before it, and after it, where it is not there yet.
    pub around: [String; 2],
    /// The names that it may be: one or several.
    pub names: Vec<String>,
    /// Those that it is.
    pub chosen: Vec<String>,
    /// Whether a study can be without it.
    pub optional: bool,
    /// Ends and step of a slider, and the unit, where it is one quantity.
    pub slider: Option<Slider>,
    /// What it means.
    pub meaning: String,
}

/// A quantity that slides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slider {
    least: f64,
    most: f64,
    step: f64,
    unit: &'static str,
}

/// Tables of a study that prices do not hang on, or that say what is run.
const OTHERS: [&str; 9] = [
    "study",
    "workloads",
    "output",
    "limits",
    "sweep",
    "pareto",
    "reliability",
    "peak_power",
    "sampling",
];

/// The keys of `[gpu]` that are offered where the study has none.
const OFFERED: [&str; 5] = ["flavour", "vdd", "temperature", "library", "clock"];

/// More controls than anybody looks through.
const MOST: usize = 200;

/// Those of a study; none if it is no TOML.
pub fn controls(text: &str) -> Vec<Control> {
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text);
    let document = parse_document(text, &mut sink, source);
    if sink.has_errors() {
        return Vec::new();
    }
    let mut found = Found {
        text,
        units: Units::of(text),
        controls: Vec::new(),
        library: library(document.get_ref()),
    };
    for (key, value) in in_order(document.get_ref()) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            (name, _) if OTHERS.contains(&name) => {}
            ("technique", DeValue::Array(members)) => {
                members.iter().for_each(|member| found.technique(member));
            }
            ("structure", DeValue::Array(members)) => {
                for member in members {
                    let group = named(member).unwrap_or("structure");
                    found.walk(group, "", member);
                }
            }
            (name, _) => found.walk(name, "", value),
        }
    }
    found.offer();
    found.controls.truncate(MOST);
    found.controls
}

struct Found<'t> {
    text: &'t str,
    units: Units,
    controls: Vec<Control>,
    library: LibraryName,
}

impl Found<'_> {
    fn technique(&mut self, member: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = member.get_ref() else {
            return;
        };
        match table.get("stack").map(Spanned::get_ref) {
            Some(DeValue::Array(members)) => {
                members.iter().for_each(|member| self.technique(member));
            }
            _ => self.walk(named(member).unwrap_or("technique"), "", member),
        }
    }

    /// Every value in a table, or the value.
    fn walk(&mut self, group: &str, name: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            // Two ends are one value.
            DeValue::Table(table) if !table.contains_key("from") => {
                for (key, value) in in_order(table) {
                    let key = key.get_ref();
                    let name = match name {
                        "" => key.to_string(),
                        name => format!("{name}.{key}"),
                    };
                    if !(group != "gpu" && ["name", "only_with"].contains(&name.as_str())) {
                        self.walk(group, &name, value);
                    }
                }
            }
            _ => self.add(group, name, value),
        }
    }

    fn add(&mut self, group: &str, name: &str, value: &Spanned<DeValue<'_>>) {
        let span = value.span();
        let names = self.names(group, name);
        let chosen = match names[..] {
            [] => Vec::new(),
            _ => strings(value.get_ref()),
        };
        self.controls.push(Control {
            group: group.to_owned(),
            name: name.to_owned(),
            text: self.text[span.clone()].to_owned(),
            place: self.units.range(span),
            around: Default::default(),
            // A range of nodes is written, not chosen.
            names: if chosen.is_empty() { Vec::new() } else { names },
            chosen,
            optional: group == "gpu" && OFFERED.contains(&name),
            slider: slider(group, name),
            meaning: meaning(group, name),
        });
    }

    /// What `[gpu]` may have besides.
    fn offer(&mut self) {
        let Some(place) = below_heading(self.text, "[gpu]") else {
            return;
        };
        let place = self.units.range(place..place);
        for name in OFFERED {
            let there = |control: &Control| control.group == "gpu" && control.name == name;
            if self.controls.iter().any(there) {
                continue;
            }
            let own = self
                .controls
                .iter()
                .filter(|control| control.group == "gpu");
            let after = own.count();
            let offered = Control {
                group: "gpu".to_owned(),
                name: name.to_owned(),
                text: String::new(),
                place: place.clone(),
                around: [format!("{name} = "), "\n".to_owned()],
                names: self.names("gpu", name),
                chosen: Vec::new(),
                optional: true,
                slider: slider("gpu", name),
                meaning: meaning("gpu", name),
            };
            self.controls
                .insert(after.min(self.controls.len()), offered);
        }
    }

    /// The names that a value may be.
    fn names(&self, group: &str, name: &str) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match (group, name) {
            ("gpu", "node") => {
                let library = self.library.open();
                let nodes = library.iter().flat_map(|library| library.nodes());
                nodes.map(|node| format!("{:.0}nm", node.as_nm())).collect()
            }
            ("gpu", "flavour") => Flavour::ALL.map(|it| it.name().to_owned()).to_vec(),
            ("gpu", "library") => owned(&LibraryName::ALL.map(LibraryName::name)),
            ("gpu", "clock") => owned(&Clock::NAMES),
            _ => Vec::new(),
        }
    }
}

/// The library whose nodes are offered.
fn library(document: &DeTable<'_>) -> LibraryName {
    let gpu = document.get("gpu").and_then(|gpu| gpu.get_ref().as_table());
    let text = |key: &str| gpu?.get(key)?.get_ref().as_str();
    let of_cacti = text("profile").is_some_and(|profile| profile.starts_with("cacti"));
    match text("library").and_then(|name| name.parse().ok()) {
        Some(library) => library,
        None if of_cacti => LibraryName::Itrs,
        None => LibraryName::default(),
    }
}

fn slider(group: &str, name: &str) -> Option<Slider> {
    let slider = |least, most, step, unit| Slider {
        least,
        most,
        step,
        unit,
    };
    match (group, name) {
        ("gpu", "vdd") => Some(slider(0.4, 1.3, 0.01, "V")),
        ("gpu", "temperature") => Some(slider(300.0, 400.0, 5.0, "K")),
        _ => None,
    }
}

fn meaning(group: &str, name: &str) -> String {
    let operation = match (group, name) {
        ("gpu", "preset") => "the GPU to start from",
        ("gpu", "node") => "technology node",
        ("gpu", "flavour") => {
            "transistors: high performance, low standby power, low operating power"
        }
        ("gpu", "vdd") => "supply voltage; the nominal one of the node if it is not said",
        ("gpu", "temperature") => "junction temperature; 350 K if it is not said",
        ("gpu", "library") => "library of technology data",
        ("gpu", "clock") => "what the core clock does at another supply",
        ("gpu", "profile") => "whose rules the circuit models follow",
        _ => "",
    };
    let parameter = || {
        let definition = find(group).ok()?;
        let parameters = definition.parameters.iter();
        let mut named = parameters.filter(|parameter| parameter.name == name);
        Some(named.next()?.meaning.to_owned())
    };
    match operation {
        "" => parameter().unwrap_or_default(),
        known => known.to_owned(),
    }
}

/// The name of a table in a list.
fn named<'d>(table: &'d Spanned<DeValue<'_>>) -> Option<&'d str> {
    table.get_ref().as_table()?.get("name")?.get_ref().as_str()
}

/// A name, or several.
fn strings(value: &DeValue<'_>) -> Vec<String> {
    let one = |value: &DeValue<'_>| value.as_str().map(str::to_owned);
    match value {
        DeValue::Array(all) => all
            .iter()
            .filter_map(|value| one(value.get_ref()))
            .collect(),
        value => one(value).into_iter().collect(),
    }
}

/// The entries of a table in the order of the file.
fn in_order<'d>(
    table: &'d DeTable<'d>,
) -> Vec<(
    &'d Spanned<std::borrow::Cow<'d, str>>,
    &'d Spanned<DeValue<'d>>,
)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Where the line after a heading begins.
fn below_heading(text: &str, heading: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.trim() == heading && line.ends_with('\n') {
            return Some(at);
        }
    }
    None
}

/// Places in a text as a browser counts them.
struct Units(BTreeMap<usize, usize>);

impl Units {
    /// Only what stands behind a character of several bytes is elsewhere.
    fn of(text: &str) -> Self {
        let mut less = 0;
        let wide = text.char_indices().filter_map(|(at, character)| {
            let shorter = character.len_utf8() - character.len_utf16();
            less += shorter;
            (shorter > 0).then_some((at + character.len_utf8(), less))
        });
        Self(wide.collect())
    }

    fn range(&self, bytes: Range<usize>) -> Range<usize> {
        self.at(bytes.start)..self.at(bytes.end)
    }

    fn at(&self, byte: usize) -> usize {
        let before = self.0.range(..=byte).next_back();
        byte - before.map_or(0, |(_, less)| *less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = "\
[study]
title = \"Größe\" # 1 µm
[gpu]
preset = \"tesla-16sm\"
node = [\"16nm\", \"7nm\"]
sm.threads = 1024
[workloads]
kernels = [\"hotspot\"]
[[technique]]
name = \"filter_cache\"
entries = [16, 32]
[[technique]]
stack = [{ name = \"filter_cache\", entries = 8 }, { name = \"ecc\" }]
[budget]
area = { overhead = 0.1 }
";

    /// The text with another value, as a page writes it.
    fn turned(control: &Control, value: &str) -> String {
        let units: Vec<u16> = STUDY.encode_utf16().collect();
        let [before, after] = &control.around;
        let middle: Vec<u16> = format!("{before}{value}{after}").encode_utf16().collect();
        let parts = [
            &units[..control.place.start],
            &middle,
            &units[control.place.end..],
        ];
        String::from_utf16(&parts.concat()).unwrap()
    }

    #[test]
    fn every_value_that_prices_hang_on_is_there_with_its_place() {
        let found = controls(STUDY);
        let names: Vec<String> = found
            .iter()
            .map(|control| format!("{} {} {}", control.group, control.name, control.text))
            .collect();
        assert_eq!(
            names,
            [
                "gpu preset \"tesla-16sm\"",
                "gpu node [\"16nm\", \"7nm\"]",
                "gpu sm.threads 1024",
                "gpu flavour ",
                "gpu vdd ",
                "gpu temperature ",
                "gpu library ",
                "gpu clock ",
                "filter_cache entries [16, 32]",
                "filter_cache entries 8",
                "budget area.overhead 0.1",
            ]
        );
        assert_eq!(found[1].chosen, ["16nm", "7nm"]);
        assert!(found[1].names.contains(&"5nm".to_owned()));
        assert!(!found[8].meaning.is_empty(), "{:?}", found[8]);
    }

    #[test]
    fn a_value_is_replaced_where_it_stands() {
        let found = controls(STUDY);
        let other = turned(&found[9], "64");
        assert_eq!(other, STUDY.replace("entries = 8", "entries = 64"));
    }

    #[test]
    fn a_value_that_is_not_there_is_put_below_its_heading() {
        let found = controls(STUDY);
        let other = turned(&found[4], "\"0.7 V\"");
        assert_eq!(other, STUDY.replace("[gpu]\n", "[gpu]\nvdd = \"0.7 V\"\n"));
    }

    #[test]
    fn what_is_no_toml_has_none() {
        assert_eq!(controls("[gpu"), []);
    }
}

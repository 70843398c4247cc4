//! Maps from another tool's names to our counters: TOML files, those that ship and the user's own.

use std::sync::Arc;

use toml::de::DeValue;

use super::{CLOCK, Format};
use crate::diag::{Diag, Sink, SourceId, did_you_mean};
use crate::expression::Expression;
use crate::toml_reader::{Fault, Reader, Section, parse_document, text};

/// Which of our counters is which expression over another tool's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// What the tool is, in a few words.
    pub title: String,
    /// How it writes its files.
    pub format: Format,
    /// What becomes of its names. Of several entries for one counter the first whose names are all there holds.
    pub entries: Vec<MapEntry>,
}

/// One counter of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// Its name, or [`CLOCK`].
    pub counter: String,
    /// What it is.
    pub is: Expression,
    /// Where the other names are explained, and why they mean this.
    pub source: Arc<str>,
    /// What is assumed, if it is no measurement.
    pub estimate: Option<Arc<str>>,
}

/// The maps that ship: name and text.
const SHIPPED: [(&str, &str); 3] = [
    ("ncu", include_str!("../../maps/ncu.toml")),
    ("gpgpusim", include_str!("../../maps/gpgpusim.toml")),
    ("accelwattch", include_str!("../../maps/accelwattch.toml")),
];

/// The maps that ship: name and text.
pub fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    SHIPPED.into_iter()
}

const KEYS: [&str; 5] = ["title", "format", "per_kernel", "kernel", "counter"];
const FORMATS: [&str; 4] = ["csv", "ncu", "gpgpusim", "table"];

impl Map {
    /// The map of our own files: every counter is itself.
    pub fn neutral<'c>(counters: impl Iterator<Item = &'c str>) -> Self {
        let entries = counters.chain([CLOCK]).filter_map(|name| {
            Some(MapEntry {
                counter: name.to_owned(),
                is: Expression::parse(name).ok()?,
                source: Arc::from("its name"),
                estimate: None,
            })
        });
        Self {
            title: "counts".to_owned(),
            format: Format::Neutral,
            entries: entries.collect(),
        }
    }

    /// Reads a map. `None` if something is wrong with it, which is left in `sink`.
    pub fn read<'c>(
        sink: &mut Sink,
        source: SourceId,
        counters: impl Iterator<Item = &'c str> + Clone,
    ) -> Option<Self> {
        let before = sink.diags.len();
        let document_text = sink.sources.text(source).to_owned();
        let document = parse_document(&document_text, sink, source);
        if sink.diags.len() > before {
            return None;
        }
        let root = Section {
            name: "a map".to_owned(),
            table: document.get_ref(),
            range: 0..document_text.len().min(1),
        };
        let mut reader = Reader::new(sink, source);
        reader.refuse_unknown(&root, &KEYS);
        for (key, example) in [
            ("title", "title = \"My simulator\""),
            ("format", "format = \"csv\""),
        ] {
            if root.get(key).is_none() {
                reader.missing(&root, key, example);
            }
        }
        let title = reader.one(&root, "title", |value| {
            text("`title`", value, "title = \"My simulator\"")
        });
        let format = format(&mut reader, &root);
        let entries = entries(&mut reader, &root, counters);
        let whole = reader.sink.diags.len() == before;
        let (title, format) = (title?.value, format?);
        whole.then_some(Self {
            title,
            format,
            entries,
        })
    }
}

fn format(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Format> {
    let names = |reader: &mut Reader<'_>, key: &str| {
        let value = root.get(key)?;
        let names = reader.axis_of(key, value, |value| {
            text(&format!("`{key}`"), value, &format!("{key} = [\"Kernel\"]"))
        })?;
        Some(names.into_iter().map(|name| name.value).collect::<Vec<_>>())
    };
    let per_kernel = names(reader, "per_kernel");
    let kernel = names(reader, "kernel");
    let format = reader.one(root, "format", |value| {
        let name = text("`format`", value, "format = \"csv\"")?;
        match name.as_str() {
            "csv" => Ok(Format::Neutral),
            "ncu" => Ok(Format::Ncu),
            "gpgpusim" => Ok(Format::GpgpuSim {
                per_kernel: per_kernel.clone().unwrap_or_default(),
            }),
            "table" => Ok(Format::Table {
                kernel: kernel.clone().unwrap_or_else(|| vec!["kernel".to_owned()]),
            }),
            _ => Err(Fault {
                code: "map::format",
                message: format!("there is no format `{name}`"),
                label: String::new(),
                help: Some(did_you_mean(&name, FORMATS)),
            }),
        }
    });
    format.map(|format| format.value)
}

fn entries<'c>(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    counters: impl Iterator<Item = &'c str> + Clone,
) -> Vec<MapEntry> {
    let items = root.get("counter").map(|value| (value.get_ref(), value));
    let items = match items {
        Some((DeValue::Array(items), _)) if !items.is_empty() => items,
        other => {
            let range = other.map_or(root.range.clone(), |(_, value)| value.span());
            let diag = Diag::error("map::no_counters", "a map needs at least one `[[counter]]`")
                .at(reader.source, range, "")
                .help("write for example:\n[[counter]]\nname = \"warp_instructions\"\nis = \"insts\"\nsource = \"its manual\"");
            reader.sink.push(diag);
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for item in items.iter() {
        let Some(section) = reader.as_section("counter".to_owned(), item) else {
            continue;
        };
        entries.extend(entry(reader, &section, counters.clone()));
    }
    entries
}

fn entry<'c>(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    counters: impl Iterator<Item = &'c str> + Clone,
) -> Option<MapEntry> {
    reader.refuse_unknown(section, &["name", "is", "source", "estimate"]);
    for (key, example) in [
        ("name", "name = \"warp_instructions\""),
        ("is", "is = \"smsp__inst_executed.sum\""),
        ("source", "source = \"the tool's manual\""),
    ] {
        if section.get(key).is_none() {
            reader.missing(section, key, example);
        }
    }
    let name = reader.one(section, "name", |value| {
        let name = text("`name`", value, "name = \"warp_instructions\"")?;
        if name == CLOCK || counters.clone().any(|counter| counter == name) {
            return Ok(name);
        }
        let near = did_you_mean(&name, counters.clone().chain([CLOCK]));
        let near = Some(near).filter(|near| near.starts_with("did you"));
        let help = near.map_or(String::new(), |near| format!("{near} "));
        Err(Fault {
            code: "map::unknown_counter",
            message: format!("there is no counter `{name}`"),
            label: String::new(),
            help: Some(format!("{help}`warpwatt list counters` shows them all")),
        })
    });
    let is = section.get("is").and_then(|value| {
        let read = text("`is`", value.get_ref(), "is = \"smsp__inst_executed.sum\"");
        let parsed = read.and_then(|text| {
            Expression::parse(&text).map_err(|fault| Fault {
                code: "map::expression",
                message: fault.message,
                label: text.get(fault.range).unwrap_or_default().to_owned(),
                help: fault.help,
            })
        });
        parsed
            .map_err(|fault| reader.fault(value.span(), fault))
            .ok()
    });
    let mut said = |key: &str| {
        reader.one(section, key, |value| {
            text(&format!("`{key}`"), value, &format!("{key} = \"...\""))
        })
    };
    let (source, estimate) = (said("source"), said("estimate"));
    Some(MapEntry {
        counter: name?.value,
        is: is?,
        source: source?.value.into(),
        estimate: estimate.map(|estimate| estimate.value.into()),
    })
}

//! Suites from TOML. Reading does not stop at a fault.

use toml::de::DeValue;
use toml::{Spanned, Table};
use warpwatt_circuit::Profile;
use warpwatt_gpu::{Preset, presets};
use warpwatt_techlib::quantity::{Temperature, Voltage};

use super::Suite;
use super::circuit::{Circuit, MadeOf, Setting};
use super::flips::flips;
use super::measure::{Measure, figures, is_figure};
use super::row::{Names, rows};
use super::shipped;
use warpwatt_input::diag::{Sink, SourceId};
use warpwatt_input::expression::Expression;
use warpwatt_report::metric::Metrics;
use warpwatt_study::reader::known;
use warpwatt_study::reader::{Fault, Reader, Section, parse_document, plain, text};
use warpwatt_study::{parse_profile, quantity, read_spec};

const KEYS: [&str; 11] = [
    "citation",
    "why",
    "paper",
    "numbers",
    "studies",
    "circuits",
    "flips",
    "measures",
    "techniques",
    "tolerances",
    "compared",
];

/// What is wrong with a suite.
pub(super) fn fault(message: String, help: impl Into<Option<String>>) -> Fault {
    Fault {
        code: "validate::suite",
        message,
        label: String::new(),
        help: help.into(),
    }
}

impl Suite {
    /// Reads a suite. `None` if something is wrong with it, which is left in `sink`.
    pub fn read(sink: &mut Sink, source: SourceId) -> Option<Self> {
        let before = sink.diags.len();
        let whole = sink.sources.text(source).to_owned();
        let document = parse_document(&whole, sink, source);
        if sink.diags.len() > before {
            return None;
        }
        let root = Section {
            name: "a suite".to_owned(),
            table: document.get_ref(),
            range: 0..whole.len().min(1),
        };
        let mut reader = Reader::new(sink, source);
        let suite = suite(&mut reader, &root);
        suite.filter(|_| sink.diags.len() == before)
    }
}

fn suite(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Suite> {
    reader.refuse_unknown(root, &KEYS);
    if root.get("citation").is_none() {
        reader.missing(root, "citation", "citation = \"Author, title, place\"");
    }
    let citation = reader.one(root, "citation", |value| {
        text("`citation`", value, "citation = \"Author, title, place\"")
    });
    let why = reader.one(root, "why", |value| {
        text(
            "`why`",
            value,
            "why = \"inputs: with larger ones the row holds\"",
        )
    });
    let paper = reader.one(root, "paper", |value| {
        let name = text("`paper`", value, "paper = \"warped_dmr\"")?;
        let names = warpwatt_suite::papers().iter().map(|paper| paper.name);
        known("paper", "validate::suite", &name, names)
    });
    let studies = root.get("studies").and_then(|value| {
        reader.axis_of("studies", value, |value| {
            let name = text("a study", value, "studies = [\"warped_dmr.toml\"]")?;
            known(
                "study that ships",
                "validate::suite",
                &name,
                shipped::studies(),
            )
        })
    });
    let studies = studies.into_iter().flatten().map(|study| study.value);
    let setting = setting(reader, root);
    let mut suite = Suite {
        citation: citation.map_or_else(String::new, |citation| citation.value),
        why: why.map_or_else(String::new, |why| why.value),
        studies: studies.collect(),
        paper: paper.and_then(|paper| warpwatt_suite::paper(&paper.value)),
        flips: flips(reader, root),
        circuits: circuits(reader, root),
        measures: Vec::new(),
        rows: Vec::new(),
        setting,
    };
    let metrics = Metrics::known();
    measures(reader, root, &mut suite, &metrics);
    suite.rows = rows(reader, root, &suite, &metrics);
    Some(suite)
}

fn setting(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Setting> {
    let section = reader.section(root, "circuits")?;
    reader.refuse_unknown(
        &section,
        &["node", "profile", "temperature", "vdd", "gpu", "built"],
    );
    if section.get("node").is_none() {
        reader.missing(&section, "node", "node = \"40nm\"");
    }
    let node = reader.one(&section, "node", |value| {
        text("`node`", value, "node = \"40nm\"")
    });
    let temperature = reader.one(&section, "temperature", |value| {
        quantity::<Temperature>("`temperature`", value, "temperature = \"350 K\"")
    });
    let vdd = reader.one(&section, "vdd", |value| {
        quantity::<Voltage>("`vdd`", value, "vdd = \"0.96 V\"")
    });
    let profile = reader.one(&section, "profile", parse_profile);
    let gpu = preset(reader, &section, "gpu");
    Some(Setting {
        node: node?.value,
        profile: profile.map_or(Profile::Cacti65, |profile| profile.value),
        temperature: temperature.map_or(Temperature::from_k(350.0), |it| it.value),
        vdd: vdd.map(|vdd| vdd.value),
        gpu,
    })
}

/// The preset that a key names.
pub(super) fn preset(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    key: &str,
) -> Option<&'static Preset> {
    let example = format!("{key} = \"fermi-16sm\"");
    let found = reader.one(section, key, |value| {
        let name = text(&format!("`{key}`"), value, &example)?;
        let names = presets().iter().map(|preset| preset.name);
        known("preset", "validate::suite", &name, names)
    })?;
    presets().iter().find(|preset| preset.name == found.value)
}

/// The tables of a list that may be missing.
pub(super) fn tables<'d>(
    reader: &mut Reader<'_>,
    root: &Section<'d>,
    key: &str,
) -> Vec<Section<'d>> {
    let Some(list) = root.get(key) else {
        return Vec::new();
    };
    let DeValue::Array(items) = list.get_ref() else {
        let help = format!("write `{key} = [{{ ... }}, {{ ... }}]`");
        let message = format!("`{key}` is a list of tables");
        reader.fault(list.span(), fault(message, help));
        return Vec::new();
    };
    let sections = items.iter();
    sections
        .filter_map(|item| reader.as_section(key.to_owned(), item))
        .collect()
}

fn circuits(reader: &mut Reader<'_>, root: &Section<'_>) -> Vec<Circuit> {
    let sections = match root.get("circuits").map(Spanned::get_ref) {
        Some(DeValue::Table(table)) => {
            let section = Section {
                name: "circuits".to_owned(),
                table,
                range: root.range.clone(),
            };
            tables(reader, &section, "built")
        }
        _ => Vec::new(),
    };
    sections
        .iter()
        .filter_map(|section| circuit(reader, section))
        .collect()
}

fn circuit(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Circuit> {
    let keys = [
        "name",
        "array",
        "logic",
        "structure",
        "technique",
        "with",
        "chip",
        "sms",
        "node",
        "gpu",
    ];
    reader.refuse_unknown(section, &keys);
    if section.get("name").is_none() {
        reader.missing(section, "name", "name = \"table\"");
    }
    let mut said = |key: &str, example: &str| {
        let read = reader.one(section, key, |value| {
            text(&format!("`{key}`"), value, example)
        });
        read.map(|read| read.value)
    };
    let name = said("name", "name = \"table\"");
    let structure = said("structure", "structure = \"icache.tag\"");
    let technique = said("technique", "technique = \"filter_cache\"");
    let node = said("node", "node = \"40nm\"");
    let parameters = reader.one(section, "with", plain).map(|with| with.value);
    let sms = reader.one(section, "sms", |value| match plain(value)? {
        toml::Value::Integer(count) => u32::try_from(count).map_err(|_| no_sms()),
        _ => Err(no_sms()),
    });
    let chip = preset(reader, section, "chip");
    let made_of = match structure {
        None if section.get("chip").is_some() => MadeOf::Chip {
            sms: sms.map(|sms| sms.value),
        },
        None => MadeOf::Spec(Box::new(read_spec(reader, section)?.value)),
        Some(structure) => MadeOf::Structure {
            name: structure,
            technique,
            parameters: match parameters {
                Some(toml::Value::Table(parameters)) => parameters,
                _ => Table::new(),
            },
        },
    };
    Some(Circuit {
        name: name?,
        made_of,
        node,
        gpu: chip.or_else(|| preset(reader, section, "gpu")),
    })
}

fn no_sms() -> Fault {
    let message = "`sms` is how many SMs the die has".to_owned();
    fault(message, "sms = 84".to_owned())
}

/// Each may use those before it.
fn measures(reader: &mut Reader<'_>, root: &Section<'_>, suite: &mut Suite, metrics: &Metrics) {
    let Some(section) = reader.section(root, "measures") else {
        return;
    };
    for (key, value) in section.in_file_order() {
        let measure = match value.get_ref() {
            DeValue::String(_) => {
                let names = Names::of_points(suite, metrics);
                expression(reader, value, &names).map(Measure::Is)
            }
            _ => sum(reader, value),
        };
        if let Some(measure) = measure {
            suite.measures.push((key.get_ref().to_string(), measure));
        }
    }
}

fn sum(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<Measure> {
    const EXAMPLE: &str =
        "{ structures = [\"register_file\", \"ecc.*\"], sum = \"dynamic_j + leakage_j\" }";
    let section = reader.as_section("a measure".to_owned(), value)?;
    reader.refuse_unknown(&section, &["structures", "sum"]);
    for key in ["structures", "sum"] {
        if section.get(key).is_none() {
            reader.missing(&section, key, EXAMPLE);
        }
    }
    let structures = reader.axis_of("structures", section.get("structures")?, |value| {
        text("a structure", value, EXAMPLE)
    });
    let names = Names {
        is_known: Box::new(is_figure),
        help: Box::new(|name| warpwatt_input::diag::did_you_mean(name, figures())),
    };
    let of = expression(reader, section.get("sum")?, &names);
    Some(Measure::Sum {
        structures: structures?.into_iter().map(|name| name.value).collect(),
        of: of?,
    })
}

/// An expression of which all names are known.
pub(super) fn expression(
    reader: &mut Reader<'_>,
    value: &Spanned<DeValue<'_>>,
    names: &Names<'_>,
) -> Option<Expression> {
    let read = match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => plain(value.get_ref()).map(|it| it.to_string()),
        other => text(
            "an expression",
            other,
            "metric = \"cycles / without:cycles\"",
        ),
    };
    let parsed = read.and_then(|text| {
        Expression::parse(&text).map_err(|wrong| Fault {
            label: text.get(wrong.range).unwrap_or_default().to_owned(),
            ..fault(wrong.message, wrong.help)
        })
    });
    let checked = parsed.and_then(|expression| {
        let mut names_said = expression.names().into_iter().map(|(name, _)| name);
        let stranger = names_said.find(|name| !(names.is_known)(name));
        match stranger {
            None => Ok(expression.clone()),
            Some(name) => Err(fault(
                format!("nothing is called `{name}` here"),
                (names.help)(name),
            )),
        }
    });
    match checked {
        Ok(expression) => Some(expression),
        Err(wrong) => {
            reader.fault(value.span(), wrong);
            None
        }
    }
}

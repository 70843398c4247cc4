//! `[workloads]`: the kernels.

pub(crate) mod selector;

pub use selector::{PaperRow, PaperTable};

use std::path::PathBuf;

use toml::Spanned;
use toml::de::DeValue;
use warpwatt_gpu::{GpuSpec, Lowering};
use warpwatt_suite::{Build, Lower};

use super::Catalogue;
use super::reader::known;
use super::reader::{Fault, Placed, Reader, Section, text};
use crate::diag::Diag;
use selector::{called, paper};

/// A kernel and one of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A kernel of the suite.
    Suite {
        /// Its name.
        name: String,
        /// The case of its launch file; the first if none is named.
        case: Option<String>,
        /// Which of its programs.
        build: Build,
        /// How near its PTX is brought to machine code, instead of what the GPU says.
        lower: Option<Lower>,
    },
    /// A kernel of the user's.
    Own {
        /// The launch file, relative to the study.
        launch: PathBuf,
        /// The PTX instead of the one that the launch file names, relative to the study.
        ptx: Option<PathBuf>,
        /// The case of the launch file; the first if none is named.
        case: Option<String>,
        /// How near its PTX is brought to machine code, instead of what the GPU says.
        lower: Option<Lower>,
    },
    /// Kernels that another tool counted.
    Counted(CountedFile),
}

impl Workload {
    /// How near PTX is brought to machine code on all GPUs of the study, if it says that.
    pub fn lower(&self) -> Option<Lower> {
        match self {
            Self::Suite { lower, .. } | Self::Own { lower, .. } => *lower,
            Self::Counted(_) => None,
        }
    }
}

/// What a GPU runs of PTX.
pub fn lowering(gpu: &GpuSpec) -> Lower {
    match gpu.lower {
        Lowering::Ptx => Lower::Ptx,
        Lowering::SassLike => Lower::SassLike,
    }
}

/// The setting of a GPU that runs PTX so.
pub fn lowered(lower: Lower) -> Lowering {
    match lower {
        Lower::Ptx => Lowering::Ptx,
        Lower::SassLike => Lowering::SassLike,
    }
}

/// A file of counts that another tool made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedFile {
    /// The file, relative to the study.
    pub file: String,
    /// The map of its names, by name or as a file relative to the study; none for our own.
    pub map: Option<String>,
    /// The kernels that are wanted; all if none is named.
    pub kernels: Vec<String>,
}

const COUNTED: &str = "{ activity = { file = \"counters.csv\", map = \"ncu\" } }";

const EXAMPLE: &str =
    "kernels = [\"matrix_mul\", { launch = \"my.toml\", ptx = \"my.ptx\", case = \"small\" }]";

pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
) -> Option<Vec<Placed<Workload>>> {
    if root.get("workloads").is_none() {
        reader.missing_section(
            root,
            "workloads",
            "[workloads]\nkernels = [\"matrix_mul\", \"hotspot\"]",
        );
        return None;
    }
    let section = reader.section(root, "workloads")?;
    reader.refuse_unknown(&section, &["kernels", "build", "lower"]);
    let build = build(reader, &section);
    let lowered = lower(reader, &section);
    let Some(list) = section.get("kernels") else {
        reader.missing(&section, "kernels", EXAMPLE);
        return None;
    };
    let items = match list.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![list],
    };
    if items.is_empty() {
        let fault = Fault {
            code: "study::empty_list",
            message: "the list `kernels` is empty".to_owned(),
            label: "nothing to run".to_owned(),
            help: Some(format!(
                "write for example `{EXAMPLE}`; `warpwatt list kernels` shows the suite"
            )),
        };
        reader.fault(list.span(), fault);
        return None;
    }
    let mut workloads: Vec<Placed<Workload>> = Vec::new();
    for item in items {
        for mut read in read_item(reader, item, catalogue) {
            match &mut read.value {
                Workload::Suite {
                    build: of, lower, ..
                } => (*of, *lower) = (build, lowered),
                Workload::Own { lower, .. } => *lower = lowered,
                Workload::Counted(_) => {}
            }
            add(reader, &mut workloads, read);
        }
    }
    reader.note(
        "workloads.kernels",
        list.span(),
        Some(workloads.len()),
        workloads.len(),
    );
    (!workloads.is_empty()).then_some(workloads)
}

/// `build`: which programs the suite's kernels run.
fn build(reader: &mut Reader<'_>, section: &Section<'_>) -> Build {
    let read = reader.one(section, "build", |value| {
        let name = text("`build`", value, "build = \"papers\"")?;
        let name = known(
            "build",
            "study::unknown_value",
            &name,
            Build::ALL.map(Build::name),
        )?;
        Ok(Build::ALL.into_iter().find(|build| build.name() == name))
    });
    read.and_then(|read| read.value).unwrap_or_default()
}

/// `lower`: how near PTX is brought to machine code on all GPUs.
fn lower(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Lower> {
    let read = reader.one(section, "lower", |value| {
        let name = text("`lower`", value, "lower = \"sass-like\"")?;
        let names = Lower::ALL.map(Lower::name);
        let name = known("lower", "study::unknown_value", &name, names)?;
        Ok(Lower::ALL.into_iter().find(|lower| lower.name() == name))
    });
    read.and_then(|read| read.value)
}

/// Adds a kernel to those before it; naming one twice is a fault.
fn add(reader: &mut Reader<'_>, workloads: &mut Vec<Placed<Workload>>, workload: Placed<Workload>) {
    let source = reader.source;
    match workloads
        .iter()
        .find(|earlier| earlier.value == workload.value)
    {
        Some(first) => reader.sink.push(
            Diag::error(
                "study::duplicate_value",
                "the list `kernels` names a kernel twice",
            )
            .at(source, workload.range, "again here")
            .at(source, first.range.clone(), "first here")
            .help("remove one of them, or name another `case`"),
        ),
        None => workloads.push(workload),
    }
}

/// One item of the list: one kernel, or a paper's.
fn read_item(
    reader: &mut Reader<'_>,
    item: &Spanned<DeValue<'_>>,
    catalogue: &Catalogue,
) -> Vec<Placed<Workload>> {
    let selected = item.get_ref().as_str();
    let Some(selected) = selected.and_then(|text| paper(catalogue, text)) else {
        let one = read_one(reader, item, catalogue);
        let placed = one.map(|workload| Placed::new(workload, item.span()));
        return placed.into_iter().collect();
    };
    match selected {
        Ok(selected) => {
            if let Some(message) = selected.missing {
                let note = Diag::warning("study::paper_incomplete", message);
                let note = note.at(reader.source, item.span(), "the others are run");
                reader.sink.push(note);
            }
            let workloads = selected.workloads.into_iter();
            workloads
                .map(|workload| Placed::new(workload, item.span()))
                .collect()
        }
        Err(fault) => {
            reader.fault(item.span(), fault);
            Vec::new()
        }
    }
}

/// A kernel of the suite by its own name, or by a paper's.
fn suite_kernel(value: &DeValue<'_>, catalogue: &Catalogue) -> Result<String, Fault> {
    let name = text("a kernel", value, EXAMPLE)?;
    if [".toml", ".ptx", "/"]
        .iter()
        .any(|part| name.contains(part))
    {
        let launch = match name.strip_suffix(".ptx") {
            Some(stem) => format!("{stem}.toml"),
            None => name.clone(),
        };
        return Err(Fault {
            code: "study::unknown_kernel",
            message: format!("`{name}` is a file, and a text names a kernel of the suite"),
            label: String::new(),
            help: Some(format!(
                "a launch file is named by `{{ launch = \"{launch}\" }}`; `warpwatt new` writes one for a PTX file"
            )),
        });
    }
    let own = catalogue.kernels.contains(&name);
    match called(catalogue, &name)[..] {
        [kernel] if !own => Ok(kernel.to_owned()),
        [_, _, ..] if !own => Err(Fault {
            code: "study::ambiguous_kernel",
            message: format!("papers call different kernels `{name}`"),
            label: String::new(),
            help: Some(format!(
                "write {}, or the row as `paper:NAME/{name}`",
                called(catalogue, &name).join(" or ")
            )),
        }),
        _ => known(
            "kernel of the suite",
            "study::unknown_kernel",
            &name,
            catalogue.kernels.iter().map(String::as_str),
        ),
    }
}

fn read_one(
    reader: &mut Reader<'_>,
    item: &Spanned<DeValue<'_>>,
    catalogue: &Catalogue,
) -> Option<Workload> {
    let suite = |value: &DeValue<'_>| suite_kernel(value, catalogue);
    if !item.get_ref().is_table() {
        return match suite(item.get_ref()) {
            Ok(name) => Some(Workload::Suite {
                name,
                case: None,
                build: Build::default(),
                lower: None,
            }),
            Err(fault) => {
                reader.fault(item.span(), fault);
                None
            }
        };
    }
    let section = reader.as_section("kernels".to_owned(), item)?;
    if section.get("activity").is_some() {
        return counted(reader, &section).map(Workload::Counted);
    }
    reader.refuse_unknown(&section, &["name", "case", "ptx", "launch", "activity"]);
    let case = reader
        .one(&section, "case", |value| {
            text("`case`", value, "case = \"small\"")
        })
        .map(|case| case.value);
    let launch = reader.one(&section, "launch", |value| {
        text("`launch`", value, "launch = \"my.toml\"")
    });
    let ptx = reader.one(&section, "ptx", |value| {
        text("`ptx`", value, "ptx = \"my.ptx\"")
    });
    let name = reader.one(&section, "name", suite);
    match (section.get("name").is_some(), launch) {
        (true, None) if ptx.is_none() => name.map(|name| Workload::Suite {
            name: name.value,
            case,
            build: Build::default(),
            lower: None,
        }),
        (false, Some(launch)) => Some(Workload::Own {
            launch: launch.value.into(),
            ptx: ptx.map(|ptx| ptx.value.into()),
            case,
            lower: None,
        }),
        (_, _) if section.get("launch").is_some() && section.get("name").is_none() => None,
        (_, _) => {
            let fault = Fault {
                code: "study::missing_key",
                message: "a kernel is named by `name` (of the suite) or by `launch` (a launch file of your own), not by both or neither".to_owned(),
                label: String::new(),
                help: Some(format!("write for example `{EXAMPLE}`")),
            };
            reader.fault(item.span(), fault);
            None
        }
    }
}

/// `activity`: counts that another tool made.
fn counted(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<CountedFile> {
    reader.refuse_unknown(section, &["activity"]);
    let section = reader.section(section, "activity")?;
    reader.refuse_unknown(&section, &["file", "map", "kernel"]);
    if section.get("file").is_none() {
        reader.missing(&section, "file", COUNTED);
    }
    let mut one = |key: &str| {
        reader.one(&section, key, |value| {
            text(&format!("`{key}`"), value, COUNTED)
        })
    };
    let (file, map) = (one("file"), one("map"));
    let kernels = section.get("kernel").and_then(|value| {
        reader.axis_of("kernel", value, |value| {
            text("`kernel`", value, "kernel = \"vectorAdd\"")
        })
    });
    let kernels = kernels.unwrap_or_default().into_iter();
    Some(CountedFile {
        file: file?.value,
        map: map.map(|map| map.value),
        kernels: kernels.map(|kernel| kernel.value).collect(),
    })
}

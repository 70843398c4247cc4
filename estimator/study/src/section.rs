//! `[output]` and `[limits]`.

use std::path::PathBuf;

use toml::de::DeValue;

use super::reader::{Fault, Reader, Section, positive, text};
use crate::diag::{Diag, did_you_mean};

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The directory, relative to where the command is run.
    pub directory: PathBuf,
    /// The files beside the result store.
    pub formats: Vec<Format>,
}

/// A form of export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One row a point and structure.
    Csv,
    /// The tables of [`Format::Csv`] for a spreadsheet: no cell is a formula.
    CsvSafe,
    /// Everything, for programs.
    Json,
    /// A page with tables and pictures.
    Html,
    /// Tables for a paper.
    Latex,
    /// The page's pictures, a file each.
    Svg,
    /// The tables of [`Format::Csv`] with typed columns, for programs that read columns.
    Parquet,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 7] = [
        Format::Csv,
        Format::CsvSafe,
        Format::Json,
        Format::Html,
        Format::Latex,
        Format::Svg,
        Format::Parquet,
    ];
    /// Those that are written unless others are asked for.
    pub const DEFAULT: [Format; 3] = [Format::Csv, Format::Json, Format::Html];

    /// As written in a study.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::CsvSafe => "csv-safe",
            Format::Json => "json",
            Format::Html => "html",
            Format::Latex => "latex",
            Format::Svg => "svg",
            Format::Parquet => "parquet",
        }
    }

    /// The end of the names of its files.
    pub fn extension(self) -> &'static str {
        match self {
            // Beside the tables as they are, and for a spreadsheet a file that it knows.
            Format::CsvSafe => "safe.csv",
            Format::Latex => "tex",
            other => other.name(),
        }
    }

    /// The one of a name.
    ///
    /// # Errors
    /// There is none, or this build cannot write it.
    pub fn of(name: &str) -> Result<Format, Diag> {
        let found = Format::ALL.into_iter().find(|one| one.name() == name);
        let Some(format) = found else {
            let message = format!("no output format is called `{name}`");
            let names = Format::ALL.map(Format::name);
            return Err(
                Diag::error("study::unknown_format", message).help(did_you_mean(name, names))
            );
        };
        if format == Format::Parquet && !cfg!(feature = "parquet") {
            let message = "this build of warpwatt cannot write Parquet";
            return Err(Diag::error("study::format_not_built", message).help(
                "build it with `cargo build --release --features parquet`, or ask for \"csv\"",
            ));
        }
        Ok(format)
    }
}

/// Bounds on the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Warp instructions that one launch may execute before it is taken for endless.
    pub warp_instructions: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            warp_instructions: 1_000_000_000,
        }
    }
}

impl Default for Output {
    fn default() -> Output {
        Output {
            directory: PathBuf::from("results"),
            formats: Format::DEFAULT.to_vec(),
        }
    }
}

pub(super) fn read_output(reader: &mut Reader<'_>, root: &Section<'_>) -> Output {
    let default = Output::default();
    let Some(section) = reader.section(root, "output") else {
        return default;
    };
    reader.refuse_unknown(&section, &["directory", "formats"]);
    let directory = reader.one(&section, "directory", |value| {
        let path = text("`directory`", value, "directory = \"results\"")?;
        if path.is_empty() {
            Err(empty_path())
        } else {
            Ok(PathBuf::from(path))
        }
    });
    let formats = match section.get("formats").map(toml::Spanned::get_ref) {
        Some(DeValue::Array(items)) if items.is_empty() => Some(Vec::new()),
        _ => reader
            .axis(&section, "formats", parse_format)
            .map(|list| list.into_iter().map(|format| format.value).collect()),
    };
    Output {
        directory: directory.map_or(default.directory, |path| path.value),
        formats: formats.unwrap_or(default.formats),
    }
}

fn empty_path() -> Fault {
    Fault {
        code: "study::wrong_type",
        message: "`directory` is empty".to_owned(),
        label: String::new(),
        help: Some("write for example `directory = \"results\"`, or leave the key out".to_owned()),
    }
}

fn parse_format(value: &DeValue<'_>) -> Result<Format, Fault> {
    let name = text("a format", value, "formats = [\"csv\", \"json\", \"html\"]")?;
    Format::of(&name).map_err(|diag| Fault {
        code: diag.code,
        message: diag.message,
        label: String::new(),
        help: diag.help,
    })
}

/// More than any run within a day; a limit above it is a slip.
const MOST_INSTRUCTIONS: u64 = 1_000_000_000_000;

pub(super) fn read_limits(reader: &mut Reader<'_>, root: &Section<'_>) -> Limits {
    let Some(section) = reader.section(root, "limits") else {
        return Limits::default();
    };
    reader.refuse_unknown(&section, &["warp_instructions"]);
    let limit = reader.one(&section, "warp_instructions", |value| {
        let limit = positive(
            "`warp_instructions`",
            value,
            "warp_instructions = 100_000_000",
        )?;
        if limit <= MOST_INSTRUCTIONS {
            return Ok(limit);
        }
        Err(Fault {
            code: "study::absurd_size",
            message: format!("`warp_instructions` is {limit}, more than any machine executes"),
            label: format!("at most {MOST_INSTRUCTIONS}"),
            help: Some("write for example `warp_instructions = 100_000_000`".to_owned()),
        })
    });
    limit.map_or_else(Limits::default, |limit| Limits {
        warp_instructions: limit.value,
    })
}

//! Reading of launch files: text to [`LaunchFile`], or every problem of the text.

mod argument;
mod case;
mod constants;
mod fields;
mod host;
mod im2col;
mod pointer;
mod repeat;
mod step;
mod tensor_map;
mod texture;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::form::Constants;
use super::rounds::MOST_ROUNDS;
use super::verify::verify;
use super::{Case, LaunchFile, Problem};
use fields::Fields;

/// Keys that make a top-level table a case.
const CASE_MARKS: [&str; 5] = ["kernel", "grid", "block", "arg", "step"];

impl LaunchFile {
    /// Reads a launch file's text. No file is opened.
    ///
    /// # Errors
    /// All problems of the text, in its order.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut problems: Vec<_> = errors.iter().map(|error| syntax(text, error)).collect();
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.span.start);
            return Err(problems);
        }
        let file = Self::from_document(&document, &mut problems);
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        if problems.is_empty() {
            Ok(file)
        } else {
            Err(problems)
        }
    }

    fn from_document(document: &Spanned<DeTable<'_>>, problems: &mut Vec<Problem>) -> Self {
        let mut fields = Fields::new("the file", 0..0, document.get_ref(), problems);
        let name = fields.require_string("name").unwrap_or_default();
        let build = fields.table("build");
        let ptx = build.and_then(|(span, build)| {
            Fields::new("[build]", span, build, fields.problems()).string_at("ptx")
        });
        let mut constants = Constants::new();
        constants::read(&mut fields, &mut constants);
        let mut tables: Vec<_> = document
            .get_ref()
            .iter()
            .filter_map(|(key, value)| Some((key, value.get_ref().as_table()?)))
            .filter(|(key, _)| key.get_ref() != "constants")
            .filter(|(_, table)| CASE_MARKS.iter().any(|mark| table.contains_key(*mark)))
            .collect();
        tables.sort_by_key(|(key, _)| key.span().start);
        let cases: Vec<Case> = tables
            .into_iter()
            .map(|(key, table)| case::read(key, table, (&constants, problems)))
            .collect();
        let mut left = MOST_ROUNDS;
        for case in &cases {
            verify(case, &mut left, problems);
        }
        if cases.is_empty() {
            let problem = Problem::new(0..0, "the file has no case");
            problems.push(problem.help(
                "a case is a table with `kernel`, `grid`, `block` and `[[NAME.arg]]` entries",
            ));
        }
        Self { name, ptx, cases }
    }
}

fn syntax(text: &str, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let end = span.end.min(text.len());
    Problem::new(span.start.min(end)..end, error.message())
}

/// A value and where it stands.
type Entry<'t> = Spanned<DeValue<'t>>;

//! Typed access to the entries of one table, with every problem noted.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Entry;
use crate::launch::Form;
use crate::launch::form::{Constants, MISSING};
use crate::launch::problem::{Problem, nearest, similar};

/// One table under reading.
pub(super) struct Fields<'a, 't> {
    /// How messages call the table.
    what: String,
    /// Where the table stands: for problems of what is missing.
    span: Range<usize>,
    table: &'a DeTable<'t>,
    problems: &'a mut Vec<Problem>,
}

/// What happens to keys that nobody knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// They are problems, except `expect_*`.
    Refused,
    /// They are information, unless they look like a misspelling.
    Information,
}

impl<'a, 't> Fields<'a, 't> {
    pub(super) fn new(
        what: impl Into<String>,
        span: Range<usize>,
        table: &'a DeTable<'t>,
        problems: &'a mut Vec<Problem>,
    ) -> Self {
        Self {
            what: what.into(),
            span,
            table,
            problems,
        }
    }

    /// Notes every key that is not known.
    pub(super) fn check_keys(&mut self, known: &[&str], unknown: Unknown) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if known.contains(&name) || name.starts_with("expect_") {
                continue;
            }
            if unknown == Unknown::Refused || similar(name, known).is_some() {
                let problem =
                    Problem::new(key.span(), format!("unknown key `{name}` in {}", self.what));
                self.problems.push(problem.help(nearest(name, known)));
            }
        }
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }

    pub(super) fn what(&self) -> &str {
        &self.what
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Notes that a key is missing.
    pub(super) fn missing(&mut self, key: &str, help: &str) {
        let problem = Problem::new(self.span.clone(), format!("{} has no `{key}`", self.what));
        self.problems.push(problem.help(help));
    }

    /// Notes a key that makes no sense beside the others.
    pub(super) fn refuse(&mut self, keys: &[&str], reason: &str) {
        for key in keys {
            if let Some((found, _)) = self.table.get_key_value(*key) {
                let problem = Problem::new(
                    found.span(),
                    format!("`{key}` has no meaning here: {reason}"),
                );
                self.problems.push(problem);
            }
        }
    }

    /// The raw entry.
    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry<'t>> {
        self.table.get(key)
    }

    /// Notes that an entry has the wrong type.
    pub(super) fn mistyped(&mut self, key: &str, entry: &Entry<'_>, wanted: &str) {
        let found = entry.get_ref().type_str();
        let message = format!("`{key}` must be {wanted}, not {} {found}", article(found));
        self.problems.push(Problem::new(entry.span(), message));
    }

    pub(super) fn string_at(&mut self, key: &str) -> Option<Spanned<String>> {
        let entry = self.entry(key)?;
        match entry.get_ref().as_str() {
            Some(text) => Some(Spanned::new(entry.span(), text.to_owned())),
            None => {
                self.mistyped(key, entry, "a string");
                None
            }
        }
    }

    pub(super) fn require_string_at(&mut self, key: &str, help: &str) -> Option<Spanned<String>> {
        if !self.has(key) {
            self.missing(key, help);
        }
        self.string_at(key)
    }

    pub(super) fn require_string(&mut self, key: &str) -> Option<String> {
        let found = self.require_string_at(key, "it must be a string");
        found.map(Spanned::into_inner)
    }

    pub(super) fn table(&mut self, key: &str) -> Option<(Range<usize>, &'a DeTable<'t>)> {
        let entry = self.entry(key)?;
        match entry.get_ref().as_table() {
            Some(table) => Some((entry.span(), table)),
            None => {
                self.mistyped(key, entry, "a table");
                None
            }
        }
    }

    /// The tables of an array of tables; none if the key is missing.
    pub(super) fn tables(&mut self, key: &str) -> Vec<(Range<usize>, &'a DeTable<'t>)> {
        let Some(entry) = self.entry(key) else {
            return Vec::new();
        };
        let Some(entries) = entry.get_ref().as_array() else {
            self.mistyped(key, entry, "an array of tables");
            return Vec::new();
        };
        let mut tables = Vec::new();
        for entry in entries {
            match entry.get_ref().as_table() {
                Some(table) => tables.push((entry.span(), table)),
                None => self.mistyped(key, entry, "an array of tables"),
            }
        }
        tables
    }

    pub(super) fn boolean(&mut self, key: &str) -> Option<bool> {
        let entry = self.entry(key)?;
        let value = entry.get_ref().as_bool();
        if value.is_none() {
            self.mistyped(key, entry, "true or false");
        }
        value
    }

    /// An integer within a range.
    pub(super) fn integer(&mut self, key: &str, low: i64, high: i64) -> Option<i64> {
        let entry = self.entry(key)?;
        let Some(value) = integer(entry.get_ref()) else {
            self.mistyped(key, entry, "an integer");
            return None;
        };
        if (i128::from(low)..=i128::from(high)).contains(&value) {
            return Some(value as i64);
        }
        let message = format!("`{key}` must be from {low} to {high}, not {value}");
        self.problems.push(Problem::new(entry.span(), message));
        None
    }

    /// A number, or an expression that may follow loops.
    pub(super) fn form(&mut self, key: &str, constants: &Constants) -> Option<Form> {
        let entry = self.entry(key)?;
        self.form_of(key, entry, constants)
    }

    /// An entry as a number or an expression.
    pub(super) fn form_of(
        &mut self,
        key: &str,
        entry: &Entry<'_>,
        constants: &Constants,
    ) -> Option<Form> {
        let form = match entry.get_ref() {
            DeValue::String(text) => Form::parse(text, entry.span(), constants),
            value => match number(value) {
                Some(number) => Ok(Form::Constant(number)),
                None => {
                    self.mistyped(key, entry, "a number or an expression in quotes");
                    return None;
                }
            },
        };
        form.map_err(|problem| self.problem(problem)).ok()
    }

    /// An integer within a range, or an expression for one that follows no loop.
    pub(super) fn whole(
        &mut self,
        key: &str,
        low: i64,
        high: i64,
        constants: &Constants,
    ) -> Option<i64> {
        let entry = self.entry(key)?;
        if entry.get_ref().as_str().is_none() {
            return self.integer(key, low, high);
        }
        let form = self.form(key, constants)?;
        self.whole_form(key, entry, &form, (low, high), constants)
    }

    /// As [`whole`](Self::whole), of an entry of a list.
    pub(super) fn whole_of(
        &mut self,
        key: &str,
        entry: &Entry<'_>,
        bounds: (i64, i64),
        constants: &Constants,
    ) -> Option<i64> {
        let form = self.form_of(key, entry, constants)?;
        self.whole_form(key, entry, &form, bounds, constants)
    }

    fn whole_form(
        &mut self,
        key: &str,
        entry: &Entry<'_>,
        form: &Form,
        (low, high): (i64, i64),
        constants: &Constants,
    ) -> Option<i64> {
        if let Some(name) = form.free().first() {
            let problem = unknown_name(name, constants.keys().map(String::as_str));
            self.problem(Problem {
                span: entry.span(),
                ..problem
            });
            return None;
        }
        let value = match form.integer(crate::launch::Variables::NONE) {
            Ok(value) if (low..=high).contains(&value) => return Some(value),
            Ok(value) => format!("`{key}` must be from {low} to {high}, not {value}"),
            Err(message) => message,
        };
        self.problem(Problem::new(entry.span(), value));
        None
    }

    /// A number that is finite and not negative.
    pub(super) fn magnitude(&mut self, key: &str) -> Option<f64> {
        let entry = self.entry(key)?;
        let Some(value) = number(entry.get_ref()) else {
            self.mistyped(key, entry, "a number");
            return None;
        };
        if value.is_finite() && value >= 0.0 {
            return Some(value);
        }
        let message = format!("`{key}` must be zero or a positive number, not {value}");
        self.problems.push(Problem::new(entry.span(), message));
        None
    }
}

/// An integer's value; beyond 128 bits there is none.
pub(super) fn integer(value: &DeValue<'_>) -> Option<i128> {
    let integer = value.as_integer()?;
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// A number's value, written with or without a fraction.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => integer(value).map(|integer| integer as f64),
    }
}

/// An expression names what nobody knows; the place is left to the caller.
pub(super) fn unknown_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Problem {
    if name == MISSING {
        let problem = Problem::new(
            0..0,
            format!("a value is still to be filled in: `{MISSING}`"),
        );
        return problem.help("a number, or an expression over `constants` in quotes");
    }
    let known: Vec<&str> = known.collect();
    let problem = Problem::new(0..0, format!("there is no variable `{name}` here"));
    problem.help(match known.is_empty() {
        true => {
            "a counting loop around it has a variable, and the case may have `constants`".to_owned()
        }
        false => nearest(name, &known),
    })
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'i']) {
        "an"
    } else {
        "a"
    }
}

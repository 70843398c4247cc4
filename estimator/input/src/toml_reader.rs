//! A TOML document with the place of every key and value, read so that reading never stops at a fault.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diag::{Diag, Sink, SourceId, did_you_mean};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Bytes of the file.
    pub range: Range<usize>,
}

impl<T> Placed<T> {
    /// A value at a place.
    pub fn new(value: T, range: Range<usize>) -> Placed<T> {
        Placed { value, range }
    }
}

/// Why a value will not do.
pub struct Fault {
    /// A stable name, `study::fault`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// A few words at the caret.
    pub label: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Fault {
    /// The value has the wrong type; `example` shows a right one.
    pub fn wrong_type(what: &str, found: &DeValue<'_>, example: &str) -> Fault {
        Fault {
            code: "study::wrong_type",
            message: format!("{what} is written like `{example}`"),
            label: format!("this is {}", article(found.type_str())),
            help: None,
        }
    }
}

fn article(type_name: &str) -> String {
    let article = if type_name.starts_with(['a', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {type_name}")
}

/// Where faults of one file go.
pub struct Reader<'s> {
    /// Findings and texts.
    pub sink: &'s mut Sink,
    /// The file.
    pub source: SourceId,
}

/// One table of the document.
#[derive(Clone)]
pub struct Section<'d> {
    /// Its name in messages: `[gpu]`.
    pub name: String,
    /// Its entries.
    pub table: &'d DeTable<'d>,
    /// Its heading.
    pub range: Range<usize>,
}

impl<'d> Section<'d> {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.table.get(key)
    }

    /// The entries in the order of the file.
    pub fn in_file_order(
        &self,
    ) -> Vec<(
        &'d Spanned<std::borrow::Cow<'d, str>>,
        &'d Spanned<DeValue<'d>>,
    )> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }
}

impl<'s> Reader<'s> {
    /// A reader of the text `source`.
    pub fn new(sink: &'s mut Sink, source: SourceId) -> Self {
        Self { sink, source }
    }
}

impl Reader<'_> {
    /// Leaves a finding about `range`.
    pub fn fault(&mut self, range: Range<usize>, fault: Fault) {
        let diag = Diag::error(fault.code, fault.message)
            .at(self.source, range, fault.label)
            .maybe_help(fault.help);
        self.sink.push(diag);
    }

    /// The table under `key`, if it is there and is one.
    pub fn section<'d>(&mut self, parent: &Section<'d>, key: &str) -> Option<Section<'d>> {
        let value = parent.get(key)?;
        let name = if parent.name.is_empty() {
            format!("[{key}]")
        } else {
            format!("{}.{key}", parent.name)
        };
        self.as_section(name, value)
    }

    /// `value` as a table.
    pub fn as_section<'d>(
        &mut self,
        name: String,
        value: &'d Spanned<DeValue<'d>>,
    ) -> Option<Section<'d>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Section {
                name,
                table,
                range: value.span(),
            }),
            other => {
                let message = format!("`{name}` must be a table");
                self.fault(
                    value.span(),
                    Fault {
                        code: "study::wrong_type",
                        message,
                        label: format!("this is {}", article(other.type_str())),
                        help: None,
                    },
                );
                None
            }
        }
    }

    /// Reports every key of `section` that is not among `known`, with the nearest known one.
    pub fn refuse_unknown(&mut self, section: &Section<'_>, known: &[&str]) {
        for (key, _) in section.in_file_order() {
            if !known.contains(&key.get_ref().as_ref()) {
                self.unknown_key(section, key, known);
            }
        }
    }

    /// Reports one unknown key.
    pub fn unknown_key(
        &mut self,
        section: &Section<'_>,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        known: &[&str],
    ) {
        let place = if section.name.is_empty() {
            "a study file".to_owned()
        } else {
            format!("`{}`", section.name)
        };
        self.fault(
            key.span(),
            Fault {
                code: "study::unknown_key",
                message: format!("{place} has no key `{}`", key.get_ref()),
                label: "unknown key".to_owned(),
                help: Some(did_you_mean(key.get_ref(), known.iter().copied())),
            },
        );
    }

    /// Reports a key that must be there.
    pub fn missing(&mut self, section: &Section<'_>, key: &str, example: &str) {
        self.fault(
            section.range.clone(),
            Fault {
                code: "study::missing_key",
                message: format!("`{}` needs the key `{key}`", section.name),
                label: String::new(),
                help: Some(format!("write for example `{example}`")),
            },
        );
    }

    /// Reports a section that must be there.
    pub fn missing_section(&mut self, root: &Section<'_>, name: &str, example: &str) {
        self.fault(
            root.range.clone(),
            Fault {
                code: "study::missing_key",
                message: format!("the study has no section `[{name}]`"),
                label: String::new(),
                help: Some(format!("add for example:\n{example}")),
            },
        );
    }

    /// One value of `key`, judged by `parse`.
    pub fn one<'d, T>(
        &mut self,
        section: &Section<'d>,
        key: &str,
        parse: impl FnOnce(&'d DeValue<'d>) -> Result<T, Fault>,
    ) -> Option<Placed<T>> {
        let value = section.get(key)?;
        self.judge(value, parse)
    }

    /// One value or a list of them (a sweep axis), each judged by `parse`: never empty, no value twice. `None` if the key is missing or nothing in it will do.
    pub fn axis<'d, T: PartialEq + Debug>(
        &mut self,
        section: &Section<'d>,
        key: &str,
        parse: impl Fn(&'d DeValue<'d>) -> Result<T, Fault>,
    ) -> Option<Vec<Placed<T>>> {
        let value = section.get(key)?;
        self.axis_of(key, value, parse)
    }

    /// As [`Reader::axis`], for a value in hand.
    pub fn axis_of<'d, T: PartialEq + Debug>(
        &mut self,
        key: &str,
        value: &'d Spanned<DeValue<'d>>,
        parse: impl Fn(&'d DeValue<'d>) -> Result<T, Fault>,
    ) -> Option<Vec<Placed<T>>> {
        let DeValue::Array(items) = value.get_ref() else {
            return self.judge(value, parse).map(|one| vec![one]);
        };
        if items.is_empty() {
            self.fault(
                value.span(),
                Fault {
                    code: "study::empty_list",
                    message: format!("the list `{key}` is empty"),
                    label: "nothing to run".to_owned(),
                    help: Some(
                        "give at least one value, or leave the key out to get its default"
                            .to_owned(),
                    ),
                },
            );
            return None;
        }
        let mut values: Vec<Placed<T>> = Vec::new();
        // Equal values look alike, so that each is compared with few others.
        let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for item in items.iter() {
            let Some(placed) = self.judge(item, &parse) else {
                continue;
            };
            let alike = alike.entry(format!("{:?}", placed.value)).or_default();
            let mut earlier = alike.iter().map(|place| &values[*place]);
            if let Some(first) = earlier.find(|earlier| earlier.value == placed.value) {
                let diag = Diag::error(
                    "study::duplicate_value",
                    format!("the list `{key}` names a value twice"),
                )
                .at(self.source, placed.range, "again here")
                .at(self.source, first.range.clone(), "first here")
                .help("remove one of them: every value of an axis makes its own points");
                self.sink.push(diag);
            } else {
                alike.push(values.len());
                values.push(placed);
            }
        }
        (!values.is_empty()).then_some(values)
    }

    fn judge<'d, T>(
        &mut self,
        value: &'d Spanned<DeValue<'d>>,
        parse: impl FnOnce(&'d DeValue<'d>) -> Result<T, Fault>,
    ) -> Option<Placed<T>> {
        match parse(value.get_ref()) {
            Ok(parsed) => Some(Placed::new(parsed, value.span())),
            Err(fault) => {
                self.fault(value.span(), fault);
                None
            }
        }
    }
}

/// Parses `text` and reports every syntax error. What could be read is returned all the same, but only if nothing was wrong is it trustworthy.
pub fn parse_document<'d>(
    text: &'d str,
    sink: &mut Sink,
    source: SourceId,
) -> Spanned<DeTable<'d>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let range = error.span().unwrap_or(0..0);
        sink.push(
            Diag::error("toml::syntax", first_line(error.message()))
                .at(source, range, "")
                .maybe_help(more_lines(error.message())),
        );
    }
    document
}

fn first_line(message: &str) -> String {
    format!(
        "not valid TOML: {}",
        message.lines().next().unwrap_or("syntax error")
    )
}

fn more_lines(message: &str) -> Option<String> {
    let rest: Vec<&str> = message.lines().skip(1).collect();
    (!rest.is_empty()).then(|| rest.join("\n"))
}

/// A text value.
pub fn text(what: &str, value: &DeValue<'_>, example: &str) -> Result<String, Fault> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Fault::wrong_type(what, value, example))
}

/// `value` as a plain TOML value.
pub fn plain(value: &DeValue<'_>) -> Result<toml::Value, Fault> {
    Ok(match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => toml::Value::Integer(integer(number.as_str(), number.radix())?),
        DeValue::Float(number) => toml::Value::Float(
            number
                .as_str()
                .replace('_', "")
                .parse()
                .map_err(|_| unreadable(number.as_str()))?,
        ),
        DeValue::Boolean(truth) => toml::Value::Boolean(*truth),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
        DeValue::Array(items) => toml::Value::Array(
            items
                .iter()
                .map(|item| plain(item.get_ref()))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => {
            let mut plain_table = toml::Table::new();
            for (key, item) in table.iter() {
                plain_table.insert(key.get_ref().to_string(), plain(item.get_ref())?);
            }
            toml::Value::Table(plain_table)
        }
    })
}

/// A whole number from its digits.
pub fn integer(digits: &str, radix: u32) -> Result<i64, Fault> {
    i64::from_str_radix(&digits.replace('_', ""), radix).map_err(|_| unreadable(digits))
}

fn unreadable(number: &str) -> Fault {
    Fault {
        code: "study::absurd_size",
        message: format!("the number {number} is too large to be meant"),
        label: "does not fit 64 bits".to_owned(),
        help: None,
    }
}

/// A whole number of at least one.
pub fn positive(what: &str, value: &DeValue<'_>, example: &str) -> Result<u64, Fault> {
    let DeValue::Integer(number) = value else {
        return Err(Fault::wrong_type(what, value, example));
    };
    match integer(number.as_str(), number.radix())? {
        number if number > 0 => Ok(number.unsigned_abs()),
        number => Err(Fault {
            code: "study::absurd_size",
            message: format!("{what} must be at least 1, not {number}"),
            label: String::new(),
            help: Some(format!("write for example `{example}`")),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::render;

    fn read<T>(text: &str, check: impl FnOnce(&mut Reader<'_>, &Section<'_>) -> T) -> (T, String) {
        let mut sink = Sink::default();
        let source = sink.sources.add("study.toml", text);
        let document = parse_document(text, &mut sink, source);
        let root = Section {
            name: String::new(),
            table: document.get_ref(),
            range: 0..0,
        };
        let result = check(&mut Reader::new(&mut sink, source), &root);
        (result, render(&sink, false))
    }

    #[test]
    fn every_syntax_error_is_reported() {
        let (_, text) = read("a = \nb = 1 2\n[c\n", |_, _| ());
        assert_eq!(text.matches("error[toml::syntax]").count(), 3, "{text}");
    }

    #[test]
    fn an_axis_is_a_value_or_a_list_without_repeats() {
        let axis = |text: &str| {
            read(text, |reader, root| {
                reader.axis(root, "n", |value| positive("n", value, "n = 1"))
            })
        };
        let values = |axis: Option<Vec<Placed<u64>>>| {
            axis.map(|list| {
                list.into_iter()
                    .map(|placed| placed.value)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(values(axis("n = 3").0), Some(vec![3]));
        assert_eq!(values(axis("n = [3, 0x10]").0), Some(vec![3, 16]));
        let (list, text) = axis("n = [3, 4, 3, 0, \"x\"]");
        assert_eq!(values(list), Some(vec![3, 4]));
        assert!(
            text.contains("study::duplicate_value")
                && text.contains("at least 1")
                && text.contains("this is a string"),
            "{text}"
        );
        assert!(axis("n = []").1.contains("study::empty_list"));
    }

    #[test]
    fn unknown_keys_come_with_the_nearest_known_one() {
        let (_, text) = read("titel = 1", |reader, root| {
            reader.refuse_unknown(root, &["title", "gpu"])
        });
        assert!(
            text.contains("a study file has no key `titel`")
                && text.contains("did you mean `title`?"),
            "{text}"
        );
    }

    #[test]
    fn numbers_that_do_not_fit_are_faults_not_panics() {
        let (_, text) = read("n = 99999999999999999999", |reader, root| {
            reader.one(root, "n", plain)
        });
        assert!(text.contains("too large"), "{text}");
    }
}

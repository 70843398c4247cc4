//! Configuration files of CACTI 6.5 and 7: lines such as `-size (bytes) 4096`.
//!
//! CACTI compares the beginnings of lines and passes over what it does not know, so that a slip of the pen leaves a default (io.cc:76). Here every line
//! must be one that CACTI knows; those that are of no consequence for a cache in SRAM are counted and named.

mod keys;

use std::collections::BTreeMap;
use std::ops::Range;

use warpwatt_circuit::Gating;
use warpwatt_techlib::Flavour;

use super::{Inputs, LibraryName, Query, Refusal, parse_deviations, parse_weights};
use crate::batch::Model;
use crate::diag::{Diag, Sink, SourceId, did_you_mean};
use keys::{KEYS, Key, Meaning};

/// Largest file that is read; CACTI's own have ten kilobytes.
pub const MOST_BYTES: u64 = 1 << 20;
/// Faults that are listed; more lines than that are no configuration of CACTI.
const MOST_FAULTS: usize = 20;

/// One line that says something.
struct Line<'a> {
    /// Without the dash and comments.
    text: &'a str,
    /// Where it stands.
    range: Range<usize>,
}

/// Reads a configuration; `None` if something is wrong with it, and then the faults are in `sink`.
pub fn read(sink: &mut Sink, source: SourceId, model: Model) -> Option<Query> {
    let text = sink.sources.text(source).to_owned();
    let before = sink.diags.len();
    let mut reader = Reader {
        sink,
        source,
        inputs: Inputs::new(model.profile),
        seen: BTreeMap::new(),
        unused: 0,
        gating: None,
        loss: None,
        tags: Vec::new(),
        faults: 0,
    };
    for line in lines(&text) {
        reader.take(&line);
    }
    let unused = reader.unused;
    let query = reader.finish(model.library);
    if sink.diags[before..]
        .iter()
        .any(|diag| diag.severity == crate::diag::Severity::Error)
    {
        return None;
    }
    query.map(|mut query| {
        if unused > 0 {
            query.notes.push(format!(
                "{unused} lines of the file are about printing, networks and external memory, and are of no consequence here"
            ));
        }
        query
    })
}

/// The lines that begin with a dash, without what follows `//`.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |whole| {
        let begin = start;
        start += whole.len();
        let bare = whole.find("//").map_or(whole, |comment| &whole[..comment]);
        let indent = bare.len() - bare.trim_start().len();
        let bare = bare.trim();
        if bare.is_empty() || bare.starts_with('#') {
            return None;
        }
        let range = begin + indent..begin + indent + bare.len();
        Some(Line { text: bare, range })
    })
}

struct Reader<'s> {
    sink: &'s mut Sink,
    source: SourceId,
    inputs: Inputs,
    /// Where each key stood.
    seen: BTreeMap<&'static str, Range<usize>>,
    unused: usize,
    gating: Option<bool>,
    loss: Option<f64>,
    /// Flavours of the tag side, by the input that says the same of the data side.
    tags: Vec<(&'static str, Flavour)>,
    faults: usize,
}

impl Reader<'_> {
    fn take(&mut self, line: &Line<'_>) {
        let Some(body) = line.text.strip_prefix('-') else {
            self.fault(
                line,
                "cfg::no_key",
                Refusal::new("a line begins with `-`, `#` or `//`").help(
                    "write a key of CACTI such as `-size (bytes) 4096`, or make it a comment",
                ),
            );
            return;
        };
        let Some((key, rest)) = find(body) else {
            let known = KEYS.iter().map(|key| key.name);
            let name = body.split(['(', '"', ':']).next().unwrap_or(body).trim();
            // A value is no part of a name.
            let name =
                name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
            self.fault(
                line,
                "cfg::unknown_key",
                Refusal::new(format!("CACTI has no key `{name}`")).help(
                    crate::diag::nearest(name, known.clone()).map_or_else(
                        || {
                            "CACTI itself would pass over the line; remove it or make it a comment"
                                .to_owned()
                        },
                        |_| did_you_mean(name, known),
                    ),
                ),
            );
            return;
        };
        if let Some(first) = self.seen.insert(key.name, line.range.clone()) {
            let message = format!(
                "`-{}` is there twice; the last one counts, as in CACTI",
                key.name
            );
            self.sink.push(
                Diag::warning("cfg::twice", message)
                    .at(self.source, line.range.clone(), "this one counts")
                    .at(self.source, first, "this one does not"),
            );
        }
        let said = value(rest);
        if let Err(refusal) = self.understand(key, said) {
            self.fault(line, "cfg::value", refusal);
        }
    }

    fn understand(&mut self, key: &'static Key, said: Said<'_>) -> Result<(), Refusal> {
        if let Some(unit) = key.unit
            && said
                .hint
                .is_some_and(|hint| !hint.eq_ignore_ascii_case(unit))
        {
            return Err(Refusal::new(format!("`-{}` is in ({unit})", key.name))
                .help(format!("write `-{} ({unit}) ...`", key.name)));
        }
        if said.value.is_empty() && !matches!(key.meaning, Meaning::Unused) {
            return Err(Refusal::new(format!("`-{}` has no value", key.name)));
        }
        match key.meaning {
            Meaning::Input(name) => self.inputs.set(name, said.value),
            Meaning::Tag(name) => {
                let flavour = super::keywords::flavour(said.value)?;
                self.tags.push((name, flavour));
                Ok(())
            }
            Meaning::Default(name) if said.value.eq_ignore_ascii_case("default") => {
                self.inputs.set(name, "0")
            }
            Meaning::Default(name) => self.inputs.set(name, said.value),
            Meaning::Weights => {
                self.inputs.settings.weights = parse_weights(said.value)?;
                Ok(())
            }
            Meaning::Deviations => {
                self.inputs.settings.deviations = parse_deviations(said.value)?;
                Ok(())
            }
            Meaning::Only(only, _) if said.value.eq_ignore_ascii_case(only) => Ok(()),
            Meaning::Only(only, why) => Err(Refusal::new(format!(
                "`-{}` cannot be `{}`: {why}",
                key.name, said.value
            ))
            .help(format!("only `{only}` is modelled"))),
            Meaning::Gate => {
                let on = super::keywords::truth(said.value)?;
                self.gating = Some(self.gating.unwrap_or(false) || on);
                Ok(())
            }
            Meaning::Loss => {
                let loss = said.value.parse().ok();
                self.loss = loss.filter(|loss: &f64| *loss > 0.0 && *loss <= 0.5);
                self.loss.map(|_| ()).ok_or_else(|| {
                    Refusal::new(format!("`{}` is no loss of performance", said.value))
                        .help("write a fraction above 0 and at most 0.5, such as 0.01")
                })
            }
            Meaning::Unused => {
                self.unused += 1;
                Ok(())
            }
        }
    }

    fn fault(&mut self, line: &Line<'_>, code: &'static str, refusal: Refusal) {
        self.faults += 1;
        if self.faults <= MOST_FAULTS {
            self.sink.push(
                Diag::error(code, keys::in_cfg(&refusal.message))
                    .at(self.source, line.range.clone(), "")
                    .maybe_help(refusal.help.map(|help| keys::in_cfg(&help))),
            );
        }
    }

    fn finish(mut self, library: LibraryName) -> Option<Query> {
        if self.faults > MOST_FAULTS {
            let message = format!("{} more lines like these", self.faults - MOST_FAULTS);
            self.sink.push(Diag::error("cfg::value", message));
        }
        self.settle_gating();
        self.compare_sides();
        if self.faults > 0 {
            return None;
        }
        let query = self.inputs.query(library);
        query
            .map_err(|refusal| {
                self.sink.push(
                    Diag::error("cfg::inputs", keys::in_cfg(&refusal.message))
                        .at(self.source, 0..0, "in this file")
                        .maybe_help(refusal.help.map(|help| keys::in_cfg(&help))),
                );
            })
            .ok()
    }

    /// Both sides of a cache are of one flavour here; a memory without tags does not care.
    fn compare_sides(&mut self) {
        let data = self.inputs.flavours();
        for (name, tag) in self.tags.clone() {
            let of_data = if name == "cell_type" {
                data.cell
            } else {
                data.periphery
            };
            if tag == of_data || !self.inputs.has_tags() {
                continue;
            }
            self.faults += 1;
            let message = format!("tags of {tag} beside data of {of_data} are not modelled");
            self.sink
                .push(Diag::error("cfg::mixed_sides", message).help(
                    "give the tag array and the data array the same cell type and peripheral type",
                ));
        }
    }

    /// The five switches of CACTI 7 are one here: what a sleep transistor cuts off.
    fn settle_gating(&mut self) {
        if self.gating == Some(true) {
            let plain = Gating::default();
            self.inputs.settings.gating = Some(Gating {
                loss: self.loss.unwrap_or(plain.loss),
                ..plain
            });
        }
    }
}

/// The longest key that `body` begins with, and what follows it.
fn find(body: &str) -> Option<(&'static Key, &str)> {
    KEYS.iter()
        .filter_map(|key| Some((key, after(body, key.name)?)))
        .max_by_key(|(key, _)| key.name.len())
}

/// What follows `name` in `body`, letters of either case and any blanks between words.
fn after<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = body;
    for word in name.split(' ') {
        rest = rest.trim_start();
        let head = rest.get(..word.len())?;
        if !head.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = &rest[word.len()..];
    }
    let ends = rest
        .chars()
        .next()
        .is_none_or(|c| !(c.is_alphanumeric() || c == '_'));
    ends.then_some(rest)
}

/// What a line says of its key.
struct Said<'a> {
    /// In the first parentheses.
    hint: Option<&'a str>,
    value: &'a str,
}

/// `(K) 360`, `(fast, normal) - "normal"`, `: "ED"`: a hint, a separator, the value with or without quotation marks.
fn value(rest: &str) -> Said<'_> {
    let mut rest = rest.trim();
    let mut hint = None;
    while let Some(open) = rest.strip_prefix('(') {
        let Some((inside, tail)) = open.split_once(')') else {
            break;
        };
        hint = hint.or(Some(inside.trim()));
        rest = tail.trim_start();
    }
    rest = rest.trim_start_matches([':', '=']).trim_start();
    // A dash alone separates; one before a digit is a sign, which no value has and which must not be lost.
    if let Some(tail) = rest.strip_prefix('-')
        && !tail.starts_with(|c: char| c.is_ascii_digit())
    {
        rest = tail.trim_start();
    }
    let value = match rest.strip_prefix('"') {
        Some(open) => open.split('"').next().unwrap_or(open),
        None => rest.split('#').next().unwrap_or(rest),
    };
    Said {
        hint,
        value: value.trim(),
    }
}

#[cfg(test)]
mod tests;

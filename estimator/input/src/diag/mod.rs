//! What the user is told when something is wrong: a code, a sentence, the places it is about and a remedy.
//!
//! Readers of input never stop at the first fault: they push [`Diag`]s into a [`Sink`] and go on, so that one run of the command
//! names every fault of a file. Nothing here prints; [`render`] makes text, [`to_json`] makes data.

mod render;
mod short;
mod suggest;

pub use render::{render, to_json};
pub use suggest::{did_you_mean, nearest};

use std::ops::Range;

/// How grave a [`Diag`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The command cannot do what was asked.
    Error,
    /// The command goes on; the user should know.
    Warning,
}

/// A text that labels point into, by its place in [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(usize);

/// The texts that were read, each under the name that the user knows it by.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<(String, String)>);

impl Sources {
    /// Keeps `text` under `name` and returns the handle by which labels name it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.0.push((name.into(), text.into()));
        SourceId(self.0.len() - 1)
    }

    /// The name of a text.
    pub fn name(&self, id: SourceId) -> &str {
        &self.0[id.0].0
    }

    /// The text itself.
    pub fn text(&self, id: SourceId) -> &str {
        &self.0[id.0].1
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    pub fn position(&self, id: SourceId, offset: usize) -> (usize, usize) {
        let text = self.text(id);
        let before = &text[..floor_boundary(text, offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            newlines(before) + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The largest character boundary that is not behind `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// Bytes of the text.
    pub range: Range<usize>,
}

/// A stretch of a text and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text.
    pub source: SourceId,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// A few words beside the caret; may be empty.
    pub text: String,
}

/// One thing to tell the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// A stable name, `area::fault`, for scripts and searches.
    pub code: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// One sentence that says what is wrong.
    pub message: String,
    /// The places it is about, the main one first; empty where no text is at fault.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diag {
    /// An error.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diag {
        Diag {
            code,
            severity: Severity::Error,
            message: short::sentence(message.into()),
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diag {
        Diag {
            severity: Severity::Warning,
            ..Diag::error(code, message)
        }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(mut self, source: SourceId, range: Range<usize>, text: impl Into<String>) -> Diag {
        self.labels.push(Label {
            source,
            range,
            text: short::sentence(text.into()),
        });
        self
    }

    /// Adds a place, where there is one.
    #[must_use]
    pub fn on(self, span: Option<&Span>, text: impl Into<String>) -> Diag {
        match span {
            Some(span) => self.at(span.source, span.range.clone(), text),
            None => self,
        }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diag {
        self.help = Some(short::sentence(help.into()));
        self
    }

    /// As [`Diag::help`], where a remedy may be missing.
    #[must_use]
    pub fn maybe_help(self, help: Option<String>) -> Diag {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }
}

/// Where readers leave what they find, together with the texts it is about.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    /// The texts.
    pub sources: Sources,
    /// What was found, in the order it was found.
    pub diags: Vec<Diag>,
}

impl Sink {
    /// Leaves one finding.
    pub fn push(&mut self, diag: Diag) {
        self.diags.push(diag);
    }

    /// Orders the findings by text and place, those about no text last.
    pub fn sort(&mut self) {
        self.diags.sort_by_key(|diag| {
            let label = diag.labels.first();
            (
                label.is_none(),
                label.map(|label| (label.source, label.range.start)),
            )
        });
    }

    /// Whether an error is among the findings.
    pub fn has_errors(&self) -> bool {
        self.diags
            .iter()
            .any(|diag| diag.severity == Severity::Error)
    }

    /// `value` if no error was found, else everything that was.
    ///
    /// # Errors
    /// The sink itself, when it holds an error.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Rejection> {
        match value {
            Some(value) if !self.has_errors() => Ok(value),
            _ => Err(Rejection(self)),
        }
    }
}

/// The input was rejected, for the reasons in the sink (exit code 2).
#[derive(Clone, Debug)]
pub struct Rejection(pub Sink);

impl Rejection {
    /// A rejection for one reason that is about no text.
    pub fn because(diag: Diag) -> Rejection {
        Rejection(Sink {
            sources: Sources::default(),
            diags: vec![diag],
        })
    }
}

impl From<Diag> for Rejection {
    fn from(diag: Diag) -> Rejection {
        Rejection::because(diag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::default();
        let id = sources.add("a.toml", "ä = 1\nb = 2\n");
        assert_eq!(sources.position(id, 0), (1, 1));
        assert_eq!(
            sources.position(id, 3),
            (1, 3),
            "ä is two bytes and one column"
        );
        assert_eq!(sources.position(id, 7), (2, 1));
        assert_eq!(
            sources.position(id, 1),
            (1, 1),
            "inside a character is its start"
        );
        assert_eq!(sources.position(id, 99), (3, 1), "past the end is the end");
    }

    #[test]
    fn a_warning_alone_rejects_nothing() {
        let mut sink = Sink::default();
        sink.push(Diag::warning("test::odd", "odd"));
        assert_eq!(sink.clone().finish(Some(7)).ok(), Some(7));
        sink.push(Diag::error("test::bad", "bad"));
        assert_eq!(
            sink.finish(Some(7))
                .err()
                .map(|rejection| rejection.0.diags.len()),
            Some(2)
        );
    }
}

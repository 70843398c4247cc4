//! What is wrong with a trace.

use std::fmt;

use warpwatt_simt::trace::StoreError;

/// Characters of a line that a message quotes.
const QUOTED: usize = 120;

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, counted from 1; in a packed trace there is none.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<&'static str>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            line: None,
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }

    /// The same at a line.
    pub(crate) fn at(mut self, line: u64) -> Self {
        self.line.get_or_insert(line);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Fault {}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("cannot be read: {error}"))
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::new(error.to_string()).help("name a folder with more room in TMPDIR")
    }
}

/// A line whose value is none of its kind.
pub(crate) fn no_value(line: &str) -> Fault {
    Fault::new(format!("{} has no value of its kind", quoted(line)))
}

/// A text as a message shows it: its beginning, without control characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(QUOTED)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if text.chars().nth(QUOTED).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

//! What can be wrong with a PTX file.

use std::ops::Range;

/// A place in the source, in bytes.
pub type Span = Range<usize>;

/// One problem, with its place and, where there is one, the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PtxError {
    /// Where in the source.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl PtxError {
    /// A problem at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    /// Adds the remedy.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Line numbers of a source, from byte offsets.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Indexes `source`.
    pub fn new(source: &str) -> Self {
        let breaks = source
            .bytes()
            .enumerate()
            .filter(|&(_, byte)| byte == b'\n')
            .map(|(at, _)| at + 1);
        Self {
            starts: std::iter::once(0).chain(breaks).collect(),
        }
    }

    /// Line of a byte offset, counted from 1.
    pub fn line(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32
    }

    /// Column of a byte offset, counted from 1 in bytes.
    pub fn column(&self, offset: usize) -> u32 {
        let start = self.starts[self.line(offset) as usize - 1];
        (offset - start) as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let lines = Lines::new("ab\nc\n");
        assert_eq!((lines.line(0), lines.column(0)), (1, 1));
        assert_eq!((lines.line(2), lines.column(2)), (1, 3));
        assert_eq!((lines.line(3), lines.column(3)), (2, 1));
        assert_eq!(lines.line(5), 3);
    }
}

//! What is wrong with a launch file, and where.

use std::ops::Range;

/// One problem of a launch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the launch file that the problem is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would put it right.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without advice.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    /// The same problem with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Advice that names the candidate most like `name`, or else lists all of them.
pub(crate) fn nearest(name: &str, candidates: &[&str]) -> String {
    match similar(name, candidates) {
        Some(best) => format!("did you mean `{best}`?"),
        None => format!("known here: {}", candidates.join(", ")),
    }
}

/// The candidate that `name` is probably a misspelling of.
pub(crate) fn similar<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    candidates
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 3)
        .map(|(_, candidate)| candidate)
}

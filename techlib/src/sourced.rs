//! A value that knows where it comes from.

use std::sync::Arc;

/// A value with its pedigree.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it is from: document or file with line.
    pub source: Arc<str>,
    /// How it was obtained.
    pub how: How,
    /// Where it holds, in words.
    pub valid: Arc<str>,
    /// Relative uncertainty (one sigma) of the value as a statement about silicon.
    pub uncertainty: f64,
}

/// How a value was obtained.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// Read in the source.
    Published,
    /// Measured on hardware.
    Measured,
    /// From other values by a named rule.
    Scaled {
        /// From what.
        from: Arc<str>,
        /// By which rule.
        rule: Arc<str>,
    },
    /// Fitted by a script to data.
    Fitted {
        /// The script.
        script: Arc<str>,
        /// The data.
        data: Arc<str>,
    },
    /// Assumed.
    Assumed {
        /// Why.
        reason: Arc<str>,
    },
}

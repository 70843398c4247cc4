//! A value that knows where it comes from.

use std::ops::{Add, Mul};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A value with its pedigree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it is from: document or file with line.
    #[serde(with = "crate::text")]
    pub source: Arc<str>,
    /// How it was obtained.
    pub how: How,
    /// Where it holds, in words.
    #[serde(with = "crate::text")]
    pub valid: Arc<str>,
    /// Relative uncertainty (one sigma) of the value as a statement about silicon.
    pub uncertainty: f64,
}

/// How a value was obtained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum How {
    /// Read in the source.
    Published,
    /// Measured on hardware.
    Measured,
    /// From other values by a named rule.
    Scaled {
        /// By which rule.
        #[serde(with = "crate::text")]
        rule: Arc<str>,
    },
    /// Fitted by a script to data.
    Fitted {
        /// The script, in this repository.
        #[serde(with = "crate::text")]
        script: Arc<str>,
    },
    /// Assumed.
    Assumed {
        /// Why.
        #[serde(with = "crate::text")]
        reason: Arc<str>,
    },
}

impl<T> Sourced<T> {
    /// A constant of the method.
    pub(crate) fn assumed(value: T, source: &str, reason: &str, uncertainty: f64) -> Self {
        Self {
            value,
            source: source.into(),
            how: How::Assumed {
                reason: reason.into(),
            },
            valid: "every node of the library".into(),
            uncertainty,
        }
    }

    /// A value derived from this one (and others of the same pedigree) by a named rule.
    pub(crate) fn derived<U>(&self, rule: &str, value: U) -> Sourced<U> {
        Sourced {
            value,
            source: Arc::clone(&self.source),
            how: How::Scaled { rule: rule.into() },
            valid: Arc::clone(&self.valid),
            uncertainty: self.uncertainty,
        }
    }
}

impl<T: Copy + Mul<f64, Output = T> + Add<Output = T>> Sourced<T> {
    /// `share` of this value and the rest of `other`, marked as scaled by `rule`.
    pub(crate) fn mixed(&self, other: &Self, share: f64, rule: &str) -> Self {
        Self {
            value: self.value * share + other.value * (1.0 - share),
            source: format!("{} and {}", self.source, other.source).into(),
            how: How::Scaled { rule: rule.into() },
            valid: Arc::clone(&self.valid),
            uncertainty: self.uncertainty.max(other.uncertainty),
        }
    }
}

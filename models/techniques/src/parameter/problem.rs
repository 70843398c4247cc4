//! What is wrong with a parameter.

/// A parameter that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// Its key.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub help: Option<String>,
    /// Whether there is no such parameter, so that the key is wrong and not its value.
    pub unknown: bool,
}

impl ParameterProblem {
    /// A problem of the parameter `key`.
    pub fn new(key: &str, message: impl Into<String>, help: Option<String>) -> Self {
        Self {
            key: key.to_owned(),
            message: message.into(),
            help,
            unknown: false,
        }
    }
}

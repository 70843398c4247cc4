//! One memory array from text: sizes, ports and tables as people and the old tools write them, turned into specifications and priced.
//!
//! Everything here is pure: [`Inputs`] is one line of a table or one configuration file of CACTI, [`Query`] what the circuit models are asked,
//! [`Answer`] what they say. [`batch`] does a whole table, [`cfg`] reads CACTI's files. The command reads and writes the files.

mod answer;
pub mod batch;
pub mod cfg;
mod inputs;
mod json;
mod keywords;
mod libraries;
mod ports;
mod query;
mod request;
mod size;
mod table;

use warpwatt_input::diag;
use warpwatt_pricing::{outcome, pricing, uncertainty};

pub use answer::{Answer, Figure, Interval};
pub use inputs::{Inputs, Memory};
pub use keywords::parse_profile;
pub use libraries::{Libraries, LibraryName};
pub use ports::{parse_ports, ports_text};
pub use query::{Flavours, Query};
pub use request::Request;
pub use size::{parse_bits, parse_capacity, parse_deviations, parse_weights};

/// Something that was asked for and cannot be had, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// One sentence that says what is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The option that it is about, if it is one, as a key of a table: `tag_bits`.
    pub about: Option<String>,
}

impl Refusal {
    /// A refusal whose message says it all.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            about: None,
        }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says which option it is about, as an option or as a key: `--tag-bits`, `tag_bits`.
    #[must_use]
    pub fn about(mut self, option: &str) -> Self {
        self.about = Some(option.trim_start_matches('-').replace('-', "_"));
        self
    }

    /// Message and remedy in one line, for a cell of a table.
    pub fn line(&self) -> String {
        let text = match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

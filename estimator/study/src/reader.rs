//! Reading a study: a TOML document whose axes are noted as they are read.

use std::ops::{Deref, DerefMut};

pub use crate::toml_reader::{
    Fault, Placed, Section, integer, parse_document, plain, positive, text,
};

use super::axes::Sweep;
use crate::diag::{Sink, SourceId, did_you_mean};
use crate::toml_reader;

/// Where faults of a study go, and what is known of its axes.
pub struct Reader<'s> {
    document: toml_reader::Reader<'s>,
    /// The axes that were read so far, and how they are swept.
    pub sweep: Sweep,
}

impl<'s> Reader<'s> {
    /// A reader of the study `source`.
    pub fn new(sink: &'s mut Sink, source: SourceId) -> Self {
        Self {
            document: toml_reader::Reader::new(sink, source),
            sweep: Sweep::default(),
        }
    }
}

impl<'s> Deref for Reader<'s> {
    type Target = toml_reader::Reader<'s>;

    fn deref(&self) -> &Self::Target {
        &self.document
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.document
    }
}

/// `name` if it is one of `names`.
pub fn known<'a>(
    what: &str,
    code: &'static str,
    name: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<String, Fault> {
    let names: Vec<&str> = names.into_iter().collect();
    if names.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(Fault {
        help: Some(did_you_mean(name, names)),
        code,
        message: format!("no {what} is called `{name}`"),
        label: String::new(),
    })
}

//! Every block that `warpwatt logic` knows: name, parameters with default and range, and how they make a specification.

mod logic;
mod noc;
mod units;

use std::collections::BTreeMap;

use warpwatt_techlib::Technology;

use crate::build::Sizing;
use crate::choices::Choices;
use crate::process::Process;
use crate::{CircuitError, OperatingPoint, Settings, Spec};

/// A block that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// As on the command line.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What its operation is, of which the energy is.
    pub operation: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    make: fn(&Values) -> Spec,
}

/// Something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As on the command line.
    pub name: &'static str,
    /// If it is not given.
    pub default: &'static str,
    /// What it may be.
    pub allowed: Allowed,
    /// What it means.
    pub meaning: &'static str,
}

/// Values that a parameter may have.
#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    /// A whole number in a range.
    Count {
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// One of some words.
    Word(&'static [&'static str]),
}

/// Checked values by name.
#[derive(Clone, Debug, Default)]
pub struct Values(BTreeMap<&'static str, Value>);

#[derive(Clone, Copy, Debug)]
enum Value {
    Count(u64),
    Word(&'static str),
}

/// Something that is wrong with what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The block has no such parameter.
    #[error("`{block}` has no parameter `{name}`; it has {known}")]
    Unknown {
        /// The block.
        block: &'static str,
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// The value is not one that the parameter may have.
    #[error("`{name}` is `{got}`, but it is {allowed}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// What was given.
        got: String,
        /// What it may be.
        allowed: String,
    },
}

/// Every block, in the order of the documentation.
pub fn blocks() -> impl Iterator<Item = &'static Block> {
    let all = [logic::BLOCKS, units::BLOCKS, noc::BLOCKS];
    all.into_iter().flatten()
}

/// The block of a name.
pub fn find(name: &str) -> Option<&'static Block> {
    blocks().find(|block| block.name == name)
}

/// Where the numbers behind a specification's cost are from, beside the technology's own pedigrees.
///
/// # Errors
///
/// As of [`crate::cost_with`].
pub fn sources(
    technology: &Technology,
    at: &OperatingPoint,
    settings: &Settings,
    spec: &Spec,
) -> Result<Vec<String>, CircuitError> {
    let device = &technology.device;
    let leakage = device
        .i_off_n
        .rows()
        .first()
        .map_or("", |row| &row.1.source);
    let mut all = vec![format!("transistors: {}", device.i_on_n.source)];
    if !leakage.is_empty() {
        all.push(format!("leakage: {leakage}"));
    }
    let row = || -> Result<String, CircuitError> {
        Ok(format!(
            "rows of cells: {}",
            crate::logic::row(technology)?.source
        ))
    };
    match spec {
        Spec::Logic(_) => all.push(row()?),
        Spec::Noc(_) => {
            all.push(row()?);
            all.push(format!(
                "wires: {}",
                technology.wires.conservative.semi_global.resistance.source
            ));
        }
        Spec::Unit(unit) | Spec::Datapath(unit) => {
            let scope = match spec {
                Spec::Unit(_) => crate::units::Scope::Built,
                _ => crate::units::Scope::Datapath,
            };
            let both = (technology, technology);
            let design = Process::design(technology, technology, at.temperature, settings)?;
            let sizing = Sizing {
                technology,
                settings,
                run: &design.running(both, at, settings)?,
                choices: &Choices::make(),
            };
            all = crate::units::sources(&sizing, unit, scope)?;
            all.push("scaling: Stillmaker and Baas, Integration 58 (2017), foundries' statements below 7 nm".to_owned());
        }
        Spec::Mcpat(_) => all.push(
            "McPAT 1.3 (HewlettPackard/mcpat@74d4759), logic.cc:224-572, technology.cc:557-1583"
                .to_owned(),
        ),
        Spec::Memory(device) => all = crate::memory::sources(device.kind)?,
        _ => {}
    }
    Ok(all)
}

impl Block {
    /// The specification for some settings; the others have their defaults.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the settings, in their order.
    pub fn spec(&self, settings: &[(String, String)]) -> Result<Spec, Vec<SettingError>> {
        let mut problems = Vec::new();
        let mut values = Values::default();
        for parameter in self.parameters {
            // Defaults are checked by a test.
            if let Ok(value) = parameter.read(parameter.default) {
                values.0.insert(parameter.name, value);
            }
        }
        for (name, text) in settings {
            let Some(parameter) = self.parameters.iter().find(|p| p.name == name.as_str()) else {
                problems.push(self.unknown(name));
                continue;
            };
            match parameter.read(text) {
                Ok(value) => drop(values.0.insert(parameter.name, value)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            Ok((self.make)(&values))
        } else {
            Err(problems)
        }
    }

    fn unknown(&self, name: &str) -> SettingError {
        let known: Vec<&str> = self
            .parameters
            .iter()
            .map(|parameter| parameter.name)
            .collect();
        SettingError::Unknown {
            block: self.name,
            name: name.to_owned(),
            known: known.join(", "),
        }
    }
}

impl Parameter {
    fn read(&self, text: &str) -> Result<Value, SettingError> {
        let value = match self.allowed {
            Allowed::Count { least, most } => text
                .parse()
                .ok()
                .filter(|count| (least..=most).contains(count))
                .map(Value::Count),
            Allowed::Word(words) => words
                .iter()
                .find(|word| **word == text)
                .map(|word| Value::Word(word)),
        };
        value.ok_or_else(|| SettingError::Value {
            name: self.name,
            got: text.to_owned(),
            allowed: self.allowed.text(),
        })
    }
}

impl Allowed {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Count { least, most } => format!("a whole number from {least} to {most}"),
            Self::Word(words) => format!("one of {}", words.join(", ")),
        }
    }
}

impl Values {
    fn count(&self, name: &str) -> u64 {
        match self.0.get(name) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        }
    }

    fn word(&self, name: &str) -> &'static str {
        match self.0.get(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}

/// A parameter that is a whole number.
const fn count(
    name: &'static str,
    default: &'static str,
    least: u64,
    most: u64,
    meaning: &'static str,
) -> Parameter {
    Parameter {
        name,
        default,
        allowed: Allowed::Count { least, most },
        meaning,
    }
}

/// A parameter that is one of some words; the first is the default.
const fn word(
    name: &'static str,
    words: &'static [&'static str],
    meaning: &'static str,
) -> Parameter {
    Parameter {
        name,
        default: words[0],
        allowed: Allowed::Word(words),
        meaning,
    }
}

#[cfg(test)]
mod tests;

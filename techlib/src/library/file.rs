//! One data file: a node's values by name, each with its pedigree.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;

use crate::law::LeakageTable;
use crate::quantity::{CurrentPerLength, Length, Temperature, Voltage};
use crate::technology::{Defect, Kind};
use crate::{Flavour, How, Sourced, TechError};

/// A parsed data file.
#[derive(Clone, Debug)]
pub(super) struct NodeFile {
    path: String,
    pub(super) valid: Arc<str>,
    pub(super) kind: Option<Kind>,
    pub(super) sketch: Option<Arc<str>>,
    pub(super) temperature: Option<(Temperature, Temperature)>,
    ranges: BTreeMap<Flavour, (Voltage, Voltage)>,
    values: BTreeMap<String, Value>,
    tables: BTreeMap<String, Table>,
    pub(super) defects: Vec<Defect>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[expect(
        dead_code,
        reason = "the name of the file says it too; here it is checked to be a length"
    )]
    node: Length,
    valid: String,
    kind: Option<Kind>,
    sketch: Option<String>,
    temperature: Option<(Temperature, Temperature)>,
    #[serde(default)]
    defect: Vec<Defect>,
    #[serde(default)]
    range: Vec<SupplyRange>,
    value: Vec<Value>,
    #[serde(default)]
    table: Vec<Table>,
}

/// Supplies between which the laws of a flavour hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SupplyRange {
    flavour: Flavour,
    vdd: (Voltage, Voltage),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) source: String,
    pub(super) how: Method,
    pub(super) uncertainty: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    how: Method,
    uncertainty: f64,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    at: Temperature,
    value: CurrentPerLength,
    source: String,
}

/// `"published"`, or `{ scaled = "by which rule" }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Method {
    Published,
    Measured,
    Scaled(String),
    Fitted(String),
    Assumed(String),
}

impl NodeFile {
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, TechError> {
        let problem = |message: String| TechError::Data {
            file: path.to_owned(),
            message,
        };
        let document: Document =
            toml::from_str(text).map_err(|error| problem(error.to_string()))?;
        let mut values = BTreeMap::new();
        for value in document.value {
            checked(&value.name, &value.source, value.uncertainty)
                .and_then(|()| value.how.suits(&value.name, &value.source))
                .map_err(problem)?;
            if let Some(twice) = values.insert(value.name.clone(), value) {
                return Err(problem(format!("`{}` stands there twice", twice.name)));
            }
        }
        let mut tables = BTreeMap::new();
        for table in document.table {
            for row in &table.rows {
                checked(&table.name, &row.source, table.uncertainty)
                    .and_then(|()| table.how.suits(&table.name, &row.source))
                    .map_err(problem)?;
            }
            let rising = table.rows.windows(2).all(|pair| pair[0].at < pair[1].at);
            if table.rows.is_empty() || !rising {
                return Err(problem(format!(
                    "the rows of `{}` must rise in temperature",
                    table.name
                )));
            }
            tables.insert(table.name.clone(), table);
        }
        Ok(Self {
            path: path.to_owned(),
            valid: document.valid.into(),
            kind: document.kind,
            sketch: document.sketch.map(Into::into),
            temperature: document.temperature,
            ranges: document
                .range
                .into_iter()
                .map(|range| (range.flavour, range.vdd))
                .collect(),
            values,
            tables,
            defects: document.defect,
        })
    }

    /// Whether there is a value of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The names of all values.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// A value as the file has it.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|value| value.value.as_str())
    }

    /// Puts a value in the place of the one of its name.
    pub(super) fn replace(&mut self, value: Value) {
        self.values.insert(value.name.clone(), value);
    }

    /// Sets the supplies between which the laws of a flavour hold.
    pub(super) fn set_range(&mut self, flavour: Flavour, vdd: (Voltage, Voltage)) {
        self.ranges.insert(flavour, vdd);
    }

    /// The flavours of the node.
    pub(super) fn flavours(&self) -> impl Iterator<Item = Flavour> {
        let has = |flavour: &Flavour| self.has(&format!("{flavour}.vdd"));
        Flavour::ALL.into_iter().filter(has)
    }

    /// The supplies between which the laws of a flavour hold.
    pub(super) fn range(&self, flavour: Flavour) -> Result<(Voltage, Voltage), TechError> {
        let found = self.ranges.get(&flavour).copied();
        found.ok_or_else(|| self.problem(format!("`{flavour}` has no range of supplies")))
    }

    /// A quantity, or a plain ratio.
    pub(super) fn get<T>(&self, name: &str) -> Result<Sourced<T>, TechError>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        let found = self
            .values
            .get(name)
            .ok_or_else(|| self.problem(format!("`{name}` is missing")))?;
        let value = found
            .value
            .parse()
            .map_err(|error| self.problem(format!("`{name}`: {error}")))?;
        Ok(Sourced {
            value,
            source: found.source.as_str().into(),
            how: found.how.clone().into(),
            valid: Arc::clone(&self.valid),
            uncertainty: found.uncertainty,
        })
    }

    /// A current that depends on temperature.
    pub(super) fn table(&self, name: &str) -> Result<LeakageTable, TechError> {
        let found = self
            .tables
            .get(name)
            .ok_or_else(|| self.problem(format!("table `{name}` is missing")))?;
        let rows = found.rows.iter().map(|row| {
            let value = Sourced {
                value: row.value,
                source: row.source.as_str().into(),
                how: found.how.clone().into(),
                valid: Arc::clone(&self.valid),
                uncertainty: found.uncertainty,
            };
            (row.at, value)
        });
        Ok(LeakageTable::new(rows.collect()))
    }

    pub(super) fn problem(&self, message: String) -> TechError {
        TechError::Data {
            file: self.path.clone(),
            message,
        }
    }
}

/// No number without a source and an uncertainty.
fn checked(name: &str, source: &str, uncertainty: f64) -> Result<(), String> {
    if source.trim().is_empty() {
        return Err(format!("`{name}` has no source"));
    }
    if !(uncertainty > 0.0 && uncertainty.is_finite()) {
        return Err(format!("`{name}` has no uncertainty"));
    }
    Ok(())
}

impl Method {
    /// What is recalled from memory was not read in its source.
    fn suits(&self, name: &str, source: &str) -> Result<(), String> {
        if matches!(self, Self::Published) && source.contains("recalled") {
            return Err(format!(
                "`{name}` is `published`, but its source is recalled: write `{{ assumed = \"why\" }}`"
            ));
        }
        Ok(())
    }
}

impl From<Method> for How {
    fn from(method: Method) -> Self {
        match method {
            Method::Published => Self::Published,
            Method::Measured => Self::Measured,
            Method::Scaled(rule) => Self::Scaled { rule: rule.into() },
            Method::Fitted(script) => Self::Fitted {
                script: script.into(),
            },
            Method::Assumed(reason) => Self::Assumed {
                reason: reason.into(),
            },
        }
    }
}

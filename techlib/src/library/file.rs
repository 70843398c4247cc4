//! One data file: a node's values by name, each with its pedigree.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;

use crate::quantity::{CurrentPerLength, Length, Temperature};
use crate::technology::{Defect, LeakageTable};
use crate::{How, Sourced, TechError};

/// A parsed data file.
#[derive(Clone, Debug)]
pub(super) struct NodeFile {
    path: String,
    pub(super) node: Length,
    valid: Arc<str>,
    values: BTreeMap<String, Value>,
    tables: BTreeMap<String, Table>,
    pub(super) defects: Vec<Defect>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    node: Length,
    valid: String,
    #[serde(default)]
    defect: Vec<Defect>,
    value: Vec<Value>,
    table: Vec<Table>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    name: String,
    value: String,
    source: String,
    how: Method,
    uncertainty: f64,
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

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Method {
    Published,
    Measured,
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
            checked(&value.name, &value.source, value.uncertainty).map_err(problem)?;
            if let Some(twice) = values.insert(value.name.clone(), value) {
                return Err(problem(format!("`{}` stands there twice", twice.name)));
            }
        }
        let mut tables = BTreeMap::new();
        for table in document.table {
            for row in &table.rows {
                checked(&table.name, &row.source, table.uncertainty).map_err(problem)?;
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
            node: document.node,
            valid: document.valid.into(),
            values,
            tables,
            defects: document.defect,
        })
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
            how: found.how.into(),
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
                how: found.how.into(),
                valid: Arc::clone(&self.valid),
                uncertainty: found.uncertainty,
            };
            (row.at, value)
        });
        Ok(LeakageTable::new(rows.collect()))
    }

    fn problem(&self, message: String) -> TechError {
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

impl From<Method> for How {
    fn from(method: Method) -> Self {
        match method {
            Method::Published => Self::Published,
            Method::Measured => Self::Measured,
        }
    }
}

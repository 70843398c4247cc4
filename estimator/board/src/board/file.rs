//! Boards as TOML files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use nalgebra::DMatrix;
use serde::Deserialize;

use super::{Board, KERNELS, Record};
use crate::channel::Channel;
use crate::facts::Facts;
use crate::fit::Belief;
use crate::parameter::{PARAMETERS, parameter};
use crate::rows::Refused;

/// Largest board file that is read.
pub const MOST_BYTES: u64 = 1 << 20;

/// What is wrong with a board's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Bytes of the file.
    pub range: Range<usize>,
    /// One sentence.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    board: Facts,
    #[serde(default)]
    fit: Option<FitTable>,
    #[serde(default)]
    value: Vec<ValueTable>,
    #[serde(default)]
    covariance: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    prior_covariance: Option<Vec<Vec<f64>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FitTable {
    #[serde(default)]
    transferred_from: Vec<String>,
    measured: Option<String>,
    #[serde(default)]
    rows: usize,
    #[serde(default)]
    cases: usize,
    scatter: f64,
    left_out_error: Option<f64>,
    left_out_bias: Option<f64>,
    #[serde(default)]
    typical: BTreeMap<String, f64>,
    #[serde(default)]
    refused: Vec<RefusedTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedTable {
    name: String,
    line: u64,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueTable {
    key: String,
    #[serde(rename = "unit")]
    _unit: Option<String>,
    value: f64,
    sigma: f64,
    prior: f64,
    prior_sigma: f64,
    #[serde(rename = "told")]
    _told: Option<bool>,
}

impl Board {
    /// The board that `text` is. A file with nothing but `[board]` is one of which nothing is known but what the models say.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<FileFault>> {
        let file: File = toml::from_str(text).map_err(|error| {
            let range = error.span().unwrap_or(0..0);
            vec![FileFault {
                range,
                message: error.message().trim().to_owned(),
            }]
        })?;
        let at = |key: &str| text.find(key).map_or(0..0, |from| from..from + key.len());
        let mut faults: Vec<FileFault> = file
            .board
            .faults()
            .into_iter()
            .map(|message| FileFault {
                range: at("[board]"),
                message,
            })
            .collect();
        if file.value.is_empty() && faults.is_empty() {
            return Self::unmeasured(file.board, &[]).map_err(|message| {
                vec![FileFault {
                    range: at("[board]"),
                    message,
                }]
            });
        }
        let (mut prior, mut belief) = values(&file.value, &at, &mut faults);
        let known = [
            ("covariance", &file.covariance, &mut belief),
            ("prior_covariance", &file.prior_covariance, &mut prior),
        ];
        for (key, rows, of) in known {
            match rows.as_ref().map(|rows| covariance(key, rows)) {
                Some(Ok(covariance)) => of.covariance = covariance,
                Some(Err(message)) => faults.push(FileFault {
                    range: at(key),
                    message,
                }),
                None => {}
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            facts: file.board,
            prior,
            belief,
            record: file.fit.map_or_else(unrecorded, record),
        })
    }

    /// The file of the board.
    pub fn text(&self) -> String {
        let known = [
            ("covariance", &self.belief),
            ("prior_covariance", &self.prior),
        ];
        let joint = known.into_iter().filter(|(_, of)| of.is_joint());
        let mut text: String = joint.map(|(key, of)| covariance_text(key, of)).collect();
        text += &facts(&self.facts);
        fit_text(&mut text, &self.record);
        for value in self.values() {
            let known = parameter(value.at);
            let _ = write!(
                text,
                "\n[[value]] # {}\nkey = {:?}\nunit = {:?}\nvalue = {:e}\nsigma = {:e}\nprior = {:e}\nprior_sigma = {:e}\ntold = {}\n",
                known.meaning,
                known.key,
                known.unit,
                value.value,
                value.sigma,
                value.prior,
                value.prior_sigma,
                value.told
            );
        }
        text
    }
}

fn unrecorded() -> Record {
    Record {
        scatter: KERNELS,
        ..Record::default()
    }
}

fn record(fit: FitTable) -> Record {
    let typical = (!fit.typical.is_empty()).then(|| {
        Channel::ALL.map(|channel| fit.typical.get(channel.key()).copied().unwrap_or(0.0))
    });
    let refused = fit.refused.into_iter().map(|row| Refused {
        name: row.name,
        line: row.line,
        why: row.why,
    });
    Record {
        transferred_from: fit.transferred_from,
        measured: fit.measured,
        rows: fit.rows,
        cases: fit.cases,
        refused: refused.collect(),
        left_out: fit.left_out_error.zip(fit.left_out_bias),
        scatter: fit.scatter.clamp(0.01, 1.0),
        typical,
    }
}

fn values(
    tables: &[ValueTable],
    at: &dyn Fn(&str) -> Range<usize>,
    faults: &mut Vec<FileFault>,
) -> (Belief, Belief) {
    let (mut prior, mut doubt) = ([0.0; PARAMETERS], [1.0; PARAMETERS]);
    let (mut mean, mut sigma) = (prior, doubt);
    for place in 0..PARAMETERS {
        let known = parameter(place);
        let Some(table) = tables.iter().find(|table| table.key == known.key) else {
            let message = format!("there is no value `{}`", known.key);
            faults.push(FileFault {
                range: at("[board]"),
                message,
            });
            continue;
        };
        mean[place] = known.scale.place(table.value);
        prior[place] = known.scale.place(table.prior);
        (sigma[place], doubt[place]) = (table.sigma, table.prior_sigma);
        let numbers = [mean[place], prior[place], sigma[place], doubt[place]];
        let usable = numbers.iter().all(|number| number.is_finite())
            && sigma[place] > 0.0
            && doubt[place] > 0.0;
        if !usable {
            let message = format!(
                "the value `{}` is out of its range, or its sigma is not above zero",
                known.key
            );
            faults.push(FileFault {
                range: at(&format!("{:?}", known.key)),
                message,
            });
        }
    }
    for table in tables {
        if !(0..PARAMETERS).any(|place| parameter(place).key == table.key) {
            let message = format!("a board has no value `{}`", table.key);
            faults.push(FileFault {
                range: at(&format!("{:?}", table.key)),
                message,
            });
        }
    }
    (
        Belief::independent(prior, doubt),
        Belief::independent(mean, sigma),
    )
}

/// From the rows of its lower triangle.
fn covariance(key: &str, rows: &[Vec<f64>]) -> Result<DMatrix<f64>, String> {
    let is_triangle =
        rows.len() == PARAMETERS && rows.iter().enumerate().all(|(at, row)| row.len() == at + 1);
    if !is_triangle {
        return Err(format!(
            "`{key}` is a triangle of {PARAMETERS} rows, of one number and more"
        ));
    }
    let mut matrix = DMatrix::zeros(PARAMETERS, PARAMETERS);
    for (row, values) in rows.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            matrix[(row, column)] = *value;
            matrix[(column, row)] = *value;
        }
    }
    match matrix.clone().cholesky() {
        Some(_) => Ok(matrix),
        None => Err(format!("`{key}` is not positive definite")),
    }
}

fn facts(facts: &Facts) -> String {
    let rows = toml::to_string(facts).unwrap_or_default();
    format!("[board]\n{rows}")
}

fn fit_text(text: &mut String, record: &Record) {
    let _ = write!(text, "\n[fit]\nscatter = {:e}\n", record.scatter);
    if !record.transferred_from.is_empty() {
        let _ = writeln!(text, "transferred_from = {:?}", record.transferred_from);
    }
    if let Some(measured) = &record.measured {
        let _ = write!(
            text,
            "measured = {measured:?}\nrows = {}\ncases = {}\n",
            record.rows, record.cases
        );
    }
    if let Some((error, bias)) = record.left_out {
        let _ = write!(
            text,
            "left_out_error = {error:e}\nleft_out_bias = {bias:e}\n"
        );
    }
    if let Some(typical) = &record.typical {
        let rates = Channel::ALL
            .map(|channel| format!("{} = {:e}", channel.key(), typical[channel as usize]));
        let _ = writeln!(text, "typical = {{ {} }}", rates.join(", "));
    }
    for row in &record.refused {
        let _ = write!(
            text,
            "\n[[fit.refused]]\nname = {:?}\nline = {}\nwhy = {:?}\n",
            row.name, row.line, row.why
        );
    }
}

/// A covariance as it stands in the file: at its head, since it belongs to no table.
fn covariance_text(key: &str, of: &Belief) -> String {
    let rows = (0..PARAMETERS).map(|row| {
        let cells = (0..=row).map(|column| format!("{:e}", of.covariance[(row, column)]));
        format!("  [{}],\n", cells.collect::<Vec<_>>().join(", "))
    });
    format!(
        "{key} = [ # of the places of the values, each on its scale: lower triangle\n{}]\n\n",
        rows.collect::<String>()
    )
}

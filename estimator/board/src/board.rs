//! A board: what is published of it, what is known of its values, and how that was found.

mod file;

use nalgebra::DMatrix;
use warpwatt_gpu::GpuSpec;

use crate::channel::Channel;
use crate::errors::Compared;
use crate::facts::Facts;
use crate::fit::{Belief, Noise};
use crate::law::{gradient, watts};
use crate::own;
use crate::parameter::{PARAMETERS, parameter};
use crate::rows::{Change, Refused, Row};
use crate::split::Split;
use crate::transfer::{Sheet, Source, transferred};

pub use file::{FileFault, MOST_BYTES};

/// Scatter of kernels on data about the law, where no measurement of the board tells it. Found by leaving each of the eighteen kernels of a Quadro GV100 out in turn.
pub const KERNELS: f64 = 0.09;
/// Scatter of loops about the law.
pub const LOOPS: f64 = 0.06;
/// The same of kernels on data while a board is fitted to them. Assumed.
const FITTED_KERNELS: f64 = 0.07;
/// Scatter of what operands of a loop take, as a logarithm. Assumed.
pub const OPERANDS: f64 = 0.3;
/// Standard deviations of a normal distribution on either side of its mean that hold 95 %.
const WITHIN: f64 = 1.96;
/// A value whose standard deviation measurements narrowed less than so far was not told by them.
const NARROWED: f64 = 0.8;

/// A graphics board.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// What is published of it.
    pub facts: Facts,
    /// What was known before its own measurements.
    pub prior: Belief,
    /// What is known now.
    pub belief: Belief,
    /// How it was found.
    pub record: Record,
}

/// How a board's values were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Boards from which its prior comes; none: the models' own prices.
    pub transferred_from: Vec<String>,
    /// The table of its measurements; none: nothing of it was measured.
    pub measured: Option<String>,
    /// Rows that were used, and cases among them.
    pub rows: usize,
    /// Cases: rows of one name.
    pub cases: usize,
    /// Rows that were not, and why.
    pub refused: Vec<Refused>,
    /// Mean absolute relative error of cases that were left out, and their mean error.
    pub left_out: Option<(f64, f64)>,
    /// Scatter of kernels on data about the law.
    pub scatter: f64,
    /// Median rates of events, for kinds that a table says nothing of.
    pub typical: Option<[f64; crate::channel::CHANNELS]>,
}

/// Watts with their interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Watts of the board.
    pub power_w: f64,
    /// Two and a half percent lie below.
    pub low_w: f64,
    /// As many lie above.
    pub high_w: f64,
    /// By what it is for; its sum may be above `power_w`, which the limit bounds.
    pub split: Split,
    /// Whether the limit bounds it.
    pub clipped: bool,
}

impl Board {
    /// A board of which nothing is measured, from `sources` that are, or from the models' own prices alone.
    ///
    /// # Errors
    /// Its chip, or that of a source, cannot be priced: a sentence.
    pub fn unmeasured(facts: Facts, sources: &[Self]) -> Result<Self, String> {
        let gpu = gpu(&facts)?;
        let prices = own::prices(&facts, &gpu)?;
        let (mean, sigma) = own::prior(&facts, &prices);
        let mut prior = Belief::independent(mean, sigma);
        if !sources.is_empty() {
            let sources = sources.iter().map(Self::source);
            let sources = sources.collect::<Result<Vec<Source>, String>>()?;
            let sheet = Sheet {
                facts: &facts,
                prices,
                sms: f64::from(gpu.sm.count),
            };
            prior = transferred(&sheet, (mean, sigma), &sources)?;
        }
        let record = Record {
            transferred_from: sources
                .iter()
                .map(|source| source.facts.name.clone())
                .collect(),
            scatter: KERNELS,
            typical: sources.iter().find_map(|source| source.record.typical),
            ..Record::default()
        };
        Ok(Self {
            belief: prior.clone(),
            facts,
            prior,
            record,
        })
    }

    /// What it tells of others.
    fn source(&self) -> Result<Source<'_>, String> {
        let gpu = self.gpu()?;
        let sheet = Sheet {
            facts: &self.facts,
            prices: own::prices(&self.facts, &gpu)?,
            sms: f64::from(gpu.sm.count),
        };
        Ok(Source {
            sheet,
            prior: &self.prior,
            belief: &self.belief,
        })
    }

    /// The GPU on it.
    ///
    /// # Errors
    /// There is no such preset: a sentence.
    pub fn gpu(&self) -> Result<GpuSpec, String> {
        gpu(&self.facts)
    }

    /// Whether measurements told a value.
    pub fn told(&self, at: usize) -> bool {
        self.record.measured.is_some() && self.belief.sigma(at) < NARROWED * self.prior.sigma(at)
    }

    /// How measurements of the board scatter, by whether they compute on data.
    pub fn noise(by_share: bool) -> Noise {
        match by_share {
            true => Noise {
                row: LOOPS,
                operands: OPERANDS,
            },
            false => Noise {
                row: FITTED_KERNELS,
                operands: 0.0,
            },
        }
    }

    /// What the board draws.
    pub fn predict(&self, row: &Row) -> Prediction {
        let row = self.completed(row);
        let split = watts(&self.belief.mean, &row, 0.0);
        let total = split.total_w();
        let change = gradient(&self.belief.mean, &row, 0.0);
        let of_values = quadratic(&change, &self.belief.covariance);
        let of_operands = match row.operands {
            // Kernels of which it is not known how far their operands change.
            Change::Share(share) if share < 1.0 => OPERANDS * split.computing_w() / total,
            Change::Share(_) | Change::Words(_) => 0.0,
        };
        let scatter = self.record.scatter.hypot(of_operands);
        let spread = of_values.sqrt().hypot(scatter);
        let limit = self.facts.power_limit_w;
        let bounded = |watts: f64| watts.min(limit);
        Prediction {
            power_w: bounded(total),
            low_w: bounded(total * libm::exp(-WITHIN * spread)),
            high_w: bounded(total * libm::exp(WITHIN * spread)),
            clipped: total > limit,
            split,
        }
    }

    /// A row with watts beside what the board draws for it.
    pub fn compared(&self, row: &Row) -> Option<Compared> {
        let drawn = self.predict(row);
        Some(Compared {
            measured_w: row.power_w?,
            predicted_w: drawn.power_w,
            within_w: (drawn.low_w, drawn.high_w),
        })
    }

    /// The row with typical rates where its table says nothing. Typical are rates of work: a board without any does nothing of a kind that was not counted either.
    fn completed(&self, row: &Row) -> Row {
        let mut row = row.clone();
        if row.active == 0.0 {
            return row;
        }
        if let Some(typical) = &self.record.typical {
            for channel in &row.unknown {
                let at = *channel as usize;
                if row.rates[at] == 0.0 && *channel != Channel::Tensor {
                    row.rates[at] = typical[at];
                }
            }
        }
        row
    }

    /// Values as they are written: key, value, prior, standard deviations on their scales.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        (0..PARAMETERS).map(|at| {
            let scale = parameter(at).scale;
            Value {
                at,
                value: scale.value(self.belief.mean[at]),
                sigma: self.belief.sigma(at),
                prior: scale.value(self.prior.mean[at]),
                prior_sigma: self.prior.sigma(at),
                told: self.told(at),
            }
        })
    }
}

/// A value of a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Its place among the parameters.
    pub at: usize,
    /// The value.
    pub value: f64,
    /// Standard deviation on its scale.
    pub sigma: f64,
    /// What was expected before measurements.
    pub prior: f64,
    /// How sure that was.
    pub prior_sigma: f64,
    /// Whether measurements told it.
    pub told: bool,
}

fn gpu(facts: &Facts) -> Result<GpuSpec, String> {
    let name = &facts.preset;
    GpuSpec::preset(name).ok_or_else(|| format!("there is no preset `{name}` of a GPU"))
}

fn quadratic(vector: &[f64; PARAMETERS], matrix: &DMatrix<f64>) -> f64 {
    let mut sum = 0.0;
    for (row, a) in vector.iter().enumerate() {
        for (column, b) in vector.iter().enumerate() {
            sum += a * matrix[(row, column)] * b;
        }
    }
    sum.max(0.0)
}

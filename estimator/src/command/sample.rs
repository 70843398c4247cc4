//! `--sample`: how much of what is executed is timed.

use warpwatt_gpu::Way;

use crate::run::sampling::Goal;

/// The error that is allowed; none if all is timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample(Option<f64>);

impl Sample {
    /// What is to be met, leaving out what `way` says.
    pub fn goal(self, way: Way) -> Option<Goal> {
        self.0.map(|error| Goal { error, way })
    }
}

/// `off`, or an error in percent.
///
/// # Errors
/// What may be written instead.
pub fn sample(text: &str) -> Result<Sample, String> {
    if text == "off" {
        return Ok(Sample(None));
    }
    let percent = text
        .strip_prefix("error=")
        .and_then(|rest| rest.strip_suffix('%'));
    let percent = percent.and_then(|number| number.trim().parse::<f64>().ok());
    match percent {
        Some(percent) if (0.1..=50.0).contains(&percent) => Ok(Sample(Some(percent / 100.0))),
        Some(_) => Err("an error is from 0.1% to 50%".to_owned()),
        None => Err("write off, or an error in percent: error=2%".to_owned()),
    }
}

//! `--sample`: how much of what is executed is timed.

use clap::Args;
use warpwatt_gpu::Way;

use crate::run::sampling::Goal;

/// The option.
#[derive(Clone, Copy, Debug, Args)]
pub struct SampleArgument {
    /// Time a part of long launches: off, or error=2%: as much as it takes until what is left out is known so well, at 95 %
    #[arg(long, value_name = "off|error=N%", default_value = "off", value_parser = error)]
    pub sample: Sample,
}

/// The error that is allowed; none if all is timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample(Option<f64>);

impl SampleArgument {
    /// What is to be met, leaving out what `way` says.
    pub fn goal(self, way: Way) -> Option<Goal> {
        self.sample.0.map(|error| Goal { error, way })
    }
}

fn error(text: &str) -> Result<Sample, String> {
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

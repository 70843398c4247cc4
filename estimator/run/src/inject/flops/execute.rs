//! Executes flips: the struck wavefront with and without, side by side.

use warpwatt_gcn::{Cause, ExecError, Tape};
use warpwatt_suite::RunError;

use super::lines::Lines;
use super::{Outcome, Strike};
use crate::inject::Golden;
use crate::inject::program::Machine;
use crate::inject::worker::At;

/// Goes through the golden run from work-group to work-group.
pub struct Executor<'g, 'l> {
    golden: &'g Golden<'g>,
    lines: &'l Lines<'l>,
    at: Option<At<'g>>,
}

impl<'g, 'l> Executor<'g, 'l> {
    pub fn new(golden: &'g Golden<'g>, lines: &'l Lines<'l>) -> Self {
        Self {
            golden,
            lines,
            at: None,
        }
    }

    /// What a flip does.
    ///
    /// # Errors
    /// The golden run does not run again as it did: a defect.
    pub fn outcome(&mut self, strike: &Strike) -> Result<Outcome, RunError> {
        let launch = strike.wave.launch;
        let (cta, warp) = self.lines.place(strike.wave);
        let at = match self.at.take() {
            Some(at) if (at.launch, at.cta) == (launch, cta) => at,
            at => self.golden.seek(at, launch, cta)?,
        };
        let at = self.at.insert(at);
        let limit = self.golden.launches[launch].limit(cta);
        let span = strike.from as u64..strike.until as u64;
        let mut watched = |flip| {
            let Machine::Code(replay) = &mut at.replay else {
                return Ok(Tape::default());
            };
            let watched = (warp, span.clone(), flip);
            let done = replay.watched(cta as u64, &mut at.scratch, watched, limit);
            let spoilt = at.scratch.differences(&at.before);
            at.scratch.restore(&at.before, &spoilt);
            done
        };
        let plain =
            watched(None).map_err(|(source, _)| RunError::MachineCode { launch, source })?;
        Ok(match watched(Some(strike.flip)) {
            Ok(tape) => compared(&plain, &tape, strike.rewritten),
            Err((error, _)) if goes_nowhere(&error) => Outcome::Terminated,
            Err(_) => Outcome::Sdc,
        })
    }
}

fn compared(plain: &Tape, struck: &Tape, rewritten: bool) -> Outcome {
    if plain.effects != struck.effects {
        return Outcome::Sdc;
    }
    match plain.state == struck.state || rewritten {
        true => Outcome::Match,
        false => Outcome::Gray,
    }
}

/// Whether a wavefront stops at what is no instruction. An access that goes astray is one that differs; the memory of a simulation answers all.
fn goes_nowhere(error: &ExecError) -> bool {
    let ExecError::Fault(fault) = error else {
        return false;
    };
    matches!(
        fault.cause,
        Cause::Jump(_) | Cause::Refused(_) | Cause::Unsupported(_)
    )
}

//! When the sampled check notices that gates have become slow, and when work goes wrong without it.
//!
//! The longest path takes the period less the guard band when it is new. Thresholds drift with the years ([`warpwatt_techlib::published::Ageing`]); the path takes longer, and more so at a lower
//! supply. Where the checker's takes more than the period, the two results differ: that is the notice. Where it does at the full supply, results are wrong.

use warpwatt_circuit::OperatingPoint;
use warpwatt_techlib::Technology;
use warpwatt_techlib::published::ageing;

/// In years.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Notice {
    guard_band: u32,
    checker_supply: u32,
    /// When checks fail, and when work does; infinite beyond a century.
    pub noticed: f64,
    pub wrong: f64,
}

impl Notice {
    /// At a node and supply, with a guard band and the checker's supply in percent.
    pub fn of(
        technology: &Technology,
        at: &OperatingPoint,
        (guard_band, checker_supply): (u32, u32),
    ) -> Result<Self, String> {
        let ageing = ageing().map_err(|error| error.to_string())?;
        let vdd = at.vdd.unwrap_or(technology.device.vdd.value);
        let lower = vdd * (f64::from(checker_supply) / 100.0);
        let temperature = at.temperature;
        let stressed = technology.delay_at(lower, vdd, temperature);
        let stressed = stressed.map_err(|error| error.to_string())?;
        let room = 1.0 / (1.0 - f64::from(guard_band) / 100.0);
        let until = |slower: f64, supply| {
            if slower <= 1.0 {
                return Ok(0.0);
            }
            let years = ageing.years_until(slower, technology, (supply, temperature));
            years.map_err(|error| error.to_string())
        };
        Ok(Self {
            guard_band,
            checker_supply,
            noticed: until(room / stressed, lower)?,
            wrong: until(room, vdd)?,
        })
    }

    pub fn in_words(self) -> String {
        let after = |years: f64| match years {
            0.0 => "at once".to_owned(),
            years if years.is_infinite() => "not within a century".to_owned(),
            years => format!("after {years:.1} years"),
        };
        format!(
            "aged_sampling_dmr: with a guard band of {} % and a checker at {} % of the supply, a check notices {}, and work goes wrong {}",
            self.guard_band,
            self.checker_supply,
            after(self.noticed),
            after(self.wrong)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_techlib::quantity::Temperature;
    use warpwatt_techlib::{Flavour, Library};

    fn notice(percents: (u32, u32)) -> Notice {
        let technology = Library::silicon()
            .unwrap()
            .node("32nm", Flavour::Hp)
            .unwrap();
        let at = OperatingPoint::at(Temperature::from_k(350.0));
        Notice::of(&technology, &at, percents).unwrap()
    }

    #[test]
    fn a_slower_checker_notices_earlier_and_never_late() {
        let [same, lower, lowest] = [100, 99, 98].map(|supply| notice((3, supply)));
        assert_eq!(same.noticed, same.wrong);
        assert!(lower.noticed < same.noticed && lowest.noticed < lower.noticed);
        assert_eq!(lower.wrong, same.wrong);
        assert_eq!(notice((1, 70)).noticed, 0.0);
        assert!(notice((50, 100)).wrong.is_infinite());
    }
}

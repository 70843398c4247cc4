//! The uncertain values of a technology, and how each is drawn.
//!
//! A value is multiplied by a log-normal factor. So it stays positive, as a current or a length must, its median is the nominal value, and "uncertain by a
//! factor of two" is as likely upwards as downwards. The factor of a relative uncertainty `u` is `exp(s z)` with `s = sqrt(ln(1 + u^2))`, whose coefficient
//! of variation is `u`. `z` is standard normal and cut off at three: no one ships a process beyond that. All values of a cause share one `z`.

use warpwatt_techlib::{Cause, Entry, How, Technology};

/// Largest draw, in standard deviations.
pub const CUT: f64 = 3.0;

/// A value of a technology that errs for itself or with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// As `warpwatt tech show` lists it.
    pub name: String,
    /// In SI.
    pub value: f64,
    /// Of the value; `1` for a ratio.
    pub unit: &'static str,
    /// Relative, one sigma.
    pub uncertainty: f64,
    /// With what it errs.
    pub cause: &'static str,
    /// Document or file with line.
    pub source: String,
    /// How it was obtained.
    pub how: String,
}

/// The uncertain values of `technology`, in its order. The pitch of fins is none of its own: see [`factor`].
pub fn inputs(technology: &Technology) -> Vec<Input> {
    let entries = technology.entries();
    let uncertain = entries
        .iter()
        .filter(|entry| entry.uncertainty > 0.0 && entry.si != 0.0 && entry.name != FIN_PITCH);
    uncertain.map(Input::of).collect()
}

impl Input {
    fn of(entry: &Entry<'_>) -> Self {
        Self {
            name: entry.name.clone(),
            value: entry.si,
            unit: if entry.unit.is_empty() {
                "1"
            } else {
                entry.unit
            },
            uncertainty: entry.uncertainty,
            cause: entry.cause.name(),
            source: entry.pedigree.source.to_owned(),
            how: how(entry.pedigree.how),
        }
    }
}

fn how(how: &How) -> String {
    match how {
        How::Published => "published".to_owned(),
        How::Measured => "measured".to_owned(),
        How::Scaled { rule } => format!("scaled: {rule}"),
        How::Fitted { script } => format!("fitted: {script}"),
        How::Assumed { reason } => format!("assumed: {reason}"),
    }
}

/// Widths are whole fins, counted in the layout's unit over the pitch of fins. Both are drawn by one length of the process, so that a transistor of two fins
/// does not become one of three by a rounding.
const FIN_PITCH: &str = "layout.fin.pitch";
const UNIT: &str = "layout.unit";

/// The standard deviation of the logarithm of a value of relative uncertainty `u`.
pub fn log_sigma(u: f64) -> f64 {
    libm::sqrt(libm::log1p(u * u))
}

/// The factor of a value of relative uncertainty `u` for a draw `z`.
pub fn factor(u: f64, z: f64, inverse: bool) -> f64 {
    let z = if inverse { -z } else { z };
    libm::exp(log_sigma(u) * z.clamp(-CUT, CUT))
}

/// `technology` with each value moved by the draw of its cause.
pub fn drawn(technology: &Technology, draw: impl Fn(Cause) -> f64) -> Technology {
    let unit = unit_uncertainty(technology);
    technology.scaled(|entry| {
        let u = if entry.name == FIN_PITCH {
            unit
        } else {
            entry.uncertainty
        };
        factor(u, draw(entry.cause), entry.inverse)
    })
}

/// `technology` with one input moved by `z` of its standard deviations.
pub fn moved(technology: &Technology, input: &Input, z: f64) -> Technology {
    let together = |name: &str| name == input.name || input.name == UNIT && name == FIN_PITCH;
    technology.scaled(|entry| {
        if together(&entry.name) {
            factor(input.uncertainty, z, entry.inverse)
        } else {
            1.0
        }
    })
}

fn unit_uncertainty(technology: &Technology) -> f64 {
    technology.layout.unit.uncertainty
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use warpwatt_techlib::{Flavour, Library};

    #[test]
    fn factors_are_positive_symmetric_in_the_logarithm_and_cut_off() {
        for u in [0.01, 0.15, 0.7, 1.0] {
            assert_relative_eq!(
                factor(u, 1.0, false) * factor(u, -1.0, false),
                1.0,
                max_relative = 1e-12
            );
            assert_eq!(factor(u, 0.0, false), 1.0);
            assert_eq!(factor(u, 9.0, false), factor(u, CUT, false));
            assert_eq!(factor(u, 1.0, true), factor(u, -1.0, false));
        }
        assert_relative_eq!(factor(0.01, 1.0, false), 1.01, max_relative = 1e-4);
    }

    #[test]
    fn a_fin_keeps_its_place_in_the_layout() {
        let technology = Library::silicon()
            .unwrap()
            .node("7nm", Flavour::Hp)
            .unwrap();
        let fins =
            |of: &Technology| of.layout.unit.value / of.layout.fin.as_ref().unwrap().pitch.value;
        let nominal = fins(&technology);
        assert_relative_eq!(
            fins(&drawn(&technology, |_| 1.7)),
            nominal,
            max_relative = 1e-12
        );
        let all = inputs(&technology);
        let unit = all.iter().find(|input| input.name == UNIT).unwrap();
        assert_relative_eq!(
            fins(&moved(&technology, unit, -1.0)),
            nominal,
            max_relative = 1e-12
        );
        assert!(all.iter().all(|input| input.name != FIN_PITCH));
    }

    #[test]
    fn resistance_falls_where_the_current_rises() {
        let technology = Library::silicon()
            .unwrap()
            .node("7nm", Flavour::Hp)
            .unwrap();
        let fast = drawn(&technology, |cause| {
            f64::from(u8::from(cause == Cause::IOn))
        });
        assert!(fast.device.i_on_n.value > technology.device.i_on_n.value);
        assert!(fast.device.r_n_on.value < technology.device.r_n_on.value);
    }
}

//! Where a virtual rail settles, and what leaks through it.

use warpwatt_techlib::quantity::{Current, Temperature, Voltage};
use warpwatt_techlib::rules;

use super::domain::Domain;
use super::switch::Switch;
use crate::OperatingPoint;

/// Steps of the bisection: more than the digits of a double.
const STEPS: u32 = 60;

/// A settled rail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rail {
    pub(super) rail: Voltage,
    /// Through the block.
    pub(super) current: Current,
}

impl Rail {
    /// Behind an off switch the rail sinks until the block draws no more than the switch lets through: both currents are those of off transistors in series.
    pub(super) fn cut_off(at: &OperatingPoint, domain: &Domain, switch: &Switch) -> Self {
        let (mut low, mut high) = (Voltage::ZERO, domain.vdd);
        for _ in 0..STEPS {
            let middle = (low + high) / 2.0;
            if block(at, domain, middle) < switch.off_at(domain.vdd - middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let rail = (low + high) / 2.0;
        Self {
            rail,
            current: block(at, domain, rail),
        }
    }

    /// On a second rail.
    pub(super) fn held(at: &OperatingPoint, domain: &Domain, rail: Voltage) -> Self {
        Self {
            rail,
            current: block(at, domain, rail),
        }
    }
}

/// Sub-threshold current of the block at a lower rail: less drain-induced barrier lowering, and none without a voltage (Taur and Ning, section 3.1.3).
fn block(at: &OperatingPoint, domain: &Domain, rail: Voltage) -> Current {
    let slope = slope(at.temperature);
    let lowered = (domain.vdd - rail) * rules::DIBL / slope;
    let saturation = 1.0 - libm::exp(-(rail / (slope / rules::SUBTHRESHOLD_IDEALITY)));
    domain.leak * (libm::exp(-lowered) * saturation)
}

/// Gate voltage that changes a sub-threshold current by e: ideality times kT/q.
pub(super) fn slope(temperature: Temperature) -> Voltage {
    Voltage::from_v(
        rules::BOLTZMANN_OVER_CHARGE * temperature.as_k() * rules::SUBTHRESHOLD_IDEALITY,
    )
}

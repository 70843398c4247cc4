//! Equality comparators: four quarters of a dynamic comparator with its evaluation driver (Wilton and Jouppi, WRL 93/5, section 6.8; CACTI 7, mat.cc).

use warpwatt_techlib::quantity::{Capacitance, Energy, Length, Power, Time, Voltage};
use warpwatt_techlib::rules;

use crate::Profile;
use crate::array::Stage;
use crate::gate::{self, Kind};
use crate::process::Process;

/// Quarters of a comparator.
const QUARTERS: f64 = 4.0;

/// The comparators of `ways` tags of `bits` bits, on all of which an access works.
pub(crate) fn tags(p: &Process, ways: u32, bits: u32) -> Stage {
    let count = QUARTERS * f64::from(ways);
    let inverters = rules::COMPARATOR_INVERTERS.map(|(pm, n)| (p.f(pm), p.f(n)));
    let evaluation = (
        p.f(rules::COMPARATOR_EVALUATION.0),
        p.f(rules::COMPARATOR_EVALUATION.1),
    );
    let (delay, ramp, energy) = inverter_chain(p, inverters, evaluation);
    let tall = p.f(rules::CELL_HEIGHT);
    let (compare_p, compare_n) = (
        p.f(rules::COMPARATOR_COMPARE.0),
        p.f(rules::COMPARATOR_COMPARE.1),
    );
    let quarter = f64::from(bits / 4).max(1.0);
    let stack =
        (gate::drain_n(p, compare_n, 1, tall) + gate::drain_n(p, compare_n, 2, tall)) * quarter;
    let ground =
        stack + gate::drain_p(p, evaluation.0, tall) + gate::drain_n(p, evaluation.1, 1, tall);
    let match_line = stack + gate::drain_p(p, compare_p, tall);
    let r_compare = gate::r_n(p, compare_n, 2);
    let r_evaluation = gate::r_n(p, evaluation.1, 1);
    let step = (r_evaluation * ground + (r_compare + r_evaluation) * match_line)
        * libm::log(1.0 / rules::THRESHOLD_MUX_NAND);
    // The compare stage is two transistors in series, which only CACTI 6.5 counts as such.
    let compare_kind = if p.profile == Profile::Cacti65 {
        Kind::Nand(2)
    } else {
        Kind::Inverter
    };
    let stages = [
        (Kind::Inverter, inverters[0]),
        (Kind::Inverter, inverters[1]),
        (Kind::Inverter, inverters[2]),
        (Kind::Inverter, evaluation),
        (compare_kind, (compare_n, compare_n)),
    ];
    let leakage: Power = stages
        .iter()
        .map(|&(kind, (pm, n))| p.power(gate::leak(p, kind, n, pm)))
        .sum();
    let gate_leakage: Power = stages
        .iter()
        .map(|&(_, (pm, n))| p.power(gate::gate_leak(p, Kind::Inverter, n, pm)))
        .sum();
    Stage {
        delay: delay + evaluation_delay(p, step, ramp),
        energy: (energy + p.full_swing(ground) * 0.5) * count
            + p.full_swing(match_line) * (f64::from(ways) - 1.0),
        leakage: leakage * count,
        gate_leakage: gate_leakage * count,
    }
}

/// Delay, output ramp and energy of the three inverters in front of the evaluation driver.
fn inverter_chain(
    p: &Process,
    inverters: [(Length, Length); 3],
    evaluation: (Length, Length),
) -> (Time, Time, Energy) {
    let tall = p.f(rules::CELL_HEIGHT);
    let at = rules::THRESHOLD_COMPARE_INVERTER;
    let load = |i: usize| -> Capacitance {
        let (next_p, next_n) = if i + 1 < inverters.len() {
            inverters[i + 1]
        } else {
            evaluation
        };
        let (own_p, own_n) = inverters[i];
        gate::gate_c(p, next_p + next_n)
            + gate::drain_p(p, own_p, tall)
            + gate::drain_n(p, own_n, 1, tall)
    };
    let first = gate::falling(Time::ZERO, gate::r_p(p, inverters[0].0) * load(0), at, at);
    let second = gate::rising(
        first / at,
        gate::r_n(p, inverters[1].1, 1) * load(1),
        at,
        at,
    );
    let third = gate::falling(
        second / (1.0 - at),
        gate::r_p(p, inverters[2].0) * load(2),
        at,
        rules::THRESHOLD_EVALUATION,
    );
    let energy = (0..inverters.len())
        .map(|i| p.full_swing(load(i)) * 0.5)
        .sum();
    (
        first + second + third,
        third / rules::THRESHOLD_EVALUATION,
        energy,
    )
}

/// Discharge of the match line with the slope of the evaluation driver taken into account (WRL 93/5, appendix).
fn evaluation_delay(p: &Process, step: Time, ramp: Time) -> Time {
    let over = p.vdd - p.vth;
    // In volts per second.
    let slope = p.vdd.si() / ramp.si().max(f64::MIN_POSITIVE);
    if step.si() <= 0.5 * over.si() / slope {
        let at: Voltage = p.vdd * rules::THRESHOLD_EVALUATION - p.vth;
        let b = 2.0 * at.si();
        let c = -2.0 * step.si() * over.si() + at.si() * at.si() / slope;
        Time::from_si((-b + (b * b - 4.0 * slope * c).max(0.0).sqrt()) / (2.0 * slope))
    } else {
        step + Time::from_si(
            (p.vdd + p.vth).si() / (2.0 * slope) - p.vdd.si() * rules::THRESHOLD_EVALUATION / slope,
        )
    }
}

//! Transistors and gates: capacitance, resistance, area, leakage (CACTI 5.1 TR, section 3; CACTI 7, basic_circuit.cc and component.cc).

mod chain;
mod leakage;

pub(crate) use chain::{Chain, Drive, Link};
pub(crate) use leakage::{access_leak, gate_leak, leak, read_port_leak};

use warpwatt_techlib::quantity::{Area, Capacitance, Length, Resistance, Time};
use warpwatt_techlib::rules;

use crate::process::Process;

/// A static gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Inverter,
    Nand(u32),
    Nor(u32),
}

/// Where a transistor is folded.
#[derive(Clone, Copy, Debug)]
enum Fold {
    /// At this width.
    Width(Length),
    /// So that it fits in a gate of this height.
    Height(Length),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    N,
    P,
}

/// Capacitance into a gate.
pub(crate) fn gate_c(process: &Process, width: Length) -> Capacitance {
    process.c_gate * width
}

/// Drain of an NMOS in a stack of `stack`, in a gate of height `tall`.
pub(crate) fn drain_n(process: &Process, width: Length, stack: u32, tall: Length) -> Capacitance {
    drain(process, width, stack, Channel::N, Fold::Height(tall))
}

/// Drain of a PMOS in a gate of height `tall`.
pub(crate) fn drain_p(process: &Process, width: Length, tall: Length) -> Capacitance {
    drain(process, width, 1, Channel::P, Fold::Height(tall))
}

/// Drain of a transistor that is folded at `fold`, as those pitch-matched to cells are.
pub(crate) fn drain_pitch(process: &Process, width: Length, fold: Length) -> Capacitance {
    drain(process, width, 1, Channel::N, Fold::Width(fold))
}

fn drain(
    process: &Process,
    width: Length,
    stack: u32,
    channel: Channel,
    fold: Fold,
) -> Capacitance {
    let region = |tall: Length| tall - process.f(2.0 * rules::POWER_RAIL + rules::GAP_P_TO_N);
    let fold = match (fold, channel) {
        (Fold::Width(at), _) => at,
        (Fold::Height(tall), Channel::N) => region(tall) / 3.0,
        (Fold::Height(tall), Channel::P) => region(tall) * (2.0 / 3.0),
    };
    let fingers = up(width / fold);
    let (finger, fingers) = if fingers < 2.0 {
        (width, 1.0)
    } else {
        (fold, fingers)
    };
    let contact = process.f(rules::CONTACT + 2.0 * rules::GATE_TO_CONTACT);
    let between = process.f(rules::GATE_TO_GATE) * f64::from(stack - 1);
    let mut drain_width = contact + between;
    let mut sidewall = finger;
    let mut edge = finger * f64::from(1 + 2 * (stack - 1));
    let mut metal = Capacitance::ZERO;
    if fingers > 1.0 {
        drain_width += contact * (fingers - 2.0) + between * (fingers - 1.0);
        if even(fingers) {
            sidewall = Length::ZERO;
        }
        edge = edge * fingers;
        metal = process.wire_local.c * drain_width;
    }
    process.c_junction * (drain_width * finger)
        + process.c_sidewall * (sidewall + drain_width * 2.0)
        + process.c_edge * edge
        + metal
}

/// Resistance of an NMOS that conducts, in a stack of `stack`.
pub(crate) fn r_n(process: &Process, width: Length, stack: u32) -> Resistance {
    process.r_n / width * f64::from(stack)
}

/// Resistance of a PMOS that conducts.
pub(crate) fn r_p(process: &Process, width: Length) -> Resistance {
    process.r_p / width
}

/// Layout area of a gate of at most height `tall`; transistors that do not fit are folded.
pub(crate) fn area(process: &Process, kind: Kind, p: Length, n: Length, tall: Length) -> Area {
    if p <= Length::ZERO || n <= Length::ZERO {
        return Area::ZERO;
    }
    let room = tall - process.f(2.0 * rules::POWER_RAIL + rules::GAP_P_TO_N);
    let share = p / (p + n);
    let (p_finger, n_finger) = (room * share, room * (1.0 - share));
    let (p_fingers, n_fingers) = (up(p / p_finger), up(n / n_finger));
    let (n_width, p_width) = match kind {
        Kind::Inverter => (
            diffusion(process, 1.0, n_fingers),
            diffusion(process, 1.0, p_fingers),
        ),
        Kind::Nand(inputs) => {
            let inputs = f64::from(inputs);
            (
                diffusion(process, inputs, n_fingers),
                diffusion(process, 1.0, inputs * p_fingers),
            )
        }
        Kind::Nor(inputs) => {
            let inputs = f64::from(inputs);
            (
                diffusion(process, 1.0, inputs * n_fingers),
                diffusion(process, inputs, p_fingers),
            )
        }
    };
    let height = if n_finger > n {
        n + p + process.f(rules::GAP_P_TO_N + 2.0 * rules::POWER_RAIL)
    } else {
        tall
    };
    n_width.max(p_width) * height
}

/// Width of a diffusion with `stacked` gates between contacts, in `fingers` fingers.
fn diffusion(process: &Process, stacked: f64, fingers: f64) -> Length {
    let contact = rules::CONTACT + 2.0 * rules::GATE_TO_CONTACT;
    let one = 2.0 * contact + stacked + (stacked - 1.0) * rules::GATE_TO_GATE;
    let more = if fingers > 1.0 {
        (fingers - 2.0) * 2.0 * contact
            + (fingers - 1.0) * (stacked + (stacked - 1.0) * rules::GATE_TO_GATE)
    } else {
        0.0
    };
    process.f(one + more)
}

/// Height that a transistor takes when it is folded into fingers of `fold`, across the bitlines.
pub(crate) fn folded_height(process: &Process, width: Length, fold: Length) -> Length {
    if width <= Length::ZERO {
        return Length::ZERO;
    }
    let fingers = up(width / fold);
    let contact = rules::CONTACT + 2.0 * rules::GATE_TO_CONTACT;
    process.f(fingers + (fingers + 1.0) * contact)
}

/// Rounds up a count of fingers: what `f64::ceil` gives, without the call that it costs where the processor's own instruction may not be assumed.
#[inline]
fn up(count: f64) -> f64 {
    /// From here on every number is whole.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    if count.abs() < WHOLE {
        let down = count as i64 as f64;
        if down < count { down + 1.0 } else { down }
    } else {
        count
    }
}

/// Whether a whole count is even: `count % 2.0 == 0.0` without the call that it costs.
#[inline]
fn even(count: f64) -> bool {
    // Beyond the integers that a double can tell apart all are even.
    const LARGE: f64 = (1_u64 << 54) as f64;
    if count.abs() < LARGE {
        (count * 0.5) as i64 as f64 * 2.0 == count
    } else {
        count.is_finite()
    }
}

/// Logarithm of one half as `libm::log` gives it: nearly every threshold is half the swing.
const LOG_HALF: f64 = -std::f64::consts::LN_2;

#[inline]
fn ln(fraction: f64) -> f64 {
    if fraction == 0.5 {
        LOG_HALF
    } else {
        libm::log(fraction)
    }
}

/// Delay of a gate with time constant `tau` behind an input ramp, from input threshold `from` to output threshold `to` (fractions of the swing), input
/// rising (Horowitz, "Timing models for MOS circuits", 1984).
pub(crate) fn rising(ramp: Time, tau: Time, from: f64, to: f64) -> Time {
    if ramp == Time::ZERO && from == to {
        return tau * -ln(from);
    }
    let log = ln(from);
    let slope = 2.0 * (ramp / tau) * rules::HOROWITZ_RISE * (1.0 - from);
    tau * ((log * log + slope).sqrt() + log - ln(to))
}

/// Delay of one stage of a chain, half to half. On-resistances of the silicon library are fitted to chains of inverters, whose inputs are ramps: there the
/// delay is scaled so that equal stages take ln 2 tau each. CACTI adds the ramp to a resistance of the same kind, and its chains are twice as slow.
pub(crate) fn stage(process: &Process, ramp: Time, tau: Time) -> Time {
    let delay = rising(ramp, tau, 0.5, 0.5);
    match process.profile {
        crate::Profile::Silicon => delay * (rules::RAMPED * process.edges()),
        crate::Profile::Cacti65 | crate::Profile::Cacti7 => delay,
    }
}

/// As [`rising`], input falling.
pub(crate) fn falling(ramp: Time, tau: Time, from: f64, to: f64) -> Time {
    if ramp == Time::ZERO && from == to {
        return tau * -ln(from);
    }
    let log = ln(1.0 - from);
    let slope = 2.0 * (ramp / tau) * rules::HOROWITZ_FALL * from;
    tau * ((log * log + slope).sqrt() + log - ln(1.0 - to))
}

#[cfg(test)]
mod tests {
    use super::{even, ln, up};

    #[test]
    fn shortcuts_give_the_same_bits() {
        assert_eq!(ln(0.5).to_bits(), libm::log(0.5).to_bits());
        for count in [
            0.0,
            0.2,
            1.0,
            1.000_000_1,
            7.5,
            1e9 + 0.5,
            1e300,
            f64::INFINITY,
        ] {
            let whole = count.ceil();
            assert_eq!(even(whole), whole % 2.0 == 0.0, "{count}");
            assert_eq!(up(count).to_bits(), count.ceil().to_bits(), "{count}");
        }
    }
}

//! Leakage by gate and state. CACTI 7 averages over input states with a stack factor; CACTI 6.5 takes half of all widths.

use warpwatt_techlib::quantity::{Current, Length};
use warpwatt_techlib::rules;

use super::Kind;
use crate::Profile;
use crate::process::Process;

/// Sub-threshold current of a gate with transistors of `n` and `p`.
pub(crate) fn leak(process: &Process, kind: Kind, n: Length, p: Length) -> Current {
    let (n, p) = (process.i_off * n, process.i_off * p);
    if process.profile == Profile::Cacti65 {
        return (n + p) * if kind == Kind::Inverter { 0.5 } else { 0.2 };
    }
    match kind {
        Kind::Inverter => (n + p) * 0.5,
        Kind::Nand(inputs) => {
            (p * f64::from(inputs) + n * stacked(process, inputs)) / states(inputs)
        }
        Kind::Nor(inputs) => {
            (n * f64::from(inputs) + p * stacked(process, inputs)) / states(inputs)
        }
    }
}

/// Gate current of a gate with transistors of `n` and `p` (CACTI 7, basic_circuit.cc:713). The 6.5 profile has none.
pub(crate) fn gate_leak(process: &Process, kind: Kind, n: Length, p: Length) -> Current {
    if process.profile == Profile::Cacti65 {
        return Current::ZERO;
    }
    let (n, p) = (process.i_gate * n, process.i_gate * p);
    match kind {
        Kind::Inverter => (n + p) * 0.5,
        Kind::Nand(inputs) => {
            (p * all_on(process, inputs) + n * half_on(process, inputs)) / states(inputs)
        }
        Kind::Nor(inputs) => {
            (n * all_on(process, inputs) + p * half_on(process, inputs)) / states(inputs)
        }
    }
}

/// Current through a cell's access transistor of a port that writes.
pub(crate) fn access_leak(process: &Process, width: Length) -> Current {
    match process.profile {
        Profile::Cacti65 => process.i_off * width,
        Profile::Cacti7 | Profile::Silicon => process.i_off * width * 0.5,
    }
}

/// Current through a cell's access transistor of a port that only reads: two transistors in series.
pub(crate) fn read_port_leak(process: &Process, width: Length) -> Current {
    match process.profile {
        // A fixed stack factor of 0.2 (CACTI 5.1 TR, section 4.9).
        Profile::Cacti65 => process.i_off * width * 0.2,
        Profile::Cacti7 | Profile::Silicon => {
            process.i_off * width * (stacked(process, 2) / states(2))
        }
    }
}

/// Sum over the states of `inputs` transistors in series with at least one off, in currents of one.
fn stacked(process: &Process, inputs: u32) -> f64 {
    let mut factor = 1.0;
    let mut sum = 0.0;
    for off in 1..=inputs {
        sum += choose(process, inputs, off) * factor;
        factor *= rules::STACK_FACTOR;
    }
    sum
}

/// Sum over the states of parallel transistors of how many are on.
fn all_on(process: &Process, inputs: u32) -> f64 {
    (1..=inputs)
        .map(|on| choose(process, inputs, on) * f64::from(on))
        .sum()
}

/// The same in series: all on counts in full, part of them by half.
fn half_on(process: &Process, inputs: u32) -> f64 {
    let partly: f64 = (1..inputs)
        .map(|on| choose(process, inputs, on) * f64::from(on) / 2.0)
        .sum();
    f64::from(inputs) + partly
}

fn states(inputs: u32) -> f64 {
    f64::from(1_u32 << inputs)
}

/// In how many ways `k` of `n` transistors can be chosen. CACTI 7 counts the state with all of them as `n + 1` (its factorial starts at its lower bound:
/// basic_circuit.cc, combination); its figures follow from that, so it stays in the profiles of the old tools.
fn choose(process: &Process, n: u32, k: u32) -> f64 {
    if n == k && process.profile != Profile::Silicon {
        return f64::from(n + 1);
    }
    (1..=k)
        .map(|i| f64::from(n - k + i) / f64::from(i))
        .product()
}

//! The thermal network and the balance of leakage and temperature, against closed forms.

use approx::assert_relative_eq;
use proptest::prelude::*;
use warpwatt_circuit::thermal::{Balance, Block, Limit, Network, balance};
use warpwatt_techlib::published::package;
use warpwatt_techlib::quantity::{Area, Power, Temperature, ThermalResistance};

const AMBIENT: f64 = 318.15;

fn network(areas_mm2: &[f64]) -> Network {
    let blocks: Vec<Block> = areas_mm2
        .iter()
        .map(|area| Block {
            area: Area::from_mm2(*area),
        })
        .collect();
    let air = ThermalResistance::from_k_per_w(0.1);
    Network::new(
        &package().unwrap(),
        &blocks,
        air,
        Temperature::from_k(AMBIENT),
    )
}

/// Kelvin a watt in the only block makes.
fn resistance(network: &Network) -> f64 {
    network.steady(&[Power::from_w(1.0)])[0].si() - AMBIENT
}

fn solve(network: &Network, power: impl Fn(f64) -> f64) -> Balance {
    balance(network, |at| Some(vec![Power::from_w(power(at[0].si()))]))
}

/// Straight down, by hand: 0.15 mm at 100 W/mK and 20 um at 4 W/mK through 400 mm2 are 0.00375 and 0.0125 K/W, the spreader's 1 mm at 400 W/mK through 900 mm2 0.00278, the
/// sink's 6.9 mm through 3600 mm2 0.00479, and 0.1 K/W to the air: 0.1238 K/W. Spreading comes on top: in the thin spreader (psi of 0.096 over 8.0 W/K, times a phi of 3.1) and the
/// sink (0.177 over 12 W/K, times 1.4), 0.058 K/W together.
#[test]
fn a_die_is_as_hot_as_straight_conduction_and_spreading_make_it() {
    let found = resistance(&network(&[400.0]));
    assert!((found - 0.1238 - 0.058).abs() < 2e-3, "{found}");
}

#[test]
fn a_die_as_large_as_its_spreader_spreads_only_into_the_sink() {
    let small = resistance(&network(&[100.0]));
    let large = resistance(&network(&[900.0]));
    assert!(small > large, "{small} {large}");
}

/// Two blocks of half the die and half the power each are one block.
#[test]
fn blocks_of_equal_power_density_are_one_block() {
    let one = network(&[400.0]).steady(&[Power::from_w(80.0)]);
    let two = network(&[100.0, 300.0]).steady(&[Power::from_w(20.0), Power::from_w(60.0)]);
    for (block, whole) in [(0, 0), (1, 0), (2, 1), (3, 2)] {
        assert_relative_eq!(two[block].si(), one[whole].si(), max_relative = 1e-12);
    }
}

#[test]
fn heat_that_leaves_is_heat_that_is_made() {
    let network = network(&[100.0, 300.0]);
    let all = network.steady(&[Power::from_w(50.0), Power::from_w(10.0)]);
    assert!(all[0] > all[1] && all[1] > all[2] && all[2] > all[3]);
    // The sink's share of the way, from a single block of the same power.
    let alone = network.steady(&[Power::from_w(60.0), Power::ZERO]);
    assert_relative_eq!(all[3].si(), alone[3].si(), max_relative = 1e-12);
}

/// The die follows in milliseconds, the sink in tens of seconds: a kernel is over before either moves.
#[test]
fn time_constants_are_those_of_dies_and_sinks() {
    let times = network(&[400.0]).time_constants();
    assert_eq!(times.len(), 3);
    assert!(times[0].si() > 10.0 && times[0].si() < 100.0, "{times:?}");
    assert!(times[2].si() > 1e-4 && times[2].si() < 1e-2, "{times:?}");
}

#[test]
fn power_that_does_not_depend_on_temperature_needs_no_feedback() {
    let network = network(&[400.0]);
    let settled = solve(&network, |_| 100.0);
    assert_eq!(settled.limit, None);
    assert_relative_eq!(
        settled.blocks[0].si(),
        AMBIENT + 100.0 * resistance(&network),
        max_relative = 1e-12
    );
    assert_eq!(settled.gain, 0.0);
}

/// T = A + R (p + s (T - A)) is A + R p / (1 - R s).
#[test]
fn a_straight_line_is_solved_in_closed_form() {
    let network = network(&[400.0]);
    let r = resistance(&network);
    let settled = solve(&network, |kelvin| 50.0 + 2.0 * (kelvin - AMBIENT));
    assert_relative_eq!(
        settled.blocks[0].si(),
        AMBIENT + r * 50.0 / (1.0 - 2.0 * r),
        max_relative = 1e-9
    );
    assert_relative_eq!(settled.gain, 2.0 * r, max_relative = 1e-6);
    let away = solve(&network, |kelvin| 50.0 + 1.001 / r * (kelvin - AMBIENT));
    assert_eq!(away.limit, Some(Limit::Runaway));
}

/// x = R p exp(b x) has a solution up to R p b = 1/e, where x = 1/b and the gain is one.
#[test]
fn runaway_begins_where_the_exponential_has_no_fixed_point() {
    let network = network(&[400.0]);
    let (r, b) = (resistance(&network), 0.02);
    let edge = 1.0 / (r * b * std::f64::consts::E);
    let leak = |scale: f64| move |kelvin: f64| scale * edge * (b * (kelvin - AMBIENT)).exp();
    let settled = solve(&network, leak(0.999));
    assert_eq!(settled.limit, None);
    assert!(settled.gain > 0.9 && settled.gain < 1.0, "{}", settled.gain);
    let x = settled.blocks[0].si() - AMBIENT;
    assert_relative_eq!(x, 0.999 * edge * r * (b * x).exp(), max_relative = 1e-6);
    assert!(x < 1.0 / b);
    assert_eq!(solve(&network, leak(1.001)).limit, Some(Limit::Runaway));
}

#[test]
fn power_that_is_not_known_where_it_would_be_needed_is_said() {
    let network = network(&[400.0]);
    let known = |at: &[Temperature]| (at[0].si() < 330.0).then(|| vec![Power::from_w(200.0)]);
    let stopped = balance(&network, known);
    assert_eq!(stopped.limit, Some(Limit::OutOfRange));
}

proptest! {
    /// More heat, more air, less cooling: nothing of it makes a die cooler.
    #[test]
    fn more_power_is_never_cooler(watts in 1.0f64..200.0, more in 0.0f64..50.0, leak in 0.0f64..20.0) {
        let network = network(&[400.0]);
        let power = |watts: f64| move |kelvin: f64| watts + leak * ((kelvin - AMBIENT) * 0.02).exp();
        let (less, more) = (solve(&network, power(watts)), solve(&network, power(watts + more)));
        prop_assert!(more.limit.is_some() || less.blocks[0] <= more.blocks[0]);
        prop_assert!(less.limit.is_none() || more.limit.is_some());
    }

    /// At rest, temperatures are those that the network gives for their own power.
    #[test]
    fn what_is_at_rest_is_a_fixed_point(first in 1.0f64..60.0, second in 1.0f64..60.0, leak in 0.0f64..10.0) {
        let network = network(&[100.0, 300.0]);
        let power = |at: &[Temperature]| -> Vec<Power> {
            let leaking = |kelvin: f64| leak * ((kelvin - AMBIENT) * 0.02).exp();
            vec![Power::from_w(first + leaking(at[0].si())), Power::from_w(second + leaking(at[1].si()))]
        };
        let settled = balance(&network, |at| Some(power(at)));
        prop_assume!(settled.limit.is_none());
        let again = network.steady(&power(&settled.blocks));
        for (found, expected) in settled.blocks.iter().zip(&again) {
            prop_assert!((found.si() - expected.si()).abs() < 1e-5);
        }
    }
}

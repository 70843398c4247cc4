use std::sync::Arc;

use approx::assert_relative_eq;
use proptest::prelude::*;
use warpwatt_circuit::{Cost, Gated, Uncertainty};
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time, Voltage};

use super::*;
use crate::outcome::FRONT_END;
use crate::outcome::by_hand::point;

fn cost(read_pj: f64, write_pj: f64, leakage_mw: f64) -> Cost {
    Cost {
        area: Area::from_um2(100.0),
        height: Length::from_um(10.0),
        width: Length::from_um(10.0),
        access_time: Time::from_ps(120.0),
        cycle_time: Time::from_ps(200.0),
        read_energy: Energy::from_pj(read_pj),
        write_energy: Energy::from_pj(write_pj),
        search_energy: None,
        leakage: Power::from_mw(leakage_mw),
        gate_leakage: Power::from_mw(0.1 * leakage_mw),
        breakdown: Vec::new(),
        organisation: None,
        model: "test".to_owned(),
        uncertainty: Uncertainty {
            area: 0.1,
            delay: 0.1,
            energy: 0.1,
            leakage: 0.1,
            method: 0.05,
        },
        tag: None,
        data: None,
        alternatives: Vec::new(),
        gated: None,
        limits: None,
    }
}

fn table(costs: &[(&'static str, Cost)]) -> CostTable {
    let mut table = CostTable::new();
    for (name, cost) in costs {
        let entry = CostEntry {
            group: FRONT_END,
            instances: 16,
            leakage_only: false,
            charges: Default::default(),
            flavours: None,
            cost: Arc::new(cost.clone()),
            gates: None,
        };
        table.insert(*name, entry).unwrap();
    }
    table
}

fn counted(cycles: u64, counts: &[(&str, u64)]) -> Counted {
    Counted {
        windows: None,
        samples: None,
        cycles,
        clock: Frequency::from_mhz(1300.0),
        activity: Arc::new(counts.iter().copied().collect()),
        performance: Performance::default().into(),
        metrics: Vec::new().into(),
        register_accesses: None,
        before: Default::default(),
        notes: Vec::new(),
    }
}

#[test]
fn a_point_priced_by_hand() {
    let table = table(&[("a", cost(2.0, 3.0, 1.0)), ("b", cost(1.0, 1.0, 0.5))]);
    let counts = counted(1300, &[("a.read", 10), ("a.write", 4), ("cycles", 1300)]);
    let outcome = price(point(), counts, &table).unwrap();
    assert_relative_eq!(outcome.time_s, 1e-6);
    assert_relative_eq!(outcome.totals.dynamic_j, 32e-12, max_relative = 1e-12);
    // 16 instances, gate leakage 10 %, 1 us: (1.0 + 0.5) mW * 1.1 * 16 * 1 us.
    assert_relative_eq!(outcome.totals.leakage_j, 26.4e-9, max_relative = 1e-12);
    assert_eq!(outcome.notes.len(), 1);
    assert_eq!(
        outcome.notes[0].text,
        "area and leakage only, no dynamic energy: b".into()
    );
}

#[test]
fn an_action_without_a_price_is_an_error_and_not_zero() {
    let logic = table(&[("mux", cost(0.5, 0.0, 0.1))]);
    let error = price(point(), counted(1, &[("mux.write", 1)]), &logic).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`mux.write` was counted, but `mux` (test) has no price for `write`; it has prices for: read"
    );
    assert!(price(point(), counted(1, &[("mux.search", 0)]), &logic).is_err());
}

#[test]
fn events_on_unknown_structures_are_listed() {
    let outcome = price(point(), counted(1, &[("dram.read", 7)]), &CostTable::new()).unwrap();
    assert_eq!(outcome.totals, Totals::default());
    assert!(outcome.notes[0].text.ends_with("in no energy: dram"));
}

#[test]
fn two_structures_of_one_name_are_refused() {
    let entry = CostEntry {
        group: FRONT_END,
        instances: 1,
        leakage_only: false,
        charges: Default::default(),
        flavours: None,
        cost: Arc::new(cost(1.0, 1.0, 1.0)),
        gates: None,
    };
    let mut table = CostTable::new();
    table.insert("a", entry.clone()).unwrap();
    assert!(matches!(
        table.insert("a", entry),
        Err(PricingError::Duplicate { .. })
    ));
}

#[test]
fn events_on_a_structure_that_only_leaks_have_no_price() {
    let entry = CostEntry {
        group: "storage",
        instances: 1,
        leakage_only: true,
        charges: Default::default(),
        flavours: None,
        cost: Arc::new(cost(1.0, 1.0, 1.0)),
        gates: None,
    };
    let mut table = CostTable::new();
    table.insert("register_file", entry).unwrap();
    let outcome = price(point(), counted(13, &[("register_file.read", 5)]), &table).unwrap();
    assert_eq!(outcome.totals.dynamic_j, 0.0);
    assert!(outcome.totals.leakage_j > 0.0);
    assert!(outcome.notes[0].text.ends_with("energy: register_file"));
}

/// 16 instances of two circuit domains each, 1.1 mW with power and 0.1 mW without; the model counts eight parts.
fn gated_file() -> CostTable {
    let gated = Gated {
        leakage: Power::from_mw(0.1),
        gate_leakage: Power::from_mw(0.0),
        wake_time: Time::from_ps(100.0),
        wake_energy: Energy::from_pj(3.0),
        header_area: Area::from_um2(5.0),
        header_width: Length::from_um(1.0),
        break_even: Time::from_ps(1000.0),
        rail: Voltage::from_v(0.01),
        domains: 2,
        keeps_data: false,
    };
    let entry = CostEntry {
        group: "storage",
        instances: 16,
        leakage_only: true,
        charges: Default::default(),
        flavours: None,
        cost: Arc::new(cost(1.0, 1.0, 1.0)),
        gates: Some(Switched {
            gated,
            domains: 8,
            powered: "powered",
            wakes: "wakes",
        }),
    };
    let mut table = CostTable::new();
    table.insert("register_file", entry).unwrap();
    table
}

#[test]
fn what_is_switched_off_leaks_less_and_pays_for_waking() {
    let priced = |powered, wakes| {
        let counts = counted(1300, &[("powered", powered), ("wakes", wakes)]);
        price(point(), counts, &gated_file()).unwrap()
    };
    let (all_on, half, all_off) = (priced(8 * 1300, 0), priced(4 * 1300, 5), priced(0, 0));
    assert_relative_eq!(all_on.totals.leakage_j, 16.0 * 1.1e-9, max_relative = 1e-12);
    assert_relative_eq!(
        all_off.totals.leakage_j,
        16.0 * 0.1e-9,
        max_relative = 1e-12
    );
    assert_relative_eq!(half.totals.leakage_j, 16.0 * 0.6e-9, max_relative = 1e-12);
    // Four circuit domains wake with a part of the model.
    assert_relative_eq!(
        half.totals.dynamic_j,
        5.0 * 4.0 * 3e-12,
        max_relative = 1e-12
    );
    assert_relative_eq!(half.totals.area_m2, 16.0 * 105e-12, max_relative = 1e-12);
    assert_eq!(half.structures[0].count("wake"), 5);
}

#[test]
fn a_clock_that_stands_is_refused() {
    let mut stopped = counted(1, &[]);
    stopped.clock = Frequency::from_hz(0.0);
    assert!(matches!(
        price(point(), stopped, &CostTable::new()),
        Err(PricingError::Clock { .. })
    ));
}

proptest! {
    #[test]
    fn the_energy_balance_closes(
        reads in prop::collection::vec(0u64..1_000_000_000, 3),
        writes in prop::collection::vec(0u64..1_000_000_000, 3),
        energies in prop::collection::vec(0.01f64..100.0, 6),
        cycles in 0u64..1_000_000_000,
    ) {
        let costs: Vec<(&str, Cost)> = ["a", "b", "c"].iter().enumerate()
            .map(|(i, name)| (*name, cost(energies[2 * i], energies[2 * i + 1], energies[i]))).collect();
        let names: Vec<(String, u64)> = ["a", "b", "c"].iter().enumerate()
            .flat_map(|(i, name)| [(format!("{name}.read"), reads[i]), (format!("{name}.write"), writes[i])]).collect();
        let counts: Vec<(&str, u64)> = names.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        let outcome = price(point(), counted(cycles, &counts), &table(&costs)).unwrap();
        let dynamic: f64 = outcome.structures.iter().map(|s| s.dynamic_j).sum();
        let leakage: f64 = outcome.structures.iter().map(|s| s.leakage_j).sum();
        prop_assert_eq!(dynamic, outcome.totals.dynamic_j);
        prop_assert_eq!(leakage, outcome.totals.leakage_j);
        for structure in &outcome.structures {
            let actions: f64 = structure.actions.total_j();
            prop_assert_eq!(actions, structure.dynamic_j);
        }
    }

    #[test]
    fn the_price_is_linear_in_the_counts(count in 1u64..1_000_000, factor in 2u64..1000, cycles in 1u64..1_000_000) {
        let table = table(&[("a", cost(2.0, 3.0, 1.0))]);
        let once = price(point(), counted(cycles, &[("a.read", count)]), &table).unwrap();
        let more = price(point(), counted(cycles * factor, &[("a.read", count * factor)]), &table).unwrap();
        let scale = factor as f64;
        prop_assert!((more.totals.dynamic_j / once.totals.dynamic_j - scale).abs() < 1e-9 * scale);
        prop_assert!((more.totals.leakage_j / once.totals.leakage_j - scale).abs() < 1e-9 * scale);
    }
}

use super::*;
use crate::{CamSpec, FullyAssociativeSpec, Ports, Profile, RamSpec, Spec, cost};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

/// A register-file bank of 4 KB at a node, 350 K or so, gated by switches of low leakage.
struct Bench {
    technology: Technology,
    switch: Technology,
    at: OperatingPoint,
    cost: Cost,
}

impl Bench {
    fn new(node: &str, flavour: Flavour, kelvin: f64) -> Self {
        let library = Library::itrs().unwrap();
        let technology = library.node(node, flavour).unwrap();
        let at = OperatingPoint::at(Temperature::from_k(kelvin));
        let spec = Spec::Ram(RamSpec {
            words: 256,
            bits: 128,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        });
        Self {
            cost: cost(&technology, &at, Profile::Cacti7, &spec).unwrap(),
            switch: library.node(node, Flavour::Lstp).unwrap(),
            technology,
            at,
        }
    }

    fn gated(&self, gating: Gating) -> Gated {
        gate(
            &self.technology,
            &self.switch,
            (&self.at, &self.cost),
            (&self.at, &self.cost),
            &gating,
        )
        .unwrap()
    }
}

#[test]
fn wires_along_the_slices_of_a_word_stay_on_while_subarrays_sleep() {
    let library = Library::silicon().unwrap();
    let technology = library.node("7nm", Flavour::Hp).unwrap();
    let switch = library.node("7nm", Flavour::Lstp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let spec = Spec::Ram(RamSpec {
        words: 2048,
        bits: 512,
        out_bits: None,
        ports: Ports::ONE,
        banks: 1,
    });
    let cost = cost(&technology, &at, Profile::Silicon, &spec).unwrap();
    let along = |part: &&crate::Part| part.name == crate::slices::ALONG;
    let wires: Power = cost
        .breakdown
        .iter()
        .filter(along)
        .map(|part| part.leakage)
        .sum();
    assert!(wires > Power::ZERO);
    let left = |cost: &crate::Cost| {
        let gating = Gating {
            granularity: Granularity::Subarray,
            ..Gating::default()
        };
        gate(&technology, &switch, (&at, cost), (&at, cost), &gating)
            .unwrap()
            .leakage
    };
    // If they leaked nothing, so much less would be left.
    let mut without = cost.clone();
    without.leakage = without.leakage - wires;
    without.breakdown.retain(|part| !along(&part));
    assert!(left(&cost) - left(&without) > wires * 0.99);
}

/// A structure of 7 nm at 350 K, and what gating does to it by each granularity.
fn by_granularity(spec: Spec) -> (Cost, [(Granularity, Gated); 3]) {
    let library = Library::silicon().unwrap();
    let technology = library.node("7nm", Flavour::Hp).unwrap();
    let switch = library.node("7nm", Flavour::Lstp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let cost = cost(&technology, &at, Profile::Silicon, &spec).unwrap();
    let gated = GRANULARITIES.map(|granularity| {
        let gating = Gating {
            granularity,
            ..Gating::default()
        };
        let gated = gate(&technology, &switch, (&at, &cost), (&at, &cost), &gating);
        (granularity, gated.unwrap())
    });
    (cost, gated)
}

#[test]
fn register_files_sleep_by_rows_and_slices_as_arrays_do() {
    for (words, bits) in [(32, 1024), (128, 1024), (256, 128)] {
        let (cost, gated) = by_granularity(Spec::Ram(RamSpec {
            words,
            bits,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        }));
        assert!(cost.model.starts_with("register file"), "{}", cost.model);
        for (granularity, gated) in gated {
            let which = format!("{words} x {bits} {granularity:?}: {gated:?}");
            assert!(gated.leakage < cost.leakage, "{which}");
            assert!(gated.wake_time > Time::ZERO, "{which}");
        }
    }
}

const GRANULARITIES: [Granularity; 3] =
    [Granularity::Array, Granularity::Subarray, Granularity::Row];

#[test]
fn a_gated_array_leaks_less_and_waking_it_costs() {
    for node in ["90nm", "65nm", "45nm", "40nm", "32nm"] {
        for kelvin in [300.0, 350.0, 400.0] {
            let bench = Bench::new(node, Flavour::Hp, kelvin);
            for granularity in GRANULARITIES {
                for mode in [GatedMode::Off, GatedMode::Drowsy] {
                    let gated = bench.gated(Gating {
                        granularity,
                        mode,
                        ..Gating::default()
                    });
                    let which = format!("{node} {kelvin} {granularity:?} {mode:?}: {gated:?}");
                    assert!(gated.leakage < bench.cost.leakage, "{which}");
                    assert!(gated.gate_leakage <= bench.cost.gate_leakage, "{which}");
                    assert!(gated.wake_energy > Energy::ZERO, "{which}");
                    assert!(gated.wake_time > Time::ZERO, "{which}");
                    assert!(
                        gated.break_even > Time::ZERO && gated.break_even.is_finite(),
                        "{which}"
                    );
                    assert!(
                        gated.rail >= Voltage::ZERO
                            && gated.rail < bench.technology.device.vdd.value,
                        "{which}"
                    );
                }
            }
        }
    }
}

#[test]
fn break_even_falls_with_temperature() {
    for granularity in GRANULARITIES {
        let at = |kelvin| {
            let gating = Gating {
                granularity,
                ..Gating::default()
            };
            Bench::new("45nm", Flavour::Hp, kelvin)
                .gated(gating)
                .break_even
        };
        assert!(at(300.0) > at(330.0) && at(330.0) > at(360.0) && at(360.0) > at(400.0));
    }
}

#[test]
fn a_smaller_loss_takes_a_larger_switch_that_leaks_more_and_wakes_faster() {
    let bench = Bench::new("32nm", Flavour::Hp, 350.0);
    let at = |loss| {
        bench.gated(Gating {
            loss,
            ..Gating::default()
        })
    };
    let (tight, loose) = (at(0.01), at(0.1));
    // The width is as the inverse of the loss.
    approx::assert_relative_eq!(
        tight.header_width / loose.header_width,
        10.0,
        epsilon = 1e-9
    );
    assert!(tight.header_area > loose.header_area);
    assert!(tight.leakage > loose.leakage);
    assert!(tight.wake_time < loose.wake_time);
}

#[test]
fn drowsy_keeps_the_data_and_saves_less() {
    let bench = Bench::new("45nm", Flavour::Hp, 350.0);
    let off = bench.gated(Gating::default());
    let drowsy = bench.gated(Gating {
        mode: GatedMode::Drowsy,
        ..Gating::default()
    });
    let lower = bench.gated(Gating {
        mode: GatedMode::DrowsyAt(Voltage::from_v(0.3)),
        ..Gating::default()
    });
    assert!(drowsy.keeps_data && lower.keeps_data && !off.keeps_data);
    assert!(off.leakage < lower.leakage && lower.leakage < drowsy.leakage);
    assert!(drowsy.wake_energy < off.wake_energy * 2.0);
    // Flautner et al. (ISCA 2002) report 6 to 10 times less at 0.3 V with the row's voltage controller, which is not in here: 1/0.3 by the voltage alone, the
    // rest by drain-induced barrier lowering.
    let times = bench.cost.leakage / lower.leakage;
    assert!(times > 6.0 && times < 20.0, "{times}");
}

#[test]
fn a_limit_on_the_rush_current_slows_the_wake_up_alone() {
    let bench = Bench::new("32nm", Flavour::Hp, 350.0);
    let free = bench.gated(Gating::default());
    let limited = bench.gated(Gating {
        inrush: Some(0.5),
        ..Gating::default()
    });
    assert!(limited.wake_time > free.wake_time * 2.0);
    assert_eq!(
        Gated {
            wake_time: free.wake_time,
            ..limited
        },
        free
    );
}

#[test]
fn a_cache_is_gated_side_by_side_and_logic_only_whole() {
    let bench = Bench::new("45nm", Flavour::Hp, 350.0);
    let price = |spec: &Spec| cost(&bench.technology, &bench.at, Profile::Cacti7, spec).unwrap();
    let cache = price(&Spec::Cache(crate::CacheSpec {
        sets: 64,
        ways: 4,
        line_bits: 512,
        tag_bits: Some(24),
        out_bits: None,
        ports: Ports::ONE,
        access: crate::Access::Normal,
        banks: 1,
    }));
    let of = |cost: &Cost| {
        gate(
            &bench.technology,
            &bench.switch,
            (&bench.at, cost),
            (&bench.at, cost),
            &Gating::default(),
        )
        .unwrap()
    };
    let whole = of(&cache);
    let sides =
        of(cache.tag.as_ref().unwrap()).wake_energy + of(cache.data.as_ref().unwrap()).wake_energy;
    approx::assert_relative_eq!(whole.wake_energy / sides, 1.0, epsilon = 1e-12);
    let mux = price(&Spec::Mux(crate::MuxSpec { bits: 32 }));
    assert!(of(&mux).leakage < mux.leakage);
    let rows = Gating {
        granularity: Granularity::Row,
        ..Gating::default()
    };
    let refused = gate(
        &bench.technology,
        &bench.switch,
        (&bench.at, &mux),
        (&bench.at, &mux),
        &rows,
    );
    assert!(matches!(refused, Err(CircuitError::Granularity { .. })));
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let bench = Bench::new("45nm", Flavour::Hp, 350.0);
    let refused = |gating: Gating| {
        gate(
            &bench.technology,
            &bench.switch,
            (&bench.at, &bench.cost),
            (&bench.at, &bench.cost),
            &gating,
        )
        .unwrap_err()
    };
    for loss in [0.0, -1.0, 0.6, f64::NAN] {
        let error = refused(Gating {
            loss,
            ..Gating::default()
        });
        assert!(matches!(error, CircuitError::Gating { what: "loss", .. }));
    }
    let error = refused(Gating {
        inrush: Some(0.0),
        ..Gating::default()
    });
    assert!(matches!(error, CircuitError::Gating { what: "inrush", .. }));
    for volts in [0.1, 1.0, 2.0] {
        let error = refused(Gating {
            mode: GatedMode::DrowsyAt(Voltage::from_v(volts)),
            ..Gating::default()
        });
        assert!(matches!(
            error,
            CircuitError::Technology(warpwatt_techlib::TechError::Supply { .. })
        ));
    }
}

#[test]
fn a_register_file_bank_of_the_published_kind_breaks_even_within_published_times() {
    // 14 cycles at about 1 GHz for execution units (Warped Gates, MICRO 2013), 10 to 20 cycles at 4 GHz (Hu et al., ISLPED 2004): nanoseconds, not microseconds.
    let gated = Bench::new("45nm", Flavour::Hp, 350.0).gated(Gating {
        loss: 0.05,
        ..Gating::default()
    });
    assert!(
        gated.break_even.as_ns() > 0.5 && gated.break_even.as_ns() < 100.0,
        "{gated:?}"
    );
}

/// Every subarray is searched at once: that makes no switch wider than its share of one search needs, and rows of a search memory hold cells too.
#[test]
fn search_memories_sleep_by_rows_and_subarrays_as_whole() {
    let ports = Ports {
        search: 1,
        ..Ports::ONE
    };
    let cam = |entries, bits| {
        Spec::Cam(CamSpec {
            entries,
            bits,
            ports,
            banks: 1,
        })
    };
    let cache = Spec::FullyAssociative(FullyAssociativeSpec {
        entries: 4096,
        line_bits: 128,
        tag_bits: None,
        out_bits: None,
        ports,
        banks: 1,
    });
    for spec in [cam(4096, 40), cam(64, 40), cam(256, 8), cache] {
        let which = format!("{spec:?}");
        let (cost, gated) = by_granularity(spec);
        for (granularity, gated) in gated {
            let which = format!("{which} {granularity:?}: {gated:?}");
            assert!(gated.leakage < cost.leakage * 0.75, "{which}");
            assert!(gated.break_even > Time::ZERO, "{which}");
            assert!(gated.header_area < cost.area * 0.5, "{which}");
        }
    }
}

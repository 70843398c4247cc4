//! A design evaluated again: the same bits for the same technology, no search, and laws for others.

use std::sync::Arc;

use warpwatt_circuit::{
    BufferSpec, CacheSpec, CamSpec, Design, FullyAssociativeSpec, OperatingPoint, Ports, Profile,
    RamSpec, Spec, TagSpec, Workshop, cost,
};
use warpwatt_techlib::quantity::{Temperature, Voltage};
use warpwatt_techlib::{Cause, Flavour, Library, Technology};

fn specs() -> Vec<Spec> {
    let ram = |words, bits| {
        Spec::Ram(RamSpec {
            words,
            bits,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        })
    };
    let cache = CacheSpec {
        sets: 64,
        ways: 4,
        line_bits: 512,
        tag_bits: None,
        out_bits: Some(64),
        ports: Ports::ONE,
        access: warpwatt_circuit::Access::Normal,
        banks: 1,
    };
    let search = Ports {
        search: 1,
        ..Ports::ONE
    };
    let mut all = vec![
        ram(8, 16),
        ram(32, 64),
        ram(1024, 256),
        Spec::Cache(cache.clone()),
        Spec::CacheData(cache),
        Spec::Tags(TagSpec {
            sets: 64,
            ways: 4,
            tag_bits: 22,
            ports: Ports::ONE,
        }),
        Spec::Cam(CamSpec {
            entries: 64,
            bits: 32,
            ports: search,
            banks: 1,
        }),
        Spec::FullyAssociative(FullyAssociativeSpec {
            entries: 32,
            line_bits: 256,
            tag_bits: None,
            out_bits: None,
            ports: search,
            banks: 1,
        }),
        Spec::Buffer(BufferSpec {
            entries: 4,
            bits: 64,
            ports: Ports::READ_AND_WRITE,
        }),
    ];
    for block in warpwatt_circuit::registry::blocks() {
        all.push(block.spec(&[]).unwrap());
    }
    all
}

fn technologies() -> Vec<(Technology, Profile)> {
    vec![
        (
            Library::silicon()
                .unwrap()
                .node("7nm", Flavour::Hp)
                .unwrap(),
            Profile::Silicon,
        ),
        (
            Library::silicon()
                .unwrap()
                .node("40nm", Flavour::Lstp)
                .unwrap(),
            Profile::Silicon,
        ),
        (
            Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap(),
            Profile::Cacti65,
        ),
        (
            Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap(),
            Profile::Cacti7,
        ),
    ]
}

#[test]
fn a_design_in_its_own_technology_costs_what_the_structure_costs() {
    for (technology, profile) in technologies() {
        let nominal = technology.device.vdd.value;
        for at in [
            OperatingPoint::at(Temperature::from_k(350.0)),
            OperatingPoint::at(Temperature::from_k(320.0)),
            OperatingPoint {
                temperature: Temperature::from_k(350.0),
                vdd: Some(nominal * 0.95),
            },
        ] {
            for spec in specs() {
                let Ok(expected) = cost(&technology, &at, profile, &spec) else {
                    continue;
                };
                let design = Design::new(&technology, &at, profile, &spec).unwrap();
                assert_eq!(design.cost(), &expected);
                assert_eq!(design.under(&technology).unwrap(), expected, "{spec:?}");
            }
        }
    }
}

/// One layout serves all supplies and, where structures are laid out for one temperature, all temperatures: the same bits as asking for each point on its own,
/// and the same organisation and circuits.
#[test]
fn a_layout_is_evaluated_where_it_runs() {
    for (technology, profile) in technologies() {
        let technology = Arc::new(technology);
        let at = |kelvin: f64, supply: f64| OperatingPoint {
            temperature: Temperature::from_k(kelvin),
            vdd: Some(technology.device.vdd.value * supply),
        };
        let nominal = OperatingPoint::at(Temperature::from_k(350.0));
        let workshop = Workshop::new(Arc::clone(&technology), &nominal, profile).unwrap();
        let places = [
            nominal,
            at(350.0, 0.95),
            at(350.0, 1.03),
            at(310.0, 1.0),
            at(390.0, 0.9),
        ];
        let design = |at: &OperatingPoint| profile.design_temperature(at.temperature);
        let served = places.iter().filter(|at| design(at) == design(&nominal));
        let served: Vec<_> = served.collect();
        assert_eq!(
            served.len(),
            if profile == Profile::Silicon { 5 } else { 3 }
        );
        for spec in specs() {
            let Ok(layout) = workshop.lay_out(&spec) else {
                assert!(cost(&technology, &nominal, profile, &spec).is_err());
                continue;
            };
            for at in &served {
                let running = workshop.running(at).unwrap();
                let there = workshop.cost(&layout, &running).unwrap();
                assert_eq!(there, cost(&technology, at, profile, &spec).unwrap());
                let built = layout.cost();
                assert_eq!(there.organisation, built.organisation, "{spec:?}");
                assert_eq!(there.model, built.model, "{spec:?}");
            }
        }
    }
}

#[test]
fn leakage_follows_the_off_current_and_energy_the_square_of_the_supply() {
    let (technology, profile) = technologies().remove(0);
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let leaky = technology.scaled(|entry| if entry.cause == Cause::IOff { 1.5 } else { 1.0 });
    let supplied = OperatingPoint {
        vdd: Some(Voltage::from_v(0.7)),
        ..at
    };
    for spec in specs().into_iter().take(9) {
        let design = Design::new(&technology, &at, profile, &spec).unwrap();
        let under = design.under(&leaky).unwrap();
        let ratio = under.leakage / design.cost().leakage;
        assert!((ratio - 1.5).abs() < 1e-9, "{spec:?}: {ratio}");
        assert_eq!(under.read_energy, design.cost().read_energy);
        assert_eq!(under.area, design.cost().area);
        // A supply that the user names is no matter of the technology: its nominal value may move and the energy stays.
        let named = Design::new(&technology, &supplied, profile, &spec).unwrap();
        let moved = technology.scaled(|entry| {
            if entry.name == "device.vdd" {
                1.02
            } else {
                1.0
            }
        });
        let energy = named.under(&moved).unwrap().read_energy;
        assert!((energy / named.cost().read_energy - 1.0).abs() < 0.05);
    }
}

#[test]
fn the_organisation_stays_where_another_would_be_chosen() {
    let (technology, profile) = technologies().remove(0);
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    for spec in specs().into_iter().take(8) {
        let design = Design::new(&technology, &at, profile, &spec).unwrap();
        let slow = technology.scaled(|entry| {
            if entry.cause == Cause::WireR {
                4.0
            } else {
                1.0
            }
        });
        let under = design.under(&slow).unwrap();
        assert_eq!(under.organisation, design.cost().organisation, "{spec:?}");
        assert_eq!(under.model, design.cost().model);
        assert!(under.access_time >= design.cost().access_time);
    }
}

/// Parts of one array have different equations, each with an origin; only trees, and gates among themselves, share one.
#[test]
fn every_contribution_has_an_equation() {
    use warpwatt_circuit::Quantity::Energy;
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    for (technology, profile) in technologies() {
        for spec in specs() {
            let Ok(cost) = cost(&technology, &at, profile, &spec) else {
                continue;
            };
            let gates = spec.equation("read decoders", Energy);
            for part in &cost.breakdown {
                let equation = spec.equation(&part.name, Energy);
                assert!(!equation.text.is_empty() && !equation.origin.is_empty());
                let array = cost.organisation.is_some() && !cost.model.starts_with("register file");
                let array = array && part.name.ends_with("bitlines");
                assert!(!array || equation != gates, "{}: {}", cost.model, part.name);
            }
        }
    }
}

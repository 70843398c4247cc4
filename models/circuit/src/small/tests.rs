use crate::{
    BufferSpec, Cost, Objective, OperatingPoint, Ports, Profile, RamSpec, Settings, Spec, Weights,
    cost_with,
};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

fn priced(settings: &Settings, spec: &Spec) -> Cost {
    let technology = Library::itrs().unwrap().node("45nm", Flavour::Hp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    cost_with(&technology, &technology, &at, settings, spec).unwrap()
}

fn ram(words: u64, bits: u64, ports: Ports) -> Spec {
    Spec::Ram(RamSpec {
        words,
        bits,
        out_bits: None,
        ports,
        banks: 1,
    })
}

fn buffer(entries: u64, bits: u64, ports: Ports) -> Spec {
    Spec::Buffer(BufferSpec {
        entries,
        bits,
        ports,
    })
}

fn smallest() -> Settings {
    Settings {
        objective: Objective::Weighted,
        weights: Weights {
            area: 100.0,
            ..Weights::all(0.0)
        },
        deviations: Weights::all(100_000.0),
        ..Profile::Silicon.settings()
    }
}

#[test]
fn a_single_bit_is_no_array_and_kilobytes_are_one() {
    let bit = priced(&smallest(), &ram(1, 1, Ports::ONE));
    assert!(!bit.model.contains("sram"), "{}", bit.model);
    let bank = priced(&smallest(), &ram(512, 64, Ports::ONE));
    assert!(bank.model.starts_with("sram array"), "{}", bank.model);
    // The others are there to be compared, and none of them is smaller.
    for cost in [&bit, &bank] {
        assert_eq!(cost.alternatives.len(), 3);
        assert!(
            cost.alternatives
                .iter()
                .all(|other| other.area >= cost.area)
        );
    }
}

#[test]
fn the_objective_decides_among_all_that_is_feasible() {
    for objective in [Objective::EnergyDelay, Objective::EnergyDelaySquared] {
        let settings = Settings {
            objective,
            ..Profile::Silicon.settings()
        };
        for (words, bits) in [(1, 1), (4, 64), (32, 32), (256, 8), (512, 100)] {
            let cost = priced(&settings, &ram(words, bits, Ports::READ_AND_WRITE));
            let exponent = if objective == Objective::EnergyDelay {
                1
            } else {
                2
            };
            let best = cost.read_energy.si() * cost.access_time.si().powi(exponent);
            for other in &cost.alternatives {
                let price = other.read_energy.si() * other.access_time.si().powi(exponent);
                assert!(
                    price >= best,
                    "{words} x {bits}: {} over {}",
                    cost.model,
                    other.model
                );
            }
        }
    }
}

#[test]
fn a_buffer_is_no_array_and_the_old_profiles_have_theirs_as_before() {
    let cost = priced(&Profile::Silicon.settings(), &buffer(512, 64, Ports::ONE));
    assert!(!cost.model.contains("sram"));
    assert_eq!(cost.alternatives.len(), 2);
    for profile in [Profile::Cacti65, Profile::Cacti7] {
        let cost = priced(&profile.settings(), &buffer(8, 64, Ports::ONE));
        assert_eq!(cost.model, "flip-flop buffer");
        let array = priced(&profile.settings(), &ram(64, 64, Ports::ONE));
        assert!(array.model.starts_with("sram array") && array.alternatives.is_empty());
    }
}

/// All circuits of a buffer by name, the chosen one among them.
fn every(entries: u64, bits: u64, ports: Ports) -> Vec<(String, [f64; 5])> {
    let cost = priced(&Profile::Silicon.settings(), &buffer(entries, bits, ports));
    let mut all: Vec<_> = cost
        .alternatives
        .iter()
        .cloned()
        .chain([crate::Alternative::of(&cost)])
        .map(|of| {
            let figures = [
                of.area.si(),
                of.access_time.si(),
                of.read_energy.si(),
                of.write_energy.si(),
                of.leakage.si(),
            ];
            (of.model, figures)
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn more_entries_bits_and_ports_are_never_less_of_anything() {
    let two = Ports {
        read: 2,
        write: 1,
        ..Ports::NONE
    };
    let pairs = [
        (
            every(8, 16, Ports::READ_AND_WRITE),
            every(16, 16, Ports::READ_AND_WRITE),
        ),
        (
            every(64, 16, Ports::READ_AND_WRITE),
            every(512, 16, Ports::READ_AND_WRITE),
        ),
        (
            every(8, 16, Ports::READ_AND_WRITE),
            every(8, 64, Ports::READ_AND_WRITE),
        ),
        (every(32, 32, Ports::READ_AND_WRITE), every(32, 32, two)),
    ];
    for (less, more) in pairs {
        for (a, b) in less.iter().zip(&more) {
            assert_eq!(a.0, b.0);
            // Chains are sized in whole stages: an access may be a tenth faster by that.
            let slack = [1.0, 0.9, 1.0, 1.0, 1.0];
            for (i, slack) in slack.iter().enumerate() {
                assert!(
                    b.1[i] >= a.1[i] * slack,
                    "{} figure {i}: {} then {}",
                    a.0,
                    a.1[i],
                    b.1[i]
                );
            }
        }
    }
}

#[test]
fn a_latch_is_smaller_than_a_flip_flop_and_a_cell_of_eight_transistors_smaller_than_both() {
    let all = every(256, 64, Ports::READ_AND_WRITE);
    let area = |name: &str| all.iter().find(|one| one.0 == name).unwrap().1[0];
    assert!(area("latch array") < area("flip-flop array"));
    assert!(area("register file of 8T cells") < area("latch array"));
}

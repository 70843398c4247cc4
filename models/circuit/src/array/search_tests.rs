//! The search beside one that evaluates every organisation: random arrays, settings and profiles.

use proptest::prelude::*;
use warpwatt_techlib::quantity::{Temperature, Time};
use warpwatt_techlib::{Flavour, Library};

use super::choice::{Candidate, Figures, Goal};
use super::list::{muxes, splits};
use super::search::Search;
use super::shared::Shared;
use super::{Array, Face, Limits, Need, Shape, Side, Split};
use crate::process::Process;
use crate::{Objective, OperatingPoint, Ports, Profile, Settings, Signalling, Weights, WireChoice};

/// The best organisation for a goal; `whole` gives the figures of an array together with what is around it.
fn exhaustive(
    process: &Process,
    need: &Need,
    limits: Limits,
    goal: &Goal,
    whole: impl Fn(&Face) -> Figures,
) -> Option<Array> {
    let mut found = Vec::new();
    for (kind, channel) in &process.repeaters.offers {
        let wires = process.with_wires(*kind);
        for slices in need.slices(goal.slices, channel) {
            let (each, mut shared) = (need.slice(slices), Shared::default());
            let all = splits(&wires, &each, limits);
            for split in all.flat_map(|head| muxes(&wires, &each, limits, head)) {
                let shape = Shape::new(&wires, &each, split, limits)?;
                let slice = Array::new(&wires, &each, shape, &mut shared);
                found.push((split, slice.with(&wires, slices, &each)));
            }
        }
    }
    // In the order of the list; those of other wires and slices behind one another, as they were found.
    found.sort_by(|(a, _), (b, _)| a.order(b));
    let candidate = |(_, array): &(Split, Array)| Candidate {
        alone: Figures::of(&array.face()),
        whole: whole(&array.face()),
    };
    let candidates: Vec<Candidate> = found.iter().map(candidate).collect();
    Some(found[goal.choose(&candidates)?].1)
}

fn check(process: &Process, need: &Need, goal: Goal, whole: impl Fn(&Face) -> Figures) {
    for limits in [Limits::Strict, Limits::Relaxed] {
        let expected = exhaustive(process, need, limits, &goal, &whole);
        let what = |array: Array| (array.shape.split, array.wires, array.bus.slices());
        let mut search = Search::new(process, need, goal, limits, &whole);
        let found = search.run().map(|entry| {
            let bounds = &search.bounds[entry.wire];
            (entry.split, bounds.process.repeaters.kind, bounds.slices)
        });
        assert_eq!(found, expected.map(what), "{limits:?}");
    }
}

fn any_ports() -> impl Strategy<Value = Ports> {
    (0..3_u32, 0..3_u32, 0..3_u32).prop_filter_map("reads and writes", |(rw, read, write)| {
        let ports = Ports {
            read_write: rw,
            read,
            write,
            ..Ports::default()
        };
        let ports = Ports {
            read_write: if read == 0 || write == 0 {
                rw.max(1)
            } else {
                rw
            },
            ..ports
        };
        (ports.readers() > 0 && ports.writers() > 0).then_some(ports)
    })
}

fn any_need() -> impl Strategy<Value = Need> {
    let sides = prop_oneof![
        3 => (0..9_u32, 0..3_u32, 0..4_u32, any::<bool>(), 0..20_u64).prop_map(|(bits, narrow, ways, fast, odd)| {
            let line_bits = (1_u64 << bits) + if bits > 4 { odd } else { 0 };
            let out_bits = if odd == 0 { (line_bits >> narrow).max(1) } else { line_bits };
            Side::Data { ways: [1, 2, 4, 6][ways as usize], line_bits, out_bits, fast }
        }),
        1 => (0..4_u32, 1..40_u32).prop_map(|(ways, tag_bits)| Side::Tags { ways: [1, 2, 6, 8][ways as usize], tag_bits, selected: 4 }),
    ];
    (
        4.0..9.0_f64,
        any::<bool>(),
        sides,
        any_ports(),
        (0..4_u32, any::<bool>()),
    )
        .prop_map(|(log, whole, side, ports, (banks, ecc))| Need {
            sets: if whole {
                log.floor().exp2()
            } else {
                log.exp2().floor()
            },
            side,
            ports,
            banks: 1 << banks,
            ecc,
        })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let weight = || prop_oneof![Just(0.0), Just(100.0), 0.0..100.0];
    let deviation = || prop_oneof![3 => Just(100_000.0), 1 => Just(10_000.0), 1 => 0.0..200.0];
    let profile = prop_oneof![
        Just(Profile::Cacti65),
        Just(Profile::Cacti7),
        Just(Profile::Silicon)
    ];
    let wires = prop_oneof![
        4 => Just(Signalling::Global30),
        1 => Just(Signalling::LowSwing),
        1 => Just(Signalling::Any)
    ];
    let objective = prop_oneof![
        Just(Objective::EnergyDelay),
        Just(Objective::EnergyDelaySquared),
        Just(Objective::Weighted)
    ];
    let five = |value: [f64; 5]| Weights {
        delay: value[0],
        dynamic: value[1],
        leakage: value[2],
        cycle: value[3],
        area: value[4],
    };
    (
        profile,
        objective,
        prop::array::uniform5(weight()),
        prop::array::uniform5(deviation()),
        wires,
    )
        .prop_map(
            move |(profile, objective, weights, deviations, signalling)| Settings {
                objective,
                weights: five(weights),
                deviations: five(deviations),
                wires: WireChoice {
                    signalling,
                    ..profile.settings().wires
                },
                ..profile.settings()
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_search_finds_what_evaluating_everything_finds(
        need in any_need(), settings in any_settings(), node in 0..5_usize, flavour in 0..3_usize, tag in 0.0..3.0_f64,
    ) {
        let node = ["90nm", "65nm", "45nm", "32nm", "22nm"][node];
        let technology = Library::itrs().unwrap().node(node, [Flavour::Hp, Flavour::Lstp, Flavour::Lop][flavour]).unwrap();
        let at = OperatingPoint::at(Temperature::from_k(360.0));
        let process = Process::design(&technology, &technology, at.temperature, &settings).unwrap();
        let goal = if matches!(need.side, Side::Tags { .. }) { Goal::of_tags(&settings) } else { Goal::of_whole(&settings) };
        // Beside something: the tags of a cache.
        let beside = Time::from_ps(100.0 * tag);
        check(&process, &need, goal, |face| Figures {
            delay: (beside + face.select).max(face.before_output) + face.after_output,
            ..Figures::of(face)
        });
    }
}

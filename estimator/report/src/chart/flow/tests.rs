//! Energy is conserved on its way.

use approx::assert_relative_eq;
use proptest::prelude::*;

use super::*;
use crate::outcome::PricedStructure;
use crate::sample;

/// A point with structures of these groups, dynamic and leakage energies.
fn point(structures: &[(String, &str, [f64; 2])]) -> Outcome {
    let mut point = sample::outcomes().swap_remove(0);
    let model = point.structures[0].clone();
    let structure =
        |(name, group, [dynamic_j, leakage_j]): &(String, &str, [f64; 2])| PricedStructure {
            name: name.clone().into(),
            group: (*group).into(),
            dynamic_j: *dynamic_j,
            leakage_j: *leakage_j,
            ..model.clone()
        };
    point.structures = structures.iter().map(structure).collect();
    point
}

fn plain(points: &[&Outcome]) -> Option<Flow> {
    let kinds = Kinds {
        names: vec!["dynamic", "leakage"],
        of: &|structure| vec![structure.dynamic_j, structure.leakage_j],
    };
    Flow::of(points, &kinds)
}

/// Two classes with 1 and 3 nJ, and 2 nJ of leakage: shares of what the structures take, with leakage last.
#[test]
fn dynamic_energy_parts_by_what_causes_it() {
    let structures = [
        ("a".to_owned(), "storage", [1e-9, 2e-9]),
        ("b".to_owned(), "front_end", [3e-9, 0.0]),
    ];
    let point = point(&structures);
    let class = |name: &str, structure: &str, joules| {
        (
            name.to_owned(),
            BTreeMap::from([(structure.to_owned(), joules)]),
        )
    };
    let classes = [
        class("integer", "b", 3e-9),
        class("global memory", "a", 1e-9),
    ];
    let picture = flow_by_class(&point, &classes, "flow").unwrap();
    for expected in [
        "integer: 3.000 nJ 50.0%",
        "global memory to storage: 1.000 nJ 16.7%",
        "leakage to storage: 2.000 nJ 33.3%",
        "over integer, global memory, leakage and groups",
    ] {
        assert!(picture.contains(expected), "{picture}");
    }
}

/// Two runs of two structures: 1 + 2 and 3 + 4 nJ, each twice.
#[test]
fn bars_are_sums_over_runs() {
    let structures = [
        ("a".to_owned(), "storage", [1e-9, 2e-9]),
        ("b".to_owned(), "front_end", [3e-9, 4e-9]),
    ];
    let point = point(&structures);
    let flow = plain(&[&point, &point]).unwrap();
    let names = flow.columns.each_ref().map(|nodes| {
        let names = nodes.iter().map(|node| node.name.as_str());
        names.collect::<Vec<&str>>().join(" ")
    });
    assert_eq!(
        names,
        ["whole", "dynamic leakage", "front end storage", "b a"]
    );
    let expected = [
        vec![20e-9],
        vec![8e-9, 12e-9],
        vec![14e-9, 6e-9],
        vec![14e-9, 6e-9],
    ];
    for (nodes, expected) in flow.columns.iter().zip(expected) {
        for (node, expected) in nodes.iter().zip(expected) {
            assert_relative_eq!(node.joules, expected, max_relative = 1e-12);
        }
    }
    // The whole is 280 units high: 8 of 20 nJ are 112.
    let picture = super::flow(&[&point, &point], "flow").unwrap();
    assert!(
        picture.contains(r#"height="112.0"><title>dynamic: 8.000 nJ 40.0%"#),
        "{picture}"
    );
}

#[test]
fn small_structures_are_summed_by_group() {
    let large = (0..14).map(|number| {
        (
            format!("large{number:02}"),
            "storage",
            [1.0 + f64::from(number), 0.0],
        )
    });
    let small = (0..3).map(|number| (format!("small{number}"), "front_end", [0.0, 1e-3]));
    let point = point(&large.chain(small).collect::<Vec<_>>());
    let flow = plain(&[&point]).unwrap();
    let last = flow.columns[3].iter().map(|node| node.name.as_str());
    let last: Vec<&str> = last.collect();
    assert_eq!(last.len(), 12 + 2);
    assert_eq!(
        [last[0], last[11], last[12], last[13]],
        ["large13", "large02", "2 others", "3 others"]
    );
    let none = self::point(&[]);
    assert!(plain(&[&none]).is_none() && plain(&[]).is_none());
}

#[test]
fn a_flow_looks_like_this() {
    let outcomes = sample::outcomes();
    let plain: Vec<&Outcome> = outcomes.iter().step_by(2).collect();
    insta::assert_snapshot!(super::flow(&plain, "flow").unwrap());
}

proptest! {
    #[test]
    fn what_comes_to_a_bar_leaves_it(energies in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64, 0..5usize), 1..50)) {
        let groups = ["front_end", "storage", "execution", "uncore", "dram"];
        let structures = energies.iter().enumerate().map(|(number, (dynamic, leakage, group))| {
            (format!("s{number}"), groups[*group], [*dynamic, *leakage])
        });
        let point = point(&structures.collect::<Vec<_>>());
        let whole: f64 = energies.iter().map(|(dynamic, leakage, _)| dynamic + leakage).sum();
        prop_assume!(whole > 0.0);
        let flow = plain(&[&point]).unwrap();
        for nodes in &flow.columns {
            let sum: f64 = nodes.iter().map(|node| node.joules).sum();
            prop_assert!((sum / whole - 1.0).abs() < 1e-9);
        }
        for (place, streams) in flow.streams.iter().enumerate() {
            let check = |nodes: &[Node], end: fn(&Stream) -> usize| nodes.iter().enumerate().all(|(number, node)| {
                let own = streams.iter().filter(|stream| end(stream) == number);
                let sum: f64 = own.map(|stream| stream.joules).sum();
                (sum - node.joules).abs() < 1e-9 * whole
            });
            prop_assert!(check(&flow.columns[place], |stream| stream.from));
            prop_assert!(check(&flow.columns[place + 1], |stream| stream.to));
        }
    }
}

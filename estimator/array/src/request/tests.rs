//! Options to specifications.

use warpwatt_circuit::{
    Access, BufferSpec, CacheSpec, FullyAssociativeSpec, Objective, Ports, RamSpec, Spec, TagSpec,
};

use super::*;
use crate::LibraryName;

fn model() -> Model {
    Model {
        library: LibraryName::Silicon,
        profile: Profile::Silicon,
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn small() -> Request {
    Request {
        capacity: text("4KiB"),
        word: text("128b"),
        node: text("40nm"),
        ..Request::default()
    }
}

#[test]
fn a_capacity_and_a_word_are_words_and_bits() {
    let query = small().query(model()).unwrap();
    let spec = RamSpec {
        words: 256,
        bits: 128,
        out_bits: None,
        ports: Ports::ONE,
        banks: 1,
    };
    assert_eq!(query.spec, Spec::Ram(spec));
    let same = Request {
        words: Some(256),
        bits: Some(128),
        capacity: None,
        word: None,
        ..small()
    };
    assert_eq!(same.query(model()).unwrap().spec, query.spec);
}

#[test]
fn a_cache_has_sets() {
    let request = Request {
        capacity: text("32KiB"),
        line: text("128B"),
        word: text("32B"),
        assoc: text("4"),
        access: text("fast"),
        ..small()
    };
    let Spec::Cache(cache) = request.query(model()).unwrap().spec else {
        panic!("a cache");
    };
    assert_eq!((cache.sets, cache.ways, cache.out_bits), (64, 4, Some(256)));
    let full = Request {
        assoc: text("full"),
        access: None,
        ..request
    };
    let spec = full.query(model()).unwrap().spec;
    assert!(
        matches!(spec, Spec::FullyAssociative(FullyAssociativeSpec { entries: 256, ports, .. }) if ports.search == 1)
    );
}

#[test]
fn all_faults_come_at_once() {
    let request = Request {
        capacity: text("4000"),
        ports: text("1x"),
        temperature: text("350"),
        flavour: text("fast"),
        wires: text("global_7,sideways=global"),
        optimize: text("weights"),
        node: None,
        ..small()
    };
    let faults = request.query(model()).unwrap_err();
    let lines: Vec<String> = faults.iter().map(Refusal::line).collect();
    let all = lines.join("\n");
    for says in [
        "--ports: ports `1x`",
        "--temperature:",
        "--flavour: no transistor flavour is called `fast`",
        "--wires: no wire signalling is called `global_7`",
        "--wires: there is no `sideways`",
        "--optimize weights needs --weights",
        "no technology node is given",
    ] {
        assert!(all.contains(says), "{says} in\n{all}");
    }
    assert!(
        faults
            .iter()
            .all(|fault| fault.help.is_some() || fault.message.contains("written like"))
    );
}

#[test]
fn what_does_not_divide_is_refused_with_the_nearest_that_does() {
    let request = Request {
        word: text("100b"),
        ..small()
    };
    let faults = request.query(model()).unwrap_err();
    assert_eq!(
        faults[0].line(),
        "a capacity of 32768 bits is no whole number of words of 100 bits; nearest that works: 328 words, a capacity of 32800b"
    );
}

#[test]
fn options_of_another_kind_are_refused() {
    let request = Request {
        line: text("128B"),
        ..small()
    };
    assert!(
        request.query(model()).unwrap_err()[0]
            .message
            .contains("--line is about caches")
    );
    assert_eq!(
        request.given(),
        ["--capacity", "--word", "--line", "--node"]
    );
}

#[test]
fn a_single_goal_is_a_weight() {
    let request = Request {
        optimize: text("leakage"),
        wires: text("lowswing, inside=global, aggressive"),
        gating: text("none"),
        ..small()
    };
    let settings = request.query(model()).unwrap().settings;
    assert_eq!(settings.objective, Objective::Weighted);
    assert_eq!(
        (settings.weights.leakage, settings.weights.cycle),
        (100.0, 0.0)
    );
    assert_eq!(settings.wires.inside, warpwatt_circuit::Layer::Global);
    assert_eq!(settings.gating, None);
    // It leads the others astray no further than the silicon profile lets any objective.
    let near = Profile::Silicon.settings().deviations;
    let kept = &settings.deviations;
    assert_eq!((kept.area, kept.dynamic), (near.area, near.dynamic));
    assert!(kept.delay > 100_000.0);
}

#[test]
fn the_sides_of_a_cache_are_structures_of_their_own() {
    let tags = [
        ("kind", "tags"),
        ("words", "16"),
        ("bits", "28"),
        ("ports", "1r1w"),
    ];
    let expected = TagSpec {
        sets: 16,
        ways: 1,
        tag_bits: 28,
        ports: Ports::READ_AND_WRITE,
    };
    assert_eq!(Request::structure(&tags), Ok(Spec::Tags(expected)));
    let data = [
        ("kind", "data"),
        ("capacity", "256B"),
        ("line", "8B"),
        ("tag_bits", "28"),
        ("ports", "1r1w"),
    ];
    let expected = CacheSpec {
        sets: 32,
        ways: 1,
        line_bits: 64,
        tag_bits: Some(28),
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        access: Access::Normal,
        banks: 1,
    };
    assert_eq!(Request::structure(&data), Ok(Spec::CacheData(expected)));
    let buffer = Request::structure(&[("kind", "buffer"), ("words", "4"), ("bits", "64")]);
    assert!(matches!(
        buffer,
        Ok(Spec::Buffer(BufferSpec { entries: 4, .. }))
    ));
}

#[test]
fn a_structure_alone_has_no_node_and_says_all_that_is_wrong() {
    let wrong = [
        ("kind", "tags"),
        ("words", "many"),
        ("line", "8B"),
        ("node", "7nm"),
    ];
    let said: Vec<String> = Request::structure(&wrong)
        .unwrap_err()
        .iter()
        .map(Refusal::line)
        .collect();
    assert_eq!(said.len(), 4, "{said:?}");
    for (line, says) in said.iter().zip([
        "--words: `many` is no whole number",
        "`node` says nothing about what a structure is",
        "--line is about caches",
        "no width of a word",
    ]) {
        assert!(line.contains(says), "{line}");
    }
}

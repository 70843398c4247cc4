use warpwatt_circuit::{BufferSpec, Ports, Spec};

use std::sync::Arc;

use super::*;
use crate::Catalogue;
use crate::diag::{Sink, render};
use crate::variants::Faults;

const REST: &str = "[study]\ntitle = \"x\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\n[workloads]\nkernels = [\"bfs\"]\n[[technique]]\nname = \"filter_cache\"\n";

/// The structures of a study, each with its first values, and what was said about it.
fn structures(text: &str) -> (Vec<OwnStructure>, String) {
    let mut sink = Sink::default();
    let text = format!("{REST}{text}");
    let source = sink.sources.add("study.toml", text);
    let draft = crate::read(&mut sink, source, &Catalogue::shipped(Arc::new(()))).unwrap();
    let mut structures = OwnStructures::new(&draft.structures);
    let mut faults = Faults::default();
    structures.judge(&draft.design, &mut faults, source);
    faults.leave(&mut sink);
    let made = structures.made().map(|it| (**it).clone());
    (made.collect(), render(&sink, false))
}

#[test]
fn a_structure_is_a_circuit_how_many_and_what_happens_to_it() {
    let (found, said) = structures(
        r#"
        [[structure]]
        name = "reuse.table"
        per = "gpu"
        count = 2
        group = "front_end"
        array = { kind = "buffer", words = 4, bits = 64, ports = "1r1w" }
        read = "2 * filter_cache.tag.read"
        write = "warp_instructions / 2"
        only_with = ["filter_cache", "filter_cache(entries=32)"]

        [[structure]]
        name = "code"
        logic = { block = "secded", width = 32, code = "hsiao" }
        read = '''warp_instructions'''
        "#,
    );
    assert_eq!(said.trim(), "");
    let [table, code] = &found[..] else {
        panic!("{found:?}");
    };
    let spec = BufferSpec {
        entries: 4,
        bits: 64,
        ports: Ports::READ_AND_WRITE,
    };
    assert_eq!(table.spec.value, Spec::Buffer(spec));
    assert_eq!((table.count, table.per), (2, Per::Gpu));
    assert_eq!(table.actions.len(), 2);
    assert_eq!((code.count, code.per), (1, Per::Sm));
    assert_eq!(code.group, Group::Execution);
}

#[test]
fn every_fault_is_shown_where_it_stands() {
    let (_, said) = structures(
        r#"
        [[structure]]
        name = "Reuse table"
        per = "warp"
        count = 0
        array = { words = 4, line = "8B", porst = "1rw" }
        read = "warp_instrutions + 1"
        [[structure]]
        name = "icache.tag"
        per = ["sm", "gpu"]
        array = { words = [16, [32]], bits = 8 }
        logic = { block = "secdad" }
        read = "1 +"
        write = "sawp.parity.read * (l1_reads"
        serach = "0"
        [[structure]]
        name = "twice"
        logic = { block = "adder", widht = 4, carry = "fast" }
        read = ["cycles", "l1_reads"]
        [[structure]]
        name = "several"
        array = [{ words = 4, bits = 8 }, { words = 8, bits = 8 }]
        read = 4
        [[structure]]
        name = "odd"
        array = { words = [16, 16], bits = 8.5, banks = { from = 1, to = 4 } }
        count = [1, 0]
        read = "cycles"
        baseline = [true, false]
        [[structure]]
        name = "twice"
        array = { capacity = "100B", word = "8B" }
        read = "cycles"
        "#,
    );
    insta::assert_snapshot!(said);
}

#[test]
fn options_are_shown_as_keys() {
    for (option, key) in [
        (
            "add `--capacity 4KiB --word 128b`, or `--words 256 --bits 128`",
            "add `capacity = \"4KiB\", word = \"128b\"`, or `words = 256, bits = 128`",
        ),
        ("--tag-bits is about caches", "`tag_bits` is about caches"),
        (
            "add `--kind cache`, or leave it out",
            "add `kind = \"cache\"`, or leave it out",
        ),
    ] {
        assert_eq!(circuit::as_keys(option), key);
    }
}

//! What commands say to wrong words: every message whole, the exit code 2. Faulty studies are in `errors`.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::common::{Scratch, stderr, warpwatt};

/// Command lines, each wrong in one way.
const WRONG: &str = "\
logic nothing
logic adder --node 1000nm
logic adder --library none
logic adder --flavour xx
logic adder --width many
logic adder --heigth 3
logic adder --set a
logic adder extra
logic adder --vdd 9V
logic adder --vdd nine
logic adder --width
kernel nothing
kernel vector_add --preset none
kernel vector_add --set sm.thread=3
kernel vector_add --set nonsense
kernel vector_add --dump nope=x.bin
kernel vector_add --node 7nm,5nm
kernel vector_add --node 6ft
kernel vector_add --preset v100 --set dram.controllers=512 --node 7nm
kernel vector_add --limit 10
kernel vector_add --registers 3
kernel vector_add --cycle-limit 10
kernel vector_add --cache-limit much
kernel vector_add --timeline line.json --timeline-sms 99
kernel vector_add --timeline nowhere/line.json
kernel vector_add --live live.csv --live-with filter_cache
kernel vector_add --live live.txt
avf vector_add --cycle-limit 10
avf vector_add --structure registers
avf vector_add --protect register_file=maybe
inject vector_add --structure register_file --exhaustive
inject vector_add --structure register_file --set sm.threads=128
inject vector_add --structure register_file --fault transient
inject vector_add --structure lanes --exhaustive
inject vector_add --structure lanes --technique filter_cache
inject vector_add --structure lanes --technique warped_dmr --node 40nm
inject vector_add --structure pipeline_latch --technique sawp
inject vector_add --structure register_file --exhaustive --technique ecc
inject vector_add --structure register_file --without issue
inject scan --case miaow --structure flip_flops --preset miaow
inject scan --case miaow --build gfx600 --structure flip_flops --preset tahiti
inject scan --case miaow --build gfx600 --structure flip_flops --preset miaow --without isue
inject scan --case miaow --build gfx600 --structure flip_flops --preset miaow --exhaustive
inject scan --case miaow --build gfx600 --structure lanes --preset miaow
what-if -k hotspot --library none
what-if -k paper:none
tech show 7nm --vdd 9V
tech show 1nm
array --batch columns.csv --out out.csv
explain results --metric cycles --point kernel=bfs
explain results --metric cycles --point colour=red
explain results --metric cycles --point technique
explain results --metric cycles --point vdd=9
explain results --metric energie_j --point 1
explain nowhere --metric cycles --point 1
report nowhere
reproduce nowhere
merge out results nowhere
effects results --metric cycle
list presets v10
list kernels tomato
list nodes 1nm
optimize study.toml --minimise cycle
run study.toml --live live.csv
";

/// Points priced at the temperature of their own heat.
const STUDY: &str = "[study]\ntitle = \"hot\"\n[gpu]\npreset = \"tesla-16sm\"\nsm.count = 1\nnode = \"32nm\"\n[workloads]\nkernels = [\"vector_add\"]\n[thermal]\n";

#[test]
fn wrong_words_are_told_what_is_wrong_with_them() {
    let scratch = Scratch::new();
    let here = scratch.path("");
    scratch.write("study.toml", STUDY);
    scratch.write("columns.csv", "cells,colour\n1,red\n");
    let run = warpwatt(&here, &["run", "study.toml", "--quiet"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let said = refusals(&scratch, WRONG);
    assert!(!scratch.path("out.csv").exists() && !scratch.path("out").exists());
    assert_snapshot!(said);
}

/// What each of these command lines says, all of which are refused.
pub fn refusals(scratch: &Scratch, lines: &str) -> String {
    let mut said = String::new();
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let output = warpwatt(&scratch.path(""), &words);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert!(output.stdout.is_empty(), "{line}");
        let _ = writeln!(said, "$ warpwatt {line}\n{text}");
    }
    said
}

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwatt::diag::{Sink, render};
use warpwatt::foreign::{Format, Map, counts, read};

// Reading a file of counts of each format, and a map.
fuzz_target!(|text: &str| {
    let neutral = Map::neutral(["cycles"].into_iter());
    let table = Format::Table {
        kernel: vec!["kernel".to_owned()],
    };
    let simulated = Format::GpgpuSim {
        per_kernel: Vec::new(),
    };
    for format in [Format::Neutral, Format::Ncu, table, simulated] {
        if let Ok(launches) = read(text, &format) {
            let _ = counts(&launches, &neutral);
        }
    }
    let mut sink = Sink::default();
    let source = sink.sources.add("map.toml", text);
    let _ = Map::read(&mut sink, source, ["cycles"].into_iter());
    let _ = render(&sink, false);
});

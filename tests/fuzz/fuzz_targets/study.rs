#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwatt::diag::{Sink, render};
use warpwatt::study::{Catalogue, read};

// Reading a study and rendering everything that is wrong with it.
fuzz_target!(|text: &str| {
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text);
    let _ = read(&mut sink, source, &Catalogue::default());
    let _ = render(&sink, false);
});

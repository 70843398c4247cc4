#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use warpwatt::diag::{Sink, render};
use warpwatt::run::resolve_text;

// Reading a study with all that it names, as `warpwatt run` does, and rendering everything that is wrong with it.
fuzz_target!(|text: &str| {
    let mut sink = Sink::default();
    let resolved = resolve_text("study.toml", text, Path::new(""), &mut sink);
    assert!(resolved.is_some() || sink.has_errors());
    let _ = render(&sink, false);
});

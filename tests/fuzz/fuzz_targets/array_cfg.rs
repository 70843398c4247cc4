#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwatt::array::batch::Model;
use warpwatt::array::{Libraries, LibraryName, cfg};
use warpwatt::diag::{Sink, render};
use warpwatt_circuit::Profile;

// Reading a configuration file of CACTI and pricing what it asks for.
fuzz_target!(|text: &str| {
    let mut sink = Sink::default();
    let source = sink.sources.add("cache.cfg", text);
    let model = Model {
        library: LibraryName::Itrs,
        profile: Profile::Cacti7,
    };
    if let Some(query) = cfg::read(&mut sink, source, model) {
        let mut libraries = Libraries::default();
        query.read_into(&mut libraries);
        let _ = query.answer(&libraries);
    }
    let _ = render(&sink, false);
});

#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwatt_suite::launch::{Files, LaunchFile};

// Reading a launch file and filling its buffers.
fuzz_target!(|text: &str| {
    let Ok(file) = LaunchFile::parse(text) else {
        return;
    };
    for case in &file.cases {
        let _ = case.fill(Files::None);
    }
});

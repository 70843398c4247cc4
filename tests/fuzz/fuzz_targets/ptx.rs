#![no_main]

use libfuzzer_sys::fuzz_target;

// Parsing, lowering, allocation of registers and what `warpwatt ptx` says.
fuzz_target!(|text: &str| {
    let _ = warpwatt_ptx::inspect(text, None);
});

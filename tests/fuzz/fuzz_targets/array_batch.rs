#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwatt::array::LibraryName;
use warpwatt::array::batch::{Batch, Model};
use warpwatt::diag::{Sink, render};
use warpwatt_circuit::Profile;

// Reading a table of arrays, pricing its first rows, rendering everything that is wrong with it.
fuzz_target!(|bytes: &[u8]| {
    const MOST_ROWS: usize = 4;
    let mut sink = Sink::default();
    if let Some(batch) = Batch::read(&mut sink, "arrays.csv", bytes)
        && batch.rows() <= MOST_ROWS
    {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a thread");
        let model = Model {
            library: LibraryName::Itrs,
            profile: Profile::Cacti7,
        };
        let _ = batch.price(model, &pool);
    }
    let _ = render(&sink, false);
});

//! Time of one optimised array, the search included.
// The macros below write functions without documentation.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use warpwatt_circuit::{OperatingPoint, Ports, Profile, RamSpec, Spec, cost};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

fn arrays(c: &mut Criterion) {
    let technology = Library::itrs()
        .and_then(|library| library.node("32nm", Flavour::Hp))
        .expect("the tables have 32 nm");
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    for profile in [Profile::Cacti65, Profile::Cacti7] {
        for (words, bits) in [(32, 64), (256, 128), (1024, 32), (4096, 64), (65536, 128)] {
            let spec = Spec::Ram(RamSpec {
                words,
                bits,
                out_bits: None,
                ports: Ports::READ_AND_WRITE,
                banks: 1,
            });
            c.bench_function(&format!("{profile} {words} x {bits}"), |b| {
                b.iter(|| cost(black_box(&technology), &at, profile, black_box(&spec)));
            });
        }
    }
}

criterion_group!(benches, arrays);
criterion_main!(benches);

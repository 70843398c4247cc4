//! Time to price a point: at an operating point of its own, and where circuits are known; beside designing them anew each time.
// The macros below write functions without documentation.
#![allow(missing_docs)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use warpwatt::pricing::{CostTable, Described, Designs, NodeCircuits};
use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::GpuSpec;
use warpwatt_structures::plain;
use warpwatt_techlib::quantity::{Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library};
use warpwatt_techniques::Structure;

fn pricing(c: &mut Criterion) {
    let technology = Library::silicon()
        .and_then(|library| library.node("32nm", Flavour::Hp))
        .expect("the library has 32 nm");
    let technology = Described::from(technology);
    let gpu = GpuSpec::preset("tesla-16sm").expect("the preset is there");
    let mut structures: Vec<Structure> = plain::structures(&gpu);
    structures.extend(plain::lanes(&gpu));
    let at = OperatingPoint {
        temperature: Temperature::from_k(360.0),
        vdd: Some(Voltage::from_v(0.85)),
    };
    let designs = || Arc::new(Designs::new(technology.clone(), Profile::Silicon, &at));
    let table = |circuits: &NodeCircuits| CostTable::of(&structures, gpu.sm.count, circuits);
    let mut group = c.benchmark_group("costs of a GPU");
    group.bench_function("designed anew", |b| {
        b.iter(|| table(black_box(&NodeCircuits::of(designs(), at))));
    });
    let shared = designs();
    group.bench_function("at another operating point", |b| {
        b.iter(|| table(black_box(&NodeCircuits::of(Arc::clone(&shared), at))));
    });
    let known = NodeCircuits::of(shared.clone(), at);
    group.bench_function("known", |b| b.iter(|| table(black_box(&known))));
    group.finish();
}

criterion_group!(benches, pricing);
criterion_main!(benches);

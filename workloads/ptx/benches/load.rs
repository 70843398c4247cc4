//! Loading of long PTX files: parsing, lowering, control flow, liveness.
//!
//! `cargo bench -p warpwatt-ptx --bench load`

use std::fmt::Write;

use criterion::{Criterion, Throughput};
use warpwatt_ptx::load;

/// Lines of every file here.
const LINES: usize = 100_000;

/// Registers of each class that code takes in turns.
const REGISTERS: usize = 500;

/// The code of a kernel of about `lines` lines: in every block of ten a load, arithmetic on what was loaded, a store, a comparison and a
/// branch, loops among them. As compilers write it, names are taken anew and few values live long: an address, two sums.
fn body(source: &mut String, kernel: usize, lines: usize) {
    let register = |at: usize| 4 + at % (REGISTERS - 4);
    for block in 0..lines / 10 {
        let at = block * 3;
        let (a, b, c) = (register(at), register(at + 1), register(at + 2));
        let (offset, predicate, back) = (4 * (block % 64), block % 8, block - block % 8);
        let _ = write!(
            source,
            "$L{kernel}_{block}:\n\
             \tld.global.u32 \t%r{a}, [%rd1+{offset}];\n\
             \tmad.lo.s32 \t%r{b}, %r{a}, {block}, %r1;\n\
             \tcvt.rn.f32.s32 \t%f{b}, %r{b};\n\
             \tfma.rn.f32 \t%f{c}, %f1, %f{b}, 0f3F800000;\n\
             \tmul.wide.s32 \t%rd{c}, %r{b}, 4;\n\
             \tadd.s64 \t%rd{b}, %rd{c}, %rd1;\n\
             \tst.global.f32 \t[%rd{b}], %f{c};\n\
             \tsetp.lt.s32 \t%p{predicate}, %r{b}, {block};\n\
             \t@%p{predicate} bra \t$L{kernel}_{back};\n",
        );
    }
}

/// A file of `LINES` lines in so many kernels.
fn file(kernels: usize) -> String {
    let mut source = ".version 8.0\n.target sm_70\n.address_size 64\n".to_owned();
    for kernel in 0..kernels {
        let _ = write!(
            source,
            ".visible .entry k{kernel}(\n\t.param .u64 k{kernel}_param_0\n)\n{{\n\
             \t.reg .pred \t%p<8>;\n\t.reg .b32 \t%r<{REGISTERS}>;\n\t.reg .f32 \t%f<{REGISTERS}>;\n\t.reg .b64 \t%rd<{REGISTERS}>;\n\
             \tld.param.u64 \t%rd1, [k{kernel}_param_0];\n\tmov.u32 \t%r1, %tid.x;\n\tcvt.rn.f32.u32 \t%f1, %r1;\n",
        );
        body(&mut source, kernel, LINES / kernels);
        source += "\tret;\n}\n";
    }
    source
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("lines");
    group.throughput(Throughput::Elements(LINES as u64));
    for kernels in [1, 200] {
        let source = file(kernels);
        assert!(
            source.lines().count() >= LINES,
            "{}",
            source.lines().count()
        );
        group.bench_function(format!("{kernels} kernels"), |b| {
            b.iter(|| load(&source).expect("the bench's files are valid"));
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}

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

/// The code of a kernel of about `lines` lines: loads, arithmetic, a comparison and a branch in every block of ten, loops among them.
fn body(source: &mut String, kernel: usize, lines: usize) {
    let register = |at: usize| at % REGISTERS;
    for block in 0..lines / 10 {
        let at = block * 3;
        let (a, b, c) = (register(at), register(at + 1), register(at + 2));
        let back = block - block % 8;
        let _ = write!(
            source,
            "$L{kernel}_{block}:\n\
             \tld.global.u32 \t%r{a}, [%rd{a}+{}];\n\
             \tmad.lo.s32 \t%r{b}, %r{a}, {block}, %r{c};\n\
             \tcvt.rn.f32.s32 \t%f{b}, %r{b};\n\
             \tfma.rn.f32 \t%f{c}, %f{a}, %f{b}, 0f3F800000;\n\
             \tmul.wide.s32 \t%rd{c}, %r{b}, 4;\n\
             \tadd.s64 \t%rd{b}, %rd{c}, %rd{a};\n\
             \tst.global.f32 \t[%rd{b}], %f{c};\n\
             \tsetp.lt.s32 \t%p{}, %r{b}, {block};\n\
             \t@%p{} bra \t$L{kernel}_{back};\n",
            4 * (block % 64),
            block % 8,
            block % 8,
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
             \tld.param.u64 \t%rd0, [k{kernel}_param_0];\n",
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

//! Instructions of warps and CTAs: collectives under masks and in two paths, shuffles, reductions at barriers, atomics that meet, reductions in bulk.

use crate::kernel::{Inputs, Kernel, Module, registers, vector};
use crate::numbers::{Format, floats, hashes, integers};
use crate::scalar::operands;

const THREADS: usize = 1024;

/// Which lanes take the first of two paths.
#[derive(Clone, Copy)]
enum Lanes {
    All,
    UpperHalf,
    Random,
    Few,
}

impl Lanes {
    const EACH: [Self; 4] = [Self::All, Self::UpperHalf, Self::Random, Self::Few];

    fn name(self) -> &'static str {
        match self {
            Self::All => "full",
            Self::UpperHalf => "half",
            Self::Random => "random",
            Self::Few => "few",
        }
    }

    fn masks(self, inputs: &mut Inputs) -> usize {
        let name = self.name();
        inputs.place(format!("masks/{name}"), 32, |_| {
            let words = hashes(&format!("mask{name}"), THREADS / 32, 1);
            let mask = |hash: u64| match self {
                Self::All => 0xffff_ffff,
                Self::UpperHalf => 0xffff_0000,
                Self::Random => hash,
                Self::Few => hash & hash >> 32 | 1 << (hash >> 59),
            };
            words.flat_map(|hash| [mask(hash); 32]).collect()
        })
    }
}

/// A number for each thread, and one for its warp.
fn threads_and_warps(name: &str) -> Vec<(u64, u64)> {
    let warps = hashes(&format!("{name}w"), THREADS / 32, 1).flat_map(|hash| [hash; 32]);
    hashes(name, THREADS, 1).zip(warps).collect()
}

/// Values that are often the same in many lanes of a warp.
fn alike(inputs: &mut Inputs, width: usize) -> usize {
    inputs.place(format!("alike{width}"), 8 * width as u32, |_| {
        let pairs = threads_and_warps("alike").into_iter();
        let value = |(own, warp): (u64, u64)| match warp & 3 {
            0 => warp,
            1 => own & 3,
            _ if own & 7 == 0 => own,
            _ => warp,
        };
        pairs.map(value).collect()
    })
}

/// Predicates, often the same in all lanes of a warp.
fn predicates(inputs: &mut Inputs) -> usize {
    inputs.place("preds".to_owned(), 32, |_| {
        let pairs = threads_and_warps("preds").into_iter();
        let value = |(own, warp): (u64, u64)| match warp & 3 {
            0 => warp >> 8 & 1,
            1 => u64::from(own & 31 == 0),
            _ => own & 1,
        };
        pairs.map(value).collect()
    })
}

fn lanes(inputs: &mut Inputs) -> usize {
    inputs.place("lanes".to_owned(), 32, |name| {
        hashes(name, THREADS, 1).map(|hash| hash & 31).collect()
    })
}

/// Masks of segments and clamps of shuffles.
fn segments(inputs: &mut Inputs) -> usize {
    inputs.place("segments".to_owned(), 32, |name| {
        let one = |hash: u64| {
            let width = 1 << (hash % 6);
            let clamp = if hash >> 40 & 1 == 1 {
                31
            } else {
                hash >> 50 & 31
            };
            (32 - width) << 8 | clamp
        };
        hashes(name, THREADS, 1).map(one).collect()
    })
}

/// The lanes of the mask run an instruction, then the others, each with its own mask in `%r20`.
fn in_two_paths(kernel: &mut Kernel, body: &str) {
    kernel.line("mov.u32 %t8, %laneid; shr.u32 %t9, %r19, %t8; and.b32 %t9, %t9, 1; setp.ne.u32 %tp0, %t9, 0;");
    let label = kernel.label();
    kernel.line(format!("@!%tp0 bra L{label};"));
    kernel.line("mov.u32 %r20, %r19;");
    kernel.line(body);
    kernel.line(format!("bra.uni M{label}; L{label}:"));
    kernel.line("not.b32 %r20, %r19;");
    kernel.line(body);
    kernel.line(format!("M{label}: bar.warp.sync -1;"));
}

fn word_in_two_paths(kernel: &mut Kernel, name: &str, body: &str) {
    in_two_paths(kernel, body);
    kernel.store_one(name, "%r1", 4);
}

pub fn collectives(inputs: &mut Inputs) -> Module {
    let mut module = Module::new("warp");
    for lanes in Lanes::EACH {
        votes_and_matches(module.kernel(32, THREADS / 32, 0), lanes, inputs);
        reductions(module.kernel(32, THREADS / 32, 0), lanes, inputs);
    }
    shuffles(module.kernel(32, THREADS / 32, 0), inputs);
    shuffles_in_tiles(module.kernel(32, THREADS / 32, 0), inputs);
    for threads in [32, 96, 256, 128] {
        at_barriers(module.kernel(threads, THREADS / threads, 0), inputs);
    }
    contended(module.kernel(128, 8, 0), inputs);
    for kind in VECTORS {
        vectors(module.kernel(32, 16, 0), kind, inputs);
    }
    module
}

fn votes_and_matches(kernel: &mut Kernel, lanes: Lanes, inputs: &mut Inputs) {
    let kind = lanes.name();
    kernel.load_one("%r19", 4, lanes.masks(inputs));
    kernel.load_one("%r2", 4, alike(inputs, 4));
    kernel.load_one("%d2", 8, alike(inputs, 8));
    kernel.load_one("%r3", 4, predicates(inputs));
    kernel.line("setp.ne.u32 %p2, %r3, 0;");
    for vote in ["all", "any", "uni"] {
        for not in ["", "!"] {
            let form = format!("vote.sync.{vote}.pred %p1, {not}%p2");
            in_two_paths(kernel, &format!("{form}, %r20;"));
            kernel.store_predicate(format!("{form} / {kind}"), "%p1");
        }
    }
    let form = "vote.sync.ballot.b32 %r1, %p2";
    word_in_two_paths(
        kernel,
        &format!("{form} / {kind}"),
        &format!("{form}, %r20;"),
    );
    for (bits, register) in [(32, "%r2"), (64, "%d2")] {
        let form = format!("match.any.sync.b{bits}");
        word_in_two_paths(
            kernel,
            &format!("{form} / {kind}"),
            &format!("{form} %r1, {register}, %r20;"),
        );
        let form = format!("match.all.sync.b{bits}");
        word_in_two_paths(
            kernel,
            &format!("{form} / {kind}"),
            &format!("{form} %r1|%p1, {register}, %r20;"),
        );
        kernel.store_predicate(format!("{form} / {kind} #1"), "%p1");
    }
}

fn reductions(kernel: &mut Kernel, lanes: Lanes, inputs: &mut Inputs) {
    let kind = lanes.name();
    kernel.load_one("%r19", 4, lanes.masks(inputs));
    kernel.load_one("%r4", 4, operands(inputs, 4, 0, THREADS));
    kernel.load_one("%r2", 4, alike(inputs, 4));
    for function in [
        "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
        "xor.b32",
    ] {
        let form = format!("redux.sync.{function}");
        let operand = if matches!(function, "and.b32" | "or.b32") {
            "%r2"
        } else {
            "%r4"
        };
        word_in_two_paths(
            kernel,
            &format!("{form} / {kind}"),
            &format!("{form} %r1, {operand}, %r20;"),
        );
    }
    word_in_two_paths(
        kernel,
        &format!("elect.sync / {kind}"),
        "elect.sync %r1|%p1, %r20;",
    );
    kernel.store_predicate(format!("elect.sync / {kind} #1"), "%p1");
    word_in_two_paths(
        kernel,
        &format!("activemask / {kind}"),
        "bar.warp.sync %r20; activemask.b32 %r1;",
    );
}

fn shuffles(kernel: &mut Kernel, inputs: &mut Inputs) {
    for (order, register) in ["%r2", "%r3", "%r4"].into_iter().enumerate() {
        kernel.load_one(register, 4, operands(inputs, 4, order, THREADS));
    }
    kernel.load_one("%r5", 4, lanes(inputs));
    kernel.load_one("%r6", 4, segments(inputs));
    for mode in ["up", "down", "bfly", "idx"] {
        for b in ["%r3", "%r5", "1", "5", "31", "16"] {
            for c in ["%r4", "%r6", "31", "0", "0x181f", "0x1c00"] {
                let form = format!("shfl.sync.{mode}.b32 %r1|%p1, %r2, {b}, {c}, -1");
                kernel.line(format!("{form};"));
                kernel.store_one(form.clone(), "%r1", 4);
                kernel.store_predicate(format!("{form} #1"), "%p1");
            }
        }
    }
}

/// Tiles of lanes, each under a mask of its own, every other on another path.
fn shuffles_in_tiles(kernel: &mut Kernel, inputs: &mut Inputs) {
    kernel.load_one("%r2", 4, operands(inputs, 4, 0, THREADS));
    kernel.load_one("%r5", 4, lanes(inputs));
    for width in [2, 4, 8, 16] {
        for mode in ["up", "down", "bfly", "idx"] {
            let (others, low) = (32 - width, (1 << width) - 1);
            let c = others << 8 | if mode == "up" { 0 } else { 31 };
            let form = format!("shfl.sync.{mode}.b32 %r1|%p1, %r2, ");
            let body = format!(
                "and.b32 %r8, %t8, {others}; mov.u32 %r9, {low}; shl.b32 %r9, %r9, %r8; {form}%r7, {c:#x}, %r9;"
            );
            let below = width - 1;
            kernel.line(format!(
                "mov.u32 %t8, %laneid; and.b32 %r7, %r5, {below}; and.b32 %t9, %t8, {width}; setp.ne.u32 %tp0, %t9, 0;"
            ));
            let label = kernel.label();
            kernel.line(format!("@!%tp0 bra L{label};"));
            kernel.line(&body);
            kernel.line(format!("bra.uni M{label}; L{label}:"));
            kernel.line(&body);
            kernel.line(format!("M{label}: bar.warp.sync -1;"));
            let name = format!("{form}%r5, {c:#x} / tiles of {width}");
            kernel.store_one(name.clone(), "%r1", 4);
            kernel.store_predicate(format!("{name} #1"), "%p1");
        }
    }
}

fn at_barriers(kernel: &mut Kernel, inputs: &mut Inputs) {
    let threads = kernel.block;
    kernel.load_one("%r3", 4, predicates(inputs));
    kernel.line("setp.ne.u32 %p2, %r3, 0;");
    for not in ["", "!"] {
        kernel.line(format!("barrier.red.popc.u32 %r1, 1, {not}%p2;"));
        kernel.store_one(
            format!("bar.red.popc.u32 %r1, 1, {not}%p2 / {threads} threads"),
            "%r1",
            4,
        );
        for function in ["and", "or"] {
            kernel.line(format!(
                "bar.red.{function}.pred %p1, 2, {threads}, {not}%p2;"
            ));
            kernel.store_predicate(
                format!("bar.red.{function}.pred %p1, 2, {not}%p2 / {threads} threads"),
                "%p1",
            );
        }
    }
}

/// Sixty-four threads on each of sixteen places, with results that do not depend on their order.
fn contended(kernel: &mut Kernel, inputs: &mut Inputs) {
    const FUNCTIONS: [(&str, &str); 18] = [
        ("add.u32", "%r2"),
        ("add.s32", "%r2"),
        ("min.u32", "%r2"),
        ("min.s32", "%r2"),
        ("max.u32", "%r2"),
        ("max.s32", "%r2"),
        ("and.b32", "%r2"),
        ("or.b32", "%r2"),
        ("xor.b32", "%r2"),
        ("inc.u32", "%r3"),
        ("dec.u32", "%r3"),
        ("add.u64", "%d2"),
        ("min.s64", "%d2"),
        ("max.u64", "%d2"),
        ("add.f32", "%r6"),
        ("add.noftz.f16x2", "%r7"),
        ("add.noftz.bf16x2", "%r8"),
        ("add.f64", "%d6"),
    ];
    kernel.fill = 0;
    kernel.load_one("%r2", 4, operands(inputs, 4, 3, THREADS));
    kernel.load_one("%d2", 8, operands(inputs, 8, 3, THREADS));
    kernel.line("and.b32 %t8, %t0, 15;");
    for (function, register) in FUNCTIONS {
        let (width, old) = if register.starts_with("%d") {
            (8, "%d9, ")
        } else {
            (4, "%r9, ")
        };
        for opcode in ["red", "atom"] {
            kernel.line("mov.u32 %r3, 40; and.b32 %r6, %r2, 7; cvt.rn.f32.u32 %r6, %r6; mov.u32 %r7, 0x3c004000; mov.u32 %r8, 0x3f804000; cvt.f64.f32 %d6, %r6;");
            kernel.line(format!("mad.wide.u32 %a2, %t8, {width}, %out;"));
            let (form, out) = (format!("{opcode}.global.{function}"), kernel.out);
            let old = if opcode == "atom" { old } else { "" };
            kernel.line(format!("{form} {old}[%a2+{out}], {register};"));
            kernel.outcome(
                format!("{form} / 64 threads a cell, on zeros"),
                16 * width,
                width,
            );
        }
    }
}

/// Vectors of reductions: their element, how many, its format, bytes of a register.
type Kind = (&'static str, usize, &'static str, usize);

const VECTORS: [Kind; 7] = [
    ("f32", 2, "f32", 4),
    ("f32", 4, "f32", 4),
    ("f16x2", 2, "f16", 4),
    ("f16x2", 4, "f16", 4),
    ("bf16x2", 4, "bf16", 4),
    ("f16", 4, "f16", 2),
    ("bf16", 2, "bf16", 2),
];

/// Reductions of vectors, each thread on a place of its own.
fn vectors(kernel: &mut Kernel, (element, count, name, width): Kind, inputs: &mut Inputs) {
    let threads = kernel.threads();
    let (functions, exact): (&[_], _) = match element {
        "f32" => (&["add"], ""),
        _ => (&["add", "min", "max"], "noftz."),
    };
    let format = Format::named(name).expect("it has a name");
    let mut values = |order: &str| {
        let each = threads * 128 / format.bits() as usize;
        inputs.place(format!("{order}/{name}"), format.bits(), |name| {
            floats(name, each, format)
        })
    };
    let (before, operand) = (values("vi"), values("va"));
    let held = if width == 4 {
        registers('r', 40, count)
    } else {
        registers('h', 1, count)
    };
    for function in functions {
        let form = format!("red.global.{function}.{exact}v{count}.{element}");
        kernel.load(&held, width, before);
        kernel.line(format!("mad.wide.u32 %a2, %t0, {}, %out;", width * count));
        for (at, register) in held.iter().enumerate() {
            let place = kernel.out + at * width;
            kernel.line(format!(
                "st.global.b{} [%a2+{place}], {register};",
                8 * width
            ));
        }
        kernel.load(&held, width, operand);
        let out = kernel.out;
        kernel.line(format!("{form} [%a2+{out}], {};", vector(&held)));
        kernel.outcome(format!("{form} #memory"), threads * width * count, width);
    }
}

/// `cp.reduce.async.bulk`: one thread of each warp has the warp's values added to what is there.
pub fn in_bulk(inputs: &mut Inputs) -> Module {
    const FORMS: [(&str, &str, &[&str]); 11] = [
        ("add", "", &["u32", "s32", "u64"]),
        ("min", "", &["u32", "s32", "u64", "s64"]),
        ("max", "", &["u32", "s32", "u64", "s64"]),
        ("and", "", &["b32", "b64"]),
        ("or", "", &["b32", "b64"]),
        ("xor", "", &["b32", "b64"]),
        ("inc", "", &["u32"]),
        ("dec", "", &["u32"]),
        ("add", "noftz.", &["f16", "bf16"]),
        ("add", "", &["f32", "f64"]),
        ("min", "", &["f16", "bf16"]),
    ];
    let mut module = Module::new("bulk");
    let last = [("max", "", &["f16", "bf16"][..])];
    for (function, exact, elements) in FORMS.into_iter().chain(last) {
        for element in elements {
            let form = format!(
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.{function}.{exact}{element}"
            );
            one_in_bulk(module.kernel(32, 8, 0), &form, element, inputs);
        }
    }
    module
}

fn one_in_bulk(kernel: &mut Kernel, form: &str, element: &str, inputs: &mut Inputs) {
    let count = kernel.threads();
    let format = Format::named(element);
    let bits = format.map_or_else(
        || element[1..].parse().expect("it ends with its bits"),
        Format::bits,
    );
    let domain = if format.is_some() { element } else { "int" };
    let mut values = |order| {
        let each = count * 128 / bits as usize;
        inputs.place(
            format!("bulk/{domain}/{}/{order}", bits / 8),
            bits,
            |name| match format {
                Some(format) => floats(name, each, format),
                None => integers(name, each, bits),
            },
        )
    };
    let (before, operand) = (values(0), values(1));
    let held = registers('r', 1, 4);
    let row = vector(&held);
    kernel.variable(".shared .align 128 .b8 cells[512];");
    kernel.load(&held, 4, before);
    let out = kernel.out;
    kernel.line(format!(
        "mad.wide.u32 %a2, %t0, 16, %out; add.u64 %a2, %a2, {out}; st.global.v4.b32 [%a2], {row};"
    ));
    kernel.load(&held, 4, operand);
    kernel.line(format!(
        "mov.u32 %t10, cells; mad.lo.u32 %t11, %t2, 16, %t10; st.shared.v4.b32 [%t11], {row};"
    ));
    kernel.line("fence.proxy.async; bar.sync 0; setp.eq.u32 %tp1, %t2, 0;");
    kernel.line(format!("@%tp1 {form} [%a2], [%t10], 512;"));
    kernel.line("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
    kernel.outcome(form, 16 * count, bits as usize / 8);
}

/// What every NaN is to `.oob`.
pub fn out_of_bounds() -> Module {
    let mut module = Module::new("bounds");
    let kernel = module.kernel(64, 32, 0);
    for (element, fraction, infinity, one, two) in [
        ("f16", 10, 0x7c00, 0x3c00, 0x4000),
        ("bf16", 7, 0x7f80, 0x3f80, 0x4000),
    ] {
        let (sign, bits) = (15 - fraction, (1 << fraction) - 1);
        kernel.line(format!(
            "shl.b32 %t4, %t0, {sign}; and.b32 %t4, %t4, 0x8000; and.b32 %t5, %t0, {bits};"
        ));
        kernel.line(format!("or.b32 %t4, %t4, %t5; or.b32 %t4, %t4, {infinity}; cvt.u16.u32 %h2, %t4; mov.b16 %h3, {one}; mov.b16 %h4, {two};"));
        for operands in ["%h2, %h3, %h4", "%h3, %h2, %h4", "%h3, %h4, %h2"] {
            let form = format!("fma.rn.oob.{element} %h1, {operands}");
            kernel.line(format!("{form};"));
            kernel.store_one(format!("{form} / NaNs"), "%h1", 2);
        }
    }
    module
}

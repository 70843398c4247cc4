//! Products of warpgroups: how they round, and where their matrices lie in shared memory.

use crate::kernel::{Inputs, Kernel, Module, registers, vector};
use crate::matrices::{matrices, metadata};
use crate::numbers::{Class, stored_bits};

const ROUNDING: [Class; 7] = [
    Class::Near,
    Class::Powers,
    Class::Powers,
    Class::Wide,
    Class::Few,
    Class::Special,
    Class::Raw,
];
const FLOATS: [&str; 12] = [
    "f32.f16.f16",
    "f16.f16.f16",
    "f32.bf16.bf16",
    "f32.tf32.tf32",
    "f32.e4m3.e4m3",
    "f32.e4m3.e5m2",
    "f32.e5m2.e4m3",
    "f32.e5m2.e5m2",
    "f16.e4m3.e4m3",
    "f16.e4m3.e5m2",
    "f16.e5m2.e4m3",
    "f16.e5m2.e5m2",
];
const BYTES: [&str; 4] = ["s32.s8.s8", "s32.s8.u8", "s32.u8.s8", "s32.u8.u8"];
const BITS: &str = "s32.b1.b1";

/// How a matrix lies in shared memory.
#[derive(Clone, Copy)]
struct Layout {
    start: u64,
    lead: u64,
    stride: u64,
    /// Bytes of a row that are swizzled.
    swizzle: u64,
}

impl Layout {
    const fn plain(lead: u64, stride: u64) -> Self {
        Self {
            start: 0,
            lead,
            stride,
            swizzle: 0,
        }
    }

    fn descriptor(self) -> u64 {
        let code = match self.swizzle {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        self.start >> 4 | (self.lead >> 4) << 16 | (self.stride >> 4) << 32 | code << 62
    }

    /// Along the inner dimension, groups of eight rows one behind the other.
    fn along(swizzle: u64) -> Self {
        match swizzle {
            0 => Self::plain(128, 256),
            _ => Self {
                start: 0,
                lead: 16,
                stride: 8 * swizzle,
                swizzle,
            },
        }
    }
}

/// A product: D += A B.
#[derive(Clone)]
struct Product<'a> {
    columns: usize,
    types: &'a str,
    classes: &'a [Class],
    layouts: [Layout; 2],
    /// Bytes of A's image and of B's.
    images: [usize; 2],
    adds: bool,
    scales: [i32; 2],
    transposed: [u8; 2],
    in_registers: bool,
    selector: Option<usize>,
    saturate: &'static str,
    note: String,
}

impl<'a> Product<'a> {
    /// A small one with rows of 32 bytes in two pieces of eight rows.
    fn small(columns: usize, types: &'a str, classes: &'a [Class], note: String) -> Self {
        Self {
            columns,
            types,
            classes,
            layouts: [Layout::plain(128, 256); 2],
            images: [2048; 2],
            adds: true,
            scales: [1, 1],
            transposed: [0, 0],
            in_registers: false,
            selector: None,
            saturate: "",
            note,
        }
    }

    /// One whose numbers sum exactly, with much room.
    fn placed(columns: usize, types: &'a str, layouts: [Layout; 2], note: String) -> Self {
        Self {
            layouts,
            images: [16384, 32768],
            ..Self::small(columns, types, &[Class::Exact], note)
        }
    }

    fn form(&self, d: &str, a: &str, b: &str) -> String {
        let depth = match a {
            "f16" | "bf16" => 16,
            "tf32" => 8,
            "b1" => 256,
            _ => 32,
        };
        let (sparse, stored) = if self.selector.is_some() {
            (".sp", 2)
        } else {
            ("", 1)
        };
        let tail = if a == "b1" { ".and.popc" } else { "" };
        format!(
            "wgmma.mma_async{sparse}.sync.aligned.m64n{}k{}{}.{d}.{a}.{b}{tail}",
            self.columns,
            depth * stored,
            self.saturate
        )
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
        names.join("-")
    }

    fn held(&self, inputs: &mut Inputs, element: &str, count: usize, part: &str) -> usize {
        let each = 128 * count * 32 / stored_bits(element) as usize;
        matrices(
            inputs,
            format!("group/{element}/{count}/{part}/{}", self.names()),
            element,
            each,
            self.classes,
        )
    }

    /// Copies an image to shared memory, sixteen bytes a thread and turn.
    fn fill(
        &self,
        kernel: &mut Kernel,
        inputs: &mut Inputs,
        element: &str,
        (bytes, at): (usize, usize),
    ) {
        let name = format!("shared/{element}/{}/{bytes}", self.names());
        let place = matrices(
            inputs,
            name,
            element,
            bytes * 8 / stored_bits(element) as usize,
            self.classes,
        );
        let label = format!("{}_{at}", kernel.name);
        kernel.line(format!("mov.u32 %t10, %ctaid.x; mad.wide.u32 %a3, %t10, {bytes}, %in; mul.wide.u32 %a4, %t2, 16; add.u64 %a3, %a3, %a4;"));
        kernel.line("mov.u32 %t12, dyn; mad.lo.u32 %t12, %t2, 16, %t12; mov.u32 %t13, 0;");
        kernel.line(format!("F{label}: ld.global.v4.b32 {{%t20, %t21, %t22, %t23}}, [%a3+{place}]; st.shared.v4.b32 [%t12+{at}], {{%t20, %t21, %t22, %t23}};"));
        kernel.line(format!("add.u64 %a3, %a3, 2048; add.u32 %t12, %t12, 2048; add.u32 %t13, %t13, 2048; setp.lt.u32 %tp1, %t13, {bytes}; @%tp1 bra F{label};"));
    }

    fn emit(&self, module: &mut Module, inputs: &mut Inputs) {
        let mut elements = self.types.split('.');
        let [d, a, b] = [(); 3].map(|()| elements.next().expect("three types"));
        let form = self.form(d, a, b);
        let [of_a, of_b] = self.images;
        let kernel = module.kernel(128, self.classes.len(), of_a + of_b);
        self.fill(kernel, inputs, a, (of_a, 0));
        self.fill(kernel, inputs, b, (of_b, of_a));
        let sums = registers('r', 1, self.columns / if d == "f16" { 4 } else { 2 });
        kernel.load(&sums, 4, self.held(inputs, d, sums.len(), "c"));
        let mut left = "%d10".to_owned();
        if self.in_registers {
            let held = registers('r', 140, 4);
            kernel.load(&held, 4, self.held(inputs, a, 4, "a"));
            left = vector(&held);
        }
        let mut extra = String::new();
        if let Some(selector) = self.selector {
            kernel.load_one("%r150", 4, metadata(inputs, a, 128));
            extra = format!(", %r150, {selector}");
        }
        let mut immediates = String::new();
        let [scale_a, scale_b] = self.scales;
        if d != "s32" {
            immediates += &format!(", {scale_a}, {scale_b}");
        }
        let [of_left, of_right] = self.transposed;
        if stored_bits(a) == 16 {
            immediates += &match self.in_registers {
                true => format!(", {of_right}"),
                false => format!(", {of_left}, {of_right}"),
            };
        }
        let [from_a, from_b] = self.layouts.map(Layout::descriptor);
        kernel.line("fence.proxy.async; bar.sync 0;");
        kernel.line(format!("mov.u32 %t12, dyn; cvt.u64.u32 %d9, %t12; shr.u64 %d9, %d9, 4; add.u64 %d10, %d9, {from_a}; add.u64 %d11, %d9, {from_b}; add.u64 %d11, %d11, {};", of_a >> 4));
        kernel.line(format!("setp.ne.u32 %p1, {}, 0;", u8::from(self.adds)));
        kernel.line("wgmma.fence.sync.aligned;");
        kernel.line(format!(
            "{form} {}, {left}, %d11{extra}, %p1{immediates};",
            vector(&sums)
        ));
        kernel.line("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
        kernel.store(format!("{form} / {}", self.note), &sums, 4);
    }
}

fn place_of_a(in_registers: bool) -> &'static str {
    if in_registers { "registers" } else { "shared" }
}

pub fn rounding(inputs: &mut Inputs) -> Module {
    const WIDE: [&str; 5] = [
        "f32.f16.f16",
        "f16.f16.f16",
        "f32.e4m3.e4m3",
        "s32.s8.s8",
        "f32.tf32.tf32",
    ];
    let mut module = Module::new("wg_arith");
    for types in FLOATS.into_iter().chain(BYTES).chain([BITS]) {
        for columns in [8, 16] {
            for in_registers in [false, true] {
                for adds in [true, false] {
                    if !adds && (columns == 16 || in_registers)
                        || columns == 16 && !WIDE.contains(&types)
                    {
                        continue;
                    }
                    let how = if adds { "adds" } else { "anew" };
                    let note = format!("A from {}, {how}", place_of_a(in_registers));
                    let plain = Product::small(columns, types, &ROUNDING, note);
                    Product {
                        adds,
                        in_registers,
                        ..plain
                    }
                    .emit(&mut module, inputs);
                }
            }
        }
        if BYTES.contains(&types) {
            let plain = Product::small(
                8,
                types,
                &[Class::Near, Class::Wide],
                "satfinite".to_owned(),
            );
            Product {
                saturate: ".satfinite",
                ..plain
            }
            .emit(&mut module, inputs);
        }
    }
    for types in [
        "f32.f16.f16",
        "f32.bf16.bf16",
        "f32.tf32.tf32",
        "f32.e4m3.e5m2",
        "f16.f16.f16",
    ] {
        for scales in [[-1, 1], [1, -1], [-1, -1]] {
            let note = format!("scales ({}, {})", scales[0], scales[1]);
            let plain = Product::small(8, types, &[Class::Near, Class::Special], note);
            Product { scales, ..plain }.emit(&mut module, inputs);
        }
    }
    module
}

/// A sparse A; B has twice the depth: four pieces of eight columns.
pub fn sparse(inputs: &mut Inputs) -> Module {
    const CLASSES: [Class; 4] = [Class::Exact, Class::Near, Class::Wide, Class::Special];
    let mut module = Module::new("wg_sparse");
    for types in FLOATS.into_iter().chain(BYTES) {
        let of_a = types.split('.').nth(1).unwrap_or_default();
        let selectors = if stored_bits(of_a) == 8 { 1 } else { 2 };
        for selector in 0..selectors {
            for in_registers in [false, true] {
                let note = format!("selector {selector}, A from {}", place_of_a(in_registers));
                let plain = Product::small(8, types, &CLASSES, note);
                let layouts = [Layout::plain(128, 256), Layout::plain(128, 512)];
                Product {
                    selector: Some(selector),
                    in_registers,
                    layouts,
                    ..plain
                }
                .emit(&mut module, inputs);
            }
        }
    }
    module
}

const ALL: [&str; 6] = [
    "f32.f16.f16",
    "f32.bf16.bf16",
    "f32.tf32.tf32",
    "f32.e4m3.e4m3",
    "s32.s8.u8",
    BITS,
];

/// Bytes that a swizzle repeats after.
fn unit(swizzle: u64) -> u64 {
    if swizzle == 0 { 128 } else { 8 * swizzle }
}

pub fn layouts(inputs: &mut Inputs) -> Module {
    let mut module = Module::new("wg_layout");
    for types in ALL {
        along(&mut module, inputs, types);
    }
    for types in &ALL[..2] {
        for swizzle in [0, 32, 64, 128] {
            across(&mut module, inputs, types, swizzle);
        }
    }
    let wide = Layout::along(128);
    let many = "K-major, swizzle 128, many columns";
    for (columns, types) in [
        (24, ALL[0]),
        (96, ALL[0]),
        (136, ALL[0]),
        (192, BYTES[0]),
        (256, ALL[0]),
        (256, "f16.f16.f16"),
    ] {
        Product::placed(columns, types, [wide; 2], many.to_owned()).emit(&mut module, inputs);
    }
    for swizzle in [32, 64, 128] {
        sparse_layouts(&mut module, inputs, swizzle);
    }
    module
}

/// Matrices whose neighbours lie along the inner dimension.
fn along(module: &mut Module, inputs: &mut Inputs, types: &str) {
    for swizzle in [0, 32, 64, 128] {
        for slice in 0..(swizzle / 32).max(1) {
            if swizzle == 128 && slice == 2 {
                continue;
            }
            let layout = Layout {
                start: 32 * slice,
                ..Layout::along(swizzle)
            };
            let note = format!("K-major, swizzle {swizzle}, slice {slice}");
            Product::placed(32, types, [layout; 2], note).emit(module, inputs);
            if swizzle > 0 && slice == 0 {
                let apart = Layout {
                    stride: 2 * unit(swizzle),
                    ..layout
                };
                let note = format!("K-major, swizzle {swizzle}, groups apart");
                Product::placed(16, types, [apart; 2], note.clone()).emit(module, inputs);
                let note = format!("{note}, A from registers");
                let placed = Product::placed(16, types, [apart; 2], note);
                Product {
                    in_registers: true,
                    ..placed
                }
                .emit(module, inputs);
            }
        }
    }
    for (lead, stride) in [(1024, 128), (128, 512), (512, 128), (256, 512)] {
        let note = format!("K-major, no swizzle, lead {lead}, stride {stride}");
        Product::placed(32, types, [Layout::plain(lead, stride); 2], note).emit(module, inputs);
    }
}

/// Matrices of which one or both have their neighbours across the inner dimension.
fn across(module: &mut Module, inputs: &mut Inputs, types: &str, swizzle: u64) {
    let unit = unit(swizzle);
    let straight = Layout::along(swizzle);
    for (lead, stride) in [
        (unit, 2 * unit),
        (2 * unit, unit),
        (unit, 4 * unit),
        (4 * unit, unit),
    ] {
        if swizzle == 128 && lead.max(stride) > 4096 {
            continue;
        }
        let crossed = Layout {
            start: 0,
            lead,
            stride,
            swizzle,
        };
        let first = (lead, stride) == (unit, 2 * unit);
        for transposed in [[1, 0], [0, 1], [1, 1]] {
            let skipped = types != ALL[0] && transposed != [1, 1] || !first && transposed == [1, 0];
            if skipped {
                continue;
            }
            let columns = match transposed {
                [1, 0] => 16,
                [1, 1] if swizzle == 128 => 128,
                _ => 64,
            };
            let layouts = transposed.map(|it| if it == 1 { crossed } else { straight });
            let note = format!(
                "transposed {} {}, swizzle {swizzle}, lead {lead}, stride {stride}",
                transposed[0], transposed[1]
            );
            let placed = Product::placed(columns, types, layouts, note);
            Product {
                transposed,
                ..placed
            }
            .emit(module, inputs);
        }
        if types == ALL[0] && first {
            let note = format!(
                "A from registers, B transposed, swizzle {swizzle}, lead {lead}, stride {stride}"
            );
            let placed = Product::placed(64, types, [straight, crossed], note);
            Product {
                in_registers: true,
                transposed: [0, 1],
                ..placed
            }
            .emit(module, inputs);
        }
    }
}

fn sparse_layouts(module: &mut Module, inputs: &mut Inputs, swizzle: u64) {
    let (left, deep) = (Layout::along(swizzle), Layout::along(swizzle.max(64)));
    let unit = unit(swizzle);
    for types in ["f32.f16.f16", "f32.tf32.tf32", "s32.s8.s8"] {
        let note = format!("A swizzle {swizzle}, B swizzle {}", swizzle.max(64));
        let placed = Product::placed(16, types, [left, deep], note);
        Product {
            selector: Some(0),
            ..placed
        }
        .emit(module, inputs);
    }
    let stride = if swizzle < 128 { 4 * unit } else { unit };
    let crossed = Layout {
        start: 0,
        lead: 2 * unit,
        stride,
        swizzle,
    };
    let placed = Product::placed(
        64,
        ALL[0],
        [left, crossed],
        format!("A swizzle {swizzle}, B transposed"),
    );
    Product {
        selector: Some(1),
        transposed: [0, 1],
        ..placed
    }
    .emit(module, inputs);
    let placed = Product::placed(
        16,
        ALL[0],
        [crossed, deep],
        format!("A transposed, swizzle {swizzle}"),
    );
    Product {
        selector: Some(0),
        transposed: [1, 0],
        ..placed
    }
    .emit(module, inputs);
}

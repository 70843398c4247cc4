//! Products of matrices that a warp holds, and what brings matrices to registers and back.

use crate::kernel::{Inputs, Kernel, Module, registers, vector};
use crate::numbers::{Class, factors, hashes, stored_bits};

/// What the numbers of each block's matrices are like.
const CLASSES: [Class; 17] = [
    Class::Exact,
    Class::Near,
    Class::Near,
    Class::Near,
    Class::Powers,
    Class::Powers,
    Class::Powers,
    Class::Wide,
    Class::Wide,
    Class::Wide,
    Class::Few,
    Class::Few,
    Class::Few,
    Class::Special,
    Class::Special,
    Class::Special,
    Class::Raw,
];
const SIGNS: [&str; 2] = ["s", "u"];

/// Matrices of elements for blocks of these classes, `each` a block.
pub fn matrices(
    inputs: &mut Inputs,
    name: String,
    element: &str,
    each: usize,
    classes: &[Class],
) -> usize {
    inputs.place(name, stored_bits(element), |name| {
        let blocks = classes.iter().enumerate();
        blocks
            .flat_map(|(block, &class)| factors(&format!("{name}/{block}"), each, element, class))
            .collect()
    })
}

/// Registers of each lane.
fn fragment(inputs: &mut Inputs, element: &str, count: usize, part: &str) -> usize {
    let bits = stored_bits(element) as usize;
    let register = if bits == 64 { 64 } else { 32 };
    let name = format!("fragment/{element}/{count}/{part}/32");
    matrices(
        inputs,
        name,
        element,
        32 * count * register / bits,
        &CLASSES,
    )
}

/// Metadata of a sparse matrix: of each four elements two different ones, the earlier first.
pub fn metadata(inputs: &mut Inputs, element: &str, lanes: usize) -> usize {
    let (kind, table): (_, &[u64]) = match element {
        "tf32" => ("tf32", &[0b1110, 0b0100]),
        _ => ("pairs", &[4, 8, 12, 9, 13, 14]),
    };
    inputs.place(format!("metadata/{kind}/{lanes}"), 32, |name| {
        let groups: Vec<u64> = hashes(name, CLASSES.len() * lanes * 8, 1)
            .map(|hash| table[hash as usize % table.len()])
            .collect();
        let words = groups.as_chunks::<8>().0.iter();
        words
            .map(|word| word.iter().rev().fold(0, |word, group| word << 4 | group))
            .collect()
    })
}

fn bits_of(element: &str) -> usize {
    match element {
        "s4" | "u4" => 4,
        "b1" => 1,
        other => stored_bits(other) as usize,
    }
}

/// `m16n8k16`.
fn extents(shape: &str) -> [usize; 3] {
    let mut numbers = shape
        .split(['m', 'n', 'k'])
        .skip(1)
        .map(|number| number.parse().expect("an extent"));
    [(); 3].map(|()| numbers.next().expect("three extents"))
}

/// Registers that a warp's lanes need for so many elements.
fn count(elements: usize, element: &str) -> usize {
    let register = if element == "f64" { 64 } else { 32 };
    elements * bits_of(element) / register / 32
}

pub fn products(inputs: &mut Inputs) -> Module {
    let mut module = Module::new("mma");
    let mut add = |shape: &str, types: &str, saturate: &str, tail: &str| {
        let how = Multiply {
            shape,
            types,
            saturate,
            tail,
            sparse: None,
        };
        how.emit(&mut module, inputs);
    };
    for shape in ["m16n8k8", "m16n8k16"] {
        for types in ["f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32"] {
            add(shape, types, "", "");
        }
    }
    for shape in ["m16n8k4", "m16n8k8"] {
        add(shape, "f32.tf32.tf32.f32", "", "");
    }
    for (bits, shapes) in [
        (8, ["m8n8k16", "m16n8k16", "m16n8k32"]),
        (4, ["m8n8k32", "m16n8k32", "m16n8k64"]),
    ] {
        for shape in shapes {
            for saturate in ["", ".satfinite"] {
                for a in SIGNS {
                    for b in SIGNS {
                        add(shape, &format!("s32.{a}{bits}.{b}{bits}.s32"), saturate, "");
                    }
                }
            }
        }
    }
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for tail in [".xor.popc", ".and.popc"] {
            add(shape, "s32.b1.b1.s32", "", tail);
        }
    }
    for shape in ["m16n8k16", "m16n8k32"] {
        for [a, b] in pairs(["e4m3", "e5m2"]) {
            for d in ["f32", "f16"] {
                add(shape, &format!("{d}.{a}.{b}.{d}"), "", "");
            }
        }
    }
    for shape in ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"] {
        add(shape, "f64.f64.f64.f64", "", "");
    }
    module
}

fn pairs<T: Copy>([one, other]: [T; 2]) -> [[T; 2]; 4] {
    [[one, one], [one, other], [other, one], [other, other]]
}

pub fn sparse_products(inputs: &mut Inputs) -> Module {
    const KINDS: [(&str, &str); 20] = [
        ("m16n8k16", "f32.f16.f16.f32"),
        ("m16n8k16", "f16.f16.f16.f16"),
        ("m16n8k16", "f32.bf16.bf16.f32"),
        ("m16n8k32", "f32.f16.f16.f32"),
        ("m16n8k32", "f16.f16.f16.f16"),
        ("m16n8k32", "f32.bf16.bf16.f32"),
        ("m16n8k8", "f32.tf32.tf32.f32"),
        ("m16n8k16", "f32.tf32.tf32.f32"),
        ("m16n8k32", "s32.s8.s8.s32"),
        ("m16n8k32", "s32.u8.s8.s32"),
        ("m16n8k64", "s32.s8.u8.s32"),
        ("m16n8k64", "s32.u8.u8.s32"),
        ("m16n8k64", "s32.s4.s4.s32"),
        ("m16n8k64", "s32.u4.s4.s32"),
        ("m16n8k128", "s32.s4.u4.s32"),
        ("m16n8k128", "s32.u4.u4.s32"),
        ("m16n8k64", "f32.e4m3.e4m3.f32"),
        ("m16n8k64", "f32.e4m3.e5m2.f32"),
        ("m16n8k64", "f32.e5m2.e4m3.f32"),
        ("m16n8k64", "f32.e5m2.e5m2.f32"),
    ];
    let mut module = Module::new("mmasp");
    for form in ["sp", "sp::ordered_metadata"] {
        for (shape, types) in KINDS {
            let a = types.split('.').nth(1).expect("four types");
            let of_one = match bits_of(a) {
                32 => 4,
                4 => 1,
                _ => 2,
            };
            let last = 64 / (extents(shape)[2] / 2 * of_one) - 1;
            for selector in 0..=last {
                if form == "sp" || selector == 0 || selector == last {
                    let how = Multiply {
                        shape,
                        types,
                        saturate: "",
                        tail: "",
                        sparse: Some((form, selector)),
                    };
                    how.emit(&mut module, inputs);
                }
            }
        }
    }
    module
}

/// An `mma`; of a sparse one with the name of its form and the selector of metadata.
struct Multiply<'a> {
    shape: &'a str,
    types: &'a str,
    saturate: &'a str,
    tail: &'a str,
    sparse: Option<(&'a str, usize)>,
}

impl Multiply<'_> {
    fn emit(&self, module: &mut Module, inputs: &mut Inputs) {
        let Self {
            shape,
            types,
            saturate,
            tail,
            sparse,
        } = *self;
        let mut elements = types.split('.');
        let [d, a, b, c] = [(); 4].map(|()| elements.next().expect("four types"));
        let [m, n, k] = extents(shape);
        let stored = if sparse.is_some() { 2 } else { 1 };
        let counts = [
            count(m * k, a) / stored,
            count(k * n, b),
            count(m * n, c),
            count(m * n, d),
        ];
        let (kind, width, firsts) = match a {
            "f64" => ('d', 8, [0, 8, 12, 16]),
            _ => ('r', 4, [0, 40, 60, 80]),
        };
        let held: [_; 4] = std::array::from_fn(|part| registers(kind, firsts[part], counts[part]));
        let opcode = sparse.map_or_else(|| "mma".to_owned(), |(form, _)| format!("mma.{form}"));
        let form = format!("{opcode}.sync.aligned.{shape}.row.col{saturate}.{types}{tail}");
        let kernel = module.kernel(32, CLASSES.len(), 0);
        for (part, (element, name)) in [(a, "a"), (b, "b"), (c, "c")].into_iter().enumerate() {
            kernel.load(
                &held[part],
                width,
                fragment(inputs, element, counts[part], name),
            );
        }
        let mut extra = String::new();
        let mut name = form.clone();
        if let Some((_, selector)) = sparse {
            kernel.load_one("%r150", 4, metadata(inputs, a, 32));
            extra = format!(", %r150, {selector}");
            name += &format!(" / selector {selector}");
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|part| vector(&held[part]));
        kernel.line(format!("{form} {d}, {a}, {b}, {c}{extra};"));
        kernel.store(name, &held[3], width);
    }
}

/// A `wmma`: shape, layouts of A, B, and of C and D, types of A, B, C and D.
struct Wmma<'a> {
    shape: &'a str,
    layouts: [&'a str; 3],
    types: [&'a str; 4],
    saturate: &'a str,
    prefix: &'a str,
}

pub fn wmma(inputs: &mut Inputs) -> Module {
    let mut module = Module::new("wmma");
    let mut add = |shape, [a, b]: [&str; 2], sums, types, saturate, prefix| {
        let how = Wmma {
            shape,
            layouts: [a, b, sums],
            types,
            saturate,
            prefix,
        };
        how.emit(&mut module, inputs);
    };
    for shape in ["m16n16k16", "m32n8k16", "m8n32k16"] {
        for (turn, (layouts, sums)) in pairs(["row", "col"])
            .into_iter()
            .zip(["row", "col", "col", "row"])
            .enumerate()
        {
            for (d, c) in [
                ("f32", "f32"),
                ("f16", "f16"),
                ("f32", "f16"),
                ("f16", "f32"),
            ] {
                if d == c || turn == 0 {
                    add(shape, layouts, sums, ["f16", "f16", c, d], "", "");
                }
            }
            add(shape, layouts, sums, ["bf16", "bf16", "f32", "f32"], "", "");
            for element in ["s8", "u8"] {
                if matches!(turn, 1 | 2) || shape == "m16n16k16" {
                    let saturate = if turn == 2 { ".satfinite" } else { "" };
                    add(
                        shape,
                        layouts,
                        sums,
                        [element, element, "s32", "s32"],
                        saturate,
                        "",
                    );
                }
            }
        }
    }
    for layouts in [
        ["row", "col"],
        ["col", "row"],
        ["row", "row"],
        ["col", "col"],
    ] {
        add(
            "m16n16k8",
            layouts,
            "row",
            ["tf32", "tf32", "f32", "f32"],
            "",
            "",
        );
        add("m8n8k4", layouts, "col", ["f64"; 4], "", "");
    }
    for element in ["s4", "u4"] {
        add(
            "m8n8k32",
            ["row", "col"],
            "row",
            [element, element, "s32", "s32"],
            "",
            "",
        );
    }
    for prefix in [".xor.popc", ".and.popc"] {
        add(
            "m8n8k128",
            ["row", "col"],
            "row",
            ["b1", "b1", "s32", "s32"],
            "",
            prefix,
        );
    }
    module
}

impl Wmma<'_> {
    fn emit(&self, module: &mut Module, inputs: &mut Inputs) {
        let Self {
            shape,
            layouts: [row_a, row_b, row_c],
            types: [a, b, c, d],
            saturate,
            prefix,
        } = *self;
        let [m, n, k] = extents(shape);
        let held = |elements: usize, element: &str, sums: bool| match (element, sums) {
            ("f16", false) => 8,
            _ => count(elements, element).max(1),
        };
        let counts = [
            held(m * k, a, false),
            held(k * n, b, false),
            held(m * n, c, true),
            held(m * n, d, true),
        ];
        let (kind, firsts) = if a == "f64" {
            ('d', [1, 5, 8, 12])
        } else {
            ('r', [1, 40, 60, 80])
        };
        let [ra, rb, rc, rd] =
            std::array::from_fn(|part| vector(&registers(kind, firsts[part], counts[part])));
        let types = if a == "f16" {
            format!("{d}.{c}")
        } else {
            format!("{d}.{a}.{b}.{c}")
        };
        let form =
            format!("wmma.mma{prefix}.sync.aligned.{row_a}.{row_b}.{shape}.{types}{saturate}");
        let kernel = module.kernel(32, CLASSES.len(), 0);
        let parts = [
            (&ra, "a", row_a, a, [m, k]),
            (&rb, "b", row_b, b, [k, n]),
            (&rc, "c", row_c, c, [m, n]),
        ];
        for (held, part, layout, element, [rows, columns]) in parts {
            let bytes = rows * columns * bits_of(element) / 8;
            let stride = if layout == "row" { columns } else { rows };
            let stored = bytes * 8 / stored_bits(element) as usize;
            let place = matrices(
                inputs,
                format!("image/{element}/{bytes}/{part}"),
                element,
                stored,
                &CLASSES,
            );
            kernel.line(format!("mov.u32 %t10, %ctaid.x; mad.wide.u32 %a1, %t10, {bytes}, %in; add.u64 %a1, %a1, {place};"));
            kernel.line(format!("wmma.load.{part}.sync.aligned.{layout}.{shape}.global.{element} {held}, [%a1], {stride};"));
        }
        kernel.line(format!("{form} {rd}, {ra}, {rb}, {rc};"));
        let bytes = m * n * bits_of(d) / 8;
        let (out, stride) = (kernel.out, if row_c == "row" { n } else { m });
        kernel.line(format!(
            "mad.wide.u32 %a1, %t10, {bytes}, %out; add.u64 %a1, %a1, {out};"
        ));
        kernel.line(format!(
            "wmma.store.d.sync.aligned.{row_c}.{shape}.global.{d} [%a1], {rd}, {stride};"
        ));
        kernel.outcome(
            format!("{form} / c and d {row_c}"),
            bytes * CLASSES.len(),
            bits_of(d) / 8,
        );
    }
}

const TILES: usize = 16;

fn words(inputs: &mut Inputs, name: &str, count: usize) -> usize {
    inputs.place(name.to_owned(), 32, |name| hashes(name, count, 1).collect())
}

/// `ldmatrix`, `stmatrix` and `movmatrix` on rows in any order.
pub fn rows(inputs: &mut Inputs) -> Module {
    let mut module = Module::new("rows");
    let kernel = module.kernel(32, TILES, 0);
    kernel.variable(".shared .align 128 .b8 tile[2048];");
    let places = inputs.place("places".to_owned(), 32, |_| {
        let of_tile = |tile| {
            let hashes: Vec<u64> = hashes(&format!("places{tile}"), 128, 1).collect();
            let mut order: Vec<usize> = (0..128).collect();
            order.sort_by_key(|&at| hashes[at]);
            order.into_iter().take(32).map(|row| row as u64 * 16)
        };
        (0..TILES).flat_map(of_tile).collect()
    });
    kernel.load_one("%r1", 4, places);
    kernel.line("mov.u32 %t10, tile; add.u32 %r1, %r1, %t10; mad.lo.u32 %t11, %t2, 64, %t10;");
    let tile = registers('r', 60, 16);
    let all = words(inputs, "words", TILES * 512);
    let fill = |kernel: &mut Kernel| {
        kernel.load(&tile, 4, all);
        for (at, register) in tile.iter().enumerate() {
            kernel.line(format!("st.shared.b32 [%t11+{}], {register};", 4 * at));
        }
        kernel.line("bar.warp.sync -1;");
    };
    fill(kernel);
    let forms = |opcode: &'static str| {
        let each = [1, 2, 4]
            .into_iter()
            .flat_map(|count| ["", ".trans"].map(|trans| (count, trans)));
        each.map(move |(count, trans)| {
            (
                count,
                format!("{opcode}.sync.aligned.m8n8.x{count}{trans}.shared.b16"),
            )
        })
    };
    for (count, form) in forms("ldmatrix") {
        let held = registers('r', 10, count);
        kernel.line(format!("{form} {}, [%r1];", vector(&held)));
        kernel.store(form, &held, 4);
    }
    for (count, form) in forms("stmatrix") {
        kernel.line("bar.warp.sync -1;");
        fill(kernel);
        let held = registers('r', 20, count);
        kernel.load(
            &held,
            4,
            words(inputs, &format!("held{count}"), TILES * 32 * count),
        );
        kernel.line(format!("{form} [%r1], {};", vector(&held)));
        kernel.line("bar.warp.sync -1;");
        for (at, register) in tile.iter().enumerate() {
            kernel.line(format!("ld.shared.b32 {register}, [%t11+{}];", 4 * at));
        }
        kernel.store(form, &tile, 4);
    }
    let form = "movmatrix.sync.aligned.m8n8.trans.b16";
    kernel.load_one("%r20", 4, words(inputs, "held1", TILES * 32));
    kernel.line(format!("{form} %r21, %r20;"));
    kernel.store_one(form, "%r21", 4);
    module
}

//! Products with a sparse matrix A against plain sums over what is stored of it.

use proptest::prelude::*;
use warpwatt_ptx::load;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// What each thread holds: registers of A, of B, and the metadata.
type Held = Vec<u32>;

/// Runs an instruction on what the threads hold in `%r10` and the registers behind it; D, four singles a thread, which begin with 1. `shared` is copied to `tile`.
fn run(instruction: &str, held: &[Held], shared: &[u32]) -> Vec<f32> {
    let words = held[0].len();
    let loads: String = (0..words)
        .map(|at| format!("ld.global.u32 %r{}, [%d3+{}];\n", 10 + at, 4 * at))
        .collect();
    let source = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 s, .param .u64 out)\n{{
        .shared .align 1024 .b8 tile[512]; .reg .pred %p<2>; .reg .b32 %r<40>; .reg .f32 %f<4>; .reg .b64 %d<9>;
        ld.param.u64 %d0, [p]; ld.param.u64 %d1, [s]; ld.param.u64 %d2, [out]; mov.u32 %r0, %tid.x;
        mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d3, %d1; ld.global.u32 %r1, [%d3]; mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3;
        st.shared.u32 [%r2], %r1; fence.proxy.async; bar.sync 0;
        mul.wide.u32 %d3, %r0, {}; add.u64 %d3, %d3, %d0; {loads}
        mov.u32 %r1, tile; cvt.u64.u32 %d4, %r1; shr.u64 %d4, %d4, 4; add.u64 %d4, %d4, {};
        mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
        {instruction}
        shl.b32 %r3, %r0, 4; cvt.u64.u32 %d3, %r3; add.u64 %d3, %d3, %d2; st.global.v4.f32 [%d3], {{%f0, %f1, %f2, %f3}}; ret; }}",
        4 * words,
        128u64 >> 4 << 16 | 128u64 >> 4 << 32
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(module.entries[0].unsupported, []);
    let mut memory = DeviceMemory::new(&module);
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let held = bytes(&held.concat());
    let threads = shared.len();
    let addresses = [
        memory.alloc("held", held),
        memory.alloc("shared", bytes(shared)),
        memory.alloc("out", vec![0; 16 * threads]),
    ];
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [threads as u32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: addresses.iter().flat_map(|it| it.to_le_bytes()).collect(),
    };
    execute(&module, &launch, &mut memory, &Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let (words, _) = memory.buffer(addresses[2]).as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Elements of A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Tf32,
    Bf16,
    E4m3,
    S8,
}

impl Kind {
    /// Elements of a register.
    fn each(self) -> usize {
        match self {
            Self::Tf32 => 1,
            Self::Bf16 => 2,
            Self::E4m3 | Self::S8 => 4,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
            Self::E4m3 => "e4m3",
            Self::S8 => "s8",
        }
    }

    /// The bits of a small whole number.
    fn bits(self, value: f32) -> u32 {
        match self {
            Self::Tf32 => value.to_bits(),
            // The upper half of a single.
            Self::Bf16 => value.to_bits() >> 16,
            Self::S8 => u32::from(value as i8 as u8),
            // Four bits of exponent with a bias of 7, three of mantissa.
            Self::E4m3 if value == 0.0 => 0,
            Self::E4m3 => {
                let bits = value.to_bits();
                let exponent = (bits >> 23 & 0xff) - 127 + 7;
                bits >> 31 << 7 | exponent << 3 | bits >> 20 & 7
            }
        }
    }
}

/// A sparse A, a B of eight columns, and which columns of A are stored.
struct Case {
    kind: Kind,
    depth: usize,
    seed: u32,
}

impl Case {
    fn random(&self, at: usize) -> u32 {
        let mixed = (self.seed ^ (at as u32).wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
        mixed >> 13
    }

    fn stored(&self, row: usize, at: usize) -> f32 {
        (self.random(row * 64 + at) % 15) as f32 - 7.0
    }

    fn b(&self, at: usize, column: usize) -> f32 {
        (self.random(5000 + at * 8 + column) % 15) as f32 - 7.0
    }

    /// Of a row's group of neighbours: the four bits that say which are stored.
    fn chosen(&self, row: usize, group: usize) -> u32 {
        let random = self.random(9000 + row * 64 + group) as usize;
        match self.kind {
            Kind::Tf32 => [0b0100, 0b1110][random % 2],
            _ => [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110][random % 6],
        }
    }

    /// The column of what is stored.
    fn column(&self, row: usize, at: usize) -> usize {
        match self.kind {
            Kind::Tf32 => 2 * at + usize::from(self.chosen(row, at) == 0b1110),
            _ => {
                let bits = self.chosen(row, at / 2) >> (at % 2 * 2);
                at / 2 * 4 + (bits & 3) as usize
            }
        }
    }

    /// 1 and the product.
    fn wanted(&self, row: usize, column: usize) -> f32 {
        let all = (0..self.depth / 2)
            .map(|at| self.stored(row, at) * self.b(self.column(row, at), column));
        1.0 + all.sum::<f32>()
    }

    /// A register of neighbours.
    fn packed(&self, value: impl Fn(usize) -> f32) -> u32 {
        let each = self.kind.each();
        let width = 32 / each;
        (0..each).fold(0, |word, part| {
            word | self.kind.bits(value(part)) << (part * width)
        })
    }

    /// Registers of what is stored of A in a lane, of rows from `first` on: as `mma` has a dense matrix of half the depth.
    fn left(&self, first: usize, lane: usize) -> Vec<u32> {
        let each = self.kind.each();
        let count = 16 * self.depth / 2 / each / 32;
        let register = |number: usize| {
            let row = first + lane / 4 + number % 2 * 8;
            let at = (lane % 4 + number / 2 * 4) * each;
            self.packed(|part| self.stored(row, at + part))
        };
        (0..count).map(register).collect()
    }

    fn right(&self, lane: usize) -> Vec<u32> {
        let each = self.kind.each();
        let register = |number: usize| {
            let at = (lane % 4 + number * 4) * each;
            self.packed(|part| self.b(at + part, lane / 4))
        };
        (0..self.depth * 8 / each / 32).map(register).collect()
    }

    /// Sixteen bits of each of two rows in the lanes that the selector names, or thirty-two of one where elements have eight bits; noise in the others.
    fn metadata(&self, first: usize, lane: usize, selector: usize) -> u32 {
        let groups = self.depth / if self.kind == Kind::Tf32 { 2 } else { 4 };
        let lanes = groups / 4;
        let Some(part) = (lane % 4)
            .checked_sub(selector * lanes)
            .filter(|part| *part < lanes)
        else {
            return self.random(lane);
        };
        let bits = |row: usize, groups: std::ops::Range<usize>| {
            let bits = |bits, (at, group)| bits | self.chosen(row, group) << (4 * at);
            groups.enumerate().fold(0, bits)
        };
        let row = first + lane / 4;
        if self.kind.each() == 4 {
            return bits(row + part % 2 * 8, part / 2 * 8..part / 2 * 8 + 8);
        }
        let groups = part * 4..part * 4 + 4;
        bits(row, groups.clone()) | bits(row + 8, groups) << 16
    }

    fn check(&self, found: &[f32]) {
        for (at, &found) in found.iter().enumerate() {
            let (thread, part) = (at / 4, at % 4);
            let row = thread / 32 * 16 + thread % 32 / 4 + part / 2 * 8;
            let column = thread % 4 * 2 + part % 2;
            assert_eq!(found, self.wanted(row, column), "row {row} column {column}");
        }
    }
}

fn registers(range: std::ops::Range<usize>) -> String {
    let names: Vec<String> = range.map(|at| format!("%r{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// The sums of integers are integers.
fn as_integers(instruction: &str) -> String {
    let of = |text: &str, from: &str, to: &str| -> String {
        let all = (0..4).map(|at| {
            format!(
                "{text} %{to}{}, %{from}{};\n",
                at + if to == "r" { 30 } else { 0 },
                at + if from == "r" { 30 } else { 0 }
            )
        });
        all.collect()
    };
    let sums = "{%r30, %r31, %r32, %r33}";
    let inner = instruction.replace("{%f0, %f1, %f2, %f3}", sums);
    let (before, after) = (
        of("cvt.rni.s32.f32", "f", "r"),
        of("cvt.rn.f32.s32", "r", "f"),
    );
    format!("{before}{inner}\n{after}")
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Tf32),
        Just(Kind::Bf16),
        Just(Kind::E4m3),
        Just(Kind::S8)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn products_of_a_warp(kind in kinds(), deep: bool, pick in 0usize..4, seed: u32) {
        let deep = deep || kind == Kind::E4m3;
        let depth = (8 * kind.each()) << usize::from(deep);
        let case = Case { kind, depth, seed };
        let lanes = depth / if kind == Kind::Tf32 { 8 } else { 16 };
        let selector = pick % (4 / lanes);
        let held: Vec<Held> = (0..32).map(|lane| {
            [case.left(0, lane), case.right(lane), vec![case.metadata(0, lane, selector)]].concat()
        }).collect();
        let [a, b] = [case.left(0, 0).len(), case.right(0).len()];
        let (element, sum) = (kind.name(), if kind == Kind::S8 { "s32" } else { "f32" });
        let instruction = format!(
            "mma.sp.sync.aligned.m16n8k{depth}.row.col.{sum}.{element}.{element}.{sum} {{%f0, %f1, %f2, %f3}}, {}, {}, {{%f0, %f1, %f2, %f3}}, %r{}, {selector};",
            registers(10..10 + a), registers(10 + a..10 + a + b), 10 + a + b
        );
        let instruction = if kind == Kind::S8 { as_integers(&instruction) } else { instruction };
        case.check(&run(&instruction, &held, &[0; 32]));
    }

    #[test]
    fn products_of_a_warpgroup(kind in kinds(), pick in 0usize..2, seed: u32) {
        let depth = 16 * kind.each();
        let selector = if kind.each() == 4 { 0 } else { pick };
        let case = Case { kind, depth, seed };
        let held: Vec<Held> = (0..128).map(|thread| {
            let (first, lane) = (thread / 32 * 16, thread % 32);
            [case.left(first, lane), vec![case.metadata(first, lane, selector)]].concat()
        }).collect();
        // Pieces of sixteen bytes of each column, along the inner dimension.
        let words = (0..128).map(|word| {
            let (piece, column, at) = (word / 32, word / 4 % 8, word % 4);
            case.packed(|part| case.b((piece * 4 + at) * kind.each() + part, column))
        });
        let (sum, flags) = match kind {
            Kind::Bf16 => ("f32", ", 1, 1, 0"),
            Kind::S8 => ("s32", ""),
            _ => ("f32", ", 1, 1"),
        };
        let element = kind.name();
        let instruction = format!(
            "wgmma.fence.sync.aligned; wgmma.mma_async.sp.sync.aligned.m64n8k{depth}.{sum}.{element}.{element} {{%f0, %f1, %f2, %f3}}, {}, %d4, %r14, {selector}, 1{flags};
            wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
            registers(10..14)
        );
        let instruction = if kind == Kind::S8 { as_integers(&instruction) } else { instruction };
        case.check(&run(&instruction, &held, &words.collect::<Vec<_>>()));
    }
}

/// What is not stored meets nothing, be it infinite.
#[test]
fn what_is_not_stored_is_not_multiplied() {
    let infinite = 0x7f80_7f80;
    let one = 0x3f80_3f80;
    let held: Vec<Held> = (0..32u32)
        .map(|lane| {
            // Of each four the first two are stored; of B those rows are 1, the others infinite.
            let right = if lane % 2 == 0 { one } else { infinite };
            vec![one, one, right, right, 0x4444_4444]
        })
        .collect();
    let instruction = "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r10, %r11}, {%r12, %r13}, {%f0, %f1, %f2, %f3}, %r14, 0;";
    assert_eq!(run(instruction, &held, &[0; 32]), [9.0; 128]);
}

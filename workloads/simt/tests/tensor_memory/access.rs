//! Copies between registers and tensor memory.

use proptest::prelude::*;

use crate::kernel::{bytes, moved, own, registers, run, words};

/// Columns of a copy's piece, and which thread and register of a warp a lane's column is of, by its number in the piece.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Lanes32,
    Bits64,
    Bits128,
    Bits256,
    Twice,
}

const SHAPES: [Shape; 5] = [
    Shape::Lanes32,
    Shape::Bits64,
    Shape::Bits128,
    Shape::Bits256,
    Shape::Twice,
];

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Self::Lanes32 => "32x32b",
            Self::Bits64 => "16x64b",
            Self::Bits128 => "16x128b",
            Self::Bits256 => "16x256b",
            Self::Twice => "16x32bx2",
        }
    }

    fn columns(self) -> u32 {
        match self {
            Self::Lanes32 | Self::Twice => 1,
            Self::Bits64 => 2,
            Self::Bits128 => 4,
            Self::Bits256 => 8,
        }
    }

    fn registers(self) -> u32 {
        match self {
            Self::Bits128 => 2,
            Self::Bits256 => 4,
            _ => 1,
        }
    }

    /// Thread and register that have a lane's column; of the two halves of `Twice` the first.
    fn holder(self, lane: u32, column: u32) -> (u32, u32) {
        let (high, row) = (lane / 8, lane % 8);
        match self {
            Self::Lanes32 | Self::Twice => (lane, column),
            Self::Bits64 => (row * 4 + column % 2 * 2 + high, column / 2),
            Self::Bits128 => (row * 4 + column % 4, column / 4 * 2 + high),
            Self::Bits256 => (
                row * 4 + column % 8 / 2,
                column / 8 * 4 + high * 2 + column % 2,
            ),
        }
    }
}

/// What `tcgen05.ld` of a shape brings, or `tcgen05.st` puts, word by word: `each` is called with the word's lane and column, warp, thread and register, and which
/// half of the register it is, if registers are packed.
fn pairs(
    (shape, pieces, packed): (Shape, u32, bool),
    (upper, apart): (u32, u32),
    mut each: impl FnMut([u32; 2], usize, u32),
) {
    let registers = pieces * shape.registers();
    let lanes = if matches!(shape, Shape::Lanes32) {
        32
    } else {
        16
    };
    let halves = if matches!(shape, Shape::Twice) { 2 } else { 1 };
    for warp in 0..4 {
        for lane in 0..lanes {
            for column in 0..pieces * shape.columns() {
                for half in 0..halves {
                    let (thread, register) = shape.holder(lane, column);
                    let thread = warp * 32 + thread + half * 16;
                    let at = (thread * registers + register) as usize;
                    let lane = warp * 32 + upper + lane;
                    let first = half * apart;
                    match packed {
                        true => {
                            each([lane, first + 2 * column], at, 1);
                            each([lane, first + 2 * column + 1], at, 2);
                        }
                        false => each([lane, first + column], at, 0),
                    }
                }
            }
        }
    }
}

fn copies() -> impl Strategy<Value = (Shape, u32, bool, bool)> {
    (0usize..5, 0u32..8, any::<bool>(), any::<bool>()).prop_map(|(shape, pieces, packed, upper)| {
        let shape = SHAPES[shape];
        let most = 128 / shape.registers();
        // With two columns a register no more than there are.
        (shape, (1 << pieces).min(most), packed, upper)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Each shape moves what the tables of the ISA say, both ways; through memory filled lane by lane, or read so.
    #[test]
    fn shapes_move_what_lies_where((shape, pieces, packed, upper) in copies(), loads: bool, seed in any::<u32>()) {
        let registers_used = pieces * shape.registers();
        let width = pieces * shape.columns() * if packed { 2 } else { 1 };
        let twice = matches!(shape, Shape::Twice);
        prop_assume!(width * if twice { 2 } else { 1 } <= 512);
        let upper = if upper && !matches!(shape, Shape::Lanes32) { 16 } else { 0 };
        let apart = if twice { width } else { 0 };
        let whole = 512;
        let value = |at: u32| (at ^ seed).wrapping_mul(0x9E37_79B9);
        let memory: Vec<u32> = (0..128 * whole).map(value).collect();
        let held: Vec<u32> = (0..128 * registers_used).map(|at| value(at ^ 0x5555_0000)).collect();
        let pack = match (packed, loads) { (false, _) => "", (true, true) => ".pack::16b", (true, false) => ".unpack::16b" };
        let name = format!("sync.aligned.{}.x{pieces}{pack}.b32", shape.name());
        let split = if twice { format!(", {apart}") } else { String::new() };
        let list = registers(100, registers_used);
        let address = format!("add.u32 %r92, %r91, {};", upper << 16);
        let copy = match loads {
            true => format!("{address} tcgen05.ld.{name} {list}, [%r92 + 0]{split}; tcgen05.wait::ld.sync.aligned;"),
            false => format!("{address} tcgen05.st.{name} [%r92]{split}, {list}; tcgen05.wait::st.sync.aligned;"),
        };
        // All columns, 128 at a time.
        let whole_memory = |store: bool| -> String {
            (0..4).map(|part| {
                let list = registers(300, 128);
                let place = format!("[%r91 + {}]", part * 128);
                let here = format!("{} add.u64 %d20, %d20, {};", own(if store { 0 } else { 2 }, whole), part * 512);
                match store {
                    true => format!("{here} {} tcgen05.st.sync.aligned.32x32b.x128.b32 {place}, {list};", moved(true, 300, 128)),
                    false => format!("tcgen05.ld.sync.aligned.32x32b.x128.b32 {list}, {place}; {here} {}", moved(false, 300, 128)),
                }
            }).collect()
        };
        let (before, after, size) = match loads {
            true => (whole_memory(true), format!("{} {}", own(2, registers_used), moved(false, 100, registers_used)), 128 * registers_used),
            false => (format!("{} {} {}", whole_memory(true), own(1, registers_used), moved(true, 100, registers_used)), whole_memory(false), 128 * whole),
        };
        let buffers = [bytes(memory.clone()), bytes(held.clone()), vec![0; 4 * size as usize]];
        let found = words(&run(&format!("{before} {copy} {after}"), 128, 512, &buffers).unwrap());
        let mut wanted = if loads { vec![0; size as usize] } else { memory.clone() };
        pairs((shape, pieces, packed), (upper, apart), |[lane, column], at, half| {
            let place = (lane * whole + column) as usize;
            match (loads, half) {
                (true, 0) => wanted[at] = memory[place],
                (true, 1) => wanted[at] |= memory[place] & 0xffff,
                (true, _) => wanted[at] |= memory[place] << 16,
                (false, 0) => wanted[place] = held[at],
                (false, 1) => wanted[place] = held[at] & 0xffff,
                (false, _) => wanted[place] = held[at] >> 16,
            }
        });
        prop_assert!(found == wanted, "{shape:?} x{pieces} packed {packed} loads {loads} upper {upper}");
    }
}

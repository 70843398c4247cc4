//! SIMD video instructions: bytes or halves of words.

use warpwatt_ptx::program::{Comparison, Video, VideoOp};

/// Computes element by element; see [`Video`] for the operands.
pub fn video<const W: usize>(how: &Video, sources: &[&[u32; W]]) -> [u32; W] {
    std::array::from_fn(|lane| {
        let operand = |at: usize| sources.get(at).map_or(0, |source| source[lane]);
        one(how, operand(0), operand(1), operand(2))
    })
}

fn one(how: &Video, a: u32, b: u32, c: u32) -> u32 {
    let bits = 32 / u32::from(how.elements);
    let mut word = 0u32;
    let mut sum = c;
    for at in 0..u32::from(how.elements) {
        let (x, y) = (
            element(a, at, bits, how.signed[0]),
            element(b, at, bits, how.signed[1]),
        );
        let value = clamped(how, compute(how.op, x, y), bits);
        word |= (value as u32 & mask(bits)) << (at * bits);
        sum = sum.wrapping_add(value as u32);
    }
    if how.accumulate { sum } else { word }
}

fn mask(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

fn element(word: u32, at: u32, bits: u32, signed: bool) -> i32 {
    let value = word >> (at * bits) & mask(bits);
    if signed {
        (value << (32 - bits)) as i32 >> (32 - bits)
    } else {
        value as i32
    }
}

fn compute(op: VideoOp, a: i32, b: i32) -> i32 {
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => (a - b).abs(),
        // Halves round away from zero.
        VideoOp::Average => (a + b + i32::from(a + b >= 0)) >> 1,
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        VideoOp::Set(how) => i32::from(match how {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            _ => a >= b,
        }),
    }
}

fn clamped(how: &Video, value: i32, bits: u32) -> i32 {
    match (how.saturate, how.result_signed) {
        (false, _) => value,
        (true, true) => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (true, false) => value.clamp(0, (1 << bits) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(op: VideoOp, elements: u8, saturate: bool, accumulate: bool, words: [u32; 3]) -> u32 {
        let how = Video {
            op,
            elements,
            signed: [false; 2],
            result_signed: false,
            saturate,
            accumulate,
        };
        video(&how, &[&[words[0]], &[words[1]], &[words[2]]])[0]
    }

    #[test]
    fn elements_do_not_carry_into_each_other() {
        let words = [0xff01_80fe, 0x0101_8001, 7];
        assert_eq!(run(VideoOp::Add, 4, false, false, words), 0x0002_00ff);
        assert_eq!(run(VideoOp::Add, 4, true, false, words), 0xff02_ffff);
        assert_eq!(run(VideoOp::Add, 2, false, false, words), 0x0002_00ff);
    }

    #[test]
    fn differences_are_summed_on_top_of_the_third_operand() {
        assert_eq!(
            run(
                VideoOp::AbsDiff,
                4,
                false,
                true,
                [0x0a00_05ff, 0x0003_0500, 100]
            ),
            100 + 10 + 3 + 255
        );
    }

    #[test]
    fn averages_round_up() {
        assert_eq!(
            run(
                VideoOp::Average,
                4,
                false,
                false,
                [0x0201_0000, 0x0101_00ff, 0]
            ),
            0x0201_0080
        );
    }
}

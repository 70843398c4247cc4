//! Video instructions: bytes or halves of words.

use warpwatt_ptx::program::{Comparison, Part, ScalarVideo, Second, Video, VideoMad, VideoOp};

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
    // The elements of both operands, one behind the other.
    let chosen = |number: u8, signed: bool| {
        let (word, at) = if number < how.elements {
            (a, number)
        } else {
            (b, number - how.elements)
        };
        element(word, u32::from(at), bits, signed)
    };
    for at in 0..u32::from(how.elements) {
        if how.written >> at & 1 == 0 {
            word |= c & mask(bits) << (at * bits);
            continue;
        }
        let [x, y] =
            [0, 1].map(|operand| chosen(how.selected[operand][at as usize], how.signed[operand]));
        let value = clamped(
            how,
            compute(how.op, i64::from(x), i64::from(y)) as i32,
            bits,
        );
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

fn compute(op: VideoOp, a: i64, b: i64) -> i64 {
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => (a - b).abs(),
        // Halves round away from zero.
        VideoOp::Average => (a + b + i64::from(a + b >= 0)) >> 1,
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        VideoOp::Set(how) => i64::from(match how {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            _ => a >= b,
        }),
        VideoOp::ShiftLeft { wrap } => a << shift_count(b, wrap),
        VideoOp::ShiftRight { wrap } => a >> shift_count(b, wrap),
        // Computed with its third operand.
        VideoOp::MultiplyAdd(_) => 0,
    }
}

fn shift_count(by: i64, wrap: bool) -> u32 {
    let by = by as u32;
    if wrap { by & 31 } else { by.min(32) }
}

/// Scalar video instructions, as their descriptions in PTX compute them.
pub fn scalar_video<const W: usize>(how: &ScalarVideo, sources: &[&[u32; W]]) -> [u32; W] {
    std::array::from_fn(|lane| {
        let operand = |at: usize| sources.get(at).map_or(0, |source| source[lane]);
        scalar_one(how, [operand(0), operand(1), operand(2)])
    })
}

fn scalar_one(how: &ScalarVideo, [a, b, c]: [u32; 3]) -> u32 {
    let [x, y] = [(a, 0), (b, 1)].map(|(word, at)| part(word, how.parts[at], how.signed[at]));
    let wide = match how.op {
        VideoOp::MultiplyAdd(mad) => multiply_add(how, mad, [x, y], c),
        op => i128::from(compute(op, x, y)),
    };
    let written = match how.second {
        Second::Merge(part) => part,
        _ => Part::Whole,
    };
    let value = saturated(how, wide, width(written)) as u32;
    let signed = how.result_signed;
    let first = |before: bool| if before { value } else { c };
    let is_less = |x: u32, y: u32| {
        if signed { (x as i32) < y as i32 } else { x < y }
    };
    match how.second {
        Second::None => value,
        Second::Add => value.wrapping_add(c),
        Second::Min => first(is_less(value, c)),
        Second::Max => first(is_less(c, value)),
        Second::Merge(Part::Whole) => value,
        Second::Merge(part) => {
            let bits = width(part);
            let place = mask(bits) << (place(part) * bits);
            c & !place | value << (place.trailing_zeros()) & place
        }
    }
}

fn width(part: Part) -> u32 {
    match part {
        Part::Whole => 32,
        Part::Half(_) => 16,
        Part::Byte(_) => 8,
    }
}

fn place(part: Part) -> u32 {
    match part {
        Part::Whole => 0,
        Part::Half(at) | Part::Byte(at) => u32::from(at),
    }
}

/// A part of a word, extended.
fn part(word: u32, part: Part, signed: bool) -> i64 {
    match part {
        Part::Whole if signed => i64::from(word as i32),
        Part::Whole => i64::from(word),
        part => i64::from(element(word, place(part), width(part), signed)),
    }
}

/// `vmad`: the result is signed if a factor is, or if a sign is turned.
fn multiply_add(how: &ScalarVideo, mad: VideoMad, [x, y]: [i64; 2], c: u32) -> i128 {
    let turned = mad.negative[0] ^ mad.negative[1];
    let signed = how.signed[0] || how.signed[1] || turned || mad.negative[2];
    let third = if signed {
        i128::from(c as i32)
    } else {
        i128::from(c)
    };
    let product = i128::from(x) * i128::from(y);
    let sign = |value: i128, turned: bool| if turned { -value } else { value };
    let sum = sign(product, turned) + sign(third, mad.negative[2]) + i128::from(mad.plus_one);
    sum >> mad.shift
}

fn saturated(how: &ScalarVideo, value: i128, bits: u32) -> i128 {
    match (how.saturate, how.result_signed) {
        (false, _) => value,
        (true, true) => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (true, false) => value.clamp(0, (1 << bits) - 1),
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
            saturate,
            accumulate,
            ..Video::whole(op, elements, false)
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

    #[test]
    fn elements_are_chosen_from_both_operands_and_written_by_a_mask() {
        let how = Video {
            selected: [[7, 6, 5, 4], [0, 0, 0, 0]],
            written: 0b0101,
            ..Video::whole(VideoOp::Add, 4, false)
        };
        let words = [[0x0000_0001u32], [0x4030_2010], [0xaabb_ccdd]];
        assert_eq!(
            video(&how, &[&words[0], &words[1], &words[2]]),
            [0xaa21_cc41]
        );
    }

    fn scalar(op: VideoOp) -> ScalarVideo {
        ScalarVideo {
            op,
            signed: [true; 2],
            result_signed: true,
            parts: [Part::Whole; 2],
            saturate: false,
            second: Second::None,
        }
    }

    fn run_scalar(how: ScalarVideo, [a, b, c]: [u32; 3]) -> u32 {
        scalar_video(&how, &[&[a], &[b], &[c]])[0]
    }

    #[test]
    fn parts_are_extended_clamped_and_merged() {
        let how = ScalarVideo {
            parts: [Part::Byte(3), Part::Half(0)],
            saturate: true,
            second: Second::Merge(Part::Byte(1)),
            ..scalar(VideoOp::Add)
        };
        // -128 + -1000 is -128 of a byte.
        assert_eq!(
            run_scalar(how, [0x8000_0000, 0x0000_fc18, 0x1122_3344]),
            0x1122_8044
        );
        let least = ScalarVideo {
            second: Second::Min,
            ..scalar(VideoOp::AbsDiff)
        };
        assert_eq!(run_scalar(least, [3, 10, u32::MAX]), u32::MAX);
        assert_eq!(run_scalar(least, [3, 10, 100]), 7);
    }

    #[test]
    fn shifts_clamp_or_wrap() {
        let shift = |wrap| scalar(VideoOp::ShiftRight { wrap });
        assert_eq!(run_scalar(shift(false), [0x8000_0000, 33, 0]), u32::MAX);
        assert_eq!(run_scalar(shift(true), [0x8000_0000, 33, 0]), 0xc000_0000);
    }

    #[test]
    fn products_are_wide_before_they_are_shifted_and_clamped() {
        let mad = VideoMad {
            negative: [false, true, false],
            plus_one: true,
            shift: 15,
        };
        let how = ScalarVideo {
            saturate: true,
            ..scalar(VideoOp::MultiplyAdd(mad))
        };
        // -(2^30 * 2^30) + 5 + 1 is far below the range even after the shift.
        assert_eq!(run_scalar(how, [1 << 30, 1 << 30, 5]), 0x8000_0000);
        assert_eq!(run_scalar(how, [1 << 15, 3, 1 << 15]), 0xffff_fffe);
    }
}

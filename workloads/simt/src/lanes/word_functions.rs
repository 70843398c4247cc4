//! Functions of words: bits found, fields extended, values packed, 8-bit floats.

use warpwatt_ptx::program::{Rounding, SmallFormat, WordFunction};
use warpwatt_ptx::types::Space;

use super::half::{Layout, decode_half, encode_half, round_integral};

/// Computes lane by lane.
pub fn word_function<const W: usize>(how: WordFunction, sources: &[&[u32; W]]) -> [u32; W] {
    std::array::from_fn(|lane| {
        let operand = |at: usize| sources.get(at).map_or(0, |source| source[lane]);
        one(how, [operand(0), operand(1), operand(2)])
    })
}

fn one(how: WordFunction, [a, b, c]: [u32; 3]) -> u32 {
    match how {
        WordFunction::FindNthSet => find_nth_set(a, b, c as i32),
        WordFunction::Extend { signed, clamp } => extend(a, b, signed, clamp),
        WordFunction::MapShared { generic } => map_shared(a, b, c, generic),
        WordFunction::SharedRank => shared_rank(a, b),
        WordFunction::Pack { bits, signed } => {
            let (low, high) = if signed {
                (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1)
            } else {
                (0, (1i64 << bits) - 1)
            };
            let clamped = |value: u32| {
                let value = i64::from(value as i32).clamp(low, high) as u32;
                value & ((1 << bits) - 1)
            };
            // The third source is there for less than 16 bits only; else nothing of it would be left.
            let moved = u64::from(c) << (2 * u32::from(bits));
            clamped(a) << bits | clamped(b) | moved as u32
        }
        WordFunction::EncodeSmall {
            format,
            relu,
            of_pair,
        } => {
            let values = if of_pair {
                [a >> 16, a & 0xffff].map(|half| decode_half(half as u16))
            } else {
                [a, b].map(|single| f64::from(f32::from_bits(single)))
            };
            let [high, low] = values.map(|value| encode(format, positive(value, relu)));
            high << 8 | low
        }
        WordFunction::DecodeSmall { format, relu } => {
            let half = |bits: u32| {
                let value = positive(decode_small(format, bits), relu);
                u32::from(encode_half(value, Rounding::Nearest))
            };
            half(a >> 8) << 16 | half(a)
        }
    }
}

fn positive(value: f64, relu: bool) -> f64 {
    if relu && value <= 0.0 { 0.0 } else { value }
}

/// `fns`, as its description in PTX computes it.
fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |at: &u32| mask >> at & 1 == 1;
    let nth = |mut places: Box<dyn Iterator<Item = u32>>| {
        let before = offset.unsigned_abs().saturating_sub(1) as usize;
        places.nth(before).unwrap_or(u32::MAX)
    };
    match offset {
        _ if base > 31 => u32::MAX,
        0 if is_set(&base) => base,
        0 => u32::MAX,
        1.. => nth(Box::new((base..32).filter(move |at| mask >> at & 1 == 1))),
        _ => nth(Box::new(
            (0..=base).rev().filter(move |at| mask >> at & 1 == 1),
        )),
    }
}

fn extend(value: u32, bits: u32, signed: bool, clamp: bool) -> u32 {
    let bits = if clamp { bits.min(32) } else { bits & 31 };
    match (bits, signed) {
        (0, _) => 0,
        (bits, true) => ((value << (32 - bits)) as i32 >> (32 - bits)) as u32,
        (bits, false) => value << (32 - bits) >> (32 - bits),
    }
}

/// An 8-bit float in the lowest bits. E4M3 has no infinities and uses all but the last of those codes as numbers.
pub fn decode_small(format: SmallFormat, bits: u32) -> f64 {
    let bits = bits & 0xff;
    match format {
        SmallFormat::E5m2 => Layout::E5M2.decode(bits),
        SmallFormat::E4m3 if bits & 0x7f == 0x7f => f64::NAN,
        SmallFormat::E4m3 => {
            let magnitude = Layout::E4M3.decode_finite(bits & 0x7f);
            if bits & 0x80 == 0 {
                magnitude
            } else {
                -magnitude
            }
        }
    }
}

/// To the nearest value, ties to even; what is beyond the largest finite value becomes that, as `.satfinite` demands.
fn encode(format: SmallFormat, value: f64) -> u32 {
    let sign = u32::from(value.is_sign_negative()) << 7;
    let nearest = |value| round_integral(value, Rounding::Nearest);
    let (layout, largest, nan) = match format {
        SmallFormat::E4m3 => (Layout::E4M3, 448.0, 0x7f),
        SmallFormat::E5m2 => (Layout::E5M2, 57344.0, 0x7f),
    };
    if value.is_nan() {
        return nan;
    }
    sign | layout.encode_finite(value.abs().min(largest), nearest)
}

/// The address in the CTA of a rank of what an address of shared memory names. Ranks that no cluster has lie where no CTA's memory does.
fn map_shared(address: u32, rank: u32, own: u32, generic: bool) -> u32 {
    let peer = Space::PEER as u32;
    let last = (Space::WINDOW / Space::PEER) as u32 - 2;
    let window = match generic {
        true => Space::Shared.window_base() as u32,
        false => 0,
    };
    let offset = address.wrapping_sub(window) % peer;
    let first = match rank == own {
        true => 0,
        false => (rank.min(last) + 1) * peer,
    };
    window + first + offset
}

/// The rank of the CTA that an address of shared memory lies in.
fn shared_rank(address: u32, own: u32) -> u32 {
    let place = address % Space::WINDOW as u32 / Space::PEER as u32;
    place.checked_sub(1).unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_are_counted_from_a_place_both_ways() {
        let mask = 0b1010_0110;
        assert_eq!(find_nth_set(mask, 0, 2), 2);
        assert_eq!(find_nth_set(mask, 2, 1), 2);
        assert_eq!(find_nth_set(mask, 6, -2), 2);
        assert_eq!(find_nth_set(mask, 3, 0), u32::MAX);
        assert_eq!(find_nth_set(mask, 0, 9), u32::MAX);
    }

    #[test]
    fn lower_bits_are_extended() {
        assert_eq!(extend(0xf5, 4, false, true), 5);
        assert_eq!(extend(0x8, 4, true, true), 0xffff_fff8);
        assert_eq!(extend(7, 40, false, true), 7);
        assert_eq!(extend(7, 32, false, false), 0);
    }

    #[test]
    fn words_are_packed_below_what_was_there() {
        let how = WordFunction::Pack {
            bits: 8,
            signed: false,
        };
        assert_eq!(one(how, [300, -5i32 as u32, 0x1234_5678]), 0x5678_ff00);
        let wide = WordFunction::Pack {
            bits: 16,
            signed: true,
        };
        assert_eq!(one(wide, [40_000, -40_000i32 as u32, 0]), 0x7fff_8000);
    }

    #[test]
    fn every_8_bit_float_survives_a_round_trip() {
        for format in [SmallFormat::E4m3, SmallFormat::E5m2] {
            for bits in 0..=0xff {
                let value = decode_small(format, bits);
                if value.is_finite() {
                    assert_eq!(encode(format, value), bits, "{format:?} {value}");
                }
            }
        }
        assert_eq!(decode_small(SmallFormat::E4m3, 0x7e), 448.0);
        assert_eq!(encode(SmallFormat::E4m3, 1e9), 0x7e);
        assert_eq!(encode(SmallFormat::E5m2, -1e9), 0xfb);
    }
}

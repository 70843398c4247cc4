//! Small Mersenne twisters (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998), each by the recurrence over all of its words, and
//! pairs of their numbers as normal ones (Box and Muller, Ann. Math. Stat. 29, 1958) in double precision.

use std::f64::consts::TAU;

use super::{Inputs, Outputs};

const WORDS: usize = 19;
const MIDDLE: usize = 9;

pub(crate) fn mersenne_twister(inputs: &Inputs<'_>) -> Outputs {
    let draws = inputs.size("draws");
    let [seeds, twists, masks_b, masks_c] =
        ["seed", "twist", "mask_b", "mask_c"].map(|name| inputs.u32s(name));
    let threads = seeds.len();
    let mut numbers = vec![0.0; threads * draws];
    for thread in 0..threads {
        let words = recurrence(seeds[thread], twists[thread], draws);
        let uniform = words.iter().map(|word| {
            let tempered = temper(*word, masks_b[thread], masks_c[thread]);
            (tempered as f32 + 1.0) * 2f32.powi(-32)
        });
        let uniform: Vec<f32> = uniform.collect();
        for (pair, [one, other]) in uniform.as_chunks().0.iter().enumerate() {
            let (one, other) = (f64::from(*one), f64::from(*other));
            let radius = (-2.0 * one.ln()).max(0.0).sqrt();
            let (sine, cosine) = (TAU * other).sin_cos();
            numbers[2 * pair * threads + thread] = (radius * cosine) as f32;
            numbers[(2 * pair + 1) * threads + thread] = (radius * sine) as f32;
        }
    }
    Outputs::default().f32s("numbers", &numbers)
}

/// The words after the first `WORDS`.
fn recurrence(seed: u32, twist: u32, draws: usize) -> Vec<u32> {
    let mut words = vec![seed];
    for i in 1..WORDS as u32 {
        let last = words[i as usize - 1];
        words.push(
            (last ^ last >> 30)
                .wrapping_mul(1_812_433_253)
                .wrapping_add(i),
        );
    }
    for k in 0..draws {
        let joined = words[k] & !1 | words[k + 1] & 1;
        let odd = if joined & 1 == 1 { twist } else { 0 };
        words.push(words[k + MIDDLE] ^ joined >> 1 ^ odd);
    }
    words.split_off(WORDS)
}

fn temper(mut x: u32, b: u32, c: u32) -> u32 {
    x ^= x >> 12;
    x ^= x << 7 & b;
    x ^= x << 15 & c;
    x ^ x >> 18
}

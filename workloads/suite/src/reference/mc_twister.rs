//! Monte Carlo hits of the quarter circle by a twisted generalised feedback shift register of 17 words.

use super::{Inputs, Outputs};

const WORDS: usize = 17;

pub(crate) fn mc_twister(inputs: &Inputs<'_>) -> Outputs {
    let points = inputs.size("points");
    let hits: Vec<_> = inputs
        .u32s("seeds")
        .into_iter()
        .map(|seed| count(seed, points))
        .collect();
    Outputs::default().u32s("hits", &hits)
}

fn count(seed: u32, points: usize) -> u32 {
    let mut generator = Twister::new(seed);
    let inside = |generator: &mut Twister| {
        let [a, b] = [(); 2].map(|()| u64::from(generator.draw() >> 16));
        a * a + b * b < 0xfffe_0001
    };
    (0..points).filter(|_| inside(&mut generator)).count() as u32
}

/// The state as a queue: the word to be replaced is in front.
struct Twister {
    state: [u32; WORDS],
}

impl Twister {
    fn new(seed: u32) -> Self {
        let mut word = seed;
        let state = std::array::from_fn(|k| {
            word = (word ^ (word >> 30))
                .wrapping_mul(1_812_433_253)
                .wrapping_add(k as u32);
            word
        });
        Self { state }
    }

    fn draw(&mut self) -> u32 {
        let mixed = (self.state[0] & 0xffff_0000) | (self.state[1] & 0xffff);
        let twist = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
        let word = self.state[8] ^ (mixed >> 1) ^ twist;
        self.state[0] = word;
        self.state.rotate_left(1);
        temper(word)
    }
}

/// The tempering of MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998).
fn temper(mut y: u32) -> u32 {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}

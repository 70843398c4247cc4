//! Where flips strike: ChaCha8 with a stream a flip, so that a flip does not depend on how many are drawn.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Draws sites; equal seeds draw equal ones on every machine.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The draws of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// That of a flip, by its number: below `end`, which is at most 2^96, each as likely as any other but for one part in 2^128 over `end`.
    pub fn site(&mut self, flip: u64, end: u128) -> u128 {
        self.0.set_stream(flip);
        self.0.set_word_pos(0);
        let wide = u128::from(self.0.next_u64()) << 64 | u128::from(self.0.next_u64());
        // The upper half of wide * end.
        let (high, low) = (wide >> 64, wide & u128::from(u64::MAX));
        let (end_high, end_low) = (end >> 64, end & u128::from(u64::MAX));
        let middle =
            ((low * end_low) >> 64) + ((high * end_low) & u128::from(u64::MAX)) + low * end_high;
        high * end_high + ((high * end_low) >> 64) + (middle >> 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flip's site is its own: whatever was drawn before, and however many there are.
    #[test]
    fn a_flip_is_drawn_by_its_number() {
        let (mut forward, mut backward) = (Random::new(3), Random::new(3));
        let first: Vec<u128> = (0..100).map(|flip| forward.site(flip, 1 << 70)).collect();
        let mut second: Vec<u128> = (0..100)
            .rev()
            .map(|flip| backward.site(flip, 1 << 70))
            .collect();
        second.reverse();
        assert_eq!(first, second);
        assert_ne!(first[0], Random::new(4).site(0, 1 << 70));
    }

    #[test]
    fn all_of_a_range_and_nothing_else() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 10];
        for flip in 0..10_000 {
            seen[random.site(flip, 10) as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
        let large = 1u128 << 80;
        assert!((0..100).all(|flip| random.site(flip, large) < large));
        assert!((0..100).any(|flip| random.site(flip, large) > large / 2));
    }
}

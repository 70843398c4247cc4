//! Random numbers: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, figure 14).

/// A generator; equal seeds give equal numbers on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, each as likely as any other: from 128 bits, so that a bias is below `end` in 2^128.
    pub fn below(&mut self, end: u128) -> u128 {
        let wide = u128::from(self.next_u64()) << 64 | u128::from(self.next_u64());
        // The upper half of wide * end, for an `end` of at most 2^96.
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

    #[test]
    fn the_first_numbers_are_those_of_the_reference() {
        // Vigna's splitmix64.c, seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let numbers = [(); 3].map(|()| random.next_u64());
        let reference = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(numbers, reference);
    }

    #[test]
    fn all_of_a_range_and_nothing_else() {
        let mut random = SplitMix64::new(7);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
        let large = 1u128 << 80;
        assert!((0..100).all(|_| random.below(large) < large));
        assert!((0..100).any(|_| random.below(large) > large / 2));
    }
}

//! Who may take registers where there may be too few for all: algorithm 1 of section 3.2.
//!
//! As long as the free registers are enough for what the CTA with the most registers may still come to need, that CTA can finish, and with its registers the next.
//! Nobody else takes a register that would end this.

/// Counters of the resident CTAs.
#[derive(Clone, Debug, Default)]
pub(super) struct Throttle {
    /// Registers that a warp may come to need: `N` in the work.
    per_warp: i64,
    /// Those of a CTA: `C`.
    per_cta: i64,
    ctas: Vec<Share>,
    /// By physical register: the CTA that has it.
    owners: Vec<u32>,
}

/// The registers of a CTA.
#[derive(Clone, Debug, Default)]
struct Share {
    cta: u32,
    /// Slots of its warps.
    warps: u64,
    /// Registers that it has: `R_mapped`.
    mapped: i64,
}

impl Throttle {
    /// The counters of a file of so many registers.
    pub fn new(registers: u32) -> Self {
        Self {
            owners: vec![u32::MAX; registers as usize],
            ..Self::default()
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, per_warp: u64, warps_per_cta: u64) {
        self.per_warp = per_warp as i64;
        self.per_cta = (per_warp * warps_per_cta) as i64;
        self.ctas.clear();
    }

    /// A warp starts.
    pub fn starts(&mut self, cta: u32, warp: u8) {
        let known = self.ctas.iter_mut().find(|share| share.cta == cta);
        match known {
            Some(share) => share.warps |= 1 << warp,
            None => self.ctas.push(Share {
                cta,
                warps: 1 << warp,
                mapped: 0,
            }),
        }
    }

    /// A warp has finished.
    pub fn ends(&mut self, cta: u32, warp: u8) {
        if let Some(share) = self.ctas.iter_mut().find(|share| share.cta == cta) {
            share.warps &= !(1 << warp);
        }
        self.ctas.retain(|share| share.warps != 0);
    }

    /// A CTA takes a physical register.
    pub fn takes(&mut self, cta: u32, register: u16) {
        self.owners[usize::from(register)] = cta;
        self.add(cta, 1);
    }

    /// A physical register is free.
    pub fn freed(&mut self, register: u16) {
        self.add(self.owners[usize::from(register)], -1);
    }

    /// Whether a CTA may take `wanted` of `free` registers.
    pub fn allows(&self, cta: u32, wanted: u64, free: u64) -> bool {
        let (wanted, free) = (wanted as i64, free as i64);
        if wanted > free {
            return false;
        }
        let most = self.most().map_or(0, |share| share.mapped);
        let own = self.ctas.iter().find(|share| share.cta == cta);
        own.is_some_and(|own| own.mapped == most) || free - wanted >= self.per_cta - most
    }

    /// Warps of the CTA with the most registers: the first of those that have as many.
    pub fn first(&self) -> u64 {
        self.most().map_or(0, |share| share.warps)
    }

    /// What a warp that has `held` registers may still come to need.
    pub fn rest_of_warp(&self, held: u64) -> u64 {
        (self.per_warp - held as i64).max(0) as u64
    }

    fn most(&self) -> Option<&Share> {
        let most = self.ctas.iter().map(|share| share.mapped).max()?;
        self.ctas.iter().find(|share| share.mapped == most)
    }

    fn add(&mut self, cta: u32, registers: i64) {
        if let Some(share) = self.ctas.iter_mut().find(|share| share.cta == cta) {
            share.mapped += registers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two CTAs of two warps that need four registers each, a file of ten.
    fn two() -> Throttle {
        let mut throttle = Throttle::new(10);
        throttle.begin(4, 2);
        for warp in 0..4 {
            throttle.starts(u32::from(warp) / 2, warp);
        }
        throttle
    }

    #[test]
    fn who_has_most_goes_on_and_others_leave_it_what_it_may_need() {
        let mut throttle = two();
        for register in 0..3 {
            assert!(throttle.allows(0, 1, 10 - u64::from(register)));
            throttle.takes(0, register);
        }
        // Seven are free, CTA 0 may come to need five.
        assert!(throttle.allows(1, 2, 7) && !throttle.allows(1, 3, 7));
        throttle.takes(1, 3);
        throttle.takes(1, 4);
        assert!(!throttle.allows(1, 1, 5), "five are kept for CTA 0");
        assert!(throttle.allows(0, 5, 5));
        assert_eq!(throttle.first(), 0b0011);
        assert_eq!(throttle.rest_of_warp(3), 1);
        throttle.freed(0);
        throttle.freed(1);
        assert_eq!(throttle.first(), 0b1100, "CTA 1 has more now");
    }

    #[test]
    fn a_cta_that_is_gone_counts_no_more() {
        let mut throttle = two();
        throttle.takes(0, 0);
        throttle.ends(0, 0);
        throttle.ends(0, 1);
        throttle.freed(0);
        assert_eq!(throttle.first(), 0b1100);
        assert!(throttle.allows(1, 8, 10));
    }

    proptest! {
        /// Whatever CTAs take and free, one of them can always finish: the free registers are enough for what it may still need.
        #[test]
        fn some_cta_can_always_finish(moves in prop::collection::vec((0..4u32, any::<bool>()), 1..400), spare in 0..20u64) {
            let (per_warp, file) = (6, 12 + spare);
            let mut throttle = Throttle::new(file as u32);
            throttle.begin(per_warp, 2);
            (0..8).for_each(|warp| throttle.starts(u32::from(warp) / 2, warp));
            let mut held = vec![Vec::new(); 4];
            let mut free: Vec<u16> = (0..file as u16).collect();
            for (cta, takes) in moves {
                let own = &mut held[cta as usize];
                if takes && (own.len() as u64) < 2 * per_warp && throttle.allows(cta, 1, free.len() as u64) {
                    let register = free.pop().unwrap();
                    throttle.takes(cta, register);
                    own.push(register);
                } else if !takes && let Some(register) = own.pop() {
                    throttle.freed(register);
                    free.push(register);
                }
                let can = |own: &Vec<u16>| free.len() + own.len() >= 2 * per_warp as usize;
                prop_assert!(held.iter().any(can));
            }
        }
    }
}

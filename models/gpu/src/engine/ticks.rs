//! Which components tick in which cycle.

/// Cycles ahead that are told apart. What is due later ticks at the horizon, finds nothing to do and says again when it is due.
const HORIZON: u64 = 64;

/// The cycle of each component's next tick. Components that tick in one cycle do so in the order of their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    /// By component; [`NEVER`] if it sleeps.
    due: Vec<u64>,
    /// By cycle modulo the horizon: a set of components.
    slots: Vec<u64>,
    /// One bit a slot: whether its set has a member.
    occupied: u64,
    /// Words of a set.
    words: usize,
}

/// No cycle.
pub(crate) const NEVER: u64 = u64::MAX;

impl Ticks {
    /// `components` that sleep.
    pub fn new(components: usize) -> Self {
        let words = components.div_ceil(64);
        Self {
            due: vec![NEVER; components],
            slots: vec![0; words * HORIZON as usize],
            occupied: 0,
            words,
        }
    }

    /// The first cycle from `now` on in which something ticks, if there is one. Nothing that was due before `now` may be left.
    #[inline]
    pub fn next(&self, now: u64) -> Option<u64> {
        let ahead = self.occupied.rotate_right((now % HORIZON) as u32);
        (ahead != 0).then(|| now + u64::from(ahead.trailing_zeros()))
    }

    /// From now on the component's next tick is in `cycle`, or never.
    #[inline]
    pub fn set(&mut self, component: usize, now: u64, cycle: u64) {
        let cycle = if cycle == NEVER {
            NEVER
        } else {
            cycle.min(now + HORIZON - 1)
        };
        let old = self.due[component];
        if old == cycle {
            return;
        }
        if old != NEVER {
            self.clear(component, old);
        }
        if cycle == NEVER {
            self.due[component] = NEVER;
            return;
        }
        self.put(component, cycle);
    }

    #[inline]
    fn put(&mut self, component: usize, cycle: u64) {
        self.due[component] = cycle;
        let slot = (cycle % HORIZON) as usize;
        self.slots[slot * self.words + component / 64] |= 1 << (component % 64);
        self.occupied |= 1 << slot;
    }

    fn clear(&mut self, component: usize, cycle: u64) {
        let slot = (cycle % HORIZON) as usize;
        let first = slot * self.words;
        let word = &mut self.slots[first + component / 64];
        *word &= !(1 << (component % 64));
        if *word == 0
            && self.slots[first..first + self.words]
                .iter()
                .all(|&word| word == 0)
        {
            self.occupied &= !(1 << slot);
        }
    }

    /// How many components tick in `now`.
    #[inline]
    pub fn due(&self, now: u64) -> usize {
        let slot = (now % HORIZON) as usize;
        if self.occupied >> slot & 1 == 0 {
            return 0;
        }
        let set = &self.slots[slot * self.words..][..self.words];
        set.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Puts the numbers of the components that tick in `now` into `due`, ascending; each says [`again`](Self::again) when it ticks.
    pub fn take(&mut self, now: u64, due: &mut Vec<usize>) {
        due.clear();
        let slept = self.each(now, |component| {
            due.push(component);
            Ok(NEVER)
        });
        debug_assert!(matches!(slept, Ok::<(), ()>(())));
    }

    /// A component that ticked in `now` does so again in `cycle`, or never.
    #[inline]
    pub fn again(&mut self, component: usize, now: u64, cycle: u64) {
        if cycle != NEVER {
            self.put(component, cycle.min(now + HORIZON - 1));
        }
    }

    /// Calls `tick` for each component that ticks in `now`; it gives the component's next tick.
    ///
    /// # Errors
    /// The first one of `tick`.
    #[inline]
    pub fn each<E>(
        &mut self,
        now: u64,
        mut tick: impl FnMut(usize) -> Result<u64, E>,
    ) -> Result<(), E> {
        let slot = (now % HORIZON) as usize;
        if self.occupied >> slot & 1 == 0 {
            return Ok(());
        }
        self.occupied &= !(1 << slot);
        for word in 0..self.words {
            let mut set = std::mem::take(&mut self.slots[slot * self.words + word]);
            while set != 0 {
                let component = 64 * word + set.trailing_zeros() as usize;
                set &= set - 1;
                self.due[component] = NEVER;
                let next = tick(component)?;
                self.again(component, now, next);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Components tick as if each cycle looked at all of them; one that is due beyond the horizon ticks there.
        #[test]
        fn each_ticks_when_it_is_due(steps in prop::collection::vec((0usize..130, prop::option::of(0u64..200)), 1..300)) {
            let mut ticks = Ticks::new(130);
            let mut due = [NEVER; 130];
            let mut now = 0;
            for (component, delay) in steps {
                let cycle = delay.map_or(NEVER, |delay| now + delay);
                ticks.set(component, now, cycle);
                due[component] = cycle.min(delay.map_or(NEVER, |_| now + HORIZON - 1));
                let next = due.iter().copied().min().filter(|&next| next != NEVER);
                prop_assert_eq!(ticks.next(now), next);
                if component % 3 == 0 && let Some(next) = next {
                    now = next;
                    let expected: Vec<usize> = (0..130).filter(|&component| due[component] == now).collect();
                    let mut ticked = Vec::new();
                    let slept: Result<(), ()> = ticks.each(now, |component| {
                        ticked.push(component);
                        Ok(NEVER)
                    });
                    prop_assert!(slept.is_ok());
                    prop_assert_eq!(&ticked, &expected);
                    for component in ticked {
                        due[component] = NEVER;
                    }
                }
            }
        }
    }
}

//! Which flips of needed bits SHARP corrects: those between the recording of a register and its check, if nothing needed has read it in between.

use warpwatt_reliability::{Cover, Outcome, Residency};

/// What is known of the registers of each warp.
#[derive(Clone, Debug)]
pub(super) struct Guards {
    warps: Vec<Vec<Register>>,
    /// Groups of lanes of a register.
    groups: u32,
}

/// A register: when something needed read it last, and the checks that it has passed since its residency at hand began.
#[derive(Clone, Debug, Default)]
struct Register {
    read: u64,
    checked: Vec<Guarded>,
}

/// From the recording of so many groups of a register on, until they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guarded {
    /// Since when their check bits lie in shared memory.
    pub from: u64,
    /// When they are checked.
    pub to: u64,
    /// How many groups.
    pub groups: u32,
}

impl Guards {
    pub fn new(warps: usize, groups: u32) -> Self {
        Self {
            warps: vec![Vec::new(); warps],
            groups,
        }
    }

    /// A warp starts with so many registers.
    pub fn start(&mut self, warp: u8, registers: u32) {
        let own = &mut self.warps[usize::from(warp)];
        own.clear();
        own.resize(registers as usize, Register::default());
    }

    /// Something needed reads a register.
    pub fn read(&mut self, warp: u8, word: usize, cycle: u64) {
        if let Some(register) = self.warps[usize::from(warp)].get_mut(word) {
            register.read = register.read.max(cycle);
        }
    }

    /// Groups of a register are checked.
    pub fn check(&mut self, warp: u8, word: usize, guarded: Guarded) {
        if let Some(register) = self.warps[usize::from(warp)].get_mut(word) {
            let from = guarded.from.max(register.read);
            if from < guarded.to && guarded.groups > 0 {
                register.checked.push(Guarded { from, ..guarded });
            }
        }
    }

    /// What of a residency was checked; `pending` are groups whose check comes before whoever reads the register at the residency's end does. What was recorded
    /// before the value came is of the one before it. Where not all groups are guarded, needed bits are taken to lie evenly among them.
    pub fn cover(
        &mut self,
        residency: &Residency,
        pending: Option<Guarded>,
        covers: &mut Vec<Cover>,
    ) {
        let registers = &mut self.warps[usize::from(residency.warp)];
        let Some(register) = registers.get_mut(residency.entry as usize) else {
            return;
        };
        let read = register.read;
        let pending = pending.map(|guarded| Guarded {
            from: guarded.from.max(read),
            ..guarded
        });
        let guarded = register.checked.drain(..).chain(pending);
        for guarded in guarded.filter(|it| it.from >= residency.from) {
            let bits = u64::from(residency.bits) * u64::from(guarded.groups);
            covers.push(Cover {
                outcome: Outcome::Corrected,
                bits: (bits / u64::from(self.groups.max(1))) as u32,
                from: guarded.from,
                to: guarded.to,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_reliability::Structure;

    fn residency(bits: u32, from: u64, to: u64) -> Residency {
        Residency {
            structure: Structure::RegisterFile,
            warp: 0,
            entry: 0,
            bits,
            from,
            to,
        }
    }

    fn guarded(from: u64, to: u64, groups: u32) -> Guarded {
        Guarded { from, to, groups }
    }

    #[test]
    fn what_is_read_before_it_is_checked_is_not_guarded() {
        let mut guards = Guards::new(1, 8);
        guards.start(0, 1);
        let mut covers = Vec::new();
        guards.check(0, 0, guarded(10, 20, 8));
        guards.read(0, 0, 30);
        guards.check(0, 0, guarded(25, 40, 4));
        guards.cover(&residency(64, 5, 50), Some(guarded(45, 50, 8)), &mut covers);
        let found: Vec<_> = covers.iter().map(|it| (it.from, it.to, it.bits)).collect();
        assert_eq!(found, [(10, 20, 64), (30, 40, 32), (45, 50, 64)]);
        // What ends a residency ends with it.
        covers.clear();
        guards.cover(&residency(64, 50, 60), None, &mut covers);
        assert!(covers.is_empty());
    }
}

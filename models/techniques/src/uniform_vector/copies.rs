//! Which values of registers were held twice, for as long as somebody may ask.

/// Values of the registers of each warp.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    warps: Vec<Vec<Register>>,
}

/// The value that came last and the one before it: when the instruction that makes it issued, and whether it is held twice. A value's successor may have issued when
/// its last reader is accounted for, and no more than one: that waits until the successor is written.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    last: (u64, bool),
    before: (u64, bool),
}

impl Copies {
    pub fn new(warps: usize) -> Self {
        Self {
            warps: vec![Vec::new(); warps],
        }
    }

    /// A warp with so many registers starts.
    pub fn start(&mut self, warp: u8, words: usize) {
        let own = &mut self.warps[usize::from(warp)];
        own.clear();
        own.resize(words, Register::default());
    }

    /// An instruction issues that writes a register, twice or as it is without the technique.
    pub fn write(&mut self, warp: u8, word: u32, cycle: u64, twice: bool) {
        let own = &mut self.warps[usize::from(warp)];
        if let Some(register) = own.get_mut(word as usize) {
            register.before = std::mem::replace(&mut register.last, (cycle, twice));
        }
    }

    /// Whether the value that a register has held since `cycle` is held twice.
    pub fn twice(&self, warp: u8, word: u32, cycle: u64) -> bool {
        let own = &self.warps[usize::from(warp)];
        own.get(word as usize).is_some_and(|register| {
            let (issued, twice) = register.last;
            if issued < cycle {
                twice
            } else {
                register.before.1
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_that_of_the_instruction_that_issued_before_it_came() {
        let mut copies = Copies::new(1);
        copies.start(0, 1);
        assert!(!copies.twice(0, 0, 5));
        copies.write(0, 0, 10, true);
        assert!(copies.twice(0, 0, 20));
        copies.write(0, 0, 40, false);
        assert!(copies.twice(0, 0, 20), "the one before is asked for");
        assert!(!copies.twice(0, 0, 50));
    }
}

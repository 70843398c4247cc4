//! How much of the live register file holds values in duplicate (section 5.4).

/// Lives of a warp's registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    values: Vec<Option<Value>>,
}

/// A value in a register.
#[derive(Clone, Copy, Debug)]
struct Value {
    written: Written,
    last_read: u64,
}

/// A value that is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub cycle: u64,
    /// In one copy or two.
    pub held: Held,
    /// One word of two of a register of 64 bits.
    pub half: bool,
}

/// In how many copies a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Once,
    /// Twice, because it was computed once for all lanes.
    Twice,
    /// Twice, because it was loaded once for all lanes.
    TwiceLoaded,
}

/// Register cycles between the write of a value and its last read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LiveCycles {
    pub all: u64,
    /// Of values that were computed and are held twice.
    pub duplicate: u64,
    /// Of values that were loaded and are held twice.
    pub duplicate_loaded: u64,
    /// Of words of 64-bit registers; and of those of them that are held twice.
    pub halves: u64,
    pub duplicate_halves: u64,
}

impl Lives {
    /// A warp with `words` registers starts.
    pub fn start(&mut self, words: usize) {
        self.values.clear();
        self.values.resize(words, None);
    }

    /// A register is read.
    pub fn read(&mut self, word: u32, cycle: u64) {
        if let Some(Some(value)) = self.values.get_mut(word as usize) {
            value.last_read = cycle;
        }
    }

    /// A register, or half of one of 64 bits, is written.
    pub fn write(&mut self, word: u32, written: Written, total: &mut LiveCycles) {
        if let Some(slot) = self.values.get_mut(word as usize) {
            let last_read = written.cycle;
            total.add(slot.replace(Value { written, last_read }));
        }
    }

    /// The warp ends.
    pub fn end(&mut self, total: &mut LiveCycles) {
        for value in self.values.drain(..) {
            total.add(value);
        }
    }
}

impl LiveCycles {
    fn add(&mut self, value: Option<Value>) {
        if let Some(value) = value {
            let Written { cycle, held, half } = value.written;
            let cycles = value.last_read - cycle;
            self.all += cycles;
            self.halves += if half { cycles } else { 0 };
            let twice = half && held != Held::Once;
            self.duplicate_halves += if twice { cycles } else { 0 };
            match held {
                Held::Once => {}
                Held::Twice => self.duplicate += cycles,
                Held::TwiceLoaded => self.duplicate_loaded += cycles,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lives_from_its_write_to_its_last_read() {
        let (mut lives, mut total) = (Lives::default(), LiveCycles::default());
        let value = |cycle, held, half| Written { cycle, held, half };
        lives.start(2);
        lives.write(0, value(10, Held::Twice, false), &mut total);
        lives.write(1, value(10, Held::TwiceLoaded, true), &mut total);
        lives.read(0, 20);
        lives.read(0, 25);
        lives.write(0, value(40, Held::Once, false), &mut total);
        lives.read(1, 13);
        lives.end(&mut total);
        assert_eq!(
            total,
            LiveCycles {
                all: 15 + 3,
                duplicate: 15,
                duplicate_loaded: 3,
                halves: 3,
                duplicate_halves: 3,
            }
        );
    }
}

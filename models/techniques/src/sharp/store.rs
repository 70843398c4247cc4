//! Shared memory as SHARP sees it: words that the program has written, and words with check bits of registers (section 3.3.2.2).

/// The shared memory of an SM.
#[derive(Clone, Debug)]
pub(super) struct Store {
    words: Vec<Word>,
    /// CTAs by their place; none where no CTA is.
    ctas: Vec<Option<Cta>>,
    /// Words of a CTA.
    each: usize,
    /// Words that hold data of the program, and since when the sum holds.
    valid: u64,
    since: u64,
    /// Words times cycles with data of the program.
    pub valid_cycles: u64,
    /// Words that no CTA has written to so far.
    pub untouched: u64,
}

/// A CTA and the warps of it that run.
#[derive(Clone, Copy, Debug)]
struct Cta {
    number: u32,
    warps: u64,
}

/// A word: four codes of seven bits and whether they are in use, or a value of the program.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// The valid bit: a value of the program.
    valid: bool,
    touched: bool,
    /// The warp whose check bits it holds: the status bit.
    holder: Option<u8>,
}

impl Store {
    pub fn new(bytes: u32, ctas: u32) -> Self {
        let words = (bytes / 4).max(1);
        Self {
            words: vec![Word::default(); words as usize],
            ctas: vec![None; ctas as usize],
            each: 0,
            valid: 0,
            since: 0,
            valid_cycles: 0,
            untouched: u64::from(words),
        }
    }

    /// A launch begins whose CTAs take so many bytes each.
    pub fn begin(&mut self, bytes: u32) {
        self.each = bytes.div_ceil(4) as usize;
    }

    /// A warp of a CTA starts; CTAs lie one behind the other, each in the first place that is free.
    pub fn placed(&mut self, warp: u8, number: u32) {
        let own = self.ctas.iter().position(|it| is(it, number));
        let free = || self.ctas.iter().position(Option::is_none);
        if let Some(place) = own.or_else(free) {
            let cta = self.ctas[place].get_or_insert(Cta { number, warps: 0 });
            cta.warps |= 1 << warp;
        }
    }

    /// A warp ends; with the last one of its CTA the data are gone.
    pub fn retired(&mut self, warp: u8, cycle: u64) {
        let own = |cta: &Option<Cta>| cta.is_some_and(|cta| cta.warps >> warp & 1 != 0);
        let Some(place) = self.ctas.iter().position(own) else {
            return;
        };
        if let Some(cta) = &mut self.ctas[place] {
            cta.warps &= !(1 << warp);
            if cta.warps != 0 {
                return;
            }
        }
        self.ctas[place] = None;
        self.pass(cycle);
        let from = (place * self.each).min(self.words.len());
        let to = (from + self.each).min(self.words.len());
        for word in &mut self.words[from..to] {
            self.valid -= u64::from(word.valid);
            word.valid = false;
        }
    }

    /// A warp writes a word of its CTA; the place of the word if check bits lay there, and whose.
    pub fn write(&mut self, warp: u8, offset: u64, cycle: u64) -> Option<(usize, u8)> {
        let own = |cta: &Option<Cta>| cta.is_some_and(|cta| cta.warps >> warp & 1 != 0);
        let cta = self.ctas.iter().position(own)?;
        let place = cta * self.each + (offset / 4) as usize;
        self.pass(cycle);
        let word = self.words.get_mut(place)?;
        self.valid += u64::from(!word.valid);
        self.untouched -= u64::from(!word.touched);
        (word.valid, word.touched) = (true, true);
        word.holder.take().map(|holder| (place, holder))
    }

    /// The word of a group of four registers: banks side by side (figure 7).
    pub fn of_group(&self, group: usize) -> usize {
        group % self.words.len()
    }

    /// Whose check bits lie in a word.
    pub fn holder(&self, place: usize) -> Option<u8> {
        self.words[place].holder
    }

    /// Puts check bits of a warp into a word, if no value of the program lies there.
    pub fn record(&mut self, place: usize, warp: u8) -> bool {
        let word = &mut self.words[place];
        if !word.valid {
            word.holder = Some(warp);
        }
        !word.valid
    }

    /// They are not needed any more.
    pub fn free(&mut self, place: usize) {
        self.words[place].holder = None;
    }

    fn pass(&mut self, cycle: u64) {
        self.valid_cycles += self.valid * cycle.saturating_sub(self.since);
        self.since = self.since.max(cycle);
    }
}

fn is(cta: &Option<Cta>, number: u32) -> bool {
    cta.is_some_and(|cta| cta.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_the_program_push_check_bits_out_and_keep_them_out() {
        let mut store = Store::new(64, 2);
        store.begin(32);
        store.placed(0, 5);
        store.placed(1, 6);
        assert!(store.record(9, 0));
        assert_eq!(
            store.write(1, 4, 10),
            Some((9, 0)),
            "the second CTA's second word"
        );
        assert_eq!(store.write(1, 4, 20), None);
        assert!(!store.record(9, 0));
        store.retired(1, 110);
        assert_eq!(store.valid_cycles, 100);
        assert_eq!(store.untouched, 15);
        assert!(store.record(9, 0), "the CTA has gone");
    }

    #[test]
    fn a_group_s_word_is_its_number() {
        let store = Store::new(16384, 8);
        assert_eq!(store.of_group(4095), 4095);
        assert_eq!(store.of_group(4096), 0);
    }
}

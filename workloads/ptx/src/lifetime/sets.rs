//! Sets of 32-bit registers.

/// One bit a register; grows as needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words(Vec<u64>);

impl Words {
    pub fn has(&self, word: u16) -> bool {
        let (at, bit) = place(word);
        self.0.get(at).is_some_and(|bits| bits & bit != 0)
    }

    pub fn insert_all(&mut self, words: impl Iterator<Item = u16>) {
        for word in words {
            let (at, bit) = place(word);
            if self.0.len() <= at {
                self.0.resize(at + 1, 0);
            }
            self.0[at] |= bit;
        }
    }

    pub fn take(&mut self, word: u16) {
        let (at, bit) = place(word);
        if let Some(bits) = self.0.get_mut(at) {
            *bits &= !bit;
        }
    }

    /// Adds all of `others`; whether that changed anything.
    pub fn add(&mut self, others: &Self) -> bool {
        if self.0.len() < others.0.len() {
            self.0.resize(others.0.len(), 0);
        }
        let mut changed = false;
        for (bits, more) in self.0.iter_mut().zip(&others.0) {
            changed |= more & !*bits != 0;
            *bits |= more;
        }
        changed
    }

    pub fn with(&self, others: &Self) -> Self {
        let mut all = self.clone();
        all.add(others);
        all
    }

    pub fn remove(&mut self, others: &Self) {
        for (bits, gone) in self.0.iter_mut().zip(&others.0) {
            *bits &= !gone;
        }
    }

    /// Keeps only what `others` has too.
    pub fn keep(&mut self, others: &Self) {
        for (at, bits) in self.0.iter_mut().enumerate() {
            *bits &= others.0.get(at).copied().unwrap_or(0);
        }
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        let end = 64 * self.0.len() as u32;
        (0..end)
            .map(|word| word as u16)
            .filter(|&word| self.has(word))
    }
}

fn place(word: u16) -> (usize, u64) {
    (usize::from(word) / 64, 1 << (word % 64))
}

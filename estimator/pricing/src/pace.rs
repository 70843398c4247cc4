//! Where windows of time end while a run goes on.

/// How long windows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many cycles, at least one.
    Fixed(u64),
    /// From so many cycles on twice as many whenever there are [`FITTED`] windows: as a picture needs them, of a run of any length.
    Fitted(u64),
}

/// Windows of a fitted length are fewer, and at least half as many once the run is long enough for them. An even number.
pub const FITTED: usize = 512;

/// The end of the present window.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Cycles of a window.
    pub window: u64,
    /// The cycle where the present one ends.
    pub ends: u64,
    fitted: bool,
}

impl Pace {
    /// From the first window on.
    pub fn new(length: Length) -> Self {
        let (Length::Fixed(window) | Length::Fitted(window)) = length;
        Self {
            window: window.max(1),
            ends: window.max(1),
            fitted: matches!(length, Length::Fitted(_)),
        }
    }

    /// A window is over and was put behind `rows`: those that are too many are joined by `join`, each with the one behind it.
    pub fn next<R>(&mut self, rows: &mut Vec<R>, join: impl Fn(&mut R, R)) {
        self.ends += self.window;
        if !self.fitted || rows.len() < FITTED {
            return;
        }
        let mut all = std::mem::take(rows).into_iter();
        while let Some(mut row) = all.next() {
            all.next().into_iter().for_each(|next| join(&mut row, next));
            rows.push(row);
        }
        self.window *= 2;
        self.ends = (rows.len() as u64 + 1) * self.window;
    }
}

/// Adds the counts of `more` to those of `row`.
pub fn add(row: &mut Vec<u64>, more: &[u64]) {
    row.resize(row.len().max(more.len()), 0);
    row.iter_mut()
        .zip(more)
        .for_each(|(count, more)| *count += more);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of one cycle each count the cycle's number; whatever their length becomes, each holds the numbers of its cycles.
    #[test]
    fn fitted_windows_hold_what_happened_in_them() {
        let mut pace = Pace::new(Length::Fitted(1));
        let mut rows: Vec<Vec<u64>> = Vec::new();
        let mut row = 0;
        for cycle in 0..5000_u64 {
            row += cycle;
            if cycle + 1 == pace.ends {
                rows.push(vec![std::mem::take(&mut row)]);
                pace.next(&mut rows, |row, next| add(row, &next));
            }
        }
        assert_eq!((pace.window, rows.len()), (16, 312));
        for (number, row) in rows.iter().enumerate() {
            let from = 16 * number as u64;
            assert_eq!(row[0], (from..from + 16).sum::<u64>());
        }
        let mut fixed = Pace::new(Length::Fixed(0));
        let mut rows = vec![vec![1]; FITTED];
        fixed.next(&mut rows, |_, _| {
            panic!("windows of a fixed length are not joined")
        });
        assert_eq!((fixed.window, fixed.ends), (1, 2));
    }
}

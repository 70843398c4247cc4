//! ACE bit-cycles over time.

use crate::{Residency, Structure};

/// Windows at the most.
const MOST: usize = 1024;

/// ACE bit-cycles of each structure in windows of equal length; the last one may end early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverTime {
    /// Cycles of a window.
    pub length: u64,
    /// One entry a window.
    pub windows: Vec<[u128; Structure::COUNT]>,
}

impl OverTime {
    /// Adds those of another part of the GPU over the same time.
    pub fn add(&mut self, mut other: Self) {
        if self.windows.is_empty() {
            *self = other;
            return;
        }
        while self.length < other.length {
            self.coarsen();
        }
        while other.length < self.length {
            other.coarsen();
        }
        let most = self.windows.len().max(other.windows.len());
        self.windows.resize(most, [0; Structure::COUNT]);
        for (window, more) in self.windows.iter_mut().zip(&other.windows) {
            for (sum, more) in window.iter_mut().zip(more) {
                *sum += more;
            }
        }
    }

    /// Adds a residency, in cycles from the beginning of the first window; what lies behind the last one counts as nothing.
    pub fn add_residency(&mut self, residency: &Residency) {
        let (length, structure) = (self.length.max(1), residency.structure as usize);
        let first = residency.from / length;
        let windows = self.windows.iter_mut().skip(first as usize);
        for (number, window) in (first..).zip(windows) {
            let from = residency.from.max(number * length);
            let to = residency.to.min((number + 1) * length);
            if to <= from {
                break;
            }
            window[structure] += u128::from(residency.bits) * u128::from(to - from);
        }
    }

    /// Makes one window of two.
    fn coarsen(&mut self) {
        let pairs = self
            .windows
            .chunks(2)
            .map(|pair| std::array::from_fn(|place| pair.iter().map(|window| window[place]).sum()));
        self.windows = pairs.collect();
        self.length *= 2;
    }
}

/// ACE bit-cycles in windows of equal length, as changes at the ends of residencies: however long one is, it costs the same.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    start: u64,
    length: u64,
    windows: Vec<[Window; Structure::COUNT]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Bits that are held at its end and were not at its beginning.
    change: i64,
    /// What these changes make in the window itself.
    within: i128,
}

impl Windows {
    pub fn new(start: u64, length: u64) -> Self {
        Self {
            start,
            length: length.max(1),
            windows: Vec::new(),
        }
    }

    pub fn add(&mut self, residency: &Residency) {
        let bits = i64::from(residency.bits);
        self.step(residency.structure, residency.from, bits);
        self.step(residency.structure, residency.to, -bits);
    }

    fn step(&mut self, structure: Structure, at: u64, bits: i64) {
        let at = at.saturating_sub(self.start);
        while at / self.length >= MOST as u64 {
            self.coarsen();
        }
        let number = (at / self.length) as usize;
        if self.windows.len() <= number {
            self.windows.resize(number + 1, Default::default());
        }
        let window = &mut self.windows[number][structure as usize];
        let left = self.length - at % self.length;
        window.change += bits;
        window.within += i128::from(bits) * i128::from(left);
    }

    /// Makes one window of two.
    fn coarsen(&mut self) {
        let length = i128::from(self.length);
        let pairs = self.windows.chunks(2).map(|pair| {
            let last = pair.get(1).copied().unwrap_or_default();
            std::array::from_fn(|place| {
                let (first, last): (Window, Window) = (pair[0][place], last[place]);
                Window {
                    change: first.change + last.change,
                    within: first.within + i128::from(first.change) * length + last.within,
                }
            })
        });
        self.windows = pairs.collect();
        self.length *= 2;
    }

    pub fn close(mut self, end: u64) -> OverTime {
        let cycles = end.saturating_sub(self.start);
        while cycles.div_ceil(self.length) > MOST as u64 {
            self.coarsen();
        }
        let count = (cycles.div_ceil(self.length) as usize).max(self.windows.len());
        let mut held = [0i64; Structure::COUNT];
        let mut sums = Vec::with_capacity(count);
        for number in 0..count {
            let window = self.windows.get(number).copied().unwrap_or_default();
            let mut sum = [0u128; Structure::COUNT];
            for place in 0..Structure::COUNT {
                let through = i128::from(held[place]) * i128::from(self.length);
                sum[place] = (through + window[place].within).max(0) as u128;
                held[place] += window[place].change;
            }
            sums.push(sum);
        }
        OverTime {
            length: self.length,
            windows: sums,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_are_too_many_become_longer() {
        let residency = |from, to| Residency {
            structure: Structure::RegisterFile,
            warp: 0,
            entry: 0,
            bits: 2,
            from,
            to,
        };
        let of = |all: &[(u64, u64)], length| {
            let mut windows = Windows::new(0, length);
            all.iter()
                .for_each(|&(from, to)| windows.add(&residency(from, to)));
            windows.close(5000)
        };
        let all = [(3, 900), (100, 101), (1023, 4100), (2500, 4999)];
        let found = of(&all, 1);
        assert_eq!(found.length, 8);
        assert_eq!(found, of(&all, 8));
        let mut sum = of(&all[..2], 1);
        sum.add(of(&all[2..], 1));
        sum.windows.truncate(found.windows.len());
        assert_eq!(sum, found);
    }
}

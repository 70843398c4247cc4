//! What the watts of a board are for: the one list of its parts, by which files, reports and terminals name them.

use crate::channel::{CHANNELS, Channel};

/// The watts of a board by what they are for.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Whatever runs, and memory and clocks at rest.
    pub constant_w: f64,
    /// Leakage.
    pub leakage_w: f64,
    /// SMs with work.
    pub active_w: f64,
    /// Events by kind, in the order of [`Channel::ALL`].
    pub dynamic_w: [f64; CHANNELS],
}

/// A part of a board's watts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name in files, where `_w` follows it.
    pub key: &'static str,
    /// What it is, in words.
    pub words: &'static str,
    /// Whether what is executed makes it.
    pub dynamic: bool,
}

/// Parts that are there whatever is executed.
const STANDING: [Part; 3] = [
    standing("constant", "constant: board, memory and clocks at rest"),
    standing("leakage", "leakage"),
    standing("active", "active SMs, whatever they do"),
];

const fn standing(key: &'static str, words: &'static str) -> Part {
    Part {
        key,
        words,
        dynamic: false,
    }
}

/// All parts, in the order in which they are shown.
pub fn parts() -> impl Iterator<Item = Part> {
    let dynamic = Channel::ALL.into_iter().map(|channel| Part {
        key: channel.key(),
        words: channel.words(),
        dynamic: true,
    });
    STANDING.into_iter().chain(dynamic)
}

impl Split {
    /// Watts of each of [`parts`].
    pub fn watts(&self) -> impl Iterator<Item = f64> {
        [self.constant_w, self.leakage_w, self.active_w]
            .into_iter()
            .chain(self.dynamic_w)
    }

    /// All of it.
    pub fn total_w(&self) -> f64 {
        self.constant_w + self.leakage_w + self.active_w + self.dynamic_w.iter().sum::<f64>()
    }

    /// What goes with the operands of operations.
    pub fn computing_w(&self) -> f64 {
        let kinds = Channel::ALL
            .into_iter()
            .filter(|channel| channel.computes());
        kinds.map(|channel| self.dynamic_w[channel as usize]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_watts_and_they_make_up_the_whole() {
        let split = Split {
            constant_w: 1.0,
            leakage_w: 2.0,
            active_w: 4.0,
            dynamic_w: std::array::from_fn(|at| 8.0 + at as f64),
        };
        assert_eq!(split.watts().count(), parts().count());
        assert_eq!(split.watts().sum::<f64>(), split.total_w());
        let named = |key: &str| {
            let at = parts().position(|part| part.key == key);
            split.watts().nth(at.unwrap()).unwrap()
        };
        assert_eq!(named("active"), 4.0);
        assert_eq!(named("dram"), split.dynamic_w[Channel::Dram as usize]);
    }
}

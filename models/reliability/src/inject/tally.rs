//! What flips did, counted.

/// What a flip did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Nobody held the bit: an idle warp slot, an empty entry, memory of no CTA.
    Unoccupied,
    /// It was held, and overwritten before it was read, or never read: known without a run.
    Dead,
    /// Executed: the final memory is what it is without the flip.
    Masked,
    /// The final memory differs, and nothing tells: silent data corruption.
    Sdc,
    /// As [`Sdc`](Self::Sdc), but near enough for the tolerances of the launch file.
    Tolerated,
    /// The run stops with an error that hardware notices.
    Due,
    /// The run goes on for longer than it may.
    Hang,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 7] = [
        Self::Unoccupied,
        Self::Dead,
        Self::Masked,
        Self::Sdc,
        Self::Tolerated,
        Self::Due,
        Self::Hang,
    ];

    /// Its name in journals and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unoccupied => "unoccupied",
            Self::Dead => "dead",
            Self::Masked => "masked",
            Self::Sdc => "sdc",
            Self::Tolerated => "sdc_tolerated",
            Self::Due => "due",
            Self::Hang => "hang",
        }
    }

    /// The class called `name`.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// How many flips did what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; Class::ALL.len()]);

impl Tally {
    /// Counts flips of one class.
    pub fn add(&mut self, class: Class, count: u64) {
        self.0[class as usize] += count;
    }

    /// Flips of a class.
    pub fn of(&self, class: Class) -> u64 {
        self.0[class as usize]
    }

    /// All flips.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those that did no harm.
    pub fn masked(&self) -> u64 {
        [Class::Unoccupied, Class::Dead, Class::Masked]
            .map(|class| self.of(class))
            .iter()
            .sum()
    }

    /// Wrong results that nobody notices, near ones among them.
    pub fn silent(&self) -> u64 {
        self.of(Class::Sdc) + self.of(Class::Tolerated)
    }

    /// Those that changed what the program does.
    pub fn vulnerable(&self) -> u64 {
        self.total() - self.masked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_names_and_add_up() {
        let mut tally = Tally::default();
        for (count, class) in (1..).zip(Class::ALL) {
            assert_eq!(Class::of(class.name()), Some(class));
            tally.add(class, count);
        }
        assert_eq!((tally.total(), tally.masked()), (28, 6));
        assert_eq!((tally.silent(), tally.vulnerable()), (9, 22));
    }
}

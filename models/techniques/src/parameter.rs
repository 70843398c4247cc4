//! What can be set of a technique: declared once, with its default, its range and its meaning.
//!
//! A technique declares a constant for each parameter and reads [`Values`] by that constant. The name, the default and the range stand nowhere else: reading, what
//! is said of wrong values, labels, the schema of studies and the tables of the documentation come from the declaration.
//!
//! ```
//! use warpwatt_techniques::parameter::{Choice, Count, choice, count};
//!
//! const ENTRIES: Count = count("entries", 32, 1..=65_536, "instructions that it holds");
//! const FAST: Choice<bool, 2> = choice("speed", [("slow", false), ("fast", true)], "slow", "how fast");
//! assert_eq!(ENTRIES.declared().range(), "1 to 65536");
//! assert_eq!(FAST.declared().range(), "\"slow\", \"fast\"");
//! ```

mod handles;
mod problem;
mod setting;
mod values;

pub use handles::{
    Choice, Count, CountOr, Counts, Flag, Handle, choice, count, count_or, counts, flag,
    power_of_two,
};
pub use problem::ParameterProblem;
pub use setting::Setting;
pub use values::Values;
pub(crate) use values::nearest;

/// A declared parameter of a technique, whatever the type of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// What kind of value it takes, and which if none is given.
    pub kind: Kind,
    /// Whether labels name it even at its default.
    pub labelled: bool,
    /// Whether only prices hang on it, and neither time nor counts on a GPU that it leaves as it is.
    pub priced_only: bool,
    /// What it means.
    pub meaning: &'static str,
}

/// Kinds of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number; a list of them is a sweep.
    Count {
        /// If it is absent.
        default: u32,
        /// What it may be.
        range: Range,
    },
    /// A power of two.
    PowerOfTwo {
        /// If it is absent.
        default: u32,
        /// What it may be.
        range: Range,
    },
    /// A set of whole numbers, which is one value.
    Counts {
        /// If it is absent; ascending.
        default: &'static [u32],
        /// What each may be.
        range: Range,
    },
    /// A whole number, or a word.
    CountOr {
        /// If it is absent; `None` is the word.
        default: Option<u32>,
        /// What the number may be.
        range: Range,
        /// The word.
        word: &'static str,
    },
    /// One of some words.
    Choice {
        /// Place of the default among them.
        default: usize,
        /// The words.
        words: &'static [&'static str],
    },
    /// `true` or `false`.
    Flag {
        /// If it is absent.
        default: bool,
    },
}

/// Whole numbers from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl Range {
    /// Whether `number` is among them.
    pub const fn contains(self, number: u32) -> bool {
        self.least <= number && number <= self.most
    }

    /// The powers of two among them.
    pub fn powers_of_two(self) -> impl Iterator<Item = u32> {
        let all = (0..u32::BITS).map(|exponent| 1 << exponent);
        all.filter(move |&number| self.contains(number))
    }
}

impl Parameter {
    /// Its value if it is absent.
    pub fn usual(&self) -> Setting {
        match self.kind {
            Kind::Count { default, .. } | Kind::PowerOfTwo { default, .. } => {
                Setting::Count(default)
            }
            Kind::Counts { default, .. } => Setting::Counts(default.to_vec()),
            Kind::CountOr {
                default: Some(number),
                ..
            } => Setting::Count(number),
            Kind::CountOr { .. } => Setting::Word(0),
            Kind::Choice { default, .. } => Setting::Word(default),
            Kind::Flag { default } => Setting::Flag(default),
        }
    }

    /// Its value if it is absent, as written in TOML.
    pub fn default(&self) -> String {
        self.written(&self.usual(), "\"")
    }

    /// Which values it takes, in words.
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Count { range, .. } => span(range),
            Kind::PowerOfTwo { range, .. } => powers(range),
            Kind::Counts { range, .. } => format!("each {}", span(range)),
            Kind::CountOr { range, word, .. } => format!("{}, or \"{word}\"", span(range)),
            Kind::Choice { words, .. } => quoted(words),
            Kind::Flag { .. } => "true, false".to_owned(),
        }
    }

    /// A value of it as text, with words between `quotes`.
    fn written(&self, setting: &Setting, quotes: &str) -> String {
        match (setting, self.kind) {
            (Setting::Count(number), _) => number.to_string(),
            (Setting::Counts(numbers), _) => format!("{numbers:?}"),
            (Setting::Flag(flag), _) => flag.to_string(),
            (Setting::Word(place), Kind::Choice { words, .. }) => {
                let word = words.get(*place).unwrap_or(&"");
                format!("{quotes}{word}{quotes}")
            }
            (Setting::Word(_), Kind::CountOr { word, .. }) => format!("{quotes}{word}{quotes}"),
            (Setting::Word(_), _) => String::new(),
        }
    }
}

fn span(range: Range) -> String {
    format!("{} to {}", range.least, range.most)
}

fn powers(range: Range) -> String {
    let numbers: Vec<String> = range.powers_of_two().map(|it| it.to_string()).collect();
    match numbers.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => numbers.concat(),
    }
}

fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_say_themselves_in_words() {
        const NUMBER: Count = count("a", 10, 0..=64, "");
        const POWER: Count = power_of_two("b", 4, 2..=32, "");
        const NUMBERS: Counts = counts("c", &[16, 32], 1..=4096, "");
        const LIMIT: CountOr = count_or("d", None, 1..=32, "auto", "");
        const WORD: Choice<u8, 2> = choice("e", [("one", 1), ("two", 2)], "two", "");
        const YES: Flag = flag("f", true, "");
        let all = [
            NUMBER.declared(),
            POWER.declared(),
            NUMBERS.declared(),
            LIMIT.declared(),
            WORD.declared(),
            YES.declared(),
        ];
        let said = all.map(|it| (it.default(), it.range()));
        let said = said.each_ref().map(|(a, b)| (a.as_str(), b.as_str()));
        let expected = [
            ("10", "0 to 64"),
            ("4", "2, 4, 8, 16 or 32"),
            ("[16, 32]", "each 1 to 4096"),
            ("\"auto\"", "1 to 32, or \"auto\""),
            ("\"two\"", "\"one\", \"two\""),
            ("true", "true, false"),
        ];
        assert_eq!(said, expected);
    }
}

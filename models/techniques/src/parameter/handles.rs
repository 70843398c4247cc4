//! Declarations that know the type of their values, so that a technique reads what it has declared and nothing else.

use std::ops::RangeInclusive;

use super::{Kind, Parameter, ParameterProblem, Range, Setting};

/// A declared parameter with values of one type.
pub trait Handle {
    /// Of its values.
    type Value;

    /// Its key.
    fn name(&self) -> &'static str;

    /// The value that a setting of it stands for; `None` if it is one of another kind.
    fn value(&self, setting: &Setting) -> Option<Self::Value>;

    /// The value if there is no setting.
    fn usual(&self) -> Self::Value;

    /// Why its value, good by itself, does not go with others.
    fn refused(&self, message: &str, help: &str) -> ParameterProblem {
        ParameterProblem::new(self.name(), message, Some(help.to_owned()))
    }
}

/// A whole number.
#[derive(Clone, Copy, Debug)]
pub struct Count(Parameter, u32);

/// A set of whole numbers, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Counts(Parameter, &'static [u32]);

/// A whole number, or a word, which is `None`.
#[derive(Clone, Copy, Debug)]
pub struct CountOr(Parameter, Option<u32>);

/// `true` or `false`.
#[derive(Clone, Copy, Debug)]
pub struct Flag(Parameter, bool);

/// One of `N` words, each of which stands for a value.
#[derive(Clone, Copy, Debug)]
pub struct Choice<T, const N: usize> {
    name: &'static str,
    words: [&'static str; N],
    values: [T; N],
    default: usize,
    labelled: bool,
    priced_only: bool,
    meaning: &'static str,
}

/// A whole number within `range`.
pub const fn count(
    name: &'static str,
    default: u32,
    range: RangeInclusive<u32>,
    meaning: &'static str,
) -> Count {
    let range = checked(&range);
    assert!(range.contains(default));
    Count(
        parameter(name, Kind::Count { default, range }, meaning),
        default,
    )
}

/// A power of two within `range`.
pub const fn power_of_two(
    name: &'static str,
    default: u32,
    range: RangeInclusive<u32>,
    meaning: &'static str,
) -> Count {
    let range = checked(&range);
    assert!(range.contains(default) && default.is_power_of_two());
    assert!(range.least.is_power_of_two() && range.most.is_power_of_two());
    let kind = Kind::PowerOfTwo { default, range };
    Count(parameter(name, kind, meaning), default)
}

/// Whole numbers within `range`, at least one; a single number is a list of one.
pub const fn counts(
    name: &'static str,
    default: &'static [u32],
    range: RangeInclusive<u32>,
    meaning: &'static str,
) -> Counts {
    let range = checked(&range);
    Counts(
        parameter(name, Kind::Counts { default, range }, meaning),
        default,
    )
}

/// A whole number within `range`, or `word`.
pub const fn count_or(
    name: &'static str,
    default: Option<u32>,
    range: RangeInclusive<u32>,
    word: &'static str,
    meaning: &'static str,
) -> CountOr {
    let range = checked(&range);
    if let Some(default) = default {
        assert!(range.contains(default));
    }
    let kind = Kind::CountOr {
        default,
        range,
        word,
    };
    CountOr(parameter(name, kind, meaning), default)
}

/// `true` or `false`.
pub const fn flag(name: &'static str, default: bool, meaning: &'static str) -> Flag {
    Flag(parameter(name, Kind::Flag { default }, meaning), default)
}

/// One of the words of `choices`, for what stands beside it; `default` is one of them.
pub const fn choice<T: Copy, const N: usize>(
    name: &'static str,
    choices: [(&'static str, T); N],
    default: &'static str,
    meaning: &'static str,
) -> Choice<T, N> {
    let mut words = [""; N];
    let mut values = [choices[0].1; N];
    let mut usual = N;
    let mut at = 0;
    while at < N {
        (words[at], values[at]) = choices[at];
        if same(words[at], default) {
            usual = at;
        }
        at += 1;
    }
    assert!(usual < N, "the default is not among the words");
    Choice {
        name,
        words,
        values,
        default: usual,
        labelled: false,
        priced_only: false,
        meaning,
    }
}

const fn parameter(name: &'static str, kind: Kind, meaning: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        labelled: false,
        priced_only: false,
        meaning,
    }
}

const fn checked(range: &RangeInclusive<u32>) -> Range {
    let (least, most) = (*range.start(), *range.end());
    assert!(least <= most);
    Range { least, most }
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Handles of parameters without words of their own: the type of the values, how a value comes from the default, and which settings stand for which.
macro_rules! handles {
    ($($handle:ident: $value:ty = |$default:ident| $usual:expr, $($setting:pat => $read:expr),+;)*) => {$(
        impl $handle {
            /// As the registry knows it.
            pub const fn declared(&'static self) -> Parameter {
                self.0
            }

            /// The same, and labels name it even at its default.
            pub const fn labelled(mut self) -> Self {
                self.0.labelled = true;
                self
            }

            /// The same, and only prices hang on it.
            pub const fn priced_only(mut self) -> Self {
                self.0.priced_only = true;
                self
            }
        }

        impl Handle for $handle {
            type Value = $value;

            fn name(&self) -> &'static str {
                self.0.name
            }

            fn value(&self, setting: &Setting) -> Option<$value> {
                match setting {
                    $($setting => Some($read),)+
                    _ => None,
                }
            }

            fn usual(&self) -> $value {
                let $default = self.1;
                $usual
            }
        }
    )*};
}

handles! {
    Count: u32 = |default| default, Setting::Count(number) => *number;
    Counts: Vec<u32> = |default| default.to_vec(), Setting::Counts(numbers) => numbers.clone();
    CountOr: Option<u32> = |default| default, Setting::Count(number) => Some(*number), Setting::Word(_) => None;
    Flag: bool = |default| default, Setting::Flag(flag) => *flag;
}

impl<T: Copy, const N: usize> Choice<T, N> {
    /// As the registry knows it.
    pub const fn declared(&'static self) -> Parameter {
        let kind = Kind::Choice {
            default: self.default,
            words: &self.words,
        };
        Parameter {
            name: self.name,
            kind,
            labelled: self.labelled,
            priced_only: self.priced_only,
            meaning: self.meaning,
        }
    }

    /// The same, and labels name it even at its default.
    pub const fn labelled(mut self) -> Self {
        self.labelled = true;
        self
    }

    /// The same, and only prices hang on it.
    pub const fn priced_only(mut self) -> Self {
        self.priced_only = true;
        self
    }
}

impl<T: Copy, const N: usize> Handle for Choice<T, N> {
    type Value = T;

    fn name(&self) -> &'static str {
        self.name
    }

    fn value(&self, setting: &Setting) -> Option<T> {
        match setting {
            Setting::Word(place) => self.values.get(*place).copied(),
            _ => None,
        }
    }

    fn usual(&self) -> T {
        self.values[self.default]
    }
}

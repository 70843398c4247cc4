//! Loops of a host: how often its launches run.

use warpwatt_input::expression::{Expression, Undefined};

use super::form::{Constants, Variables};
use super::{Form, Problem};

/// How often a step runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Repeat {
    /// One round.
    Once,
    /// A round for each value of a variable.
    Count {
        /// The variable's name.
        variable: String,
        /// Its first value.
        from: Form,
        /// Its last value, if it comes upon it.
        to: Form,
        /// What becomes of it after a round.
        stride: Stride,
    },
    /// Rounds until memory says that it is enough.
    While {
        /// When it is enough.
        condition: Condition,
        /// The name of the number of the round, from zero.
        variable: Option<String>,
        /// A buffer that is set to zero before every round, as index of the case's arguments.
        reset: Option<usize>,
        /// More rounds than this are an error.
        max: u32,
    },
}

/// What becomes of a loop's variable after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// It grows by this, which is not zero.
    Add(i64),
    /// It grows to this many times itself; two at least.
    Times(i64),
    /// It shrinks to the whole part of this part of itself; two at least.
    Divide(i64),
}

/// When a loop over rounds is left.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// When a buffer, an index of the case's arguments, is zero after a round.
    Nonzero(usize),
    /// When a comparison does not hold before a round.
    Holds(Comparison),
    /// When a comparison holds after a round.
    Until(Comparison),
}

/// Two expressions over elements of buffers, variables and constants: `over[0] != 0`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    text: String,
    sides: [Expression; 2],
    relation: Relation,
    constants: Constants,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer relations first, so that `<=` is not read as `<`.
const RELATIONS: [(&str, Relation); 6] = [
    ("==", Relation::Equal),
    ("!=", Relation::Different),
    ("<=", Relation::LessOrEqual),
    (">=", Relation::GreaterOrEqual),
    ("<", Relation::Less),
    (">", Relation::Greater),
];

impl Repeat {
    /// Whether the host reads or writes memory in it.
    pub fn reads(&self) -> bool {
        matches!(self, Repeat::While { .. })
    }

    /// The variable, if it has one.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Repeat::Once => None,
            Repeat::Count { variable, .. } => Some(variable),
            Repeat::While { variable, .. } => variable.as_deref(),
        }
    }

    /// The variable in a round, counted from zero, or a zero where there is none; nothing if there is no such round.
    ///
    /// # Errors
    /// A bound has no value.
    pub fn value(&self, round: u32, around: Variables<'_>) -> Result<Option<i64>, String> {
        match self {
            Repeat::Once => Ok((round == 0).then_some(0)),
            Repeat::While { max, .. } => Ok((round < *max).then_some(i64::from(round))),
            Repeat::Count {
                from, to, stride, ..
            } => {
                let (from, to) = (from.integer(around)?, to.integer(around)?);
                Ok(stride.value(from, round).filter(|value| match stride {
                    Stride::Add(step) if *step < 0 => *value >= to,
                    Stride::Divide(_) => *value >= to && *value > 0,
                    Stride::Times(_) => *value <= to && *value > 0,
                    Stride::Add(_) => *value <= to,
                }))
            }
        }
    }
}

impl Stride {
    fn value(self, from: i64, round: u32) -> Option<i64> {
        match self {
            Stride::Add(step) => from.checked_add(step.checked_mul(i64::from(round))?),
            Stride::Times(factor) => from.checked_mul(factor.checked_pow(round)?),
            Stride::Divide(by) => Some(by.checked_pow(round).map_or(0, |by| from / by)),
        }
    }
}

/// Whether a text can name a variable or a constant.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Comparison {
    /// Reads a comparison; without a relation it holds where its value is not zero.
    pub(super) fn parse(
        text: &str,
        span: std::ops::Range<usize>,
        constants: &Constants,
    ) -> Result<Self, Problem> {
        let relations = RELATIONS.iter();
        let found = relations.filter_map(|relation| Some((text.find(relation.0)?, relation)));
        // Of relations that begin at one place the longer one stands first.
        let (left, relation, right, start) = match found.min_by_key(|(at, _)| *at) {
            None => (text, Relation::Different, "0", 0),
            Some((at, (written, relation))) => {
                let start = at + written.len();
                (&text[..at], *relation, &text[start..], start)
            }
        };
        let read = |side: &str, start: usize| {
            Expression::parse_with_elements(side).map_err(|mut fault| {
                fault.range = fault.range.start + start..fault.range.end + start;
                super::form::place(fault, text, &span)
            })
        };
        Ok(Self {
            text: text.to_owned(),
            sides: [read(left, 0)?, read(right, start)?],
            relation,
            constants: constants.clone(),
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Buffers that it reads.
    pub(super) fn lists(&self) -> Vec<&str> {
        let lists = self.sides.iter().flat_map(Expression::lists);
        lists.map(|(name, _)| name).collect()
    }

    /// Names in it that are no constants.
    pub(super) fn free(&self) -> Vec<&str> {
        let names = self.sides.iter().flat_map(Expression::names);
        let names = names.map(|(name, _)| name);
        names
            .filter(|name| !self.constants.contains_key(*name))
            .collect()
    }

    /// Whether it holds where loops and buffers have these values.
    ///
    /// # Errors
    /// A side has no value.
    pub(crate) fn holds(
        &self,
        variables: Variables<'_>,
        elements: &dyn Fn(&str, u64) -> Option<f64>,
    ) -> Result<bool, Undefined> {
        let names = |name: &str| {
            let variable = variables.get(name).map(|value| value as f64);
            variable
                .or_else(|| self.constants.get(name).copied())
                .unwrap_or(f64::NAN)
        };
        let left = self.sides[0].value_with(&names, elements)?;
        let right = self.sides[1].value_with(&names, elements)?;
        Ok(match self.relation {
            Relation::Equal => left == right,
            Relation::Different => left != right,
            Relation::Less => left < right,
            Relation::LessOrEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterOrEqual => left >= right,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(stride: Stride, from: f64, to: f64) -> Vec<i64> {
        let repeat = Repeat::Count {
            variable: "i".to_owned(),
            from: Form::Constant(from),
            to: Form::Constant(to),
            stride,
        };
        let value = |round| repeat.value(round, Variables::NONE).unwrap();
        (0..).map_while(value).collect()
    }

    #[test]
    fn variables_count_double_and_halve() {
        assert_eq!(values(Stride::Add(2), 1.0, 6.0), [1, 3, 5]);
        assert_eq!(values(Stride::Add(-1), 2.0, 0.0), [2, 1, 0]);
        assert_eq!(values(Stride::Add(1), 2.0, 1.0), [0; 0]);
        assert_eq!(values(Stride::Times(2), 1.0, 16.0), [1, 2, 4, 8, 16]);
        assert_eq!(values(Stride::Times(3), 0.0, 16.0), [0; 0]);
        assert_eq!(values(Stride::Divide(2), 10.0, 1.0), [10, 5, 2, 1]);
        assert_eq!(values(Stride::Divide(2), 10.0, 0.0), [10, 5, 2, 1]);
    }

    #[test]
    fn comparisons_of_elements() {
        let holds = |text: &str| {
            let constants = Constants::from([("n".to_owned(), 3.0)]);
            let comparison = Comparison::parse(text, 0..text.len() + 2, &constants).unwrap();
            let elements = |_: &str, at: u64| [0.0, 5.0].get(at as usize).copied();
            comparison.holds(Variables::new(&["i"], &[1]), &elements)
        };
        for text in [
            "a[1]",
            "a[i] == 5",
            "a[0] <= 0",
            "n > a[0] + 2",
            "a[1] >= 5",
            "n != i",
        ] {
            assert_eq!(holds(text), Ok(true), "{text}");
        }
        for text in ["a[0]", "a[i] < 5", "n < i", "a[1] > n * 2"] {
            assert_eq!(holds(text), Ok(false), "{text}");
        }
        assert!(holds("a[2] != 0").is_err());
        let wrong = Comparison::parse("a[0] <= $", 10..21, &Constants::new()).unwrap_err();
        assert_eq!(wrong.span, 19..20);
    }
}

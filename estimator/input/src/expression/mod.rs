//! Expressions over counters: `2 * icache.tag.read + max(l1_reads - l1_read_hits, 0)`.
//!
//! A language for counting, not for programming: numbers, names, `+ - * /`, `min`, `max`, parentheses. It has no variables, loops or conditions, so that every
//! expression ends, and after at most as many steps as its text has characters. What would be no number, such as a division by zero, is an error.

mod parse;

use std::ops::Range;

use crate::diag::did_you_mean;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

/// What is wrong with a text that should be an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// One sentence.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undefined {
    /// Something is divided by zero.
    #[error("`{divisor}` is zero, and something is divided by it; write `max({divisor}, 1)`")]
    Division {
        /// The text of the divisor.
        divisor: String,
    },
    /// A count is less than nothing.
    #[error("it is {value}, and nothing is counted less than zero times; write `max(..., 0)`")]
    Negative {
        /// What it came out as.
        value: String,
    },
    /// A count is beyond all counting.
    #[error("it is {value}, more than a counter holds")]
    TooLarge {
        /// What it came out as.
        value: String,
    },
}

/// A part of an expression, and where it stands.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Name(String, Range<usize>),
    Negative(Box<Node>),
    Binary(Operator, Box<[Node; 2]>, Range<usize>),
    Extreme(Extreme, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Its place in the text is that of the divisor.
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extreme {
    Least,
    Most,
}

impl Expression {
    /// Reads a text.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        Ok(Self {
            text: text.to_owned(),
            root: parse::parse(text)?,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names in it, each time that they stand there, and where.
    pub fn names(&self) -> Vec<(&str, Range<usize>)> {
        let mut names = Vec::new();
        self.root.collect(&mut names);
        names
    }

    /// The names that are not among `known`, each with the one that was probably meant.
    pub fn unknown<'k>(
        &self,
        what: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Vec<Fault> {
        let strangers = self.names().into_iter();
        let strangers = strangers.filter(|(name, _)| !known.clone().any(|other| other == *name));
        strangers
            .map(|(name, range)| Fault {
                range,
                message: format!("there is no {what} `{name}`"),
                help: Some(did_you_mean(name, known.clone())),
            })
            .collect()
    }

    /// The value where `of` gives names theirs.
    ///
    /// # Errors
    /// Something is divided by zero.
    pub fn value(&self, of: &dyn Fn(&str) -> f64) -> Result<f64, Undefined> {
        self.root.value(of, &self.text)
    }

    /// The value as a count of whole events: the nearest one, and of two the even one.
    ///
    /// # Errors
    /// As of [`value`](Self::value); or it is no count.
    pub fn count(&self, of: &dyn Fn(&str) -> f64) -> Result<u64, Undefined> {
        /// Every whole number up to here has a float of its own.
        const MOST: f64 = 9_007_199_254_740_992.0;
        let value = self.value(of)?;
        let count = value.round_ties_even();
        if count < 0.0 {
            return Err(Undefined::Negative {
                value: format!("{value}"),
            });
        }
        if count <= MOST {
            return Ok(count as u64);
        }
        Err(Undefined::TooLarge {
            value: format!("{value:e}"),
        })
    }
}

impl Node {
    fn collect<'n>(&'n self, names: &mut Vec<(&'n str, Range<usize>)>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name, range) => names.push((name, range.clone())),
            Self::Negative(inner) => inner.collect(names),
            Self::Binary(_, sides, _) => sides.iter().for_each(|side| side.collect(names)),
            Self::Extreme(_, nodes) => nodes.iter().for_each(|node| node.collect(names)),
        }
    }

    /// As deep as the parser lets expressions be.
    fn value(&self, of: &dyn Fn(&str) -> f64, text: &str) -> Result<f64, Undefined> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name, _) => of(name),
            Self::Negative(inner) => -inner.value(of, text)?,
            Self::Binary(operator, sides, place) => {
                let (left, right) = (sides[0].value(of, text)?, sides[1].value(of, text)?);
                match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide if right == 0.0 => {
                        return Err(Undefined::Division {
                            divisor: text[place.clone()].to_owned(),
                        });
                    }
                    Operator::Divide => left / right,
                }
            }
            Self::Extreme(extreme, nodes) => {
                let values = nodes.iter().map(|node| node.value(of, text));
                let values = values.collect::<Result<Vec<f64>, _>>()?;
                match extreme {
                    Extreme::Least => values.into_iter().fold(f64::INFINITY, f64::min),
                    Extreme::Most => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;

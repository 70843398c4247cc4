//! Expressions over counters: `2 * icache.tag.read + max(l1_reads - l1_read_hits, 0)`.
//!
//! A language for counting, not for programming: numbers, names, `+ - * /`, whole division `//` and its remainder `%`, `min`, `max`, `ceil`, `floor`, `log2`,
//! `pow`, parentheses. It has no variables, loops or conditions, so that every expression ends, and after at most as many steps as its text has characters.
//! What would be no number, such as a division by zero, is an error.

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
    /// A function is not defined there.
    #[error("`{call}` is taken of {value}, where it has no value")]
    Function {
        /// The text of the call.
        call: String,
        /// What it is taken of.
        value: String,
    },
    /// A list has no such element.
    #[error("`{element}` is not there: its index comes out as {index}")]
    Element {
        /// The text of the element.
        element: String,
        /// The index.
        index: String,
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
    /// Its place in the text is that of the whole call.
    Call(Function, Vec<Node>, Range<usize>),
    /// An element of a list: its place is that of name and index.
    Element(String, Box<Node>, Range<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Its place in the text is that of the divisor, here and in the next two.
    Divide,
    /// Divided, and rounded towards minus infinity.
    Whole,
    /// What a whole division leaves.
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extreme {
    Least,
    Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Ceil,
    Floor,
    Log2,
    Power,
}

impl Function {
    /// Its value, if it has one there.
    fn of(self, values: &[f64]) -> Option<f64> {
        let value = match (self, values) {
            (Function::Ceil, [x]) => x.ceil(),
            (Function::Floor, [x]) => x.floor(),
            (Function::Log2, [x]) => libm::log2(*x),
            (Function::Power, [x, y]) => libm::pow(*x, *y),
            _ => return None,
        };
        value.is_finite().then_some(value)
    }
}

/// What names stand for.
struct Given<'g> {
    names: &'g dyn Fn(&str) -> f64,
    elements: &'g dyn Fn(&str, u64) -> Option<f64>,
    text: &'g str,
}

impl Expression {
    /// Reads a text.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        Ok(Self {
            text: text.to_owned(),
            root: parse::parse(text, false)?,
        })
    }

    /// Reads a text in which names may also be lists: `over[0] + sizes[i - 1]`.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse_with_elements(text: &str) -> Result<Self, Fault> {
        Ok(Self {
            text: text.to_owned(),
            root: parse::parse(text, true)?,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names in it, each time that they stand there, and where.
    pub fn names(&self) -> Vec<(&str, Range<usize>)> {
        let mut found = Vec::new();
        self.root.collect(&mut |node| {
            if let Node::Name(name, range) = node {
                found.push((name.as_str(), range.clone()));
            }
        });
        found
    }

    /// The lists of which it takes elements, each time that they stand there, and where.
    pub fn lists(&self) -> Vec<(&str, Range<usize>)> {
        let mut found = Vec::new();
        self.root.collect(&mut |node| {
            if let Node::Element(name, _, range) = node {
                found.push((name.as_str(), range.clone()));
            }
        });
        found
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
    /// Something is divided by zero, or a function has no value.
    pub fn value(&self, of: &dyn Fn(&str) -> f64) -> Result<f64, Undefined> {
        self.value_with(of, &|_, _| None)
    }

    /// The value where `names` gives names theirs, and `elements` those of lists, as far as they go.
    ///
    /// # Errors
    /// As of [`value`](Self::value); or a list has no such element.
    pub fn value_with(
        &self,
        names: &dyn Fn(&str) -> f64,
        elements: &dyn Fn(&str, u64) -> Option<f64>,
    ) -> Result<f64, Undefined> {
        let text = self.text.as_str();
        self.root.value(&Given {
            names,
            elements,
            text,
        })
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
    /// Tells `found` of every part.
    fn collect<'n>(&'n self, found: &mut impl FnMut(&'n Node)) {
        found(self);
        match self {
            Self::Number(_) | Self::Name(..) => {}
            Self::Negative(inner) | Self::Element(_, inner, _) => inner.collect(found),
            Self::Binary(_, sides, _) => sides.iter().for_each(|side| side.collect(found)),
            Self::Extreme(_, nodes) | Self::Call(_, nodes, _) => {
                nodes.iter().for_each(|node| node.collect(found));
            }
        }
    }

    /// As deep as the parser lets expressions be.
    fn value(&self, given: &Given<'_>) -> Result<f64, Undefined> {
        let all = |nodes: &[Node]| {
            let values = nodes.iter().map(|node| node.value(given));
            values.collect::<Result<Vec<f64>, _>>()
        };
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name, _) => (given.names)(name),
            Self::Negative(inner) => -inner.value(given)?,
            Self::Binary(operator, sides, place) => {
                let sides = [sides[0].value(given)?, sides[1].value(given)?];
                operator.of(sides, &given.text[place.clone()])?
            }
            Self::Extreme(extreme, nodes) => {
                let values = all(nodes)?.into_iter();
                match extreme {
                    Extreme::Least => values.fold(f64::INFINITY, f64::min),
                    Extreme::Most => values.fold(f64::NEG_INFINITY, f64::max),
                }
            }
            Self::Call(function, nodes, place) => {
                let values = all(nodes)?;
                let value = function.of(&values);
                value.ok_or_else(|| Undefined::Function {
                    call: given.text[place.clone()].to_owned(),
                    value: values
                        .iter()
                        .map(f64::to_string)
                        .collect::<Vec<_>>()
                        .join(", "),
                })?
            }
            Self::Element(name, index, place) => {
                let index = index.value(given)?;
                let whole = index >= 0.0 && index.fract() == 0.0;
                let element = whole.then(|| (given.elements)(name, index as u64));
                element.flatten().ok_or_else(|| Undefined::Element {
                    element: given.text[place.clone()].to_owned(),
                    index: index.to_string(),
                })?
            }
        })
    }
}

impl Operator {
    /// Its value of both sides; `divisor` is the text of the second.
    fn of(self, [left, right]: [f64; 2], divisor: &str) -> Result<f64, Undefined> {
        let divides = matches!(self, Self::Divide | Self::Whole | Self::Remainder);
        if divides && right == 0.0 {
            return Err(Undefined::Division {
                divisor: divisor.to_owned(),
            });
        }
        Ok(match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Whole => (left / right).floor(),
            Self::Remainder => left - right * (left / right).floor(),
        })
    }
}

#[cfg(test)]
mod tests;

//! From text to an expression, by recursive descent.

use std::ops::Range;

use super::{Extreme, Fault, Node, Operator};

/// Parentheses and signs in each other, at most so many.
const DEEPEST: usize = 64;
/// Longer texts are no expressions that a person wrote.
const LONGEST: usize = 4096;

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    if text.len() > LONGEST {
        return Err(fault(
            0..0,
            format!("an expression has at most {LONGEST} characters"),
            "split it",
        ));
    }
    let mut parser = Parser { text, at: 0 };
    let root = parser.sum(0)?;
    match parser.peek() {
        None => Ok(root),
        Some(other) => {
            let message = format!("there must be an operator before `{other}`");
            Err(fault(parser.here(), message, "write one of + - * /"))
        }
    }
}

fn fault(range: Range<usize>, message: String, help: &str) -> Fault {
    Fault {
        range,
        message,
        help: (!help.is_empty()).then(|| help.to_owned()),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// The place of the next character; at the end that of nothing.
    fn here(&self) -> Range<usize> {
        let wide = self.rest().chars().next().map_or(0, char::len_utf8);
        self.at..self.at + wide
    }

    /// Takes the next character if it is this one.
    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// The characters from here on that are such.
    fn run(&mut self, such: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !such(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn sum(&mut self, depth: usize) -> Result<Node, Fault> {
        let mut left = self.product(depth)?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                Some('-') => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            left = self.binary(operator, left, |parser| parser.product(depth))?;
        }
    }

    fn product(&mut self, depth: usize) -> Result<Node, Fault> {
        let mut left = self.atom(depth)?;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Multiply,
                Some('/') => Operator::Divide,
                _ => return Ok(left),
            };
            self.at += 1;
            left = self.binary(operator, left, |parser| parser.atom(depth))?;
        }
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Node,
        right: impl FnOnce(&mut Self) -> Result<Node, Fault>,
    ) -> Result<Node, Fault> {
        self.peek();
        let start = self.at;
        let right = right(self)?;
        let end = start + self.text[start..self.at].trim_end().len();
        Ok(Node::Binary(operator, Box::new([left, right]), start..end))
    }

    fn atom(&mut self, depth: usize) -> Result<Node, Fault> {
        if depth > DEEPEST {
            let message = format!("more than {DEEPEST} parentheses or signs in each other");
            return Err(fault(self.here(), message, "simplify the expression"));
        }
        match self.peek() {
            None => Err(fault(
                self.here(),
                "something is missing at the end".to_owned(),
                "write a counter or a number",
            )),
            Some('-') => {
                self.at += 1;
                Ok(Node::Negative(Box::new(self.atom(depth + 1)?)))
            }
            Some('(') => {
                let open = self.here();
                self.at += 1;
                let inner = self.sum(depth + 1)?;
                self.close(open)?;
                Ok(inner)
            }
            Some('`') => self.quoted(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if is_first(c) => self.named(depth),
            Some(other) => Err(fault(
                self.here(),
                format!("`{other}` has no place in an expression"),
                "write counters, numbers, + - * /, min, max and parentheses",
            )),
        }
    }

    fn close(&mut self, open: Range<usize>) -> Result<(), Fault> {
        if self.take(')') {
            return Ok(());
        }
        Err(fault(
            open,
            "this parenthesis is not closed".to_owned(),
            "add `)`",
        ))
    }

    /// A name in backquotes, which may have any characters.
    fn quoted(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        self.at += 1;
        let name = self.run(|c| c != '`').to_owned();
        if !self.take('`') {
            return Err(fault(
                start..start + 1,
                "this name does not end".to_owned(),
                "end it with a backquote",
            ));
        }
        Ok(Node::Name(name, start..self.at))
    }

    fn number(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        self.run(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
        if matches!(self.rest().chars().next(), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.rest().chars().next(), Some('+' | '-')) {
                self.at += 1;
            }
            self.run(|c| c.is_ascii_digit());
        }
        // Letters on a number belong to it, so that `2x` is told as a whole.
        self.run(is_inner);
        let text = &self.text[start..self.at];
        let number: Option<f64> = text.replace('_', "").parse().ok();
        match number {
            Some(number) if number.is_finite() => Ok(Node::Number(number)),
            _ => Err(fault(
                start..self.at,
                format!("`{text}` is no number"),
                "write it like 2, 0.5 or 1e-3",
            )),
        }
    }

    /// A counter, or `min(...)` or `max(...)`.
    fn named(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.at;
        let name = self.run(is_inner);
        let place = start..self.at;
        if self.peek() != Some('(') {
            return Ok(Node::Name(name.to_owned(), place));
        }
        let extreme = match name {
            "min" => Extreme::Least,
            "max" => Extreme::Most,
            _ => {
                return Err(fault(
                    place,
                    format!("there is no function `{name}`"),
                    "there are `min` and `max`",
                ));
            }
        };
        let open = self.here();
        self.at += 1;
        let mut nodes = vec![self.sum(depth + 1)?];
        while self.take(',') {
            nodes.push(self.sum(depth + 1)?);
        }
        self.close(open)?;
        Ok(Node::Extreme(extreme, nodes))
    }
}

/// What names begin with.
fn is_first(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// What names go on with: counters here and elsewhere have dots, some have colons.
fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':')
}

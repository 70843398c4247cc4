//! From text to an expression, by recursive descent.

use std::ops::Range;

use super::{Extreme, Fault, Function, Node, Operator};

/// Parentheses and signs in each other, at most so many.
const DEEPEST: usize = 64;
/// Longer texts are no expressions that a person wrote.
const LONGEST: usize = 4096;

/// Reads an expression, in which names may be lists if `elements` says so.
pub(super) fn parse(text: &str, elements: bool) -> Result<Node, Fault> {
    if text.len() > LONGEST {
        return Err(fault(
            0..0,
            format!("an expression has at most {LONGEST} characters"),
            "split it",
        ));
    }
    let mut parser = Parser {
        text,
        at: 0,
        elements,
    };
    let root = parser.sum(0)?;
    match parser.peek() {
        None => Ok(root),
        Some(other) => {
            let message = format!("there must be an operator before `{other}`");
            Err(fault(parser.here(), message, "write one of + - * / // %"))
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
    /// Names may have an index.
    elements: bool,
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
                Some('/') if self.rest().starts_with("//") => Operator::Whole,
                Some('/') => Operator::Divide,
                Some('%') => Operator::Remainder,
                _ => return Ok(left),
            };
            self.at += if operator == Operator::Whole { 2 } else { 1 };
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
                "write a name or a number",
            )),
            Some('-') => {
                self.at += 1;
                Ok(Node::Negative(Box::new(self.atom(depth + 1)?)))
            }
            Some('(') => {
                let open = self.here();
                self.at += 1;
                let inner = self.sum(depth + 1)?;
                self.close(')', open)?;
                Ok(inner)
            }
            Some('`') => self.quoted(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if is_first(c) => self.named(depth),
            Some(other) => Err(fault(
                self.here(),
                format!("`{other}` has no place in an expression"),
                "write names, numbers, + - * / // %, functions and parentheses",
            )),
        }
    }

    fn close(&mut self, wanted: char, open: Range<usize>) -> Result<(), Fault> {
        if self.take(wanted) {
            return Ok(());
        }
        let message = "this parenthesis is not closed".to_owned();
        Err(fault(open, message, &format!("add `{wanted}`")))
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

    /// A name, an element of a list, or a function's call.
    fn named(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.at;
        let name = self.run(is_inner);
        let place = start..self.at;
        match self.peek() {
            Some('(') => self.call(name, place, depth),
            Some('[') if self.elements => {
                let open = self.here();
                self.at += 1;
                let index = self.sum(depth + 1)?;
                self.close(']', open)?;
                let element = start..self.at;
                Ok(Node::Element(name.to_owned(), Box::new(index), element))
            }
            _ => Ok(Node::Name(name.to_owned(), place)),
        }
    }

    fn call(&mut self, name: &str, place: Range<usize>, depth: usize) -> Result<Node, Fault> {
        const FUNCTIONS: [(&str, Function, usize); 4] = [
            ("ceil", Function::Ceil, 1),
            ("floor", Function::Floor, 1),
            ("log2", Function::Log2, 1),
            ("pow", Function::Power, 2),
        ];
        let function = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let extreme = match name {
            "min" => Some(Extreme::Least),
            "max" => Some(Extreme::Most),
            _ => None,
        };
        if function.is_none() && extreme.is_none() {
            return Err(fault(
                place,
                format!("there is no function `{name}`"),
                "there are min, max, ceil, floor, log2 and pow",
            ));
        }
        let open = self.here();
        self.at += 1;
        let mut nodes = vec![self.sum(depth + 1)?];
        while self.take(',') {
            nodes.push(self.sum(depth + 1)?);
        }
        self.close(')', open)?;
        let call = place.start..self.at;
        match (extreme, function) {
            (Some(extreme), _) => Ok(Node::Extreme(extreme, nodes)),
            (None, Some(&(_, function, wanted))) if nodes.len() == wanted => {
                Ok(Node::Call(function, nodes, call))
            }
            _ => Err(fault(
                call,
                format!("`{name}` is taken of {} values", nodes.len()),
                "`ceil`, `floor` and `log2` are taken of one, `pow(x, y)` of two",
            )),
        }
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

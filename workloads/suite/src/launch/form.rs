//! Numbers that may depend on the case's constants and on the loops around: `"i"`, `"ceil(n / 256)"`, `"2 * i + 1"`.

use std::collections::BTreeMap;
use std::ops::Range;

use warpwatt_input::expression::{Expression, Fault};

use super::Problem;

/// Stands where a value is still to be filled in.
pub(super) const MISSING: &str = "TODO";

/// Every whole number up to here has a float of its own.
pub(super) const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A case's constants.
pub(crate) type Constants = BTreeMap<String, f64>;

/// A number, or an expression for one.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// The same in every launch.
    Constant(f64),
    /// Follows the loops around its launch.
    Varying(Box<Varying>),
}

/// An expression over the variables of loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Varying {
    expression: Expression,
    constants: Constants,
    span: Range<usize>,
}

/// Variables of the loops around a launch, the outermost first, with their values.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'v> {
    names: &'v [&'v str],
    values: &'v [i64],
}

impl<'v> Variables<'v> {
    /// No loop is around.
    pub const NONE: Variables<'static> = Variables {
        names: &[],
        values: &[],
    };

    pub(crate) fn new(names: &'v [&'v str], values: &'v [i64]) -> Self {
        Self { names, values }
    }

    /// The value of the innermost variable of that name.
    pub fn get(&self, name: &str) -> Option<i64> {
        let at = self.names.iter().rposition(|known| *known == name)?;
        self.values.get(at).copied()
    }

    /// Their names, the outermost first.
    pub(crate) fn names(&self) -> &'v [&'v str] {
        self.names
    }

    /// Their values in that order.
    pub(crate) fn values(&self) -> &'v [i64] {
        self.values
    }

    /// ` where i = 3, j = 1`, or nothing.
    pub(super) fn described(&self, used: &[&str]) -> String {
        let values = self.names.iter().zip(self.values);
        let values = values.filter(|(name, _)| used.contains(*name));
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        match values.is_empty() {
            true => String::new(),
            false => format!(" where {}", values.join(", ")),
        }
    }
}

impl Form {
    /// Reads an expression; `span` is where its text stands in the file, with its quotes.
    pub(super) fn parse(
        text: &str,
        span: Range<usize>,
        constants: &Constants,
    ) -> Result<Self, Problem> {
        let expression = Expression::parse(text).map_err(|fault| place(fault, text, &span))?;
        let varying = Varying {
            expression,
            constants: constants.clone(),
            span,
        };
        if !varying.free().is_empty() {
            return Ok(Form::Varying(Box::new(varying)));
        }
        match varying.number(Variables::NONE) {
            Ok(number) => Ok(Form::Constant(number)),
            Err(message) => Err(Problem::new(varying.span, message)),
        }
    }

    /// Its value where the loops around have these.
    ///
    /// # Errors
    /// A sentence: something is divided by zero, or the like.
    pub fn number(&self, variables: Variables<'_>) -> Result<f64, String> {
        match self {
            Form::Constant(number) => Ok(*number),
            Form::Varying(varying) => varying.number(variables),
        }
    }

    /// Its value, which must be whole.
    ///
    /// # Errors
    /// As of [`number`](Self::number); or it is not whole.
    pub fn integer(&self, variables: Variables<'_>) -> Result<i64, String> {
        let number = self.number(variables)?;
        if number.fract() == 0.0 && number.abs() <= LARGEST {
            return Ok(number as i64);
        }
        let text = match self {
            Form::Constant(_) => "the number".to_owned(),
            Form::Varying(varying) => {
                let at = variables.described(&varying.free());
                format!("`{}`{at}", varying.expression.text())
            }
        };
        Err(format!(
            "{text} is {number}, and must be whole: `ceil(...)`, `floor(...)` or `//` rounds"
        ))
    }

    /// The value that it has in every launch, if it has one.
    pub fn constant(&self) -> Option<i64> {
        match self {
            Form::Constant(number) => Some(*number as i64),
            Form::Varying(_) => None,
        }
    }

    /// Names in it that are no constants: variables of loops.
    pub(super) fn free(&self) -> Vec<&str> {
        match self {
            Form::Constant(_) => Vec::new(),
            Form::Varying(varying) => varying.free(),
        }
    }

    /// Where it stands in the file, if it follows a loop.
    pub(super) fn span(&self) -> Range<usize> {
        match self {
            Form::Constant(_) => 0..0,
            Form::Varying(varying) => varying.span.clone(),
        }
    }
}

impl Varying {
    fn free(&self) -> Vec<&str> {
        let names = self.expression.names().into_iter().map(|(name, _)| name);
        names
            .filter(|name| !self.constants.contains_key(*name))
            .collect()
    }

    fn number(&self, variables: Variables<'_>) -> Result<f64, String> {
        let of = |name: &str| {
            let variable = variables.get(name).map(|value| value as f64);
            variable
                .or_else(|| self.constants.get(name).copied())
                .unwrap_or(f64::NAN)
        };
        let value = self.expression.value(&of);
        value.map_err(|undefined| {
            let at = variables.described(&self.free());
            format!("`{}` has no value{at}: {undefined}", self.expression.text())
        })
    }
}

/// A fault of an expression, placed in the file; a text with escapes is pointed at as a whole.
pub(super) fn place(fault: Fault, text: &str, span: &Range<usize>) -> Problem {
    let plain = span.len() == text.len() + 2;
    let whole = || span.clone();
    let inside = || span.start + 1 + fault.range.start..span.start + 1 + fault.range.end;
    Problem {
        span: if plain { inside() } else { whole() },
        message: fault.message.clone(),
        help: fault.help.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, i: i64) -> Result<i64, String> {
        let constants = Constants::from([("n".to_owned(), 1000.0)]);
        let form = Form::parse(text, 0..text.len() + 2, &constants);
        let form = form.map_err(|problem| problem.message)?;
        form.integer(Variables::new(&["i"], &[i]))
    }

    #[test]
    fn sums_quotients_and_powers() {
        assert_eq!(at("i", 5), Ok(5));
        assert_eq!(at("33 - i", 5), Ok(28));
        assert_eq!(at(" -2*i + 1 + i*3 ", 5), Ok(6));
        assert_eq!(at("ceil(n / 256)", 5), Ok(4));
        assert_eq!(at("n // (2 * i) % 7", 5), Ok(2));
        assert_eq!(at("pow(2, log2(i)) + min(i, 3)", 8), Ok(11));
    }

    #[test]
    fn what_is_not_whole_or_has_no_value_is_told() {
        let said = |text: &str| at(text, 5).unwrap_err();
        assert_eq!(
            said("i / 2"),
            "`i / 2` where i = 5 is 2.5, and must be whole: `ceil(...)`, `floor(...)` or `//` rounds"
        );
        assert!(said("n / 3").contains("must be whole"));
        assert!(said("n / (i - 5)").contains("has no value where i = 5"));
        assert!(said("1 / 0").contains("`0` is zero"));
        for text in ["", "i +", "2^i", "--", "i i"] {
            assert!(at(text, 5).is_err(), "{text:?}");
        }
    }

    #[test]
    fn faults_point_into_the_text() {
        let problem = Form::parse("i + $", 10..17, &Constants::new()).unwrap_err();
        assert_eq!(problem.span, 15..16);
    }
}

//! Integers that may grow with a loop: `"i"`, `"i - 1"`, `"2*i + 1"`, `"33 - i"`.

use std::fmt;

/// `factor * variable + offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The loop variable, unless this is a constant.
    pub variable: Option<String>,
    /// What a step of the variable adds.
    pub factor: i64,
    /// The value where the variable is zero.
    pub offset: i64,
}

/// Numbers of a form are kept below this, so that no value of a form leaves `i64`.
const LIMIT: i64 = 1 << 31;

impl Linear {
    /// A form that does not depend on a loop.
    pub fn constant(offset: i64) -> Self {
        Self {
            variable: None,
            factor: 0,
            offset,
        }
    }

    /// Its value where the loop variable is `variable`.
    pub fn at(&self, variable: i64) -> i64 {
        self.factor * variable + self.offset
    }

    /// Reads a sum of integers, one variable and products of both.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut form = Self::constant(0);
        for (sign, term) in terms(text)? {
            form.add(sign, term)?;
        }
        if form.factor.abs() >= LIMIT || form.offset.abs() >= LIMIT {
            return Err("numbers must stay below 2^31".to_owned());
        }
        Ok(form)
    }

    fn add(&mut self, sign: i64, term: &str) -> Result<(), String> {
        let mut number = sign;
        let mut variable = None;
        for factor in term.split('*').map(str::trim) {
            if factor.starts_with(|c: char| c.is_ascii_digit()) {
                let value = factor.parse::<i64>().ok().filter(|value| *value < LIMIT);
                let value =
                    value.ok_or_else(|| format!("`{factor}` is not an integer below 2^31"))?;
                number = number.saturating_mul(value);
            } else if is_name(factor) {
                if variable.replace(factor).is_some() {
                    return Err("only one variable a term: the form must be linear".to_owned());
                }
            } else {
                return Err(format!("`{factor}` is neither an integer nor a name"));
            }
        }
        let Some(variable) = variable else {
            self.offset = self.offset.saturating_add(number);
            return Ok(());
        };
        if self
            .variable
            .as_deref()
            .is_some_and(|known| known != variable)
        {
            return Err("only one variable a form".to_owned());
        }
        self.variable = Some(variable.to_owned());
        self.factor = self.factor.saturating_add(number);
        Ok(())
    }
}

/// The signed terms of a sum.
fn terms(text: &str) -> Result<Vec<(i64, &str)>, String> {
    let mut terms = Vec::new();
    let mut rest = text.trim();
    let mut sign = 1;
    if let Some(after) = rest.strip_prefix('-') {
        (sign, rest) = (-1, after);
    }
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let term = rest[..end].trim();
        if term.is_empty() {
            return Err("a term is missing".to_owned());
        }
        terms.push((sign, term));
        let Some(operator) = rest[end..].chars().next() else {
            return Ok(terms);
        };
        sign = if operator == '+' { 1 } else { -1 };
        rest = &rest[end + 1..];
    }
}

/// Whether a text can name a loop variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variable {
            None => write!(f, "{}", self.offset),
            Some(variable) => write!(f, "{}*{variable} + {}", self.factor, self.offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Linear;

    #[test]
    fn sums_and_products_of_one_variable() {
        let at = |text: &str, i| Linear::parse(text).map(|form| form.at(i));
        assert_eq!(at("i", 5), Ok(5));
        assert_eq!(at("33 - i", 5), Ok(28));
        assert_eq!(at(" -2*i + 1 + i*3 ", 5), Ok(6));
        assert_eq!(at("12", 5), Ok(12));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "i +",
            "i*i",
            "i + j",
            "2^i",
            "3.5",
            "99999999999",
            "--i",
            "i*",
        ] {
            assert!(Linear::parse(text).is_err(), "{text:?}");
        }
    }
}

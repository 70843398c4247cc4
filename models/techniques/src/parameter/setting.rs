//! Values of parameters that have been checked.

use toml::Value;

use super::{Kind, Parameter, ParameterProblem, Range, powers, quoted, span};

/// A value that its parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A whole number.
    Count(u32),
    /// Whole numbers, ascending, each once.
    Counts(Vec<u32>),
    /// The word at this place among those of its parameter.
    Word(usize),
    /// `true` or `false`.
    Flag(bool),
}

/// A problem before it is known of which parameter: a message, and what to write instead.
type Wrong = (String, Option<String>);

impl Parameter {
    /// What `value` stands for; all that is wrong with it otherwise.
    ///
    /// # Errors
    /// If the parameter does not take it.
    pub fn read(&self, value: &Value) -> Result<Setting, Vec<ParameterProblem>> {
        let one = |read: Result<Setting, Wrong>| read.map_err(|wrong| vec![wrong]);
        let read = match self.kind {
            Kind::Count { range, .. } => one(number(value, range).map(Setting::Count)),
            Kind::PowerOfTwo { range, .. } => one(power(value, range).map(Setting::Count)),
            Kind::Counts { range, .. } => numbers(value, range).map(Setting::Counts),
            Kind::CountOr { range, word, .. } => one(number_or(value, range, word)),
            Kind::Choice { words, .. } => one(chosen(value, words)),
            Kind::Flag { .. } => one(yes_or_no(value)),
        };
        let problem = |(message, help)| ParameterProblem::new(self.name, message, help);
        read.map_err(|wrong| wrong.into_iter().map(problem).collect())
    }
}

fn number(value: &Value, range: Range) -> Result<u32, Wrong> {
    let help = Some(format!("a whole number from {}", span(range)));
    let Value::Integer(number) = value else {
        return Err((format!("expected a whole number, found `{value}`"), help));
    };
    let number = u32::try_from(*number).ok();
    number
        .filter(|&number| range.contains(number))
        .ok_or_else(|| (format!("{value} is out of range"), help))
}

fn power(value: &Value, range: Range) -> Result<u32, Wrong> {
    match number(value, range) {
        Ok(number) if number.is_power_of_two() => Ok(number),
        Ok(number) => Err((
            format!("{number} is not a power of two"),
            Some(powers(range)),
        )),
        Err((message, _)) => Err((message, Some(powers(range)))),
    }
}

fn numbers(value: &Value, range: Range) -> Result<Vec<u32>, Vec<Wrong>> {
    let given = match value {
        Value::Array(values) if values.is_empty() => {
            return Err(vec![("the list is empty".to_owned(), None)]);
        }
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    let (mut numbers, mut wrong) = (Vec::new(), Vec::new());
    for value in given {
        match number(value, range) {
            Ok(number) => numbers.push(number),
            Err(problem) => wrong.push(problem),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    if wrong.is_empty() {
        Ok(numbers)
    } else {
        Err(wrong)
    }
}

fn number_or(value: &Value, range: Range, word: &str) -> Result<Setting, Wrong> {
    if value.as_str() == Some(word) {
        return Ok(Setting::Word(0));
    }
    let read = number(value, range).map(Setting::Count);
    read.map_err(|(message, help)| (message, help.map(|help| format!("{help}, or \"{word}\""))))
}

fn chosen(value: &Value, words: &[&str]) -> Result<Setting, Wrong> {
    let named = |text: &str| words.iter().position(|word| *word == text);
    let place = value.as_str().and_then(named);
    place.map(Setting::Word).ok_or_else(|| {
        let help = format!("one of {}", quoted(words));
        (format!("{value} is not among its values"), Some(help))
    })
}

fn yes_or_no(value: &Value) -> Result<Setting, Wrong> {
    value.as_bool().map(Setting::Flag).ok_or_else(|| {
        let message = format!("expected true or false, found `{value}`");
        (
            message,
            Some("`true` or `false`, without quotes".to_owned()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Choice, CountOr, Counts, choice, count_or, counts};

    #[test]
    fn lists_are_sets() {
        const LIST: Counts = counts("a", &[4], 1..=8, "");
        let read = |text: &str| LIST.declared().read(&text.parse().unwrap());
        assert_eq!(read("[8, 2, 8]"), Ok(Setting::Counts(vec![2, 8])));
        assert_eq!(read("3"), Ok(Setting::Counts(vec![3])));
        assert_eq!(read("[0, 3, 9]").unwrap_err().len(), 2);
        assert_eq!(read("[]").unwrap_err()[0].message, "the list is empty");
    }

    #[test]
    fn what_is_refused_is_told_what_to_write() {
        const LIMIT: CountOr = count_or("a", Some(4), 1..=8, "all", "");
        const WORD: Choice<u8, 2> = choice("b", [("one", 1), ("two", 2)], "one", "");
        let refused = |parameter: Parameter, text: &str| {
            let problems = parameter.read(&text.parse().unwrap()).unwrap_err();
            problems[0].help.clone().unwrap()
        };
        assert_eq!(LIMIT.declared().read(&"all".into()), Ok(Setting::Word(0)));
        assert_eq!(
            refused(LIMIT.declared(), "\"every\""),
            "a whole number from 1 to 8, or \"all\""
        );
        assert_eq!(refused(WORD.declared(), "3"), "one of \"one\", \"two\"");
    }
}

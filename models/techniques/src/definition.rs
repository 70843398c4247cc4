//! The registry's entries, and how parameters are read.

use toml::{Table, Value};

use crate::{ALL, Technique};

/// A configured technique, or everything that is wrong with its parameters.
pub type Parsed = Result<Box<dyn Technique>, Vec<ParameterProblem>>;

/// A technique as the registry knows it.
pub struct Definition {
    /// Its name in studies.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The counters that it adds to an activity: name and meaning.
    pub counters: &'static [(&'static str, &'static str)],
    /// Which of its [metrics](Technique::metrics) are better high or low, and which are its headline; one that is not here is neither.
    pub metrics: &'static [Judged],
    /// Configures it. The table holds its parameters only, each one value; absent ones take their defaults.
    ///
    /// # Errors
    /// Every parameter that is unknown or cannot be.
    pub parse: fn(&Table) -> Parsed,
}

/// Which way a metric of a technique is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The metric's name without the technique: `hit_rate`.
    pub name: &'static str,
    /// Whether more of it is better; less is otherwise.
    pub higher: bool,
    /// Whether it says in one figure how well the technique works.
    pub headline: bool,
}

impl Judged {
    /// The more the better, and what the technique is judged by.
    pub const fn headline(name: &'static str) -> Self {
        Self {
            name,
            higher: true,
            headline: true,
        }
    }

    /// The less the better, and what the technique is judged by.
    pub const fn headline_low(name: &'static str) -> Self {
        Self {
            name,
            higher: false,
            headline: true,
        }
    }

    /// The more the better.
    pub const fn higher(name: &'static str) -> Self {
        Self {
            name,
            higher: true,
            headline: false,
        }
    }

    /// The less the better.
    pub const fn lower(name: &'static str) -> Self {
        Self {
            name,
            higher: false,
            headline: false,
        }
    }
}

/// What is declared of the metric `name`, which begins with its technique: `filter_cache.hit_rate`.
pub fn judged(name: &str) -> Option<&'static Judged> {
    let (technique, metric) = name.split_once('.')?;
    let mut definitions = ALL.iter();
    let definition = definitions.find(|definition| definition.metric_prefix() == technique)?;
    definition
        .metrics
        .iter()
        .find(|judged| judged.name == metric)
}

/// Whether the metric `name` is among its technique's headline.
pub fn headline(name: &str) -> bool {
    judged(name).is_some_and(|judged| judged.headline)
}

impl Definition {
    /// What its metrics' names begin with.
    fn metric_prefix(&self) -> &'static str {
        match self.name {
            // Its literature's abbreviation.
            "register_to_register_protection" => "rtrp",
            name => name,
        }
    }
}

/// A parameter of a technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// Its value if it is absent, as written in TOML.
    pub default: &'static str,
    /// Which values it takes.
    pub range: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// Kinds of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number; a list of them is a sweep.
    Count,
    /// A list of whole numbers, which is one value.
    Counts,
    /// A whole number, or this word.
    CountOr(&'static str),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

/// A parameter that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// Its key.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub help: Option<String>,
}

/// The definition called `name`.
///
/// # Errors
/// The nearest name, if one is near.
pub fn find(name: &str) -> Result<&'static Definition, Option<&'static str>> {
    ALL.iter()
        .find(|definition| definition.name == name)
        .copied()
        .ok_or_else(|| nearest(name, ALL.iter().map(|definition| definition.name)))
}

/// The candidate that differs from `name` in the fewest letters, if these are few.
fn nearest(name: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(candidate, name), candidate))
        .min()
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len() / 3)
        .map(|(_, candidate)| candidate)
}

/// Reads the parameters of one technique and collects what is wrong with them.
pub struct Reader<'t> {
    table: &'t Table,
    problems: Vec<ParameterProblem>,
}

impl<'t> Reader<'t> {
    /// Reads `table`; keys that are not in `parameters` are problems.
    pub fn new(table: &'t Table, parameters: &[Parameter]) -> Self {
        let problems = table
            .keys()
            .filter(|key| parameters.iter().all(|parameter| parameter.name != *key))
            .map(|key| unknown(key, parameters))
            .collect();
        Self { table, problems }
    }

    /// A whole number within `range`.
    pub fn count(&mut self, key: &str, default: u32, range: std::ops::RangeInclusive<u32>) -> u32 {
        match self.table.get(key) {
            None => default,
            Some(value) => self.checked(key, value, &range).unwrap_or(default),
        }
    }

    /// Whole numbers within `range`, at least one; a single number is a list of one.
    pub fn counts(
        &mut self,
        key: &str,
        default: &[u32],
        range: std::ops::RangeInclusive<u32>,
    ) -> Vec<u32> {
        match self.table.get(key) {
            None => default.to_vec(),
            Some(Value::Array(values)) if values.is_empty() => {
                self.problem(key, "the list is empty".to_owned(), None);
                default.to_vec()
            }
            Some(Value::Array(values)) => values
                .iter()
                .filter_map(|value| self.checked(key, value, &range))
                .collect(),
            Some(value) => self.checked(key, value, &range).into_iter().collect(),
        }
    }

    /// A whole number within `range`; `None` for `word`.
    pub fn count_or(
        &mut self,
        key: &str,
        word: &str,
        default: Option<u32>,
        range: std::ops::RangeInclusive<u32>,
    ) -> Option<u32> {
        match self.table.get(key) {
            None => default,
            Some(Value::String(text)) if text == word => None,
            Some(value) => {
                let before = self.problems.len();
                let number = self.checked(key, value, &range);
                for problem in &mut self.problems[before..] {
                    problem.help = problem
                        .help
                        .take()
                        .map(|help| format!("{help}, or \"{word}\""));
                }
                number.or(default)
            }
        }
    }

    /// One of the named values.
    pub fn choice<T: Copy>(&mut self, key: &str, default: T, choices: &[(&'static str, T)]) -> T {
        let Some(value) = self.table.get(key) else {
            return default;
        };
        let named = |text: &str| choices.iter().find(|(name, _)| *name == text);
        if let Some((_, chosen)) = value.as_str().and_then(named) {
            return *chosen;
        }
        let names: Vec<String> = choices
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let help = format!("one of {}", names.join(", "));
        self.problem(key, format!("{value} is not among its values"), Some(help));
        default
    }

    /// `true` or `false`.
    pub fn flag(&mut self, key: &str, default: bool) -> bool {
        match self.table.get(key) {
            None => default,
            Some(Value::Boolean(flag)) => *flag,
            Some(value) => {
                let message = format!("expected true or false, found `{value}`");
                self.problem(
                    key,
                    message,
                    Some("`true` or `false`, without quotes".to_owned()),
                );
                default
            }
        }
    }

    /// Values that are good one by one but not together.
    pub fn refuse(&mut self, key: &str, message: &str, help: &str) {
        self.problem(key, message.to_owned(), Some(help.to_owned()));
    }

    /// The technique's name with the parameters that are not at their defaults.
    pub fn label(&self, name: &str, parameters: &[Parameter]) -> String {
        let set = parameters.iter().filter_map(|parameter| {
            let value = self.table.get(parameter.name)?;
            let shown = value.to_string();
            let plain = value.as_str().unwrap_or(&shown);
            (shown != parameter.default).then(|| format!("{}={plain}", parameter.name))
        });
        let set: Vec<String> = set.collect();
        if set.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", set.join(", "))
        }
    }

    /// The technique, if nothing was wrong.
    ///
    /// # Errors
    /// Everything that was wrong.
    pub fn finish<T: Technique + 'static>(self, technique: T) -> Parsed {
        if self.problems.is_empty() {
            Ok(Box::new(technique))
        } else {
            Err(self.problems)
        }
    }

    fn checked(
        &mut self,
        key: &str,
        value: &Value,
        range: &std::ops::RangeInclusive<u32>,
    ) -> Option<u32> {
        let (lowest, highest) = (range.start(), range.end());
        let help = Some(format!("a whole number from {lowest} to {highest}"));
        let Value::Integer(number) = value else {
            self.problem(
                key,
                format!("expected a whole number, found `{value}`"),
                help,
            );
            return None;
        };
        let number = u32::try_from(*number)
            .ok()
            .filter(|number| range.contains(number));
        if number.is_none() {
            self.problem(key, format!("{value} is out of range"), help);
        }
        number
    }

    fn problem(&mut self, key: &str, message: String, help: Option<String>) {
        self.problems.push(ParameterProblem {
            key: key.to_owned(),
            message,
            help,
        });
    }
}

fn unknown(key: &str, parameters: &[Parameter]) -> ParameterProblem {
    let names = || parameters.iter().map(|parameter| parameter.name);
    let help = match nearest(key, names()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!(
            "its parameters are {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    };
    ParameterProblem {
        key: key.to_owned(),
        message: format!("there is no parameter `{key}`"),
        help: Some(help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stack;

    #[test]
    fn a_misspelt_technique_gets_the_nearest_name() {
        assert_eq!(find("filter_cash").err(), Some(Some("filter_cache")));
        assert_eq!(find("branch_predictor").err(), Some(None));
        assert_eq!(
            find("filter_cache").ok().map(|found| found.name),
            Some("filter_cache")
        );
    }

    #[test]
    fn words_and_flags_are_read_and_refused() {
        let table: Table =
            "a = \"two\"\nb = true\nc = \"all\"\nd = \"three\"\ne = 1\nf = \"every\""
                .parse()
                .unwrap();
        let numbers = [("one", 1), ("two", 2)];
        let mut reader = Reader {
            table: &table,
            problems: Vec::new(),
        };
        assert_eq!(reader.choice("a", 1, &numbers), 2);
        assert!(reader.flag("b", false));
        assert_eq!(reader.count_or("c", "all", Some(4), 1..=8), None);
        assert!(reader.problems.is_empty());
        assert_eq!(reader.choice("d", 1, &numbers), 1);
        assert!(!reader.flag("e", false));
        assert_eq!(reader.count_or("f", "all", Some(4), 1..=8), Some(4));
        let helps: Vec<&str> = reader
            .problems
            .iter()
            .filter_map(|problem| problem.help.as_deref())
            .collect();
        assert_eq!(
            helps,
            [
                "one of \"one\", \"two\"",
                "`true` or `false`, without quotes",
                "a whole number from 1 to 8, or \"all\""
            ]
        );
    }

    #[test]
    fn all_problems_of_a_table_come_at_once() {
        let table: Table = "entry = 16\nentries = 0\nentries_per_tag = \"two\""
            .parse()
            .unwrap();
        let problems = (find("filter_cache").ok().unwrap().parse)(&table).unwrap_err();
        let keys: Vec<&str> = problems
            .iter()
            .map(|problem| problem.key.as_str())
            .collect();
        assert_eq!(keys, ["entry", "entries", "entries_per_tag"]);
        assert_eq!(problems[0].help.as_deref(), Some("did you mean `entries`?"));
    }

    /// Every configuration that differs from the default one in one choice or flag.
    fn configurations(definition: &Definition) -> Vec<Stack> {
        let mut tables = vec![Table::new()];
        for parameter in definition.parameters {
            let values: Vec<Value> = match parameter.kind {
                Kind::Choice(words) => words.iter().map(|word| Value::from(*word)).collect(),
                Kind::Flag => vec![Value::from(true), Value::from(false)],
                _ => Vec::new(),
            };
            let one = |value: Value| Table::from_iter([(parameter.name.to_owned(), value)]);
            tables.extend(values.into_iter().map(one));
        }
        let techniques = tables
            .iter()
            .filter_map(|table| (definition.parse)(table).ok());
        techniques
            .filter_map(|technique| Stack::new(vec![technique.into()]).ok())
            .collect()
    }

    #[test]
    fn what_is_judged_is_reported() {
        let run = warpwatt_gpu::Run {
            cycles: 0,
            activity: warpwatt_activity::Activity::new(),
            per_sm: Vec::new(),
            launches: Vec::new(),
            work: warpwatt_gpu::Work::default(),
        };
        for definition in ALL {
            let stacks = configurations(definition);
            let reported: Vec<String> = stacks
                .iter()
                .flat_map(|stack| stack.metrics(&run))
                .map(|metric| metric.name)
                .collect();
            for metric in definition.metrics {
                let name = format!("{}.{}", definition.metric_prefix(), metric.name);
                assert!(
                    reported.contains(&name),
                    "{name} is judged and never reported"
                );
                assert_eq!(judged(&name), Some(metric), "{name} stands twice");
            }
        }
        assert!(headline("filter_cache.hit_rate") && headline("rtrp.coverage"));
        assert!(!headline("sawp.hit_rate") && !headline("nothing"));
    }
}

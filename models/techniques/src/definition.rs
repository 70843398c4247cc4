//! The registry's entries.

use toml::Table;

use crate::parameter::{Parameter, ParameterProblem, Values, nearest};
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
    /// Makes it with values of its parameters; refuses those that are good one by one but not together.
    pub configure: fn(&Values) -> Parsed,
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
    /// The technique as `table` says, which holds its parameters only, each one value; absent ones take their defaults.
    ///
    /// # Errors
    /// Every parameter that is unknown or cannot be.
    pub fn parse(&self, table: &Table) -> Parsed {
        let (values, mut problems) = Values::read(self.name, self.parameters, table);
        match (self.configure)(&values) {
            Ok(technique) if problems.is_empty() => Ok(technique),
            Ok(_) => Err(problems),
            Err(more) => {
                problems.extend(more);
                Err(problems)
            }
        }
    }

    /// What its metrics' names begin with.
    fn metric_prefix(&self) -> &'static str {
        match self.name {
            // Its literature's abbreviation.
            "register_to_register_protection" => "rtrp",
            name => name,
        }
    }
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

/// `technique`, unless something is wrong with it.
///
/// # Errors
/// What is wrong.
pub(crate) fn unless<T: Technique + 'static>(
    problems: Vec<ParameterProblem>,
    technique: T,
) -> Parsed {
    if problems.is_empty() {
        Ok(Box::new(technique))
    } else {
        Err(problems)
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::*;
    use crate::{Kind, Stack};

    #[test]
    fn a_misspelt_technique_gets_the_nearest_name() {
        assert_eq!(find("filter_cash").err(), Some(Some("filter_cache")));
        assert_eq!(find("branch_predictor").err(), Some(None));
        assert_eq!(
            find("filter_cache").ok().map(|found| found.name),
            Some("filter_cache")
        );
    }

    /// A name that the GPU counts too would be added to its count.
    #[test]
    fn no_technique_counts_under_a_name_of_the_gpu() {
        let of_gpu = |name: &str| warpwatt_gpu::COUNTERS.iter().any(|it| it.name == name);
        let mut looked_at = 0;
        for definition in ALL {
            for (name, _) in definition.counters {
                assert!(!of_gpu(name), "{}: {name}", definition.name);
                looked_at += 1;
            }
        }
        assert!(looked_at > 100, "{looked_at}");
    }

    #[test]
    fn all_problems_of_a_table_come_at_once() {
        let table: Table = "entry = 16\nentries = 0\nentries_per_tag = \"two\""
            .parse()
            .unwrap();
        let problems = find("filter_cache")
            .ok()
            .unwrap()
            .parse(&table)
            .unwrap_err();
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
                Kind::Choice { words, .. } => words.iter().map(|word| Value::from(*word)).collect(),
                Kind::Flag { .. } => vec![Value::from(true), Value::from(false)],
                _ => Vec::new(),
            };
            let one = |value: Value| Table::from_iter([(parameter.name.to_owned(), value)]);
            tables.extend(values.into_iter().map(one));
        }
        let techniques = tables
            .iter()
            .filter_map(|table| definition.parse(table).ok());
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

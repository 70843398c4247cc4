//! What a technique is configured with.

use toml::Table;

use super::{Handle, Parameter, ParameterProblem, Setting};

/// Checked values of a technique's parameters: those that are given, and the defaults of the others.
#[derive(Clone, Debug)]
pub struct Values {
    technique: &'static str,
    settings: Vec<Set>,
}

/// A parameter with its value.
#[derive(Clone, Debug)]
struct Set {
    parameter: &'static Parameter,
    setting: Setting,
    given: bool,
}

impl Values {
    /// The values of `table`, which holds these parameters of a technique only, each one value; and everything that is wrong with it. What is wrong has its default.
    pub(crate) fn read(
        technique: &'static str,
        parameters: &'static [Parameter],
        table: &Table,
    ) -> (Self, Vec<ParameterProblem>) {
        let known = |key: &str| parameters.iter().any(|parameter| parameter.name == key);
        let strangers = table.keys().filter(|key| !known(key));
        let mut problems: Vec<ParameterProblem> =
            strangers.map(|key| unknown(key, parameters)).collect();
        let settings = parameters.iter().map(|parameter| {
            let value = table.get(parameter.name);
            let read = value.map(|value| parameter.read(value)).transpose();
            let read = read.unwrap_or_else(|wrong| {
                problems.extend(wrong);
                None
            });
            Set {
                parameter,
                given: read.is_some(),
                setting: read.unwrap_or_else(|| parameter.usual()),
            }
        });
        let values = Self {
            technique,
            settings: settings.collect(),
        };
        (values, problems)
    }

    /// The value of a parameter.
    pub fn get<H: Handle>(&self, handle: &H) -> H::Value {
        let set = self.find(handle);
        debug_assert!(set.is_some(), "{} is not declared", handle.name());
        let value = set.and_then(|set| handle.value(&set.setting));
        value.unwrap_or_else(|| handle.usual())
    }

    /// The value of a parameter if it is given, be it the default.
    pub fn given<H: Handle>(&self, handle: &H) -> Option<H::Value> {
        let set = self.find(handle).filter(|set| set.given)?;
        handle.value(&set.setting)
    }

    /// The technique's name with the parameters that are given, and those that labels always name.
    pub fn label(&self) -> String {
        let said = self
            .settings
            .iter()
            .filter(|set| set.parameter.labelled || set.given);
        let said: Vec<String> = said
            .map(|set| {
                let value = set.parameter.written(&set.setting, "");
                format!("{}={value}", set.parameter.name)
            })
            .collect();
        if said.is_empty() {
            self.technique.to_owned()
        } else {
            format!("{}({})", self.technique, said.join(", "))
        }
    }

    fn find<H: Handle>(&self, handle: &H) -> Option<&Set> {
        let mut settings = self.settings.iter();
        settings.find(|set| set.parameter.name == handle.name())
    }
}

/// The candidate that differs from `name` in the fewest letters, if these are few.
pub(crate) fn nearest(
    name: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(candidate, name), candidate))
        .min()
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len() / 3)
        .map(|(_, candidate)| candidate)
}

fn unknown(key: &str, parameters: &[Parameter]) -> ParameterProblem {
    let names = || parameters.iter().map(|parameter| parameter.name);
    let help = match nearest(key, names()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if parameters.is_empty() => "it has no parameters".to_owned(),
        None => format!(
            "its parameters are {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    };
    ParameterProblem {
        unknown: true,
        ..ParameterProblem::new(key, format!("there is no parameter `{key}`"), Some(help))
    }
}

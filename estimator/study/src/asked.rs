//! Techniques as they are written at the prompt: names with parameters, joined by `+`, and settings that belong to them or to the GPU.

use std::sync::Arc;

use toml::{Table, Value};
use warpwatt_techniques::{Definition, find};

use super::variants::{literal, set};
use super::{Catalogue, Configuration, OwnStructures, configurations, read_techniques};
use crate::diag::{Diag, Sink, did_you_mean};

/// What is asked to be compared, and the settings of the GPU that stood among those of the techniques.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// One for each `--technique`.
    stacks: Vec<Vec<Member>>,
    /// Settings of the GPU as a study has them.
    pub gpu: Table,
}

impl Asked {
    /// Reads techniques as reports name them and `key=value` settings: of the GPU if the key has a dot, else a parameter of the techniques that have it. What makes no
    /// sense is left in `sink`; names and values are judged later.
    pub fn read(techniques: &[String], settings: &[String], sink: &mut Sink) -> Self {
        let mut asked = Self::default();
        for text in techniques {
            match stack(text) {
                Ok(stack) => asked.stacks.push(stack),
                Err(diag) => sink.push(diag),
            }
        }
        let readable = asked.stacks.len() == techniques.len();
        for setting in settings {
            if let Err(diag) = apply(setting, &mut asked.gpu, &mut asked.stacks, readable) {
                sink.push(diag);
            }
        }
        asked
    }

    /// What stands under `[[technique]]` in a study that asks the same.
    pub fn techniques(self) -> Value {
        Value::Array(self.stacks.into_iter().map(technique).collect())
    }

    /// The plain GPU and what is compared with it. `None` if something cannot be, which is left in `sink`.
    pub fn configurations(self, sink: &mut Sink) -> Option<Vec<Configuration>> {
        let mut study = Table::new();
        study.insert("technique".to_owned(), self.techniques());
        let text = study.to_string();
        let before = sink.diags.len();
        let source = sink.sources.add("the techniques, as in a study", &text);
        let (axes, design) = read_techniques(sink, source, &Catalogue::shipped(Arc::new(())));
        let mut none = OwnStructures::default();
        let found = configurations(&axes, &mut none, &design, sink, source).into_iter();
        let found = found.map(|(configuration, _)| configuration).collect();
        (sink.diags.len() == before).then_some(found)
    }
}

/// A technique with the parameters that are asked for.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    name: String,
    parameters: Table,
}

pub(super) fn table<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    Value::Table(entries.collect())
}

fn technique(mut stack: Vec<Member>) -> Value {
    let member = |mut member: Member| {
        member
            .parameters
            .insert("name".to_owned(), member.name.into());
        Value::Table(member.parameters)
    };
    match stack.len() {
        1 => member(stack.remove(0)),
        _ => table([(
            "stack",
            Value::Array(stack.into_iter().map(member).collect()),
        )]),
    }
}

/// One value, or the list of those that commas part.
pub(super) fn values(text: &str) -> Value {
    let parts = split(text, ',');
    match parts[..] {
        [one] => literal(one),
        _ => Value::Array(parts.into_iter().map(literal).collect()),
    }
}

/// The parts of a text between separators that stand in no brackets and no quotes, without the space around them.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut depth, mut quote, mut start, mut parts) = (0_usize, None, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ if depth == 0 && character == separator => {
                parts.push(text[start..at].trim());
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// Techniques joined by `+`.
fn stack(text: &str) -> Result<Vec<Member>, Diag> {
    split(text, '+').into_iter().map(member).collect()
}

/// `name` or `name(key=value, key=value)`.
fn member(text: &str) -> Result<Member, Diag> {
    let (name, inside) = match text.split_once('(') {
        None => (text, ""),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (name.trim(), inside),
            None => return Err(malformed(text)),
        },
    };
    let mut parameters = Table::new();
    for part in split(inside, ',')
        .into_iter()
        .filter(|part| !part.is_empty())
    {
        let (key, value) = part.split_once('=').ok_or_else(|| malformed(text))?;
        parameters.insert(key.trim().to_owned(), literal(value.trim()));
    }
    match name {
        "" => Err(malformed(text)),
        name => Ok(Member {
            name: name.to_owned(),
            parameters,
        }),
    }
}

fn malformed(text: &str) -> Diag {
    Diag::error(
        "what_if::technique",
        format!("`{text}` is no technique with parameters"),
    )
    .help(
        "write it like `filter_cache`, `filter_cache(entries=16)` or `filter_cache + power_gating`",
    )
}

/// Puts one `--set` where it belongs. Whether a technique that is unknown or not `readable` has a parameter cannot be said; that it is so, is.
fn apply(
    setting: &str,
    gpu: &mut Table,
    stacks: &mut [Vec<Member>],
    readable: bool,
) -> Result<(), Diag> {
    let Some((key, value)) = setting.split_once('=') else {
        let diag = Diag::error(
            "what_if::setting",
            format!("`--set {setting}` has no value"),
        );
        return Err(diag.help("write for example `--set entries=16` or `--set sm.threads=512`"));
    };
    let (key, value) = (key.trim(), values(value.trim()));
    if key.contains('.') {
        return set(gpu, key, value).map_err(|problem| {
            Diag::error("what_if::setting", problem.message).maybe_help(problem.help)
        });
    }
    let unknown = |member: &Member| find(&member.name).is_err();
    let judged = readable && !stacks.iter().flatten().any(unknown);
    let mut members: Vec<(&mut Member, &Definition)> = stacks
        .iter_mut()
        .flatten()
        .filter_map(|member| find(&member.name).ok().map(|found| (member, found)))
        .collect();
    let has = |definition: &Definition| definition.parameters.iter().any(|known| known.name == key);
    if !judged || members.iter().any(|(_, definition)| has(definition)) {
        let takers = members.iter_mut().filter(|(_, definition)| has(definition));
        takers
            .for_each(|(member, _)| drop(member.parameters.insert(key.to_owned(), value.clone())));
        return Ok(());
    }
    let known = members
        .iter()
        .flat_map(|(_, definition)| definition.parameters);
    let help = match members[..] {
        [] => "name the technique with `--technique`".to_owned(),
        _ => did_you_mean(key, known.map(|parameter| parameter.name)),
    };
    let message = format!("no technique that is asked for has a parameter `{key}`");
    Err(Diag::error("what_if::setting", message).help(format!(
        "{help} (settings of the GPU have a dot, such as `sm.threads`)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_and_quotes_part_nothing() {
        assert_eq!(
            split("a(b, c), \"d, e\" ,[1, 2]", ','),
            ["a(b, c)", "\"d, e\"", "[1, 2]"]
        );
    }
}

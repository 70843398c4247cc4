//! A question without a file: what is asked at the prompt, as the study that it stands for.

use toml::{Table, Value};
use warpwatt_techniques::{Definition, find};

use super::selector::PREFIX;
use super::variants::{literal, set};
use crate::diag::{Diag, Sink, did_you_mean};

/// What is asked. Every text may list several values, `16,32`, as a study may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Kernels: names of the suite or of a paper's table, or launch files.
    pub kernels: Vec<String>,
    /// The case of each kernel; its first if none is named.
    pub case: Option<String>,
    /// Techniques as reports name them: `filter_cache`, `filter_cache(entries=16)`, several that work together joined by `+`.
    pub techniques: Vec<String>,
    /// `key=value`: a setting of the GPU if the key has a dot, else a parameter of the techniques that have it.
    pub settings: Vec<String>,
    /// Keys of `[gpu]` that are no settings: preset, node, operating point.
    pub gpu: Vec<(&'static str, String)>,
}

impl Question {
    /// The text of the study. `None` if the question makes no sense, which is left in `sink`; names and values are judged when the study is read.
    pub fn study(&self, sink: &mut Sink) -> Option<String> {
        let mut gpu = Table::new();
        for (key, value) in &self.gpu {
            gpu.insert((*key).to_owned(), values(value));
        }
        let mut stacks: Vec<Vec<Member>> = self
            .techniques
            .iter()
            .filter_map(|text| stack(text).map_err(|diag| sink.push(diag)).ok())
            .collect();
        let readable = stacks.len() == self.techniques.len();
        for setting in &self.settings {
            if let Err(diag) = apply(setting, &mut gpu, &mut stacks, readable) {
                sink.push(diag);
            }
        }
        if sink.has_errors() {
            return None;
        }
        let mut study = Table::new();
        let title = match self.techniques[..] {
            [] => "The plain GPU".to_owned(),
            _ => format!("What if: {}", self.techniques.join("; ")),
        };
        study.insert("study".to_owned(), table([("title", Value::String(title))]));
        study.insert("gpu".to_owned(), Value::Table(gpu));
        let kernels = self.kernels.iter().map(|name| self.kernel(name)).collect();
        study.insert(
            "workloads".to_owned(),
            table([("kernels", Value::Array(kernels))]),
        );
        let techniques = stacks.into_iter().map(technique).collect();
        study.insert("technique".to_owned(), Value::Array(techniques));
        Some(study.to_string())
    }

    fn kernel(&self, name: &str) -> Value {
        let file =
            !name.starts_with(PREFIX) && (name.contains(['/', '\\']) || name.ends_with(".toml"));
        let named = [(if file { "launch" } else { "name" }, name)];
        let case = self.case.as_deref().map(|case| ("case", case));
        match case {
            // A paper's table or a row of it stands where a name does.
            None if !file => Value::String(name.to_owned()),
            case => table(
                named
                    .into_iter()
                    .chain(case)
                    .map(|(key, text)| (key, text.into())),
            ),
        }
    }
}

/// A technique with the parameters that are asked for.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    name: String,
    parameters: Table,
}

fn table<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
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
fn values(text: &str) -> Value {
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
        return set(gpu, key, value)
            .map_err(|problem| Diag::error("what_if::setting", problem.message));
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

    fn asked(techniques: &[&str], settings: &[&str]) -> Question {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Question {
            kernels: texts(&["hotspot"]),
            techniques: texts(techniques),
            settings: texts(settings),
            gpu: vec![
                ("preset", "tesla-16sm".to_owned()),
                ("node", "7nm, 16nm".to_owned()),
            ],
            ..Question::default()
        }
    }

    fn study(question: &Question) -> Table {
        let mut sink = Sink::default();
        let text = question.study(&mut sink);
        assert!(!sink.has_errors(), "{:?}", sink.diags);
        text.unwrap().parse().unwrap()
    }

    #[test]
    fn a_question_is_a_study() {
        let question = asked(
            &[
                "filter_cache",
                "filter_cache(entries=[8, 16]) + register_virtualization",
            ],
            &["entries=32,64", "sm.threads=512", "release_flag_cache=5"],
        );
        let expected: Table = r#"
            study = { title = "What if: filter_cache; filter_cache(entries=[8, 16]) + register_virtualization" }
            gpu = { preset = "tesla-16sm", node = ["7nm", "16nm"], sm.threads = 512 }
            workloads.kernels = ["hotspot"]
            [[technique]]
            name = "filter_cache"
            entries = [32, 64]
            [[technique]]
            stack = [{ name = "filter_cache", entries = [32, 64] }, { name = "register_virtualization", release_flag_cache = 5 }]
        "#
        .parse()
        .unwrap();
        assert_eq!(study(&question), expected);
    }

    #[test]
    fn launch_files_and_cases_are_told_from_names() {
        let mut question = asked(&["filter_cache"], &[]);
        question.kernels = vec!["bfs".to_owned(), "my.toml".to_owned()];
        question.case = Some("paper".to_owned());
        let expected: Table = "kernels = [{ name = \"bfs\", case = \"paper\" }, { launch = \"my.toml\", case = \"paper\" }]"
            .parse()
            .unwrap();
        assert_eq!(study(&question)["workloads"], Value::Table(expected));
        question.kernels = vec!["paper:filter_cache/HSPT".to_owned()];
        question.case = None;
        let expected = "kernels = [\"paper:filter_cache/HSPT\"]".parse().unwrap();
        assert_eq!(study(&question)["workloads"], Value::Table(expected));
    }

    #[test]
    fn what_makes_no_sense_is_said_all_at_once() {
        let messages = |techniques: &[&str], settings: &[&str]| {
            let mut sink = Sink::default();
            assert_eq!(asked(techniques, settings).study(&mut sink), None);
            let messages = sink.diags.into_iter();
            let said = messages.map(|diag| (diag.message, diag.help.unwrap_or_default()));
            said.collect::<Vec<_>>()
        };
        let found = messages(&["filter_cache"], &["entires=3", "entries"]);
        let [(entires, near), (no_value, _)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            entires,
            "no technique that is asked for has a parameter `entires`"
        );
        assert!(near.starts_with("did you mean `entries`?"), "{near}");
        assert_eq!(no_value, "`--set entries` has no value");
        let found = messages(&[], &["entries=3"]);
        assert!(found[0].1.starts_with("name the technique"), "{found:?}");
        // What a technique has that cannot be read is not guessed at.
        let found = messages(&["filter_cache(entries=16"], &["entries=3"]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].0,
            "`filter_cache(entries=16` is no technique with parameters"
        );
    }

    #[test]
    fn commas_in_brackets_and_quotes_part_nothing() {
        assert_eq!(
            split("a(b, c), \"d, e\" ,[1, 2]", ','),
            ["a(b, c)", "\"d, e\"", "[1, 2]"]
        );
    }
}

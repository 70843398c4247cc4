//! A question without a file: what is asked at the prompt, as the study that it stands for.

use toml::{Table, Value};

use super::asked::{Asked, table, values};
use super::workload::selector::PREFIX;
use crate::diag::Sink;

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
    /// Over which time power is a peak, if that is asked for.
    pub peak_window: Option<String>,
    /// How sure runs are to be of which a part is timed, if not all is to be timed.
    pub sampling: Option<String>,
}

impl Question {
    /// The text of the study. `None` if the question makes no sense, which is left in `sink`; names and values are judged when the study is read.
    pub fn study(&self, sink: &mut Sink) -> Option<String> {
        let mut gpu = Table::new();
        for (key, value) in &self.gpu {
            gpu.insert((*key).to_owned(), values(value));
        }
        let asked = Asked::read(&self.techniques, &self.settings, sink);
        if sink.has_errors() {
            return None;
        }
        let mut study = Table::new();
        let title = match self.techniques[..] {
            [] => "The plain GPU".to_owned(),
            _ => format!("What if: {}", self.techniques.join("; ")),
        };
        study.insert("study".to_owned(), table([("title", Value::String(title))]));
        gpu.extend(asked.gpu.clone());
        study.insert("gpu".to_owned(), Value::Table(gpu));
        let kernels = self.kernels.iter().map(|name| self.kernel(name)).collect();
        study.insert(
            "workloads".to_owned(),
            table([("kernels", Value::Array(kernels))]),
        );
        study.insert("technique".to_owned(), asked.techniques());
        if let Some(window) = &self.peak_window {
            let window = ("window", Value::String(window.clone()));
            study.insert("peak_power".to_owned(), table([window]));
        }
        if let Some(error) = &self.sampling {
            let error = ("error", Value::String(error.clone()));
            study.insert("sampling".to_owned(), table([error]));
        }
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
}

//! Findings as text with file, line, caret and remedy, and as data.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde_json::{Value, json};

use super::short::{MOST_QUOTED, line, window};
use super::{Diag, Label, Severity, Sink, Sources, floor_boundary, newlines};

/// Faults of a file that are shown, and as many warnings.
const MOST_OF_A_FILE: usize = 50;

/// Text for a terminal (`colour`) or a file: one paragraph a finding, and a closing count where there are several.
pub fn render(sink: &Sink, colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let (told, rest) = told(sink);
    let mut paragraphs: Vec<String> = told
        .into_iter()
        .chain(&rest)
        .map(|diag| paragraph(&renderer, &sink.sources, diag))
        .collect();
    let errors = sink
        .diags
        .iter()
        .filter(|diag| diag.severity == Severity::Error)
        .count();
    if errors > 1 {
        paragraphs.push(format!("{errors} errors."));
    }
    let mut text = paragraphs.join("\n\n");
    text.push('\n');
    text
}

/// The findings that are told one by one, and for each file that has more of a kind how many they are.
fn told(sink: &Sink) -> (Vec<&Diag>, Vec<Diag>) {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    let mut told = Vec::new();
    for diag in &sink.diags {
        let source = diag.labels.first().map(|label| label.source);
        let count = counts.entry((source, diag.severity == Severity::Error));
        let count = count.or_default();
        *count += 1;
        if *count <= MOST_OF_A_FILE {
            told.push(diag);
        }
    }
    let more = counts.into_iter().filter_map(|((source, error), count)| {
        let more = count.checked_sub(MOST_OF_A_FILE).filter(|more| *more > 0)?;
        let of = source.map_or_else(String::new, |source| {
            format!(" of `{}`", sink.sources.name(source))
        });
        Some(match error {
            true => Diag::error(
                "input::more",
                format!("{more} more faults{of} are not shown"),
            )
            .help("mend the first ones, and ask again"),
            false => Diag::warning(
                "input::more",
                format!("{more} more warnings{of} are not shown"),
            ),
        })
    });
    let more = more.collect();
    (told, more)
}

fn paragraph(renderer: &Renderer, sources: &Sources, diag: &Diag) -> String {
    let text = renderer.render(&report(sources, diag));
    match &diag.help {
        Some(help) if diag.labels.is_empty() => {
            format!("{text}\n  = help: {}", help.replace('\n', "\n          "))
        }
        _ => text,
    }
}

fn report<'a>(sources: &'a Sources, diag: &'a Diag) -> Vec<Group<'a>> {
    let level = match diag.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diag.message.as_str()).id(diag.code));
    let mut rest = diag.labels.as_slice();
    let mut primary = true;
    while let Some(first) = rest.first() {
        let same = rest
            .iter()
            .take_while(|label| label.source == first.source)
            .count();
        let (these, others) = rest.split_at(same);
        group = match near(sources, these) {
            Some(lines) => group.element(snippet(sources, these, lines, primary)),
            None => these
                .iter()
                .enumerate()
                .fold(group, |group, (place, label)| {
                    alone(group, sources, label, primary && place == 0)
                }),
        };
        rest = others;
        primary = false;
    }
    if let Some(help) = &diag.help
        && !diag.labels.is_empty()
    {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    vec![group]
}

/// Bytes of a text that labels may span to be shown in one piece.
const MOST_TOGETHER: usize = 4_096;

/// The lines of a text that its labels are about; `None` if these are too far from each other to be shown together, or too long.
fn near(sources: &Sources, labels: &[Label]) -> Option<Range<usize>> {
    let text = sources.text(labels[0].source);
    let starts = labels
        .iter()
        .map(|label| floor_boundary(text, label.range.start));
    let (first, last) = (starts.clone().min()?, starts.max()?);
    let lines = line(text, first).start..line(text, last).end;
    let short = lines.len() <= MOST_TOGETHER
        && text[lines.clone()]
            .split('\n')
            .all(|line| line.len() <= MOST_QUOTED);
    short.then_some(lines)
}

/// A part of one text with the labels under its lines; `primary` says whether the first label is the main one.
fn snippet<'a>(
    sources: &'a Sources,
    labels: &'a [Label],
    part: Range<usize>,
    primary: bool,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = labels[0].source;
    let whole = sources.text(source);
    let text = &whole[part.clone()];
    let annotations = labels.iter().enumerate().map(|(place, label)| {
        let kind = if primary && place == 0 {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        let within =
            |at: usize| floor_boundary(text, floor_boundary(whole, at).saturating_sub(part.start));
        let start = within(label.range.start);
        let end = within(label.range.end).max(start);
        let annotation = kind.span(start..first_line_end(text, start, end));
        if label.text.is_empty() {
            annotation
        } else {
            annotation.label(label.text.as_str())
        }
    });
    Snippet::source(text)
        .path(sources.name(source))
        .line_start(newlines(&whole[..part.start]) + 1)
        .annotations(annotations)
}

/// One label whose line is too long to be shown, or too far from that of its neighbours.
fn alone<'a>(group: Group<'a>, sources: &'a Sources, label: &'a Label, primary: bool) -> Group<'a> {
    let text = sources.text(label.source);
    let at = floor_boundary(text, label.range.start);
    let whole = line(text, at);
    let part = window(text, whole.clone(), at);
    let cut = part.start > whole.start;
    let snippet = snippet(sources, std::slice::from_ref(label), part, primary);
    if !cut {
        return group.element(snippet);
    }
    // The renderer would count columns from where the part begins.
    let (line, column) = sources.position(label.source, at);
    let origin = Origin::path(sources.name(label.source))
        .line(line)
        .char_column(column);
    group.element(origin).element(snippet.path(None::<&str>))
}

/// A caret stays on one line: a table that spans many is marked on its first.
fn first_line_end(text: &str, start: usize, end: usize) -> usize {
    text[start..end]
        .find('\n')
        .map_or(end, |newline| start + newline)
}

/// The findings as a JSON array: code, severity, message, help, and the places by file, line and column (from 1).
pub fn to_json(sink: &Sink) -> Value {
    let (told, rest) = told(sink);
    let all = told.into_iter().chain(&rest);
    Value::Array(all.map(|diag| diag_json(&sink.sources, diag)).collect())
}

fn diag_json(sources: &Sources, diag: &Diag) -> Value {
    let places: Vec<Value> = diag
        .labels
        .iter()
        .map(|label| {
            let (line, column) = sources.position(label.source, label.range.start);
            let (end_line, end_column) = sources.position(label.source, label.range.end);
            json!({
                "file": sources.name(label.source), "line": line, "column": column,
                "end_line": end_line, "end_column": end_column, "label": label.text,
            })
        })
        .collect();
    let severity = match diag.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    json!({ "code": diag.code, "severity": severity, "message": diag.message, "help": diag.help, "places": places })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_faults() -> Sink {
        let mut sink = Sink::default();
        let text = "[gpu]\nnode = \"33nm\"\npreset = \"tesla\"\n";
        let id = sink.sources.add("study.toml", text);
        let at = |part: &str| {
            let start = text.find(part).unwrap_or(0);
            start..start + part.len()
        };
        sink.push(
            Diag::error("study::unknown_node", "no node is called `33nm`")
                .at(id, at("\"33nm\""), "not in the library `itrs`")
                .at(id, at("[gpu]"), "of this GPU")
                .help("did you mean `32nm`?"),
        );
        sink.push(
            Diag::error("study::unknown_preset", "no preset is called `tesla`").at(
                id,
                at("\"tesla\""),
                "",
            ),
        );
        sink
    }

    #[test]
    fn text_shows_line_caret_and_remedy() {
        insta::assert_snapshot!(render(&two_faults(), false), @r#"
        error[study::unknown_node]: no node is called `33nm`
         --> study.toml:2:8
          |
        1 | [gpu]
          | ----- of this GPU
        2 | node = "33nm"
          |        ^^^^^^ not in the library `itrs`
          |
          = help: did you mean `32nm`?

        error[study::unknown_preset]: no preset is called `tesla`
         --> study.toml:3:10
          |
        3 | preset = "tesla"
          |          ^^^^^^^

        2 errors.
        "#);
    }

    #[test]
    fn data_has_lines_and_columns() {
        let value = to_json(&two_faults());
        assert_eq!(value[0]["places"][0]["line"], 2);
        assert_eq!(value[0]["places"][0]["column"], 8);
        assert_eq!(value[1]["help"], Value::Null);
    }

    /// Many faults of one file, or one of a long token: what is shown is short, and says how much is not.
    #[test]
    fn what_is_shown_has_bounds() {
        let mut sink = Sink::default();
        let text = "key = 1\n".repeat(5_000);
        let id = sink.sources.add("study.toml", text);
        for line in 0..5_000 {
            let diag = Diag::error("study::unknown_key", format!("line {line}"));
            let again = Diag::warning("study::duplicate_value", "twice").at(id, 0..3, "first");
            sink.push(diag.at(id, line * 8..line * 8 + 3, "unknown key"));
            sink.push(again.at(id, line * 8..line * 8 + 3, "again"));
        }
        let shown = render(&sink, false);
        assert_eq!(
            shown.matches("error[study::unknown_key]").count(),
            MOST_OF_A_FILE
        );
        assert!(shown.len() < 40_000, "{} bytes", shown.len());
        insta::assert_snapshot!(shown[shown.find("error[input::more]").unwrap()..].to_owned());
        let data = to_json(&sink);
        let data = data.as_array().unwrap();
        assert_eq!(data.len(), 2 * MOST_OF_A_FILE + 2);
        assert_eq!(data.last().unwrap()["code"], "input::more");
    }

    #[test]
    fn a_long_line_is_cut_around_its_label_and_keeps_its_column() {
        let mut sink = Sink::default();
        let long = "x".repeat(1_000_000);
        let text = format!("a = 1\n{long} = \"ä\" # {long}\n");
        let at = text.find("\"ä\"").unwrap();
        let id = sink.sources.add("study.toml", text);
        let diag = Diag::error("study::unknown_node", format!("no node is called `{long}`"));
        sink.push(
            diag.at(id, at..at + 4, "here")
                .at(id, 6..1_000_006, "key")
                .at(id, 0..1, "far"),
        );
        let shown = render(&sink, false);
        insta::assert_snapshot!(shown);
        assert!(to_json(&sink).to_string().len() < 2_000);
    }

    #[test]
    fn a_label_outside_the_text_still_renders() {
        let mut sink = Sink::default();
        let id = sink.sources.add("a", "x\n");
        sink.push(Diag::error("test::far", "far").at(id, 50..70, "here"));
        assert!(render(&sink, false).contains("error[test::far]"));
    }
}

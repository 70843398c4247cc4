//! Findings as text with file, line, caret and remedy, and as data.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};

use super::{Diag, Label, Severity, Sink, Sources, floor_boundary};

/// Text for a terminal (`colour`) or a file: one paragraph a finding, and a closing count where there are several.
pub fn render(sink: &Sink, colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut paragraphs: Vec<String> = sink
        .diags
        .iter()
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
        group = group.element(snippet(sources, &rest[..same], primary));
        rest = &rest[same..];
        primary = false;
    }
    if let Some(help) = &diag.help
        && !diag.labels.is_empty()
    {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    vec![group]
}

/// The lines of one text with the labels under them; `primary` says whether the first label is the main one.
fn snippet<'a>(
    sources: &'a Sources,
    labels: &'a [Label],
    primary: bool,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = labels[0].source;
    let text = sources.text(source);
    let annotations = labels.iter().enumerate().map(|(place, label)| {
        let kind = if primary && place == 0 {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        let start = floor_boundary(text, label.range.start);
        let end = floor_boundary(text, label.range.end).max(start);
        let annotation = kind.span(start..first_line_end(text, start, end));
        if label.text.is_empty() {
            annotation
        } else {
            annotation.label(label.text.as_str())
        }
    });
    Snippet::source(text)
        .path(sources.name(source))
        .annotations(annotations)
}

/// A caret stays on one line: a table that spans many is marked on its first.
fn first_line_end(text: &str, start: usize, end: usize) -> usize {
    text[start..end]
        .find('\n')
        .map_or(end, |newline| start + newline)
}

/// The findings as a JSON array: code, severity, message, help, and the places by file, line and column (from 1).
pub fn to_json(sink: &Sink) -> Value {
    Value::Array(
        sink.diags
            .iter()
            .map(|diag| diag_json(&sink.sources, diag))
            .collect(),
    )
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

    #[test]
    fn a_label_outside_the_text_still_renders() {
        let mut sink = Sink::default();
        let id = sink.sources.add("a", "x\n");
        sink.push(Diag::error("test::far", "far").at(id, 50..70, "here"));
        assert!(render(&sink, false).contains("error[test::far]"));
    }
}

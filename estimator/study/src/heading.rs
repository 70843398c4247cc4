//! `[study]`: what a study is called, and the paper that it stands beside.

use super::Catalogue;
use super::reader::{Reader, Section, text};
use crate::diag::{Diag, did_you_mean};

const EXAMPLE: &str = "title = \"Filter cache at two nodes\"";

/// Title and paper, if they are there.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    catalogue: &Catalogue,
) -> (Option<String>, Option<String>) {
    if root.get("study").is_none() {
        reader.missing_section(root, "study", &format!("[study]\n{EXAMPLE}"));
        return (None, None);
    }
    let Some(section) = reader.section(root, "study") else {
        return (None, None);
    };
    reader.refuse_unknown(&section, &["title", "paper"]);
    if section.get("title").is_none() {
        reader.missing(&section, "title", EXAMPLE);
    }
    let title = reader.one(&section, "title", |value| {
        text("`title`", value, "title = \"...\"")
    });
    let example = "paper = \"filter_cache\"";
    let paper = reader.one(&section, "paper", |value| text("`paper`", value, example));
    let known = paper.filter(|paper| {
        let known = catalogue.beside.contains(&paper.value);
        if !known {
            let message = format!("no paper `{}` can stand beside ours", paper.value);
            let diag = Diag::error("study::unknown_paper", message);
            let diag = diag.at(reader.source, paper.range.clone(), "");
            reader.sink.push(diag.help(did_you_mean(
                &paper.value,
                catalogue.beside.iter().map(String::as_str),
            )));
        }
        known
    });
    (
        title.map(|title| title.value),
        known.map(|paper| paper.value),
    )
}

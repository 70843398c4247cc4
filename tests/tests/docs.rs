//! Links of the documentation lead to where they say, and its table of contents has every page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// The pages by their names, and the readme.
fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir(docs()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let readme = docs().join("../README.md");
    pages
        .chain([readme])
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The page without its blocks of code.
fn prose(text: &str) -> String {
    let parts = text.split("\n```");
    parts.step_by(2).collect::<Vec<&str>>().join("\n")
}

/// What a heading is called in an address, as GitHub and mdBook make it.
fn slug(heading: &str) -> String {
    // Of a link its text.
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text += &before.replacen('[', "", 1);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text += rest;
    let kept = text.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

/// The addresses of a page's headings; one that is there twice is numbered.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for line in prose(text).lines().filter(|line| line.starts_with('#')) {
        let slug = slug(line.trim_start_matches('#'));
        let count = found.entry(slug.clone()).or_default();
        anchors.insert(match *count {
            0 => slug,
            times => format!("{slug}-{times}"),
        });
        *count += 1;
    }
    anchors
}

/// Where the links of a page lead that stay in the project.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let after = |mark: &str, end: char| -> Vec<String> {
        let parts = prose.split(mark).skip(1);
        parts
            .map(|part| part.split(end).next().unwrap().to_owned())
            .collect()
    };
    let all = [after("](", ')'), after(" src=\"", '"')].concat();
    all.into_iter()
        .filter(|link| !link.contains("://") && !link.contains([' ', '\n']))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (page, text) in &pages {
        let folder = if page == "README.md" {
            docs().join("..")
        } else {
            docs()
        };
        for link in links(text) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let name = file.rsplit('/').next().unwrap();
            let target = if file.is_empty() {
                Some(text)
            } else {
                pages.get(name)
            };
            let there = file.is_empty() || folder.join(file).exists();
            let anchored =
                anchor.is_empty() || target.is_some_and(|text| anchors(text).contains(anchor));
            if !there || !anchored {
                wrong.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(count > 300, "only {count} links");
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn the_table_of_contents_has_every_page() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let mut listed = links(&summary);
    listed.sort();
    let pages = pages().into_keys();
    let pages: Vec<String> = pages
        .filter(|page| !["README.md", "SUMMARY.md"].contains(&page.as_str()))
        .collect();
    assert_eq!(listed, pages);
}

#[test]
fn the_readme_s_way_in_is_there() {
    let pages = pages();
    assert!(links(&pages["README.md"]).contains(&"docs/index.md".to_owned()));
}

/// The test of the reading itself.
#[test]
fn headings_and_links_are_read() {
    let text = "# A `b` & [c](d.md)\n\n## Twice\n\n## Twice\n\n```sh\n# none\n```\n\n[x](y.md#z) [w](https://example.org) <img src=\"v.svg\">\n";
    assert_eq!(
        anchors(text),
        ["a-b--c", "twice", "twice-1"].map(str::to_owned).into()
    );
    assert_eq!(links(text), ["d.md", "y.md#z", "v.svg"]);
}

//! The files that a study names, and those that these name.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use toml::Value;

use super::Packed;
use crate::diag::{Diag, Sink};
use crate::run::recorded::{is_recording, launches};
use crate::technology;

/// Keys whose texts name files: in a study, its launch files, node files and maps.
const FILES: [&str; 6] = ["expect", "expect_file", "extends", "file", "launch", "ptx"];
/// Keys whose texts name what ships, or a file, which is then of TOML or has a folder.
const SHIPPED_OR_FILES: [&str; 3] = ["board", "map", "node"];

/// Every file that `study` names relative to `from`, and that a TOML file or a list of recorded launches among them names relative to it.
pub(super) fn of(study: &str, from: &Path, sink: &mut Sink) -> Vec<Packed> {
    let mut walk = Walk {
        from,
        found: BTreeMap::new(),
        sink,
    };
    if let Ok(mut table) = study.parse::<toml::Table>() {
        // Where results go is no input.
        table.remove("output");
        walk.table(&table, Path::new(""));
    }
    walk.found.into_iter().collect()
}

/// A file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Diag {
    let message = format!("cannot read `{}`: {error}", path.display());
    Diag::error("input::unreadable", message)
}

struct Walk<'a> {
    from: &'a Path,
    /// By path in the artifact.
    found: BTreeMap<PathBuf, Vec<u8>>,
    sink: &'a mut Sink,
}

impl Walk<'_> {
    /// What a TOML document in `folder` names. One that cannot be read is told where it is used.
    fn document(&mut self, text: &str, folder: &Path) {
        if let Ok(table) = text.parse::<toml::Table>() {
            self.table(&table, folder);
        }
    }

    fn table(&mut self, table: &toml::Table, folder: &Path) {
        for (key, value) in table {
            self.value(key, value, folder);
        }
    }

    fn value(&mut self, key: &str, value: &Value, folder: &Path) {
        match value {
            Value::String(text) if is_name(key, text) => self.named(text, folder),
            Value::Array(values) => {
                for value in values {
                    self.value(key, value, folder);
                }
            }
            Value::Table(table) => self.table(table, folder),
            _ => {}
        }
    }

    /// A text that stands where a file is named. One that is none is told where it is used.
    fn named(&mut self, text: &str, folder: &Path) {
        let named = folder.join(text);
        if !self.from.join(&named).is_file() {
            return;
        }
        if let Some(inside) = inside(&named) {
            return self.add(&inside);
        }
        let message = format!(
            "the study names `{text}`, which lies outside of `{}`",
            self.from.display()
        );
        let help = "name with `--from` a directory in which all its files are";
        self.sink
            .push(Diag::error("artifact::outside", message).help(help));
    }

    fn add(&mut self, inside: &Path) {
        let real = self.from.join(inside);
        if self.found.contains_key(inside) {
            return;
        }
        let bytes = match fs::read(&real) {
            Ok(bytes) => bytes,
            Err(error) => return self.sink.push(unreadable(&real, &error)),
        };
        let ends = |with: &str| inside.extension().is_some_and(|ending| ending == with);
        let (is_document, is_list) = (ends("toml"), ends("g") && is_recording(inside));
        let text = (is_document || is_list)
            .then(|| String::from_utf8(bytes.clone()).ok())
            .flatten();
        self.found.insert(inside.to_path_buf(), bytes);
        let folder = inside.parent().unwrap_or(Path::new(""));
        match text {
            // A list that is wrong is told where it is used.
            Some(text) if is_list => {
                for launch in launches(&text) {
                    self.named(&launch, folder);
                }
            }
            Some(text) => self.document(&text, folder),
            None => {}
        }
    }
}

/// Whether a text under a key names a file. Others may be called as a file or a folder is that nobody meant: titles, kernels of the suite.
fn is_name(key: &str, text: &str) -> bool {
    FILES.contains(&key) || SHIPPED_OR_FILES.contains(&key) && technology::is_file(text)
}

/// The path without `.` and `..`; nothing if it leads outside.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_files_where_files_are_named() {
        for (key, text) in [
            ("launch", "own"),
            ("ptx", "kernel.o"),
            ("extends", "base.toml"),
            ("node", "my.toml"),
            ("node", "nodes/mine"),
            ("board", "mine.toml"),
        ] {
            assert!(is_name(key, text), "{key} = {text}");
        }
        for (key, text) in [
            ("title", "study.toml"),
            ("kernels", "hotspot"),
            ("node", "7nm"),
            ("map", "ncu"),
        ] {
            assert!(!is_name(key, text), "{key} = {text}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        let of = |text: &str| inside(Path::new(text));
        assert_eq!(of("a/./b/../c.toml"), Some(PathBuf::from("a/c.toml")));
        assert_eq!(of("a/../../c"), None);
        assert_eq!(of("/etc/passwd"), None);
        assert_eq!(of("."), Some(PathBuf::new()));
    }
}

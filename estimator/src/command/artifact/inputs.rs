//! The files that a study names, and those that these name.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use toml::Value;

use super::Packed;
use crate::diag::{Diag, Sink};

/// Every file that a text in `study` names relative to `from`, and that a text in a TOML file among them names relative to it; of a directory, what is in it.
pub(super) fn of(study: &str, from: &Path, sink: &mut Sink) -> Vec<Packed> {
    let mut walk = Walk {
        from,
        found: BTreeMap::new(),
        sink,
    };
    if let Ok(mut table) = study.parse::<toml::Table>() {
        // Where results go is no input.
        table.remove("output");
        walk.value(&Value::Table(table), Path::new(""));
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
            self.value(&Value::Table(table), folder);
        }
    }

    fn value(&mut self, value: &Value, folder: &Path) {
        match value {
            Value::String(text) => self.named(text, folder),
            Value::Array(values) => values.iter().for_each(|value| self.value(value, folder)),
            Value::Table(table) => table.values().for_each(|value| self.value(value, folder)),
            _ => {}
        }
    }

    /// A text, which may be the name of a file.
    fn named(&mut self, text: &str, folder: &Path) {
        if text.is_empty() || text.len() > 4096 {
            return;
        }
        let named = folder.join(text);
        let real = self.from.join(&named);
        if !real.is_file() && !real.is_dir() {
            return;
        }
        let Some(inside) = inside(&named) else {
            // A directory outside, such as `/` or `..`, is a unit or a separator as likely as a name.
            if real.is_file() {
                let message = format!(
                    "the study names `{text}`, which lies outside of `{}`",
                    self.from.display()
                );
                let help = "name with `--from` a directory in which all its files are";
                self.sink
                    .push(Diag::error("artifact::outside", message).help(help));
            }
            return;
        };
        if !inside.as_os_str().is_empty() {
            self.add(&inside);
        }
    }

    fn add(&mut self, inside: &Path) {
        let real = self.from.join(inside);
        if self.found.contains_key(inside) {
            return;
        }
        if real.is_dir() {
            let entries = fs::read_dir(&real).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.path().is_file()) {
                self.add(&inside.join(entry.file_name()));
            }
            return;
        }
        let bytes = match fs::read(&real) {
            Ok(bytes) => bytes,
            Err(error) => return self.sink.push(unreadable(&real, &error)),
        };
        let is_document = inside.extension().is_some_and(|ending| ending == "toml");
        let text = is_document
            .then(|| String::from_utf8(bytes.clone()).ok())
            .flatten();
        self.found.insert(inside.to_path_buf(), bytes);
        if let Some(text) = text {
            self.document(&text, inside.parent().unwrap_or(Path::new("")));
        }
    }
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
    fn paths_stay_inside() {
        let of = |text: &str| inside(Path::new(text));
        assert_eq!(of("a/./b/../c.toml"), Some(PathBuf::from("a/c.toml")));
        assert_eq!(of("a/../../c"), None);
        assert_eq!(of("/etc/passwd"), None);
        assert_eq!(of("."), Some(PathBuf::new()));
    }
}

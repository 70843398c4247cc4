//! Files with the contents of buffers: bytes as they lie in memory, `.npy`, or numbers as text.

use std::path::{Path, PathBuf};

use toml::Spanned;

use super::{ElementType, Files, Problem, npy, numbers};

/// A number's text, with what separates it from the next.
const LONGEST_NUMBER: u64 = 64;
/// A text's head and comments.
const COMMENTS: u64 = 1 << 16;

/// How a file holds numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Bytes,
    Npy,
    Text,
}

impl Format {
    fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("npy") => Self::Npy,
            Some("csv" | "tsv" | "txt") => Self::Text,
            _ => Self::Bytes,
        }
    }
}

/// What a file called `path` holds of a buffer: an array, a number a line, or the bytes.
pub fn file_contents(path: &Path, element: ElementType, bytes: &[u8]) -> Vec<u8> {
    let count = bytes.len() / element.bytes();
    match Format::of(path) {
        Format::Bytes => bytes.to_vec(),
        Format::Npy => [npy::header(element, count as u64), bytes.to_vec()].concat(),
        Format::Text => {
            let lines = (0..count).map(|index| match element.read(bytes, index) {
                value if value.to_f64().is_nan() => "nan\n".to_owned(),
                value => format!("{value}\n"),
            });
            lines.collect::<String>().into_bytes()
        }
    }
}

/// The bytes of a buffer of `count` elements, from its file.
pub(super) fn read(
    file: &Spanned<String>,
    element: ElementType,
    count: u64,
    files: Files<'_>,
) -> Result<Vec<u8>, Problem> {
    let name = file.get_ref();
    let problem = |message: String| Problem::new(file.span(), message);
    let (path, contents) = match files {
        Files::Directory(directory) => {
            let path = directory.join(name);
            let contents = from_disk(&path, element, count).map_err(|(message, help)| Problem {
                help,
                ..problem(message)
            });
            (path, contents?)
        }
        Files::Memory(files) => match files.get(name) {
            Some(contents) => (PathBuf::from(name), contents.clone()),
            None => return Err(problem(format!("there is no `{name}` in memory"))),
        },
        Files::None => {
            let message = format!("`{name}`: an embedded launch file has no other files");
            return Err(problem(message).help("use an `init` rule"));
        }
    };
    let bytes = count * element.bytes() as u64;
    let read = match Format::of(&path) {
        Format::Npy => npy::read(&contents, element, count),
        Format::Text => numbers::read(&contents, element, count),
        Format::Bytes if contents.len() as u64 == bytes => Ok(contents),
        Format::Bytes => Err((
            format!(
                "it has {} bytes, but the buffer has {bytes}",
                contents.len()
            ),
            None,
        )),
    };
    read.map_err(|(message, help)| Problem {
        span: file.span(),
        message: format!("{}: {message}", path.display()),
        help,
    })
}

/// The contents of a file that may be as large as a buffer of `count` elements asks for; else what is wrong, and a remedy.
fn from_disk(
    path: &Path,
    element: ElementType,
    count: u64,
) -> Result<Vec<u8>, (String, Option<String>)> {
    let cannot = |error: std::io::Error| {
        let help = "files are sought beside the launch file";
        let message = format!("cannot read {}: {error}", path.display());
        (message, Some(help.to_owned()))
    };
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        let message = format!("{} is no regular file", path.display());
        let help = "a pipe or a device need not have an end: write the bytes to a file";
        return Err((message, Some(help.to_owned())));
    }
    // The size is checked first, so that a wrong file is never read into memory.
    let bytes = count * element.bytes() as u64;
    let sizes = match Format::of(path) {
        Format::Bytes => bytes..=bytes,
        Format::Npy => bytes..=bytes.saturating_add(npy::LONGEST_HEAD),
        Format::Text => {
            0..=count
                .saturating_mul(LONGEST_NUMBER)
                .saturating_add(COMMENTS)
        }
    };
    if !sizes.contains(&metadata.len()) {
        let found = metadata.len();
        let word = if found < *sizes.start() {
            "short"
        } else {
            "long"
        };
        let message = format!(
            "{} is too {word}: {found} bytes, but the buffer has {bytes}",
            path.display()
        );
        return Err((message, None));
    }
    std::fs::read(path).map_err(cannot)
}

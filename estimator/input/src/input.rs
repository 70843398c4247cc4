//! Files that people write, read up to a limit: a device or a wrong name must not take all memory.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// A mebibyte.
const MIB: u64 = 1 << 20;

/// Bytes that a study may have.
pub const STUDY: u64 = 16 * MIB;
/// Bytes that a launch file or a module of PTX may have; the libraries of deep learning come near a tenth of it.
pub const KERNEL: u64 = 1024 * MIB;
/// Bytes that a report may have that is read again.
pub const DOCUMENT: u64 = 1024 * MIB;
/// Bytes that a manifest may have: more than ten million points take.
pub const MANIFEST: u64 = 2048 * MIB;

/// The text in a file of at most `most` bytes.
///
/// # Errors
/// As of [`bytes`], and it is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    decoded(bytes(path, most)?)
}

/// What a file holds, as text.
///
/// # Errors
/// It is not UTF-8.
pub fn decoded(bytes: Vec<u8>) -> io::Result<String> {
    let no_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(no_text)
}

/// What is in a file of at most `most` bytes.
///
/// # Errors
/// It cannot be read, is larger, or is a pipe or a device.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // What comes through a pipe has no size that could be asked for before.
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let limit = format!(
            "it has more than {} MiB, the most that such a file may have",
            most / MIB
        );
        return Err(io::Error::new(ErrorKind::FileTooLarge, limit));
    }
    Ok(bytes)
}

/// Opens what will end. A pipe in the file system is none: whoever opens it waits for one who writes, perhaps for ever. Neither is a device.
/// What the caller has opened for us, as a shell does for `<(...)` and `< FILE`, is read like any standard input: somebody is at its other end.
pub fn open(path: &Path) -> io::Result<File> {
    // A directory says itself that it cannot be read.
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() || is_handed_over(path) {
        return File::open(path);
    }
    let refusal = "it is a pipe or a device, which need not have an end: write what it gives to a file, or hand it over as /dev/stdin or <(...)";
    Err(io::Error::new(ErrorKind::InvalidInput, refusal))
}

/// Names of descriptors that are open already.
fn is_handed_over(path: &Path) -> bool {
    let descriptors = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    let folder = path.parent();
    path == Path::new("/dev/stdin") || folder.is_some_and(|folder| descriptors.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let name = format!("warpwatt-input-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, vec![b'a'; MIB as usize]).unwrap();
        assert_eq!(text(&path, MIB).unwrap().len(), MIB as usize);
        let problem = text(&path, MIB - 1).unwrap_err();
        assert_eq!(problem.kind(), io::ErrorKind::FileTooLarge);
        std::fs::write(&path, [0xff]).unwrap();
        assert!(text(&path, MIB).is_err(), "no UTF-8");
        std::fs::remove_file(&path).unwrap();
        assert!(text(&path, MIB).is_err(), "no file");
    }

    /// Neither may be waited for: nobody writes to the pipe, and the device has no end.
    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused() {
        let pipe = std::env::temp_dir().join(format!("warpwatt-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, Path::new("/dev/zero")] {
            let problem = text(path, MIB).unwrap_err();
            assert!(problem.to_string().contains("hand it over"), "{problem}");
        }
        fs::remove_file(&pipe).unwrap();
    }
}

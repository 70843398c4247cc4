//! Files that people write, read up to a limit: a device or a wrong name must not take all memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A mebibyte.
const MIB: u64 = 1 << 20;

/// Bytes that a study may have.
pub const STUDY: u64 = 16 * MIB;
/// Bytes that a launch file or a module of PTX may have; the libraries of deep learning come near a tenth of it.
pub const KERNEL: u64 = 1024 * MIB;
/// Bytes that a manifest may have: more than ten million points take.
pub const MANIFEST: u64 = 2048 * MIB;

/// The text in a file of at most `most` bytes.
///
/// # Errors
/// It cannot be read, is larger or is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    // Devices and pipes have no size that could be asked for before.
    let file = File::open(path)?.take(most + 1);
    let read = io::BufReader::new(file).read_to_string(&mut text)?;
    if read as u64 > most {
        let limit = format!(
            "it has more than {} MiB, the most that such a file may have",
            most / MIB
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, limit));
    }
    Ok(text)
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

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let problem = text("/dev/zero".as_ref(), MIB).unwrap_err();
        assert!(problem.to_string().contains("more than 1 MiB"), "{problem}");
    }
}

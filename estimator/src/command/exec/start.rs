//! Starts a program so that it finds our runtime, and waits for it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use warpwatt_cudart::protocol::{Setup, VARIABLE};
use warpwatt_cudart::stub::shared_object;

use crate::command::console::Exit;
use crate::diag::Diag;

/// The library with the functions.
const LIBRARY: &str = "libwarpwatt_cudart.so";
/// The names under which programs ask for it, and for cuBLAS: those of CUDA 13, 12 and 11.
const NAMES: [&str; 9] = [
    "libcudart.so.13",
    "libcudart.so.12",
    "libcudart.so.11.0",
    "libcublas.so.13",
    "libcublas.so.12",
    "libcublas.so.11",
    "libcublasLt.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so.11",
];
/// Names that have no version: what programs open themselves, and the driver's.
const PLAIN_NAMES: [&str; 3] = ["libcudart.so", "libcuda.so.1", "libcuda.so"];
/// Where the linker looks first.
const PATHS: &str = "LD_LIBRARY_PATH";

/// Refuses a program that would not find our runtime.
///
/// # Errors
/// It is linked with the static runtime, or cannot be read.
pub fn check(program: &Path) -> Result<(), Diag> {
    let name = program.display();
    let bytes = fs::read(program).map_err(|error| {
        Diag::error("exec::program", format!("cannot read `{name}`: {error}"))
            .help("name a program that can be read")
    })?;
    let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    if !bytes.starts_with(b"\x7fELF") || !has(b".nv_fatbin\0") || has(b"\0libcudart.so.") {
        return Ok(());
    }
    let message =
        format!("`{name}` is linked with the static CUDA runtime, which nothing can replace");
    Err(Diag::error("exec::static", message).help(
        "link it with the shared one, and let it hold PTX: nvcc -cudart shared -gencode arch=compute_80,code=compute_80",
    ))
}

/// The runtime library, which lies beside the command: the newest, where there are several.
///
/// # Errors
/// It is not there.
pub fn library() -> Result<PathBuf, Diag> {
    let command = std::env::current_exe().unwrap_or_default();
    let folder = command.parent().unwrap_or(Path::new(""));
    let places = ["", "deps", "../lib"].map(|place| folder.join(place).join(LIBRARY));
    // A build for tests leaves the newer one in `deps`. Of two that are as old, the first.
    let built = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
    let found = places.into_iter().rev().filter(|path| path.is_file());
    let found = found.max_by_key(built);
    found.and_then(|path| path.canonicalize().ok()).ok_or_else(|| {
        let message = format!("{LIBRARY} is not beside {}", command.display());
        Diag::error("exec::library", message)
            .help("build it: cargo build --release -p warpwatt-cudart, and keep it beside the command")
    })
}

/// A folder of the run's own, with the names of the libraries and a socket. It goes when this goes.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
}

fn failed(what: &str) -> impl Fn(io::Error) -> Diag {
    move |error| {
        Diag::error("exec::place", format!("cannot {what}: {error}"))
            .help("see that the folder for temporary files (TMPDIR) can be written to")
    }
}

/// A new folder that nobody else can read.
fn own_folder() -> io::Result<PathBuf> {
    /// Folders that were left by processes of the same number that were killed.
    const LEFT: u32 = 1000;
    let place = |number| format!("warpwatt-exec-{}-{number}", std::process::id());
    let mut made = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for number in 0..LEFT {
        let folder = std::env::temp_dir().join(place(number));
        made = DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map(|()| folder);
        let taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        if !made.as_ref().is_err_and(taken) {
            break;
        }
    }
    made
}

impl Place {
    /// Makes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(library: &Path) -> Result<Self, Diag> {
        let folder = own_folder().map_err(failed("make a folder"))?;
        let place = Self { folder };
        for name in NAMES {
            let bytes = shared_object(name, &library.to_string_lossy());
            let written = fs::write(place.folder.join(name), bytes);
            written.map_err(failed("write the names of the runtime"))?;
        }
        for name in PLAIN_NAMES {
            let linked = symlink(library, place.folder.join(name));
            linked.map_err(failed("write the names of the runtime"))?;
        }
        Ok(place)
    }

    /// Where the program connects to.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// Listens there.
    ///
    /// # Errors
    /// The system gives no socket.
    pub fn listen(&self) -> Result<UnixListener, Diag> {
        UnixListener::bind(self.socket()).map_err(failed("listen at a socket"))
    }

    /// Connects once, so that who listens looks up.
    pub fn knock(&self) {
        drop(UnixStream::connect(self.socket()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which empties that folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Runs the program to its end.
///
/// # Errors
/// It cannot be started.
pub fn started(
    program: &Path,
    words: &[OsString],
    place: &Place,
    setup: &Setup,
) -> Result<Exit, Diag> {
    let mut paths = place.folder.clone().into_os_string();
    if let Some(others) = std::env::var_os(PATHS).filter(|others| !others.is_empty()) {
        paths.push(":");
        paths.push(others);
    }
    let text = serde_json::to_string(setup).unwrap_or_default();
    let mut command = Command::new(program);
    command.args(words).env(PATHS, paths).env(VARIABLE, text);
    let ended = command.status().map_err(|error| {
        let message = format!("cannot start `{}`: {error}", program.display());
        Diag::error("exec::program", message).help("name a program that can be executed")
    })?;
    Ok(Exit::Program(code(ended)))
}

/// The exit code, as shells give it: 128 and the signal's number where a signal ended the program.
fn code(ended: ExitStatus) -> u8 {
    let signal = || ended.signal().map(|signal| 128 + signal);
    let code = ended.code().or_else(signal).unwrap_or(1);
    (code & 0xff) as u8
}

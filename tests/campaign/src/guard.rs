//! A process that runs one program under limits, and measures what it took.
//!
//! Limits are set on the guard and inherited, so that neither the campaign is bound by them nor anything `unsafe` is needed; and what the
//! guard's children took is what the one program and its own children took.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::{MOST_BYTES, MOST_SECONDS};

/// The first argument of a process that is a guard.
pub const ARGUMENT: &str = "--guard";

/// Seconds by the clock after which a program that takes no CPU is taken to hang.
const PATIENCE: u64 = 60;

/// How a program ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because it hung.
    pub hung: bool,
    /// Seconds of CPU.
    pub seconds: f64,
    /// The most memory that was in use at a time.
    pub bytes: u64,
}

/// Runs `words` and writes the report to `report`.
///
/// # Errors
/// The limits cannot be set, the program not be started or the report not be written.
pub fn run(report: &Path, words: &[String]) -> io::Result<()> {
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| io::Error::other("no program to guard"))?;
    setrlimit(Resource::RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS + 1)?;
    limit_memory()?;
    let mut command = Command::new(program);
    command.args(arguments);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let (status, hung) = wait(command.spawn()?)?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6)
        .iter()
        .sum();
    let text = serde_json::to_string(&Report {
        code: status.code(),
        signal: status.signal(),
        hung,
        seconds,
        bytes: usage.max_rss().unsigned_abs() * 1024,
    })?;
    std::fs::write(report, text)
}

/// Memory beyond the limit cannot be had. Systems that know no such limit are judged by what was measured.
///
/// # Errors
/// The limit cannot be set.
pub fn limit_memory() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    setrlimit(Resource::RLIMIT_AS, MOST_BYTES, MOST_BYTES)?;
    Ok(())
}

fn wait(mut child: Child) -> io::Result<(ExitStatus, bool)> {
    let group = Pid::from_raw(child.id().cast_signed());
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let hung = ended.recv_timeout(Duration::from_secs(PATIENCE))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        // It may have ended at this moment.
        hung && killpg(group, Signal::SIGKILL).is_ok()
    });
    let status = child.wait()?;
    drop(done);
    Ok((status, watch.join().unwrap_or(false)))
}

//! The program under attack, started for one case.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cases::Verdict;
use crate::guard::{self, Report};
use crate::scratch::Scratch;
use crate::{MOST_BYTES, MOST_SECONDS};

/// Bytes of output that a case keeps.
const MOST_OUTPUT: u64 = 64 << 20;

/// One start of a program.
#[derive(Debug)]
pub struct Call {
    words: Vec<OsString>,
    folder: PathBuf,
    output: Option<File>,
}

/// How it ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    /// Exit code or signal, and what it took.
    pub report: Report,
    /// What it wrote on standard output, where that was kept.
    pub out: Vec<u8>,
    /// What it wrote on standard error.
    pub err: Vec<u8>,
}

impl Call {
    /// A start of `program` in `folder`.
    pub fn new(program: &Path, folder: &Path) -> Call {
        Call {
            words: vec![program.into()],
            folder: folder.to_owned(),
            output: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = T>) -> Call {
        let words = words.into_iter();
        self.words
            .extend(words.map(|word| word.as_ref().to_owned()));
        self
    }

    /// Starts it by way of another program, such as `strace`.
    #[must_use]
    pub fn by<T: AsRef<OsStr>>(mut self, before: impl IntoIterator<Item = T>) -> Call {
        let before = before.into_iter().map(|word| word.as_ref().to_owned());
        self.words.splice(0..0, before);
        self
    }

    /// Standard output goes to a file instead of being kept.
    #[must_use]
    pub fn output(mut self, file: File) -> Call {
        self.output = Some(file);
        self
    }

    /// Runs it to its end, which the limits bring at last.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(self) -> io::Result<Ended> {
        let scratch = Scratch::new()?;
        let (report, out, err) = (
            scratch.join("report"),
            scratch.join("out"),
            scratch.join("err"),
        );
        let output = match self.output {
            Some(file) => file,
            None => File::create(&out)?,
        };
        let status = Command::new(std::env::current_exe()?)
            .arg(guard::ARGUMENT)
            .arg(&report)
            .args(&self.words)
            .current_dir(&self.folder)
            .env("WARPWATT_CACHE", "")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(File::create(&err)?)
            .status()?;
        let text = fs::read_to_string(&report)
            .map_err(|_| io::Error::other(format!("the guard ended with {status}")))?;
        Ok(Ended {
            report: serde_json::from_str(&text)?,
            out: read(&out)?,
            err: read(&err)?,
        })
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.exists() {
        File::open(path)?
            .take(MOST_OUTPUT)
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl Ended {
    /// What is wrong with it, whatever it was asked: no documented exit code, a signal, a hang, too much memory.
    pub fn fault(&self) -> Option<String> {
        let report = &self.report;
        if report.hung {
            return Some("hangs".to_owned());
        }
        if let Some(signal) = report.signal {
            return Some(format!("ended by signal {signal}{}", self.last_words()));
        }
        if report.seconds > MOST_SECONDS as f64 {
            return Some(format!("{:.1} s of CPU", report.seconds));
        }
        if report.bytes > MOST_BYTES {
            return Some(format!("{} MiB of memory", report.bytes >> 20));
        }
        let code = report.code.unwrap_or(-1);
        let silent = code == 2 && self.err.is_empty();
        if !(0..=2).contains(&code) || silent {
            return Some(format!("exit code {code}{}", self.last_words()));
        }
        None
    }

    /// The verdict where nothing but [`Ended::fault`] is asked; `what` was done.
    pub fn verdict(&self, what: &str) -> Verdict {
        let wrong = self.fault().map(|fault| format!("{what}: {fault}"));
        (wrong, self.cost())
    }

    /// Seconds of CPU and bytes of memory.
    pub fn cost(&self) -> (f64, u64) {
        (self.report.seconds, self.report.bytes)
    }

    fn last_words(&self) -> String {
        const MOST: usize = 300;
        let text = String::from_utf8_lossy(&self.err);
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        let from = words.char_indices().rev().nth(MOST).map_or(0, |(at, _)| at);
        format!(": {}", &words[from..])
    }
}

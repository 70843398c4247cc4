//! What reaches the user's terminal. The only place that prints.

mod visible;

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::diag::{self, Diag, Rejection, Sink};
use crate::report::json::document;
pub use visible::visible;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Done, but a check, a budget or a validation is not met.
    NotMet,
    /// The input was rejected.
    Rejected,
    /// A defect of the program.
    Internal,
    /// As the program that was run.
    Program(u8),
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::NotMet => 1,
            Exit::Rejected => 2,
            Exit::Internal => 70,
            Exit::Program(code) => code,
        }
    }
}

/// The first fault of standard output, kept until [`ended`] tells it: no caller can forget it.
static FAULT: Mutex<Option<io::Error>> = Mutex::new(None);

/// Writes text to standard output, with nothing in it that commands a terminal.
pub fn out(text: &str) {
    send(visible(text).as_bytes());
}

/// Writes what another program reads (a table, a script) to standard output: byte for byte, but to a terminal as [`out`] does.
pub fn out_data(bytes: &[u8]) {
    if io::stdout().is_terminal() {
        out(&String::from_utf8_lossy(bytes));
    } else {
        send(bytes);
    }
}

/// Behind a fault nothing more is written: what follows a gap would hide it.
fn send(bytes: &[u8]) {
    let mut fault = FAULT.lock().unwrap_or_else(PoisonError::into_inner);
    if fault.is_none() {
        *fault = write(bytes).err();
    }
}

/// Past the standard library's own writer, which takes a descriptor that cannot be written to for one that takes everything.
#[cfg(unix)]
fn write(bytes: &[u8]) -> io::Result<()> {
    use std::os::fd::AsFd;

    let stdout = io::stdout().lock();
    let mut file = std::fs::File::from(stdout.as_fd().try_clone_to_owned()?);
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Whether all that was sent to standard output has arrived there.
pub fn arrived() -> bool {
    let fault = FAULT.lock().unwrap_or_else(PoisonError::into_inner);
    fault.is_none()
}

/// How a command ends that would end as `exit`: its output must have been written as well. A reader that has gone away is no fault:
/// `warpwatt ... | head` ends quietly.
pub fn ended(exit: Exit) -> Exit {
    let fault = FAULT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
        .filter(|error| error.kind() != ErrorKind::BrokenPipe);
    let Some(error) = fault else { return exit };
    let diag = Diag::error(
        "output::stdout",
        format!("cannot write to standard output: {error}"),
    )
    .help("what is there is not all of it: make room, or send the output elsewhere, and ask again");
    show(&Rejection::from(diag).0);
    match exit {
        Exit::Internal | Exit::Program(_) => exit,
        Exit::Done | Exit::NotMet | Exit::Rejected => Exit::Rejected,
    }
}

/// Writes to standard error, with nothing in it that commands a terminal. If that cannot be written, there is nobody to tell.
pub fn err(text: &str) {
    complain(&visible(text));
}

fn complain(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Prints what the parser of the command line has to say: help, the version, or what is wrong with the words.
pub fn usage(error: &clap::Error) -> Exit {
    let text = error.render();
    let text = |terminal: bool| match coloured(terminal) {
        true => visible::styled(&text.ansi().to_string()).into_owned(),
        false => visible(&text.to_string()).into_owned(),
    };
    if error.use_stderr() {
        complain(&text(io::stderr().is_terminal()));
        return Exit::Rejected;
    }
    send(text(io::stdout().is_terminal()).as_bytes());
    Exit::Done
}

/// Whether a stream may have styles that is a terminal or is not.
fn coloured(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none()
}

/// Prints the one JSON document of a command.
pub fn out_json(value: &Value) {
    out(&document(value).unwrap_or_else(|_| value.to_string()));
}

/// Shows findings on standard error.
pub fn show(sink: &Sink) {
    if !sink.diags.is_empty() {
        let colour = coloured(io::stderr().is_terminal());
        let text = diag::render(sink, colour);
        complain(&match colour {
            true => visible::styled(&text),
            false => visible(&text),
        });
    }
}

/// Reports a rejection: text on standard error, and with `json` a document on standard output.
pub fn reject(rejection: &Rejection, json: bool) -> Exit {
    show(&rejection.0);
    if json {
        out_json(
            &json!({ "error": "the input was rejected", "diagnostics": diag::to_json(&rejection.0) }),
        );
    }
    Exit::Rejected
}

/// What a rejection is about first; nothing if that is told elsewhere.
pub fn first(rejection: Rejection) -> Option<Diag> {
    rejection.0.diags.into_iter().next()
}

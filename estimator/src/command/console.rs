//! What reaches the user's terminal. The only place that prints.

use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};

use crate::diag::{self, Rejection, Sink};

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
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::NotMet => 1,
            Exit::Rejected => 2,
            Exit::Internal => 70,
        }
    }
}

/// Writes to standard output. A reader that has gone away is no fault: `warpwatt ... | head` ends quietly.
pub fn out(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Writes to standard error.
pub fn err(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Prints the one JSON document of a command.
pub fn out_json(value: &Value) {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    out(&text);
    out("\n");
}

/// Shows findings on standard error.
pub fn show(sink: &Sink) {
    if !sink.diags.is_empty() {
        let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        err(&diag::render(sink, colour));
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

//! Events of a trace file, written as they come: the JSON object format of Chrome's Trace Event Format, which Perfetto reads.

use std::fmt::Display;
use std::io::Write;

use serde_json::{Value, json};

/// A row of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The process: an SM, or the GPU.
    pub pid: u32,
    /// The thread: a row of it.
    pub tid: u32,
}

/// Writes events and counts them. Faults are the business of what it writes to.
#[derive(Debug)]
pub struct Events<W> {
    out: W,
    written: u64,
    /// The run whose events come: where its processes begin, and what their names begin with.
    base: u32,
    prefix: String,
}

/// Processes that a run may have.
const PROCESSES: u32 = 200_000;

impl<W: Write> Events<W> {
    /// Begins a file.
    pub fn new(out: W) -> Self {
        let mut events = Self {
            out,
            written: 0,
            base: 0,
            prefix: String::new(),
        };
        events.put(format_args!("{{\"traceEvents\":["));
        events
    }

    /// What comes is of run `number`, called `name`.
    pub fn begin_run(&mut self, number: u32, name: &str) {
        self.base = number.saturating_mul(PROCESSES);
        self.prefix = format!("{name}: ");
    }

    /// Events so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    fn put(&mut self, text: impl Display) {
        let _ = write!(self.out, "{text}");
    }

    fn event(&mut self, text: impl Display) {
        let comma = if self.written == 0 { "" } else { "," };
        self.written += 1;
        self.put(format_args!("{comma}\n{{{text}}}"));
    }

    /// Names a process (`tid` 0) or a thread; they are shown in the order of their numbers.
    pub fn name(&mut self, Row { pid, tid }: Row, name: &str) {
        let (kind, order) = if tid == 0 {
            ("process", self.base + pid)
        } else {
            ("thread", tid)
        };
        let prefix = if tid == 0 { &self.prefix } else { "" };
        let name = json!(format!("{prefix}{name}"));
        let pid = self.base + pid;
        self.event(format_args!(
            "\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"name\":\"{kind}_name\",\"args\":{{\"name\":{name}}}"
        ));
        self.event(format_args!(
            "\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"name\":\"{kind}_sort_index\",\"args\":{{\"sort_index\":{order}}}"
        ));
    }

    /// A slice from its first cycle to the one after its last; `args` is what a JSON object holds between its braces.
    pub fn slice(
        &mut self,
        Row { pid, tid }: Row,
        (from, to): (u64, u64),
        name: &str,
        args: impl Display,
    ) {
        let (name, dur) = (json!(name), to - from);
        let pid = self.base + pid;
        self.event(format_args!(
            "\"ph\":\"X\",\"pid\":{pid},\"tid\":{tid},\"ts\":{from},\"dur\":{dur},\"name\":{name},\"args\":{{{args}}}"
        ));
    }

    /// The beginning of a slice that others lie in.
    pub fn begin(&mut self, Row { pid, tid }: Row, at: u64, name: &str, args: impl Display) {
        let name = json!(name);
        let pid = self.base + pid;
        self.event(format_args!(
            "\"ph\":\"B\",\"pid\":{pid},\"tid\":{tid},\"ts\":{at},\"name\":{name},\"args\":{{{args}}}"
        ));
    }

    /// Its end.
    pub fn end(&mut self, Row { pid, tid }: Row, at: u64) {
        let pid = self.base + pid;
        self.event(format_args!(
            "\"ph\":\"E\",\"pid\":{pid},\"tid\":{tid},\"ts\":{at}"
        ));
    }

    /// Something that takes no time.
    pub fn instant(&mut self, Row { pid, tid }: Row, at: u64, name: &str, args: impl Display) {
        let name = json!(name);
        let pid = self.base + pid;
        self.event(format_args!(
            "\"ph\":\"i\",\"s\":\"t\",\"pid\":{pid},\"tid\":{tid},\"ts\":{at},\"name\":{name},\"args\":{{{args}}}"
        ));
    }

    /// A value that holds from `at` on.
    pub fn counter(&mut self, pid: u32, at: u64, name: &str, value: impl Display) {
        let pid = self.base + pid;
        self.event(format_args!(
            "\"ph\":\"C\",\"pid\":{pid},\"ts\":{at},\"name\":\"{name}\",\"args\":{{\"value\":{value}}}"
        ));
    }

    /// Ends the file; `about` says what it is.
    pub fn finish(mut self, about: &Value) -> W {
        self.put(format_args!("\n],\"otherData\":{about}}}\n"));
        self.out
    }
}

//! The readers of the libraries: what each is given, and what it does with it.

mod kernels;
mod studies;
mod tables;
mod words;

use warpwatt::diag::{Sink, render, to_json};

/// One kind of input.
pub struct Reader {
    /// Its name, in what is said of failures.
    pub name: &'static str,
    /// What is right, to be damaged, and what reads it. What it does to be refused it must say, by a panic, if it is wrong.
    pub prepare: fn() -> (Vec<Vec<u8>>, Check),
}

/// Reads one input.
pub type Check = Box<dyn FnMut(&[u8])>;

/// Every reader.
pub const ALL: &[Reader] = &[
    reader("study", studies::study),
    reader("structures", studies::structures),
    reader("question", studies::question),
    reader("technology", studies::technology),
    reader("launch", kernels::launch_file),
    reader("ptx", kernels::ptx),
    reader("trace", kernels::trace),
    reader("batch", tables::batch),
    reader("cfg", tables::cfg),
    reader("counts", tables::counts),
    reader("map", tables::map),
    reader("record", tables::record),
    reader("expression", words::expression),
    reader("selector", words::selector),
    reader("goal", words::goal),
    reader("quantity", words::quantity),
];

const fn reader(name: &'static str, prepare: fn() -> (Vec<Vec<u8>>, Check)) -> Reader {
    Reader { name, prepare }
}

/// A reader of text: bytes that are none are refused before any reader sees them.
fn of_text(check: impl Fn(&str) + 'static) -> Check {
    Box::new(move |input| check(&String::from_utf8_lossy(input)))
}

/// What is refused is refused with reasons, which are short.
fn judge(sink: &Sink, accepted: bool) {
    const MOST_SHOWN: usize = 1 << 20;
    assert!(accepted || sink.has_errors(), "refused without a reason");
    let shown = render(sink, false);
    assert!(
        shown.len() <= MOST_SHOWN,
        "{} bytes are said of the faults",
        shown.len()
    );
    assert!(
        !shown.contains('\u{1b}'),
        "a control character reaches the terminal"
    );
    let data = to_json(sink).to_string();
    assert!(
        data.len() <= MOST_SHOWN,
        "{} bytes of JSON are said of the faults",
        data.len()
    );
}

//! Showing a page in the user's browser.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::console::show;
use crate::diag::{Diag, Sink};

/// Opens the page with the program that the variable `BROWSER` names, or else the system's opener. That it cannot be opened is a warning: the page is there all the same.
pub fn open(page: &Path) {
    let mut sink = Sink::default();
    if !page.is_file() {
        let message = format!(
            "there is no page to open: the study's formats leave out `{}`",
            page.display()
        );
        sink.push(
            Diag::warning("open::no_page", message)
                .help("add \"html\" to `formats` under `[output]`"),
        );
        return show(&sink);
    }
    open_address(page.as_os_str());
}

/// The same for a page at an address.
pub fn open_address(page: &OsStr) {
    let mut sink = Sink::default();
    let (program, before) = opener();
    let mut command = Command::new(&program);
    command.args(before).arg(page);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        let message = format!("cannot open `{}` with `{program}`: {error}", page.display());
        sink.push(
            Diag::warning("open::no_browser", message)
                .help("open it by hand, or set BROWSER to the program that shows pages"),
        );
        show(&sink);
    }
}

/// A program and what stands before the page among its arguments.
fn opener() -> (String, &'static [&'static str]) {
    match std::env::var("BROWSER") {
        Ok(browser) if !browser.is_empty() => (browser, &[]),
        _ if cfg!(target_os = "macos") => ("open".to_owned(), &[]),
        _ if cfg!(windows) => ("cmd".to_owned(), &["/C", "start", ""]),
        _ => ("xdg-open".to_owned(), &[]),
    }
}

//! Defects of the program: no panic text reaches a user, a request to report does.

use std::panic::{self, PanicHookInfo, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use super::console::{Exit, err};
use crate::store::panic_is_a_finding;

/// Runs `command`; a panic in it, on any thread, becomes a request to report it and exit code 70.
pub fn guarded(command: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    panic::set_hook(Box::new(report));
    panic::catch_unwind(command).unwrap_or(Exit::Internal)
}

/// Reports the first panic; those that follow are its echoes.
fn report(info: &PanicHookInfo<'_>) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if panic_is_a_finding() {
        return;
    }
    if REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let place = info
        .location()
        .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no details");
    err(&format!(
        "\ninternal fault: warpwatt {} has a defect; your input is not to blame.\n  \
         Please report it with the command you ran, its input files and this line:\n  \
         {what}{place}\n",
        env!("CARGO_PKG_VERSION"),
    ));
}

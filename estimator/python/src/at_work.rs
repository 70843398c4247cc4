//! Long work beside the interpreter: other Python threads go on, Ctrl-C is heard, and a defect is an exception.

use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use warpwatt_simt::Interrupt;

use crate::errors::Defect;

/// How often is looked whether somebody wants to stop.
const LOOK: Duration = Duration::from_millis(10);

/// Does `work` on a thread of its own, without the interpreter's lock. It is handed a flag that asks it to end soon; what it gives then is dropped, and what
/// Python raised for the signal (as a rule `KeyboardInterrupt`) is returned.
///
/// # Errors
/// Those of `work`; an exception of a signal handler; a defect.
pub fn at_work<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Interrupt) -> PyResult<T> + Send,
) -> PyResult<T> {
    let flag = Flag::lent();
    let stop = Interrupt(flag.0);
    let (say, hear) = channel();
    let mut signalled = None;
    let signal = &mut signalled;
    let done = py.detach(move || {
        thread::scope(|scope| {
            scope.spawn(move || {
                let done = catch_unwind(AssertUnwindSafe(|| work(stop)));
                // Who listens waits for this.
                let _ = say.send(done);
            });
            loop {
                match hear.recv_timeout(LOOK) {
                    Ok(done) => return Some(done),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) if signal.is_none() => {
                        let heard = Python::attach(|py| py.check_signals());
                        *signal = heard.err();
                        stop.0.store(signal.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    match (signalled, done) {
        (Some(raised), _) => Err(raised),
        (None, Some(Ok(done))) => done,
        (None, Some(Err(_))) => Err(defect()),
        (None, None) => Err(Defect::new_err(
            "a thread of warpwatt ended without a result",
        )),
    }
}

/// A flag for as long as some work takes. There are as many as work was ever done at once, and they are used again.
struct Flag(&'static AtomicBool);

/// Flags that nobody uses.
static FREE: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

impl Flag {
    fn lent() -> Self {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let flag = free.unwrap_or_else(|| Box::leak(Box::default()));
        flag.store(false, Ordering::Relaxed);
        Self(flag)
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(self.0);
    }
}

/// What the last defect said of itself, and where.
static SAID: Mutex<Option<String>> = Mutex::new(None);

/// Has defects say nothing on standard error: they become exceptions.
pub fn quietly() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let said = format!("{}{place}", what.unwrap_or("no details"));
        *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    }));
}

fn defect() -> PyErr {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).take();
    Defect::new_err(format!(
        "warpwatt {} has a defect; your input is not to blame. Please report it with what led to it and this line: {}",
        env!("CARGO_PKG_VERSION"),
        said.as_deref().unwrap_or("no details")
    ))
}

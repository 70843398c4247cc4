//! Hears what a program and the processes that it starts tell.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use warpwatt_cudart::protocol::{Launched, Message, Way, receive};

use super::timer::Timer;

/// Items of a timeline that are kept; what follows is only counted.
pub const MOST_ITEMS: usize = 1_000_000;

/// Something that the device did.
#[derive(Clone, Debug)]
pub enum Item {
    /// A launch.
    Launch(Launched),
    /// Bytes were copied.
    Copy(Way, u64),
}

/// Copies of a kind: how often, and bytes of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many copies.
    pub count: u64,
    /// Bytes together.
    pub bytes: u64,
}

/// What a kernel did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The kernel.
    pub kernel: String,
    /// Why, with its place.
    pub why: String,
}

/// What was heard, of all processes.
#[derive(Debug, Default)]
pub struct Heard {
    /// Processes that connected.
    pub processes: u64,
    /// What the device did, in the order in which it was told.
    pub items: Vec<Item>,
    /// Items beyond those that are kept.
    pub beyond: u64,
    /// Copies, by kind.
    pub copies: BTreeMap<Way, Copied>,
    /// Kernels that stopped.
    pub stopped: Vec<Wrong>,
    /// Kernels that reached behind the end of a buffer, and went on.
    pub behind: Vec<Wrong>,
    /// What went wrong with a connection.
    pub problems: Vec<String>,
}

impl Heard {
    fn keep(&mut self, item: Item) {
        if self.items.len() < MOST_ITEMS {
            self.items.push(item);
        } else {
            self.beyond += 1;
        }
    }
}

/// Hears everything that is told at `listener`, until `over` is set and somebody connects once more.
pub fn listen(listener: &UnixListener, timer: &Timer<'_>, heard: &Mutex<Heard>, over: &AtomicBool) {
    thread::scope(|scope| {
        let begin = |stream| {
            scope.spawn(move || {
                let ended = hear(stream, timer, heard);
                if let Err(error) = ended {
                    lock(heard).problems.push(error.to_string());
                }
            });
        };
        for stream in listener.incoming() {
            let last = over.load(Ordering::SeqCst);
            stream.into_iter().for_each(begin);
            if last {
                break;
            }
        }
        // A short program may have connected and ended before anybody looked.
        if listener.set_nonblocking(true).is_ok() {
            while let Ok((stream, _)) = listener.accept() {
                begin(stream);
            }
        }
    });
}

fn lock(heard: &Mutex<Heard>) -> std::sync::MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears one process.
fn hear(mut stream: UnixStream, timer: &Timer<'_>, heard: &Mutex<Heard>) -> io::Result<()> {
    // Its launches: their traces.
    let mut launches: Vec<Option<u64>> = Vec::new();
    let mut reader = io::BufReader::with_capacity(1 << 16, stream.try_clone()?);
    while let Some((message, body)) = receive(&mut reader, u64::MAX)? {
        match message {
            Message::Hello { .. } => lock(heard).processes += 1,
            Message::Trace { id, counted } => timer.offer(id, &counted, body),
            Message::Launch(launched) => {
                launches.push(launched.trace);
                lock(heard).keep(Item::Launch(launched));
            }
            Message::Copy { way, bytes } => {
                let mut heard = lock(heard);
                let copied = heard.copies.entry(way).or_default();
                copied.count += 1;
                copied.bytes += bytes;
                heard.keep(Item::Copy(way, bytes));
            }
            Message::Fault { kernel, why } => lock(heard).stopped.push(Wrong { kernel, why }),
            Message::Behind { kernel, why } => lock(heard).behind.push(Wrong { kernel, why }),
            Message::Elapsed { from, to } => {
                let asked = launches.get(from as usize..to as usize).unwrap_or_default();
                let traces = asked.iter().copied().flatten();
                let seconds: f64 = traces.map(|trace| timer.seconds(trace)).sum();
                stream.write_all(&seconds.to_le_bytes())?;
            }
        }
    }
    Ok(())
}

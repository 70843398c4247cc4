//! The way to the process that started the program.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use crate::protocol::{Message, Setup, send};

/// Tells the user something on standard error.
pub fn say(text: &str) {
    // What cannot be said there can be said nowhere.
    let _ = writeln!(std::io::stderr(), "warpwatt: {text}");
}

/// A connection, if somebody listens.
#[derive(Debug, Default)]
pub struct Channel {
    stream: Option<UnixStream>,
    process: u32,
    /// Launches that were told.
    launches: u64,
    /// Traces that were sent.
    sent: BTreeSet<u64>,
}

impl Channel {
    /// Connects as the setup says.
    pub fn open(setup: &Setup) -> Self {
        let process = std::process::id();
        let stream = setup.socket.as_ref().and_then(|path| {
            let connected = UnixStream::connect(path);
            connected
                .inspect_err(|error| {
                    say(&format!(
                        "nobody listens at {path} ({error}): kernels run, but are not timed"
                    ));
                })
                .ok()
        });
        let mut channel = Self {
            stream,
            process,
            ..Self::default()
        };
        channel.tell(&Message::Hello { process }, &[]);
        channel
    }

    /// Sends a message. When nobody listens any more, the program goes on without.
    pub fn tell(&mut self, message: &Message, body: &[u8]) {
        // A child that the program forked has the same connection; what it does belongs to nobody's timeline.
        if self.process != std::process::id() {
            self.stream = None;
        }
        let Some(stream) = &mut self.stream else {
            return;
        };
        if let Err(error) = send(stream, message, body) {
            say(&format!(
                "nobody listens any more ({error}): kernels run, but are not timed"
            ));
            self.stream = None;
        }
        self.launches += u64::from(matches!(message, Message::Launch(_)));
    }

    /// Whether traces of that name were sent; from now on they are.
    pub fn is_known(&mut self, trace: u64) -> bool {
        !self.sent.insert(trace)
    }

    /// Launches so far: a place in the simulated time.
    pub fn now(&self) -> u64 {
        self.launches
    }

    /// Simulated seconds between two places in time; zero if nobody times.
    pub fn elapsed(&mut self, from: u64, to: u64) -> f64 {
        if from >= to {
            return 0.0;
        }
        self.tell(&Message::Elapsed { from, to }, &[]);
        let mut answer = [0; 8];
        let read = self.stream.as_mut().map(|it| it.read_exact(&mut answer));
        match read {
            Some(Ok(())) => f64::from_le_bytes(answer),
            _ => 0.0,
        }
    }
}

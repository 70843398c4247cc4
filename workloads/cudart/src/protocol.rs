//! What a program's process and the one that started it tell each other.
//!
//! The program finds a [`Setup`] in its environment and connects to a socket. It sends frames: a [`Message`] as JSON, and bytes that belong to it. To
//! [`Message::Elapsed`] it gets an answer.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::device::Device;

/// The variable of the environment that holds the [`Setup`] as JSON.
pub const VARIABLE: &str = "WARPWATT_EXEC";

/// The most bytes of a message, its trace apart.
const MOST_TEXT: u32 = 1 << 20;

/// How a program's kernels are to be executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Path of the socket; none if nobody listens.
    pub socket: Option<String>,
    /// Where launches are kept as launch files; nowhere if that is not said.
    pub save: Option<String>,
    /// What runs of PTX: `ptx` or `sass-like`.
    pub lower: String,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Whether traces are recorded.
    pub record: bool,
    /// Whether traces show where all lanes have the same operands.
    pub values: bool,
    /// Warp instructions that a launch may execute.
    pub limit: u64,
    /// Threads that may execute a launch.
    pub threads: usize,
    /// Bytes that the trace of a launch may take.
    pub trace_bytes: u64,
    /// Whether a kernel stops where a GPU does not notice what it does wrong.
    pub sanitize: bool,
    /// What the program is told of the GPU.
    pub device: Device,
}

impl Default for Setup {
    /// Execution alone.
    fn default() -> Self {
        Self {
            socket: None,
            save: None,
            lower: "ptx".to_owned(),
            warp_width: 32,
            record: false,
            values: false,
            limit: 10_000_000_000,
            threads: 1,
            trace_bytes: 1 << 30,
            sanitize: false,
            device: Device::default(),
        }
    }
}

/// What a program does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// It has begun.
    Hello {
        /// Its process.
        process: u32,
    },
    /// The traces of a launch, and of those that its kernels launched, as a trace file, follow.
    Trace {
        /// What launches call them.
        id: u64,
        /// What the launch did.
        counted: Counted,
    },
    /// A kernel was executed.
    Launch(Launched),
    /// Bytes were copied.
    Copy {
        /// From where to where.
        way: Way,
        /// How many.
        bytes: u64,
    },
    /// A kernel stopped.
    Fault {
        /// The kernel.
        kernel: String,
        /// Why, with its place.
        why: String,
    },
    /// A kernel reached behind the end of a buffer, and went on as on a GPU.
    Behind {
        /// The kernel.
        kernel: String,
        /// Where.
        why: String,
    },
    /// How long did launches take, from one number to before another one? Answered in seconds, as eight bytes of a float, least significant first.
    Elapsed {
        /// The first.
        from: u64,
        /// The one behind the last.
        to: u64,
    },
}

/// What is known of a launch before it is timed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The entry.
    pub kernel: String,
    /// CTAs.
    pub ctas: u64,
    /// Threads of a CTA.
    pub cta_threads: u64,
    /// Instructions of warps, of the kernels that it launched too.
    pub warp_instructions: u64,
    /// The same by active lanes.
    pub thread_instructions: u64,
}

/// An executed launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// The entry.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Its traces, unless there are none.
    pub trace: Option<u64>,
    /// Why there are none although they were to be recorded.
    pub untraced: Option<String>,
    /// Instructions of warps.
    pub warp_instructions: u64,
    /// Those of its kernels' own launches are among them; so many there were.
    pub launches_by_kernels: u64,
}

/// From where to where bytes are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Way {
    /// Host to device.
    ToDevice,
    /// Device to host.
    ToHost,
    /// Within the device.
    Within,
    /// A value is written.
    Set,
}

/// Writes a frame.
///
/// # Errors
/// It cannot be written.
pub fn send(to: &mut impl Write, message: &Message, body: &[u8]) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let mut frame = Vec::with_capacity(12 + text.len());
    frame.extend((text.len() as u32).to_le_bytes());
    frame.extend((body.len() as u64).to_le_bytes());
    frame.extend(text);
    to.write_all(&frame)?;
    to.write_all(body)
}

/// Reads a frame whose body has at most `most` bytes; none at the end.
///
/// # Errors
/// It cannot be read, or is none.
pub fn receive(from: &mut impl Read, most: u64) -> io::Result<Option<(Message, Vec<u8>)>> {
    let mut head = [0; 12];
    let mut filled = 0;
    while filled < head.len() {
        match from.read(&mut head[filled..])? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => filled += more,
        }
    }
    let [a, b, c, d, rest @ ..] = head;
    let (text, body) = (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(rest));
    if text > MOST_TEXT || body > most {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a frame is too large",
        ));
    }
    let mut bytes = vec![0; text as usize];
    from.read_exact(&mut bytes)?;
    let message = serde_json::from_slice(&bytes)?;
    let mut bytes = Vec::new();
    from.take(body).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != body {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((message, bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_damage_is_told() {
        let message = Message::Trace {
            id: 7,
            counted: Counted::default(),
        };
        let mut bytes = Vec::new();
        send(&mut bytes, &message, b"body").unwrap();
        let back = receive(&mut &bytes[..], 4).unwrap();
        assert_eq!(back, Some((message, b"body".to_vec())));
        assert!(receive(&mut &bytes[..], 3).is_err());
        for end in 1..bytes.len() {
            assert!(receive(&mut &bytes[..end], 4).is_err(), "{end}");
        }
        assert_eq!(receive(&mut &b""[..], 4).unwrap(), None);
    }
}

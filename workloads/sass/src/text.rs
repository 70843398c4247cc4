//! A launch as lines of text.

use std::io::{BufRead, Read};

use crate::collect::{Collector, Limits, Recorded};
use crate::fault::{Fault, no_value, quoted};
use crate::header::Header;

/// Bytes of a line at the most: 32 addresses of 18 characters, values of nine registers, and room.
const LONGEST: u64 = 16 << 10;

/// Reads a launch from its first line to its last.
pub(crate) fn read(from: impl BufRead, limits: Limits) -> Result<Recorded, Fault> {
    let mut lines = Lines {
        from,
        number: 0,
        bytes: Vec::new(),
    };
    read_lines(&mut lines, limits).map_err(|fault| fault.at(lines.number))
}

fn read_lines(lines: &mut Lines<impl BufRead>, limits: Limits) -> Result<Recorded, Fault> {
    let mut header = Header::default();
    // The line that begins with `#` names the columns; a comment may stand above.
    let mut collector = loop {
        let Some(line) = lines.next()? else {
            return Err(Fault::new("it has no thread block"));
        };
        if line.starts_with('-') {
            header.take(line)?;
        } else if line.starts_with("#traces format") {
            break Collector::new(std::mem::take(&mut header), limits)?;
        } else if line == BEGIN {
            let mut collector = Collector::new(std::mem::take(&mut header), limits)?;
            let at = place(lines)?;
            collector.begin(at)?;
            break collector;
        } else if !line.is_empty() && !line.starts_with('#') {
            return Err(unknown(line));
        }
    };
    let mut announced = Announced::default();
    while let Some(line) = lines.next()? {
        if line.is_empty() || line.starts_with("cluster ") {
            continue;
        }
        if line == BEGIN {
            let at = place(lines)?;
            collector.begin(at)?;
        } else if line == END {
            announced.check()?;
            collector.end()?;
        } else if let Some(number) = line.strip_prefix("warp = ") {
            announced.check()?;
            let number = number.trim().parse();
            collector.warp(number.map_err(|_| unknown(line))?)?;
        } else if let Some(number) = line.strip_prefix("insts = ") {
            announced.check()?;
            let number = number.trim().parse();
            let number = number.map_err(|_| no_value(line))?;
            announced = Announced::of(number, lines.number);
        } else {
            collector.line(line)?;
            announced.read += 1;
        }
    }
    collector.finish()
}

/// How many instructions a warp says that it has: a trace that lost some of its lines, or has them twice, still looks like one.
#[derive(Default)]
struct Announced {
    /// The number, and the line where it stands.
    said: Option<(u64, u64)>,
    /// Instructions since.
    read: u64,
}

impl Announced {
    fn of(instructions: u64, line: u64) -> Self {
        Self {
            said: Some((instructions, line)),
            read: 0,
        }
    }

    /// Compares, where the warp ends.
    fn check(&mut self) -> Result<(), Fault> {
        match self.said.take() {
            Some((said, line)) if said != self.read => {
                let message = format!("a warp has {} instructions, not {said}", self.read);
                Err(Fault::new(message).at(line))
            }
            _ => Ok(()),
        }
    }
}

const BEGIN: &str = "#BEGIN_TB";
const END: &str = "#END_TB";

/// `thread block = 3,0,0`, the first line of a thread block.
fn place(lines: &mut Lines<impl BufRead>) -> Result<[u32; 3], Fault> {
    loop {
        let line = lines.next()?;
        let line = line.ok_or_else(|| Fault::new("it ends within a thread block"))?;
        if line.is_empty() {
            continue;
        }
        let numbers = line
            .strip_prefix("thread block = ")
            .ok_or_else(|| unknown(line))?;
        let mut numbers = numbers.split(',').map(|number| number.trim().parse().ok());
        let mut next = || numbers.next().flatten().ok_or_else(|| unknown(line));
        return Ok([next()?, next()?, next()?]);
    }
}

fn unknown(line: &str) -> Fault {
    Fault::new(format!("{} is no line of a trace", quoted(line)))
        .help("a trace is what Accel-Sim's `post-traces-processing` leaves: `.traceg` or `.tracez`")
}

/// Lines of bounded length, numbered.
struct Lines<R> {
    from: R,
    number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<&str>, Fault> {
        self.bytes.clear();
        let read = (&mut self.from)
            .take(LONGEST)
            .read_until(b'\n', &mut self.bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 == LONGEST && self.bytes.last() != Some(&b'\n') {
            return Err(Fault::new(format!("a line has more than {LONGEST} bytes")));
        }
        let line = std::str::from_utf8(&self.bytes);
        let line = line.map_err(|_| Fault::new("it is no text"))?;
        Ok(Some(line.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
-kernel name = add
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 16
-binary version = 70
-accelsim tracer version = 4

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 3
0000 ffffffff 1 R0 S2R 0 0 0
0010 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 4 0
0020 ffffffff 0 EXIT 0 0 0

#END_TB
";

    fn limits() -> Limits {
        Limits::of(1000)
    }

    #[test]
    fn a_launch() {
        let recorded = read(TRACE.as_bytes(), limits()).unwrap();
        assert_eq!(recorded.header.kernel, "add");
        assert_eq!(recorded.trace.counts().unwrap().warp_instructions, 3);
    }

    #[test]
    fn each_warp_is_as_long_as_it_says() {
        let two = TRACE.replace("(32,1,1)", "(64,1,1)");
        let warp = "warp = 1\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0\n";
        let two = two.replace("#END_TB", &format!("{warp}#END_TB"));
        assert!(read(two.as_bytes(), limits()).is_ok());
        // The last line of the first warp is lost: it is told at that warp.
        let lost = two.replacen("0020 ffffffff 0 EXIT 0 0 0\n", "", 1);
        let fault = read(lost.as_bytes(), limits()).unwrap_err();
        let message = "line 16: a warp has 2 instructions, not 3";
        assert_eq!(fault.to_string(), message);
    }

    #[test]
    fn the_line_of_a_fault_is_told() {
        for (from, to, message) in [
            (
                "0010 ffffffff 1 R4 LDG",
                "0010 ffffffff 1 Q4 LDG",
                "line 18: `Q4` is no register",
            ),
            (
                "S2R",
                "FROB",
                "line 17: `FROB` is no instruction that is known",
            ),
            (
                "thread block = 0,0,0",
                "thread block = 1,0,0",
                "line 13: there is no thread block [1, 0, 0] in [1, 1, 1]",
            ),
            ("#END_TB\n", "", "line 20: it ends within a thread block"),
            (
                "(32,1,1)",
                "(32,1,1000)",
                "line 9: a thread block of 32000 threads is none",
            ),
            (
                "-shmem = 0",
                "hello",
                "line 4: `hello` is no line of a trace",
            ),
            (
                "0010 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 4 0\n",
                "",
                "line 16: a warp has 2 instructions, not 3",
            ),
            (
                "insts = 3",
                "insts = 2",
                "line 16: a warp has 3 instructions, not 2",
            ),
            (
                "insts = 3",
                "insts = 99999999999999",
                "line 16: a warp has 3 instructions, not 99999999999999",
            ),
            (
                "insts = 3",
                "insts = -1",
                "line 16: `insts = -1` has no value of its kind",
            ),
            (
                "-nregs = 16",
                "-nregs = 0",
                "line 5: `-nregs = 0` has no value of its kind",
            ),
        ] {
            let text = TRACE.replace(from, to);
            let fault = read(text.as_bytes(), limits()).unwrap_err();
            assert_eq!(fault.to_string(), message);
        }
        assert!(read(&b""[..], limits()).is_err());
        assert!(
            read(&[b'0'; 20_000][..], limits()).is_err(),
            "a line without end"
        );
    }

    proptest::proptest! {
        #[test]
        fn a_changed_byte_is_no_panic(at in 0..TRACE.len(), byte: u8) {
            let mut bytes = TRACE.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = read(&bytes[..], limits());
        }
    }
}

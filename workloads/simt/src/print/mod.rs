//! What kernels print: their formats become text when they print, and the text waits for the host in a buffer of bounded size (CUDA C++ Programming Guide,
//! "Formatted Output").

mod conversion;
mod float;

use std::collections::VecDeque;

use conversion::{Conversion, Length};

/// Bytes of the buffer where a host asks for no other size (`cudaLimitPrintfFifoSize`).
const ROOM: usize = 1 << 20;

/// Where a format finds its arguments.
pub(crate) trait Arguments {
    /// So many bytes of the arguments, from an offset on.
    fn number(&mut self, offset: u64, bytes: u64) -> Option<u64>;
    /// The string at an address, without the zero at its end: at most so many bytes.
    fn string(&mut self, address: u64, most: usize) -> Option<Vec<u8>>;
}

/// Text that kernels have printed and no host has taken, oldest first. If there is no room left, the oldest goes.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    texts: VecDeque<Vec<u8>>,
    bytes: usize,
    room: usize,
}

impl Default for Printed {
    fn default() -> Self {
        Self {
            texts: VecDeque::new(),
            bytes: 0,
            room: ROOM,
        }
    }
}

impl Printed {
    /// Keeps what one thread printed at once.
    pub fn keep(&mut self, text: Vec<u8>) {
        self.bytes += text.len();
        self.texts.push_back(text);
        while self.bytes > self.room
            && let Some(oldest) = self.texts.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }

    /// Everything, which is no longer kept.
    pub fn take(&mut self) -> Vec<u8> {
        self.bytes = 0;
        std::mem::take(&mut self.texts)
            .into_iter()
            .flatten()
            .collect()
    }

    /// Sets how many bytes are kept.
    pub fn set_room(&mut self, bytes: usize) {
        self.room = bytes;
    }
}

/// Longest text that one thread prints at once, and the longest string in it: a width of a thousand million must not take memory.
pub(crate) const LONGEST: usize = 1 << 16;

/// The text of a format with its arguments, and how many of them it has; none if an argument cannot be read.
pub(crate) fn text(format: &[u8], arguments: &mut impl Arguments) -> Option<(Vec<u8>, u32)> {
    let mut text = Vec::new();
    let mut reader = Reader {
        arguments,
        offset: 0,
        count: 0,
    };
    let mut rest = format;
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'%' {
            text.push(first);
            continue;
        }
        match Conversion::read(rest) {
            Some((conversion, behind)) => {
                reader.convert(conversion, &mut text)?;
                rest = behind;
            }
            // What is no conversion stands for itself.
            None => text.push(first),
        }
        if text.len() > LONGEST {
            break;
        }
    }
    text.truncate(LONGEST);
    Some((text, reader.count))
}

/// Goes through the arguments, each at a multiple of its size.
struct Reader<'a, A> {
    arguments: &'a mut A,
    offset: u64,
    count: u32,
}

impl<A: Arguments> Reader<'_, A> {
    fn next(&mut self, bytes: u64) -> Option<u64> {
        let at = self.offset.next_multiple_of(bytes);
        self.offset = at + bytes;
        self.count += 1;
        self.arguments.number(at, bytes)
    }

    fn convert(&mut self, mut conversion: Conversion, text: &mut Vec<u8>) -> Option<()> {
        if conversion.width_follows {
            let width = self.next(4)? as u32 as i32;
            conversion.left |= width < 0;
            conversion.width = width.unsigned_abs() as usize;
        }
        if conversion.precision_follows {
            let precision = self.next(4)? as u32 as i32;
            conversion.precision = usize::try_from(precision).ok();
        }
        conversion.width = conversion.width.min(LONGEST);
        conversion.precision = conversion.precision.map(|it| it.min(LONGEST));
        let bytes = match conversion.length {
            Length::Long => 8,
            _ => 4,
        };
        let piece = match conversion.kind {
            b'%' => b"%".to_vec(),
            b'd' | b'i' => conversion.signed(self.next(bytes)?),
            b'u' | b'o' | b'x' | b'X' => conversion.unsigned(self.next(bytes)?),
            b'c' => conversion.padded(vec![self.next(4)? as u8]),
            b's' => {
                let most = conversion.precision.unwrap_or(LONGEST);
                let address = self.next(8)?;
                let string = match address {
                    0 => b"(null)".to_vec(),
                    address => self.arguments.string(address, most)?,
                };
                conversion.padded(string)
            }
            b'p' => conversion.pointer(self.next(8)?),
            _ => conversion.float(f64::from_bits(self.next(8)?)),
        };
        text.extend(piece);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments as a compiler lays them out, strings at their own addresses.
    #[derive(Default)]
    struct Block {
        bytes: Vec<u8>,
        strings: Vec<&'static str>,
    }

    enum Argument {
        Int(i32),
        Long(i64),
        Double(f64),
        Text(&'static str),
    }
    use Argument::{Double, Int, Long, Text};

    impl Block {
        fn of(arguments: &[Argument]) -> Self {
            let mut block = Self::default();
            for argument in arguments {
                let bits = match argument {
                    Int(value) => {
                        block.bytes.extend(value.to_le_bytes());
                        continue;
                    }
                    Long(value) => *value as u64,
                    Double(value) => value.to_bits(),
                    Text(text) => {
                        block.strings.push(text);
                        block.strings.len() as u64
                    }
                };
                block.bytes.resize(block.bytes.len().next_multiple_of(8), 0);
                block.bytes.extend(bits.to_le_bytes());
            }
            block
        }
    }

    impl Arguments for Block {
        fn number(&mut self, offset: u64, bytes: u64) -> Option<u64> {
            let found = self.bytes.get(offset as usize..(offset + bytes) as usize)?;
            let mut whole = [0; 8];
            whole[..found.len()].copy_from_slice(found);
            Some(u64::from_le_bytes(whole))
        }

        fn string(&mut self, address: u64, most: usize) -> Option<Vec<u8>> {
            let text = self.strings.get(address as usize - 1)?.as_bytes();
            Some(text[..text.len().min(most)].to_vec())
        }
    }

    fn printed(format: &str, arguments: &[Argument]) -> String {
        let (text, _) = text(format.as_bytes(), &mut Block::of(arguments)).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// What the C library of Linux prints (glibc 2.36, x86-64).
    #[test]
    fn formats_are_those_of_c() {
        assert_eq!(
            printed(
                "%d|%5d|%-5d|%05d|%+d|% d",
                &[Int(42), Int(-42), Int(42), Int(-42), Int(42), Int(42)]
            ),
            "42|  -42|42   |-0042|+42| 42"
        );
        assert_eq!(
            printed(
                "%u %x %X %#x %o %#o %08x",
                &[
                    Int(-1),
                    Int(-1),
                    Int(255),
                    Int(255),
                    Int(8),
                    Int(8),
                    Int(255)
                ]
            ),
            "4294967295 ffffffff FF 0xff 10 010 000000ff"
        );
        assert_eq!(
            printed("%lld %llu %lx", &[Long(-5), Long(-1), Long(1 << 40)]),
            "-5 18446744073709551615 10000000000"
        );
        assert_eq!(
            printed("%hd %hhd %hu", &[Int(0x18000), Int(0x1ff), Int(-1)]),
            "-32768 -1 65535"
        );
        assert_eq!(
            printed("%.3d|%6.3d|%.0d|", &[Int(7), Int(-7), Int(0)]),
            "007|  -007||"
        );
        assert_eq!(
            printed("%d %lld %d %f", &[Int(1), Long(2), Int(3), Double(4.0)]),
            "1 2 3 4.000000"
        );
        assert_eq!(
            printed(
                "%c%%%s|%5.2s|%-4s|",
                &[Int(65), Text("text"), Text("text"), Text("ab")]
            ),
            "A%text|   te|ab  |"
        );
        assert_eq!(
            printed(
                "%*d|%.*f|%-*d|",
                &[Int(4), Int(7), Int(2), Double(3.1384), Int(-3), Int(1)]
            ),
            "   7|3.14|1  |"
        );
        assert_eq!(
            printed("%p %p %s", &[Long(0xabc), Long(0), Long(0)]),
            "0xabc (nil) (null)"
        );
        // `% d` is a conversion; the last one is none.
        assert_eq!(printed("100% done %", &[Int(3)]), "100 3one %");
    }

    #[test]
    fn floats_are_those_of_c() {
        assert_eq!(
            printed(
                "%f|%.2f|%8.3f|%-8.1f|%08.2f|%+f|%.0f|%#.0f",
                &[
                    Double(1.5),
                    Double(2.675),
                    Double(-3.1424),
                    Double(2.25),
                    Double(-1.5),
                    Double(0.0),
                    Double(2.5),
                    Double(2.5)
                ]
            ),
            "1.500000|2.67|  -3.142|2.2     |-0001.50|+0.000000|2|2."
        );
        assert_eq!(
            printed(
                "%e|%.2E|%e|%.0e",
                &[Double(12345.678), Double(1e-10), Double(0.0), Double(15.0)]
            ),
            "1.234568e+04|1.00E-10|0.000000e+00|2e+01"
        );
        assert_eq!(
            printed(
                "%g|%g|%g|%g|%.3g|%#g|%G|%g",
                &[
                    Double(100000.0),
                    Double(1000000.0),
                    Double(0.0001),
                    Double(0.00001),
                    Double(1234.5),
                    Double(1.5),
                    Double(1e-20),
                    Double(0.0)
                ]
            ),
            "100000|1e+06|0.0001|1e-05|1.23e+03|1.50000|1E-20|0"
        );
        assert_eq!(
            printed(
                "%a|%a|%.2a|%A|%a|%.0a",
                &[
                    Double(1.0),
                    Double(-0.1),
                    Double(3.1406),
                    Double(10.5),
                    Double(0.0),
                    Double(1.5)
                ]
            ),
            "0x1p+0|-0x1.999999999999ap-4|0x1.92p+1|0X1.5P+3|0x0p+0|0x2p+0"
        );
        assert_eq!(
            printed(
                "%f|%6e|%G|%05g",
                &[
                    Double(f64::INFINITY),
                    Double(f64::NEG_INFINITY),
                    Double(f64::NAN),
                    Double(f64::INFINITY)
                ]
            ),
            "inf|  -inf|NAN|  inf"
        );
    }

    #[test]
    fn arguments_are_counted_and_must_be_there() {
        let counted = |format: &str, arguments: &[Argument]| {
            text(format.as_bytes(), &mut Block::of(arguments)).map(|(_, count)| count)
        };
        assert_eq!(counted("no", &[]), Some(0));
        assert_eq!(counted("%d %% %f", &[Int(1), Double(1.0)]), Some(2));
        assert_eq!(counted("%d %d", &[Int(1)]), None);
        let (long, _) = text(b"%*d", &mut Block::of(&[Int(i32::MAX), Int(1)])).unwrap();
        assert_eq!(long.len(), LONGEST);
    }

    #[test]
    fn the_oldest_text_goes_when_there_is_no_room() {
        let mut printed = Printed::default();
        printed.set_room(8);
        for text in ["one ", "two ", "three "] {
            printed.keep(text.as_bytes().to_vec());
        }
        assert_eq!(printed.take(), b"three ");
        assert_eq!(printed.take(), b"");
    }
}

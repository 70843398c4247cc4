//! A launch packed warp by warp: `.tracez` of Accel-Sim 2.0.
//!
//! All numbers are little endian: the header's lines, ended by a zero byte; `u32` bytes of the dictionary and `u32` instructions of a piece; the dictionary
//! (Zstandard); of each warp `u32` instructions, `u32` pieces, and pieces as `u32` bytes and a Zstandard frame of lines; the index: `u32` thread blocks, of each
//! ten `u32` (its place in the grid, its cluster's, its own in the cluster, its rank there) and `u32` warps, of each warp `u32` instructions, `u32` pieces, `u64`
//! where it lies and `u32` instructions a piece; and last `u64` where the index lies.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

use crate::collect::{Collector, Limits, Recorded};
use crate::fault::Fault;
use crate::header::Header;

/// Bytes of the header's lines, of the dictionary, and of a piece, unpacked, at the most.
const MOST_HEADER: u64 = 64 << 10;
const MOST_DICTIONARY: u32 = 16 << 20;
const MOST_PIECE: usize = 256 << 20;
/// Bytes that are unpacked before they are looked at.
const AT_ONCE: usize = 1 << 20;
/// Numbers of a thread block in the index before its warps.
const PLACES: usize = 10;

/// Reads a launch.
pub(crate) fn read(file: &mut (impl Read + Seek), limits: Limits) -> Result<Recorded, Fault> {
    let mut file = BufReader::new(file);
    let mut collector = Collector::new(header(&mut file)?, limits)?;
    let mut pieces = Pieces::new(&mut file)?;
    let blocks = index(&mut file)?;
    for block in blocks {
        let place = block.place;
        let at = |fault: Fault| {
            let [x, y, z] = place;
            Fault {
                message: format!("thread block {x},{y},{z}: {}", fault.message),
                ..fault
            }
        };
        collector.begin(place)?;
        for (number, begin) in block.warps.into_iter().enumerate() {
            collector.warp(number).map_err(at)?;
            pieces.warp(&mut file, begin, &mut collector).map_err(at)?;
        }
        collector.end().map_err(at)?;
    }
    collector.finish()
}

fn header(file: &mut impl BufRead) -> Result<Header, Fault> {
    let mut header = Header::default();
    let mut text = Vec::new();
    file.take(MOST_HEADER).read_until(0, &mut text)?;
    if text.pop() == Some(0) {
        let text = String::from_utf8(text);
        let text = text.map_err(|_| Fault::new("its header is no text"))?;
        let mut lines = text.lines().filter(|line| line.starts_with('-'));
        lines.try_for_each(|line| header.take(line))?;
        return Ok(header);
    }
    Err(Fault::new("it has no header that ends")
        .help("a `.tracez` begins with lines of text and a zero byte"))
}

fn u32_of(file: &mut impl Read) -> Result<u32, Fault> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn u64_of(file: &mut impl Read) -> Result<u64, Fault> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// A thread block of the index.
struct Block {
    place: [u32; 3],
    /// Where its warps lie.
    warps: Vec<u64>,
}

fn index(file: &mut (impl Read + Seek)) -> Result<Vec<Block>, Fault> {
    let end = file.seek(SeekFrom::End(-8))?;
    let begin = u64_of(file)?;
    if begin > end {
        return Err(Fault::new("its index lies behind its end"));
    }
    file.seek(SeekFrom::Start(begin))?;
    let mut index = file.take(end - begin);
    let mut blocks = Vec::new();
    for _ in 0..u32_of(&mut index)? {
        let mut numbers = [0; PLACES];
        for number in &mut numbers {
            *number = u32_of(&mut index)?;
        }
        let mut warps = Vec::new();
        for _ in 0..u32_of(&mut index)? {
            u32_of(&mut index)?;
            let pieces = u32_of(&mut index)?;
            warps.push(u64_of(&mut index)?);
            for _ in 0..pieces {
                u32_of(&mut index)?;
            }
        }
        blocks.push(Block {
            place: [numbers[0], numbers[1], numbers[2]],
            warps,
        });
    }
    Ok(blocks)
}

/// Unpacks pieces.
struct Pieces {
    decoder: FrameDecoder,
    packed: Vec<u8>,
    text: Vec<u8>,
}

impl Pieces {
    /// Takes the dictionary, which stands where the file is.
    fn new(file: &mut impl Read) -> Result<Self, Fault> {
        let (bytes, _) = (u32_of(file)?, u32_of(file)?);
        if bytes > MOST_DICTIONARY {
            return Err(Fault::new(format!("its dictionary has {bytes} bytes")));
        }
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_PIECE as u64);
        if bytes > 0 {
            let mut dictionary = vec![0; bytes as usize];
            file.read_exact(&mut dictionary)?;
            let dictionary = Dictionary::decode_dict(&dictionary);
            let wrong = |error| Fault::new(format!("its dictionary is none: {error}"));
            let added = decoder.add_dict(dictionary.map_err(wrong)?);
            added.map_err(damaged)?;
        }
        Ok(Self {
            decoder,
            packed: Vec::new(),
            text: Vec::new(),
        })
    }

    /// Hands over the lines of the warp that lies at `begin`.
    fn warp(
        &mut self,
        file: &mut (impl Read + Seek),
        begin: u64,
        collector: &mut Collector,
    ) -> Result<(), Fault> {
        file.seek(SeekFrom::Start(begin))?;
        let (instructions, pieces) = (u32_of(file)?, u32_of(file)?);
        let mut read = 0;
        for _ in 0..pieces {
            for line in self.piece(file)?.lines().filter(|line| !line.is_empty()) {
                collector.line(line)?;
                read += 1;
            }
        }
        if read != instructions {
            let message = format!("a warp has {read} instructions, not {instructions}");
            return Err(Fault::new(message));
        }
        Ok(())
    }

    fn piece(&mut self, file: &mut impl Read) -> Result<&str, Fault> {
        let bytes = u64::from(u32_of(file)?);
        self.packed.clear();
        // Memory grows with what is there, whatever is claimed.
        if file.take(bytes).read_to_end(&mut self.packed)? as u64 != bytes {
            return Err(Fault::new("it ends within a warp"));
        }
        self.text.clear();
        let mut packed = &self.packed[..];
        self.decoder.init(&mut packed).map_err(damaged)?;
        while !self.decoder.is_finished() {
            let some = BlockDecodingStrategy::UptoBytes(AT_ONCE);
            self.decoder
                .decode_blocks(&mut packed, some)
                .map_err(damaged)?;
            self.decoder.collect_to_writer(&mut self.text)?;
            if self.text.len() > MOST_PIECE {
                return Err(Fault::new("a warp's piece has more than 256 MiB of text"));
            }
        }
        std::str::from_utf8(&self.text).map_err(|_| Fault::new("a piece is no text"))
    }
}

fn damaged(error: impl std::fmt::Display) -> Fault {
    Fault::new(format!("it is damaged: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const HEADER: &str = "-kernel name = add\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n-nregs = 8\n-binary version = 90\n-accelsim tracer version = 6\n-enable lineinfo = 0\n\n#traces format = ...\n";
    const WARP: [&str; 2] = [
        "0000 ffffffff 1 R0 S2R 0 0 0 0 NoVal\n0010 ffffffff 1 R4 LDG.E 2 R2 UR4 4 1 0x7f0000000000 4 0 0 NoVal",
        "0020 ffffffff 0 EXIT 0 0 0 0 NoVal",
    ];

    /// As the tracer writes it, without a dictionary.
    fn packed() -> Vec<u8> {
        let mut file = HEADER.as_bytes().to_vec();
        let put = |file: &mut Vec<u8>, numbers: &[u32]| {
            numbers.iter().for_each(|n| file.extend(n.to_le_bytes()));
        };
        file.push(0);
        put(&mut file, &[0, 2048]);
        let mut index = 2u32.to_le_bytes().to_vec();
        for block in 0..2 {
            put(&mut index, &[block, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
            for _ in 0..2 {
                put(&mut index, &[3, 2]);
                index.extend((file.len() as u64).to_le_bytes());
                put(&mut index, &[2, 1]);
                put(&mut file, &[3, 2]);
                for piece in WARP {
                    let piece = compress_to_vec(piece.as_bytes(), CompressionLevel::Fastest);
                    put(&mut file, &[piece.len() as u32]);
                    file.extend(piece);
                }
            }
        }
        let begin = file.len() as u64;
        file.extend(index);
        file.extend(begin.to_le_bytes());
        file
    }

    fn read_all(bytes: Vec<u8>) -> Result<Recorded, Fault> {
        read(&mut Cursor::new(bytes), Limits::of(1000))
    }

    #[test]
    fn a_launch() {
        let recorded = read_all(packed()).unwrap();
        let counts = recorded.trace.counts().unwrap();
        assert_eq!(counts.warp_instructions, 2 * 2 * 3);
        assert_eq!(recorded.header.kernel, "add");
    }

    proptest::proptest! {
        #[test]
        fn a_changed_byte_or_an_early_end_is_no_panic(at in 0..packed().len(), byte: u8) {
            let mut bytes = packed();
            bytes[at] = byte;
            let _ = read_all(bytes);
            proptest::prop_assert!(read_all(packed()[..at].to_vec()).is_err());
        }
    }
}

//! Fat binaries: what `nvcc` puts beside a program's machine code, of which PTX is used here.
//!
//! A container has a header of 16 bytes (magic, version, size of the header, size of what follows) and entries, each with a header of its own: kind, its size,
//! the payload's size, the size that is compressed, flags, the size of the text.

use std::io::Read as _;

use warpwatt_ptx::link::functions;

/// The first bytes of a container.
const CONTAINER: u32 = 0xba55_ed50;
/// The kind of an entry that is PTX.
const PTX: u16 = 1;
/// The kind of an entry that is machine code.
const MACHINE_CODE: u16 = 2;
/// The payload is compressed with LZ4.
const LZ4: u64 = 0x2000;
/// The payload is compressed with Zstandard.
const ZSTANDARD: u64 = 0x8000;
/// The most bytes of a text: what claims more is no PTX of a compiler.
const MOST_BYTES: u64 = 1 << 28;

/// Why there is no PTX to run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Something else.
    #[error("this is no fat binary")]
    Foreign,
    /// Cut short, or its sizes contradict each other.
    #[error("the fat binary is damaged: {0}")]
    Damaged(&'static str),
    /// Machine code only.
    #[error(
        "the program holds no PTX, only machine code of GPUs: compile it with `nvcc -gencode arch=compute_80,code=compute_80 -cudart shared`"
    )]
    NoPtx,
}

/// A text of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The compute capability that it is for: 80 for 8.0.
    pub capability: u32,
    /// The text.
    pub source: String,
}

/// Bytes of a container with its header, from its first 16 bytes; none if it is no container.
pub fn container_bytes(header: &[u8]) -> Option<usize> {
    if word(header, 0)? != CONTAINER {
        return None;
    }
    let head = half(header, 6)?;
    usize::try_from(long(header, 8)?)
        .ok()?
        .checked_add(usize::from(head))
}

/// The PTX of a container, for the largest capability that is at most `capability`, or else the smallest that there is.
///
/// # Errors
/// It is no container, it is damaged, or it holds no PTX.
pub fn ptx(container: &[u8], capability: u32) -> Result<Text, Problem> {
    let mut texts = texts(container)?;
    texts.sort_by_key(|text| text.capability);
    let fits = texts.iter().rposition(|text| text.capability <= capability);
    match texts.is_empty() {
        true => Err(Problem::NoPtx),
        false => Ok(texts.swap_remove(fits.unwrap_or(0))),
    }
}

/// The PTX of modules that are to be linked, each as [`ptx`] chooses it, without that of CUDA's device runtime: its functions are the executor's own.
///
/// # Errors
/// One is no container or damaged, or holds no PTX.
pub fn all_ptx(containers: &[&[u8]], capability: u32) -> Result<Vec<String>, Problem> {
    let texts: Result<Vec<Text>, Problem> =
        containers.iter().map(|it| ptx(it, capability)).collect();
    let mut texts = texts?;
    let of_runtime = |text: &Text| {
        functions(&text.source)
            .iter()
            .any(|it| it.starts_with(RUNTIME))
    };
    if texts.len() > 1 {
        texts.retain(|text| !of_runtime(text));
    }
    Ok(texts.into_iter().map(|text| text.source).collect())
}

/// What names of functions of CUDA's device runtime begin with.
const RUNTIME: &str = "__cudaCDP2";

/// All texts of PTX that a container holds.
///
/// # Errors
/// It is no container, or it is damaged.
pub fn texts(container: &[u8]) -> Result<Vec<Text>, Problem> {
    let bytes = container_bytes(container).ok_or(Problem::Foreign)?;
    let head = usize::from(half(container, 6).unwrap_or(0));
    let mut rest = container
        .get(head..bytes)
        .ok_or(Problem::Damaged("it is shorter than it says"))?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let entry = Entry::of(rest).ok_or(Problem::Damaged("an entry is cut short"))?;
        if entry.kind == PTX {
            found.push(entry.text()?);
        } else if entry.kind != MACHINE_CODE && entry.payload.is_empty() {
            break; // padding
        }
        rest = entry.rest;
    }
    Ok(found)
}

/// An entry of a container.
struct Entry<'b> {
    kind: u16,
    capability: u32,
    flags: u64,
    /// Bytes of the payload that are compressed.
    compressed: usize,
    /// Bytes of the text.
    plain: u64,
    payload: &'b [u8],
    rest: &'b [u8],
}

impl<'b> Entry<'b> {
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let head = word(bytes, 4)? as usize;
        let size = usize::try_from(long(bytes, 8)?).ok()?;
        let end = head.checked_add(size)?;
        if head < 64 {
            return None;
        }
        Some(Self {
            kind: half(bytes, 0)?,
            compressed: word(bytes, 16)? as usize,
            capability: word(bytes, 28)?,
            flags: long(bytes, 40)?,
            plain: long(bytes, 56)?,
            payload: bytes.get(head..end)?,
            rest: &bytes[end..],
        })
    }

    fn text(&self) -> Result<Text, Problem> {
        let damaged = |what| move || Problem::Damaged(what);
        if self.plain > MOST_BYTES {
            return Err(Problem::Damaged("a text is larger than 256 MiB"));
        }
        let packed = self.payload.get(..self.compressed);
        let packed = packed.ok_or_else(damaged("a text is cut short"));
        let bytes = if self.flags & ZSTANDARD != 0 {
            unpacked_zstandard(packed?, self.plain)
                .ok_or_else(damaged("Zstandard cannot unpack a text"))?
        } else if self.flags & LZ4 != 0 {
            lz4_flex::block::decompress(packed?, self.plain as usize)
                .map_err(|_| Problem::Damaged("LZ4 cannot unpack a text"))?
        } else {
            self.payload.to_vec()
        };
        let end = bytes.iter().position(|&byte| byte == 0);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        Ok(Text {
            capability: self.capability,
            source: String::from_utf8_lossy(text).into_owned(),
        })
    }
}

fn unpacked_zstandard(packed: &[u8], plain: u64) -> Option<Vec<u8>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).ok()?;
    let mut bytes = Vec::new();
    decoder.take(plain).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    field(bytes, at).map(u16::from_le_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    field(bytes, at).map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    field(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
fn entry(kind: u16, capability: u32, flags: u64, payload: &[u8], plain: usize) -> Vec<u8> {
    let padded = payload.len().next_multiple_of(8);
    let mut bytes = vec![0; 64];
    bytes[0..2].copy_from_slice(&kind.to_le_bytes());
    bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
    bytes[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
    bytes[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    bytes[28..32].copy_from_slice(&capability.to_le_bytes());
    bytes[40..48].copy_from_slice(&flags.to_le_bytes());
    bytes[56..64].copy_from_slice(&(plain as u64).to_le_bytes());
    bytes.extend(payload);
    bytes.resize(64 + padded, 0);
    bytes
}

#[cfg(test)]
fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    let mut bytes = CONTAINER.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A container of one text that is not compressed.
#[cfg(test)]
pub fn plain(capability: u32, text: &str) -> Vec<u8> {
    container(&[entry(PTX, capability, 0, text.as_bytes(), 0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOURCE: &str =
        ".version 8.0\n.target sm_80\n.address_size 64\n// again and again and again and again\n";

    /// As a compressor would that finds nothing to compress: a frame of one raw block.
    fn zstandard(plain: &[u8]) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60];
        frame.extend(((plain.len() - 256) as u16).to_le_bytes());
        let block = (plain.len() as u32) << 3 | 1;
        frame.extend(&block.to_le_bytes()[..3]);
        frame.extend(plain);
        frame
    }

    #[test]
    fn plain_and_packed_texts_are_read() {
        let plain = SOURCE.repeat(4);
        let bytes = plain.as_bytes();
        let forms = [
            entry(PTX, 80, 0, bytes, 0),
            entry(PTX, 80, LZ4, &lz4_flex::block::compress(bytes), bytes.len()),
            entry(PTX, 80, ZSTANDARD, &zstandard(bytes), bytes.len()),
        ];
        for form in forms {
            let found = ptx(&container(&[form]), 80).unwrap();
            assert_eq!((found.capability, &found.source), (80, &plain));
        }
    }

    #[test]
    fn the_nearest_capability_below_is_chosen() {
        let of = |capability| entry(PTX, capability, 0, SOURCE.as_bytes(), 0);
        let all = container(&[
            of(90),
            of(70),
            entry(MACHINE_CODE, 80, 0, &[1; 9], 0),
            of(80),
        ]);
        let chosen = |capability| ptx(&all, capability).unwrap().capability;
        assert_eq!([60, 70, 86, 100].map(chosen), [70, 70, 80, 90]);
    }

    #[test]
    fn a_program_of_machine_code_is_told_how_to_compile() {
        let found = ptx(&container(&[entry(MACHINE_CODE, 80, 0, &[1; 9], 0)]), 80);
        assert_eq!(found, Err(Problem::NoPtx));
        assert!(Problem::NoPtx.to_string().contains("code=compute_80"));
    }

    proptest! {
        #[test]
        fn damage_is_told(at in 0usize..200, value: u8, cut in 0usize..300) {
            let packed = lz4_flex::block::compress(SOURCE.as_bytes());
            let mut bytes = container(&[entry(PTX, 80, LZ4, &packed, SOURCE.len())]);
            let at = at % bytes.len();
            bytes[at] = value;
            bytes.truncate(cut.max(1));
            let _ = ptx(&bytes, 80);
        }

        #[test]
        fn noise_is_told(noise: Vec<u8>) {
            let mut bytes = container(&[]);
            bytes.extend(&noise);
            let size = noise.len() as u64;
            bytes[8..16].copy_from_slice(&size.to_le_bytes());
            let _ = ptx(&bytes, 80);
            let _ = ptx(&noise, 80);
        }
    }
}

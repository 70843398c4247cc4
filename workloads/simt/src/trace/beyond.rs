//! What the record of an asynchronous instruction tells beyond one address: what a copy moves, what a barrier in shared memory is told and waits for.

use super::record::{Reader, write_signed, write_unsigned};

/// Loops around the runs of a piece.
const LOOPS: usize = 4;
/// Most bytes that a record's copy moves: more than any shared memory has.
const MOST_BYTES: u64 = 1 << 24;

/// Most multiply-adds of a record: 64 lanes, each of which issues a product of 256 rows, 256 columns and 64 of the inner dimension.
const MOST_MULTIPLY_ADDS: u64 = 1 << 28;

/// What a record tells beyond its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It copies on its own.
    Copy(Copied),
    /// Tensor units work on it on their own.
    Tensor(TensorWork),
    /// So many arrive at the barrier at its address.
    Arrives(u64),
    /// It goes on when so many have arrived at the barrier at its address since the CTA began, and copies have told it so many bytes.
    Waits {
        /// Arrivals.
        arrivals: u64,
        /// Bytes.
        bytes: u64,
    },
}

/// What tensor units do with matrices whose shape a register says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorWork {
    /// Multiply-adds.
    pub multiply_adds: u64,
    /// Bits of an element of the factors; 0 if nothing is multiplied.
    pub element_bits: u64,
    /// Bytes that are read from shared memory.
    pub shared_bytes: u64,
    /// The tensor units and shared memories of two CTAs share the work.
    pub pair: bool,
}

impl TensorWork {
    /// SMs whose tensor units work on it.
    pub fn sms(&self) -> u64 {
        1 + u64::from(self.pair)
    }
}

/// What a copy moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The barrier that is told, by its address in shared memory.
    pub barrier: Option<u64>,
    /// Bytes that it is told, what lies outside of a tensor among them.
    pub bytes: u64,
    /// Where in global memory.
    pub pieces: Vec<Piece>,
}

/// Runs of bytes at equal distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Address of the first.
    pub base: u64,
    /// Bytes of each.
    pub run: u64,
    /// How many, and how far from each other, from the innermost loop on.
    pub loops: [(u64, i64); LOOPS],
}

impl Piece {
    /// One run.
    pub fn plain(base: u64, run: u64) -> Self {
        Self {
            base,
            run,
            loops: [(1, 0); LOOPS],
        }
    }

    fn bytes(&self) -> Option<u64> {
        let mut counts = self.loops.iter().map(|(count, _)| *count);
        counts.try_fold(self.run, u64::checked_mul)
    }

    /// Calls `each` with the address of every run.
    pub fn for_each(&self, mut each: impl FnMut(u64)) {
        let counts = self.loops.map(|(count, _)| count);
        for number in 0..counts.iter().product() {
            let mut rest: u64 = number;
            let mut at = self.base;
            for (count, stride) in self.loops {
                at = at.wrapping_add_signed(stride.wrapping_mul((rest % count) as i64));
                rest /= count;
            }
            each(at);
        }
    }
}

const COPY: u64 = 0;
const ARRIVES: u64 = 1;
const WAITS: u64 = 2;
const TENSOR: u64 = 3;

impl Beyond {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Copy(copied) => {
                write_unsigned(bytes, COPY);
                write_unsigned(bytes, copied.barrier.map_or(0, |at| at + 1));
                write_unsigned(bytes, copied.bytes);
                write_unsigned(bytes, copied.pieces.len() as u64);
                let mut before = 0u64;
                for piece in &copied.pieces {
                    write_signed(bytes, piece.base.wrapping_sub(before) as i64);
                    before = piece.base;
                    write_unsigned(bytes, piece.run);
                    let used = piece.loops.iter().rposition(|(count, _)| *count != 1);
                    let used = used.map_or(0, |last| last + 1);
                    write_unsigned(bytes, used as u64);
                    for (count, stride) in &piece.loops[..used] {
                        write_unsigned(bytes, *count);
                        write_signed(bytes, *stride);
                    }
                }
            }
            Self::Arrives(count) => {
                write_unsigned(bytes, ARRIVES);
                write_unsigned(bytes, *count);
            }
            Self::Tensor(work) => {
                write_unsigned(bytes, TENSOR);
                write_unsigned(bytes, work.multiply_adds);
                write_unsigned(bytes, work.element_bits);
                write_unsigned(bytes, work.shared_bytes);
                write_unsigned(bytes, work.pair.into());
            }
            Self::Waits {
                arrivals,
                bytes: awaited,
            } => {
                write_unsigned(bytes, WAITS);
                write_unsigned(bytes, *arrivals);
                write_unsigned(bytes, *awaited);
            }
        }
    }

    /// `None` where the bytes hold none, or something behind it.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { bytes };
        let found = match reader.unsigned()? {
            COPY => Self::Copy(copied(&mut reader)?),
            ARRIVES => Self::Arrives(reader.unsigned()?),
            WAITS => Self::Waits {
                arrivals: reader.unsigned()?,
                bytes: reader.unsigned()?,
            },
            TENSOR => Self::Tensor(tensor_work(&mut reader)?),
            _ => return None,
        };
        reader.bytes.is_empty().then_some(found)
    }
}

fn tensor_work(reader: &mut Reader<'_>) -> Option<TensorWork> {
    let work = TensorWork {
        multiply_adds: reader.unsigned()?,
        element_bits: reader.unsigned()?,
        shared_bytes: reader.unsigned()?,
        pair: match reader.unsigned()? {
            0 => false,
            1 => true,
            _ => return None,
        },
    };
    let fits = work.multiply_adds <= MOST_MULTIPLY_ADDS
        && work.element_bits <= 64
        && work.shared_bytes <= MOST_BYTES;
    fits.then_some(work)
}

fn copied(reader: &mut Reader<'_>) -> Option<Copied> {
    let barrier = reader.unsigned()?.checked_sub(1);
    let bytes = reader.unsigned()?;
    let mut pieces = Vec::new();
    let (mut before, mut all) = (0u64, 0u64);
    for _ in 0..reader.unsigned()? {
        before = before.wrapping_add_signed(reader.signed()?);
        let mut piece = Piece::plain(before, reader.unsigned()?);
        let used = usize::try_from(reader.unsigned()?).ok()?;
        for place in piece.loops.get_mut(..used)? {
            *place = (reader.unsigned()?, reader.signed()?);
        }
        all = all.checked_add(piece.bytes().filter(|&bytes| bytes > 0)?)?;
        if all > MOST_BYTES {
            return None;
        }
        pieces.push(piece);
    }
    Some(Copied {
        barrier,
        bytes,
        pieces,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_what_is_read() {
        let piece = Piece {
            base: 0xc000_0100,
            run: 128,
            loops: [(64, 4096), (2, -8), (1, 0), (3, 1 << 20)],
        };
        for beyond in [
            Beyond::Copy(Copied {
                barrier: Some(0),
                bytes: 49_152,
                pieces: vec![piece, Piece::plain(16, 32)],
            }),
            Beyond::Copy(Copied::default()),
            Beyond::Arrives(128),
            Beyond::Tensor(TensorWork {
                multiply_adds: 128 * 256 * 16,
                element_bits: 16,
                shared_bytes: 12_288,
                pair: true,
            }),
            Beyond::Waits {
                arrivals: 1,
                bytes: 32_768,
            },
        ] {
            let mut bytes = Vec::new();
            beyond.write(&mut bytes);
            assert_eq!(Beyond::read(&bytes), Some(beyond));
            assert_eq!(Beyond::read(&bytes[..bytes.len() - 1]), None);
            bytes.push(0);
            assert_eq!(Beyond::read(&bytes), None);
        }
    }

    #[test]
    fn a_copy_that_no_machine_makes_is_none() {
        let mut bytes = Vec::new();
        let mut piece = Piece::plain(0, 16);
        piece.loops = [(1 << 30, 1); LOOPS];
        let copied = Copied {
            pieces: vec![piece],
            ..Copied::default()
        };
        Beyond::Copy(copied).write(&mut bytes);
        assert_eq!(Beyond::read(&bytes), None);
    }

    #[test]
    fn runs_are_visited_innermost_first() {
        let mut piece = Piece::plain(100, 4);
        (piece.loops[0], piece.loops[1]) = ((2, 10), (2, 1000));
        let mut found = Vec::new();
        piece.for_each(|at| found.push(at));
        assert_eq!(found, [100, 110, 1100, 1110]);
    }
}

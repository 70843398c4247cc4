//! Where the elements of matrices lie in shared memory.

/// How a matrix lies in shared memory, by the documents' canonical layouts.
#[derive(Clone, Copy, Debug)]
pub struct Canonical {
    /// Bytes of a row of the pattern: 16 (none), 32, 64, 128.
    pub pitch: usize,
    /// 32-byte atoms, of which a pattern has four rows.
    pub coarse: bool,
    /// Bytes of an element.
    pub size: usize,
    pub transposed: bool,
    /// Rows (or columns of B).
    pub rows: usize,
}

impl Canonical {
    pub const DEPTH_BYTES: usize = 32;

    pub fn depth(self) -> usize {
        Self::DEPTH_BYTES / self.size
    }

    /// Leading and stride distances.
    pub fn distances(self) -> [usize; 2] {
        let plain = self.pitch == 16;
        match (self.transposed, plain) {
            // Pieces along the depth; groups of eight rows.
            (false, true) => [self.rows * 16, 128],
            (false, false) => [0, 8 * self.pitch],
            // Groups along the depth; pieces along the rows.
            (true, true) => [self.rows * self.size / 16 * 128, 128],
            (true, false) => {
                let patterns = (self.rows * self.size).div_ceil(self.pitch);
                let group = if self.coarse { 4 } else { 8 };
                [group * self.pitch, patterns * group * self.pitch]
            }
        }
    }

    /// Where an element's first byte lies.
    pub fn place(self, row: usize, at: usize) -> usize {
        let [lead, stride] = self.distances();
        let swap = |line: usize, byte: usize| match (self.pitch, self.coarse) {
            (128, true) => byte ^ (line % 4 * 32),
            (128, false) => byte ^ (line % 8 * 16),
            (64, _) => byte ^ (line % 8 / 2 * 16),
            (32, _) => byte ^ (line % 8 / 4 * 16),
            _ => byte,
        };
        match self.transposed {
            false => {
                let byte = at * self.size;
                match self.pitch {
                    16 => row / 8 * stride + row % 8 * 16 + byte / 16 * lead + byte % 16,
                    _ => row / 8 * stride + row % 8 * self.pitch + swap(row % 8, byte),
                }
            }
            true => {
                let byte = row * self.size;
                let group = if self.coarse { 4 } else { 8 };
                match self.pitch {
                    16 => byte / 16 * stride + at % 8 * 16 + at / 8 * lead + byte % 16,
                    pitch => {
                        let inside = swap(at % group, byte % pitch);
                        byte / pitch * lead + at / group * stride + at % group * pitch + inside
                    }
                }
            }
        }
    }

    /// The descriptor of a matrix that begins at a distance from an aligned tile, but for the tile's own address.
    pub fn descriptor(self, from: usize) -> u64 {
        let [lead, stride] = self.distances();
        let mode = match (self.pitch, self.coarse) {
            (128, true) => 1u64,
            (128, false) => 2,
            (64, _) => 4,
            (32, _) => 6,
            _ => 0,
        };
        (from as u64 >> 4)
            | (lead as u64 >> 4) << 16
            | (stride as u64 >> 4) << 32
            | 1 << 46
            | mode << 61
    }
}

/// What lies in shared memory, and its numbers row by row.
pub fn matrix(
    layout: Canonical,
    encode: fn(i64) -> u32,
    from: usize,
    value: impl Fn(usize, usize) -> i64,
    image: &mut [u8],
) {
    for row in 0..layout.rows {
        for at in 0..layout.depth() {
            let bits = encode(value(row, at)).to_le_bytes();
            let place = from + layout.place(row, at);
            image[place..place + layout.size].copy_from_slice(&bits[..layout.size]);
        }
    }
}

//! Tensor maps: what the 128 bytes say that PTX leaves open. Ours are, from the first: the address (8 bytes); the rank less one, element type, interleave, swizzle,
//! fill and whether it is for im2col (a byte each), two of nothing; five extents, five of the box and five strides through it (4 bytes each); four bytes of nothing;
//! four strides in bytes (8 each); and, for im2col, lower corner and upper corner (three times 2 bytes each), pixels and channels (2 each).

use warpwatt_ptx::program::{MAX_RANK, TENSOR_MAP_BYTES, TensorField};
use warpwatt_ptx::types::Type;

const BYTES: usize = TENSOR_MAP_BYTES as usize;
const RANK: usize = 8;
const ELEMENT: usize = 9;
const INTERLEAVE: usize = 10;
const SWIZZLE: usize = 11;
const FILL: usize = 12;
const IM2COL: usize = 13;
const EXTENTS: usize = 16;
const BOX: usize = 36;
const STEPS: usize = 56;
const STRIDES: usize = 80;
const LOWER: usize = 112;
const UPPER: usize = 118;
const PIXELS: usize = 124;
const CHANNELS: usize = 126;

/// A tensor in global memory and the tile of it that a copy moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorMap {
    /// Address of the first element.
    pub address: u64,
    /// The elements.
    pub element: TensorElement,
    /// Elements along each dimension, innermost first.
    pub extents: Vec<u32>,
    /// Bytes between neighbours of each dimension but the innermost.
    pub strides: Vec<u64>,
    /// Elements of the tile along each dimension.
    pub tile: Vec<u32>,
    /// Of the tile's elements every how manyth is moved, along each dimension.
    pub steps: Vec<u32>,
    /// How pieces of sixteen bytes change places in shared memory.
    pub swizzle: Swizzle,
    /// Elements outside of the tensor are NaN, else zero.
    pub fill_nan: bool,
    /// For copies in im2col mode.
    pub im2col: Option<Im2col>,
}

/// What im2col needs to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Im2col {
    /// The box's corner of the lowest coordinates, by the inner dimensions but the first.
    pub lower: [i16; 3],
    /// That of the highest, from the extents on.
    pub upper: [i16; 3],
    /// Pixels that are moved.
    pub pixels: u16,
    /// Elements of each.
    pub channels: u16,
}

/// How pieces of sixteen bytes change places within so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    /// Not at all.
    #[default]
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

impl Swizzle {
    const ALL: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];

    /// Where what would lie at an address of shared memory lies.
    pub(crate) fn apply(self, address: u64) -> u64 {
        let pieces = 1u64 << self as u32;
        address ^ (address >> 7 & (pieces - 1)) << 4
    }
}

/// Types of elements, in the order of their numbers in PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum TensorElement {
    #[default]
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F32Ftz,
    F64,
    Bf16,
    Tf32,
    Tf32Ftz,
}

impl TensorElement {
    const ALL: [Self; 13] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::S32,
        Self::U64,
        Self::S64,
        Self::F16,
        Self::F32,
        Self::F32Ftz,
        Self::F64,
        Self::Bf16,
        Self::Tf32,
        Self::Tf32Ftz,
    ];

    /// As an element of a reduction.
    pub(crate) fn element(self) -> Type {
        match self {
            Self::U8 => Type::U8,
            Self::U16 => Type::U16,
            Self::U32 => Type::U32,
            Self::S32 => Type::S32,
            Self::U64 => Type::U64,
            Self::S64 => Type::S64,
            Self::F16 => Type::F16,
            Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => Type::F32,
            Self::F64 => Type::F64,
            Self::Bf16 => Type::Bf16,
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        self.element().bytes()
    }

    /// What an element is that lies outside and is no zero; integers have none.
    pub(crate) fn nan(self) -> u64 {
        match self {
            // What `fma.oob` takes for it.
            Self::F16 | Self::Bf16 => 0x7ff7,
            Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 0x7fff_ffff,
            Self::F64 => 0x7fff_ffff_ffff_ffff,
            _ => 0,
        }
    }
}

impl TensorMap {
    /// The map as it lies in memory.
    ///
    /// # Panics
    /// If it has more than five dimensions.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &self.address.to_le_bytes());
        put(RANK, &[self.extents.len().saturating_sub(1) as u8]);
        put(ELEMENT, &[self.element as u8]);
        put(SWIZZLE, &[self.swizzle as u8]);
        put(FILL, &[u8::from(self.fill_nan)]);
        put(IM2COL, &[u8::from(self.im2col.is_some())]);
        let lists = [
            (EXTENTS, &self.extents),
            (BOX, &self.tile),
            (STEPS, &self.steps),
        ];
        for (start, values) in lists {
            for (at, value) in values.iter().enumerate() {
                put(start + 4 * at, &value.to_le_bytes());
            }
        }
        for (at, stride) in self.strides.iter().enumerate() {
            put(STRIDES + 8 * at, &stride.to_le_bytes());
        }
        if let Some(im2col) = self.im2col {
            for at in 0..3 {
                put(LOWER + 2 * at, &im2col.lower[at].to_le_bytes());
                put(UPPER + 2 * at, &im2col.upper[at].to_le_bytes());
            }
            put(PIXELS, &im2col.pixels.to_le_bytes());
            put(CHANNELS, &im2col.channels.to_le_bytes());
        }
        bytes
    }

    /// The map that lies in memory; why there is none.
    pub(crate) fn of(bytes: &[u8; BYTES]) -> Result<Self, &'static str> {
        let rank = usize::from(bytes[RANK]) + 1;
        let word = |at: usize| u32::from_le_bytes(part(bytes, at));
        let short = |at: usize| i16::from_le_bytes(part(bytes, at));
        let words = |start: usize| (0..rank).map(move |at| word(start + 4 * at)).collect();
        if rank > MAX_RANK {
            return Err("it has more than five dimensions");
        }
        if bytes[INTERLEAVE] != 0 {
            return Err("interleaved layouts are not supported");
        }
        let element = TensorElement::ALL.get(usize::from(bytes[ELEMENT]));
        let swizzle = Swizzle::ALL.get(usize::from(bytes[SWIZZLE]));
        let map = Self {
            address: u64::from_le_bytes(part(bytes, 0)),
            element: *element.ok_or("its element type is not supported")?,
            extents: words(EXTENTS),
            strides: (0..rank - 1)
                .map(|at| u64::from_le_bytes(part(bytes, STRIDES + 8 * at)))
                .collect(),
            tile: words(BOX),
            steps: words(STEPS),
            swizzle: *swizzle.ok_or("its swizzle is not supported")?,
            fill_nan: bytes[FILL] != 0,
            im2col: (bytes[IM2COL] != 0).then(|| Im2col {
                lower: [0, 1, 2].map(|at| short(LOWER + 2 * at)),
                upper: [0, 1, 2].map(|at| short(UPPER + 2 * at)),
                pixels: short(PIXELS) as u16,
                channels: short(CHANNELS) as u16,
            }),
        };
        if map.im2col.is_none() && map.tile.iter().any(|extent| !(1..=256).contains(extent)) {
            return Err("its box has extents outside of 1 to 256");
        }
        if map.steps.iter().any(|step| !(1..=8).contains(step)) {
            return Err("its element strides are outside of 1 to 8");
        }
        Ok(map)
    }
}

/// Replaces a field of the map that lies in memory.
pub(crate) fn replace(bytes: &mut [u8; BYTES], field: TensorField, value: u64) {
    let word = (value as u32).to_le_bytes();
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    match field {
        TensorField::GlobalAddress => put(0, &value.to_le_bytes()),
        TensorField::Rank => put(RANK, &word[..1]),
        TensorField::BoxDim(at) => put(BOX + 4 * usize::from(at), &word),
        TensorField::GlobalDim(at) => put(EXTENTS + 4 * usize::from(at), &word),
        TensorField::GlobalStride(at) if at < 4 => {
            put(STRIDES + 8 * usize::from(at), &value.to_le_bytes());
        }
        TensorField::ElementStride(at) => put(STEPS + 4 * usize::from(at), &word),
        TensorField::ElementType => put(ELEMENT, &word[..1]),
        TensorField::Interleave => put(INTERLEAVE, &word[..1]),
        TensorField::Swizzle => put(SWIZZLE, &word[..1]),
        TensorField::Fill => put(FILL, &word[..1]),
        // A fifth dimension has no stride beyond the fourth; what sm_90 has is pieces of sixteen bytes.
        TensorField::GlobalStride(_) | TensorField::SwizzleAtomicity => {}
    }
}

fn part<const N: usize>(bytes: &[u8; BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|number| bytes[at + number])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            address: 0xc000_0100,
            element: TensorElement::Bf16,
            extents: vec![64, 3, 2, 5, 7],
            strides: vec![128, 512, 1024, 8192],
            tile: vec![64, 2, 1, 1, 4],
            steps: vec![1, 1, 2, 1, 1],
            swizzle: Swizzle::Bytes128,
            fill_nan: true,
            im2col: None,
        }
    }

    #[test]
    fn a_map_survives_memory() {
        let im2col = Im2col {
            lower: [-1, -2, 3],
            upper: [-1, 0, 1],
            pixels: 300,
            channels: 32,
        };
        for map in [
            map(),
            TensorMap {
                im2col: Some(im2col),
                ..map()
            },
        ] {
            assert_eq!(TensorMap::of(&map.to_bytes()), Ok(map));
        }
    }

    #[test]
    fn fields_replaced_one_by_one_make_the_map() {
        let map = map();
        let mut bytes = [0; BYTES];
        let mut set = |field, value| replace(&mut bytes, field, value);
        set(TensorField::GlobalAddress, map.address);
        set(TensorField::Rank, 4);
        set(TensorField::ElementType, 10);
        set(TensorField::Swizzle, 3);
        set(TensorField::Fill, 1);
        for at in 0..5 {
            let place = usize::from(at);
            set(TensorField::GlobalDim(at), u64::from(map.extents[place]));
            set(TensorField::BoxDim(at), u64::from(map.tile[place]));
            set(TensorField::ElementStride(at), u64::from(map.steps[place]));
            if let Some(&stride) = map.strides.get(place) {
                set(TensorField::GlobalStride(at), stride);
            }
        }
        assert_eq!(bytes, map.to_bytes());
    }

    #[test]
    fn swizzles_are_the_tables_of_the_isa() {
        let rows = |swizzle: Swizzle, rows: u64| -> Vec<Vec<u64>> {
            let row = |row| (0..8).map(move |piece| swizzle.apply(row * 128 + piece * 16) / 16 % 8);
            (0..rows).map(|number| row(number).collect()).collect()
        };
        assert_eq!(rows(Swizzle::Bytes32, 2)[1], [1, 0, 3, 2, 5, 4, 7, 6]);
        assert_eq!(rows(Swizzle::Bytes64, 4)[3], [3, 2, 1, 0, 7, 6, 5, 4]);
        assert_eq!(rows(Swizzle::Bytes128, 8)[5], [5, 4, 7, 6, 1, 0, 3, 2]);
        assert_eq!(rows(Swizzle::None, 2)[1], [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

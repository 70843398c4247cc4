//! Textures and surfaces: what reads and writes images (PTX ISA 8.x, sections 9.7.10 and 9.7.11).

use super::AtomicOp;
use crate::types::Type;

/// The shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// A row.
    D1,
    /// Rows.
    D2,
    /// Slices of rows.
    D3,
    /// Layers of a row each.
    Layers1,
    /// Layers of rows.
    Layers2,
    /// Six square faces; the coordinates are a direction.
    Cube,
    /// Layers of six faces.
    Cubes,
}

impl Geometry {
    /// Whether a layer comes before the coordinates.
    pub fn has_layers(self) -> bool {
        matches!(self, Self::Layers1 | Self::Layers2 | Self::Cubes)
    }

    /// Coordinates, the layer apart.
    pub fn coordinates(self) -> usize {
        match self {
            Self::D1 | Self::Layers1 => 1,
            Self::D2 | Self::Layers2 => 2,
            Self::D3 | Self::Cube | Self::Cubes => 3,
        }
    }
}

/// How `tex` and `tld4` read a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The texture's shape.
    pub geometry: Geometry,
    /// Coordinates are integers, else floats.
    pub integer: bool,
    /// The result's type: `f32`, `u32` or `s32`.
    pub result: Type,
    /// The channel of which `tld4` reads four neighbours.
    pub gather: Option<u8>,
}

/// `suld`, `sust`, `sured`: sources are the handle, the layer if there is one, the coordinates and the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// What is done.
    pub op: SurfaceOp,
    /// The surface's shape.
    pub geometry: Geometry,
    /// Type of a value.
    pub element: Type,
    /// Values: 1, 2 or 4.
    pub count: u8,
    /// The first coordinate counts pixels instead of bytes, and values are converted to the pixels' type.
    pub pixels: bool,
    /// What is done outside.
    pub outside: Outside,
}

impl Surface {
    /// Bytes that one lane moves.
    pub fn bytes(&self) -> u32 {
        self.element.bytes() * u32::from(self.count)
    }
}

/// What is done to a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceOp {
    /// `suld`.
    Load,
    /// `sust`.
    Store,
    /// `sured`.
    Reduce(AtomicOp),
}

/// What a surface instruction does outside of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Stops the kernel.
    Trap,
    /// Takes the nearest pixel.
    Clamp,
    /// Reads zero, writes nothing.
    Zero,
}

/// What `txq` and `suq` ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFact {
    /// Texels along x.
    Width,
    /// Along y.
    Height,
    /// Along z.
    Depth,
    /// Layers.
    Layers,
    /// What is one of every image here: levels and samples.
    One,
    /// Whether coordinates run from 0 to 1.
    Normalized,
}

//! Textures: arrays that a kernel samples (CUDA C++ Programming Guide, appendix "Texture Fetching").

use warpwatt_ptx::program::Rounding;
use warpwatt_ptx::types::Type;

use crate::lanes::{decode_half, encode_half};

/// An array of texels in device memory, and how it is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Address of the first texel.
    pub address: u64,
    /// Texels in x, y and z; 1 beyond the dimensions it has.
    pub extent: [u32; 3],
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Type of a channel: an integer or float of 8 to 32 bits.
    pub element: Type,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// What is at coordinates outside.
    pub border: Border,
    /// How coordinates between texels are read.
    pub filter: Filter,
    /// Coordinates run from 0 to 1 instead of from 0 to the extent.
    pub normalized: bool,
    /// Integers are read as fractions of their largest value.
    pub fractions: bool,
}

/// What is at coordinates outside of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// The nearest texel.
    Clamp,
    /// Zero.
    Zero,
    /// The texture again; of normalised coordinates.
    Wrap,
    /// The texture mirrored; of normalised coordinates.
    Mirror,
}

/// How coordinates between texels are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The texel that they lie in.
    Nearest,
    /// Interpolated between the nearest texels, with weights of 8 fractional bits.
    Linear,
}

/// A texel's four channels as floats or as integers, whichever its type is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Texel {
    pub floats: [f32; 4],
    pub integers: [u32; 4],
}

impl Texture {
    pub(crate) fn texel_bytes(&self) -> u64 {
        u64::from(self.element.bytes() * self.channels)
    }

    /// Bytes that it reads at the most.
    pub fn bytes(&self) -> u64 {
        let rows = u64::from(self.extent[1]) * u64::from(self.extent[2]);
        (rows.saturating_sub(1))
            .saturating_mul(self.pitch)
            .saturating_add(u64::from(self.extent[0]) * self.texel_bytes())
    }

    /// Address of a texel; `None` outside.
    pub(crate) fn at(&self, texel: [i64; 3]) -> Option<u64> {
        let inside = |axis: usize| (0..i64::from(self.extent[axis])).contains(&texel[axis]);
        if !(0..3).all(inside) {
            return None;
        }
        let [x, y, z] = texel.map(|at| at as u64);
        let row = z * u64::from(self.extent[1]) + y;
        Some(self.address + row * self.pitch + x * self.texel_bytes())
    }

    /// The texels that coordinates name and their weights, the first of them first, beginning at a texel whose place along the other axes is
    /// known: a layer. Outside a zero border nothing is named.
    pub(crate) fn sample(
        &self,
        first: [i64; 3],
        coordinates: [f32; 3],
        dimensions: usize,
    ) -> Vec<([i64; 3], f32)> {
        let mut found = vec![(first, 1.0f32)];
        for axis in 0..dimensions {
            let choices = self.along(coordinates[axis], axis);
            found = found
                .iter()
                .flat_map(|(texel, weight)| {
                    choices.iter().map(move |&(at, share)| {
                        let mut texel = *texel;
                        texel[axis] = at;
                        (texel, weight * share)
                    })
                })
                .collect();
        }
        found
    }

    /// The four texels of the plane around coordinates, in the order in which `tld4` gives them: from the lower left one, against the clock.
    pub(crate) fn around(&self, first: [i64; 3], coordinates: [f32; 3]) -> [[i64; 3]; 4] {
        let linear = Self {
            filter: Filter::Linear,
            ..*self
        };
        let ends = [0, 1].map(|axis| linear.along(coordinates[axis], axis));
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(x, y)| {
            let [_, _, z] = first;
            [ends[0][x].0, ends[1][y].0, z]
        })
    }

    /// Texels along one axis with their weights.
    fn along(&self, coordinate: f32, axis: usize) -> Vec<(i64, f32)> {
        let extent = self.extent[axis] as f32;
        let position = if self.normalized {
            self.folded(coordinate) * extent
        } else {
            coordinate
        };
        match self.filter {
            Filter::Nearest => vec![(self.bordered(position.floor() as i64, axis), 1.0)],
            Filter::Linear => {
                let below = (position - 0.5).floor();
                // Nine bits of fixed point, eight of them fractional.
                let share = ((position - 0.5 - below) * 256.0).round_ties_even() / 256.0;
                let low = below as i64;
                let ends = [(low, 1.0 - share), (low.saturating_add(1), share)];
                ends.map(|(at, share)| (self.bordered(at, axis), share))
                    .to_vec()
            }
        }
    }

    /// A normalised coordinate brought back between 0 and 1.
    fn folded(&self, coordinate: f32) -> f32 {
        let fraction = coordinate - coordinate.floor();
        match self.border {
            Border::Wrap => fraction,
            Border::Mirror if coordinate.floor() as i64 & 1 != 0 => 1.0 - fraction,
            Border::Mirror => fraction,
            _ => coordinate,
        }
    }

    fn bordered(&self, at: i64, axis: usize) -> i64 {
        let extent = i64::from(self.extent[axis]);
        match self.border {
            Border::Zero => at,
            Border::Wrap if self.normalized => at.rem_euclid(extent.max(1)),
            _ => at.clamp(0, (extent - 1).max(0)),
        }
    }

    /// The texel stored in `bytes`; channels that it has not are 0, the fourth 1.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Texel {
        let mut texel = Texel {
            floats: [0.0, 0.0, 0.0, 1.0],
            integers: [0, 0, 0, 1],
        };
        let size = self.element.bytes() as usize;
        for (channel, bytes) in bytes.chunks_exact(size).take(4).enumerate() {
            let mut word = [0; 4];
            word[..size].copy_from_slice(bytes);
            let bits = u32::from_le_bytes(word);
            let unused = 32 - 8 * self.element.bytes();
            let extended = if self.element.is_signed() {
                ((bits << unused) as i32 >> unused) as u32
            } else {
                bits
            };
            texel.integers[channel] = extended;
            texel.floats[channel] = match self.element {
                Type::F32 => f32::from_bits(bits),
                Type::F16 => decode_half(bits as u16) as f32,
                element if self.fractions && element.is_signed() => {
                    let largest = (u32::MAX >> (unused + 1)) as f32;
                    (extended as i32 as f32 / largest).max(-1.0)
                }
                _ if self.fractions => bits as f32 / (u32::MAX >> unused) as f32,
                element if element.is_signed() => extended as i32 as f32,
                _ => bits as f32,
            };
        }
        texel
    }

    /// Writes a pixel from words: singles of float channels, integers clamped to integer channels.
    pub(crate) fn encode(&self, values: [u32; 4], pixel: &mut [u8]) {
        let size = self.element.bytes() as usize;
        let bits = 8 * self.element.bytes();
        for (value, bytes) in values.into_iter().zip(pixel.chunks_exact_mut(size)) {
            let value = match self.element {
                Type::F16 => u32::from(encode_half(
                    f64::from(f32::from_bits(value)),
                    Rounding::Nearest,
                )),
                Type::F32 => value,
                element if element.is_signed() => {
                    let limit = (1i64 << (bits - 1)) - 1;
                    i64::from(value as i32).clamp(-limit - 1, limit) as u32
                }
                _ => value.min(u32::MAX >> (32 - bits)),
            };
            bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// Whether reading it gives floats.
    pub(crate) fn gives_floats(&self) -> bool {
        self.element.is_float() || self.fractions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(border: Border, filter: Filter, normalized: bool) -> Texture {
        Texture {
            address: 0,
            extent: [4, 2, 1],
            pitch: 16,
            element: Type::F32,
            channels: 1,
            border,
            filter,
            normalized,
            fractions: false,
        }
    }

    #[test]
    fn the_nearest_texel_is_the_one_that_a_point_lies_in() {
        let clamped = texture(Border::Clamp, Filter::Nearest, false);
        assert_eq!(
            clamped.sample([0; 3], [2.9, 1.0, 0.0], 2),
            [([2, 1, 0], 1.0)]
        );
        assert_eq!(
            clamped.sample([0; 3], [-3.0, 9.0, 0.0], 2),
            [([0, 1, 0], 1.0)]
        );
        let wrapped = texture(Border::Wrap, Filter::Nearest, true);
        assert_eq!(
            wrapped.sample([0; 3], [1.25, 0.0, 0.0], 1),
            [([1, 0, 0], 1.0)]
        );
        let mirrored = texture(Border::Mirror, Filter::Nearest, true);
        assert_eq!(
            mirrored.sample([0; 3], [1.1, 0.0, 0.0], 1),
            [([3, 0, 0], 1.0)]
        );
    }

    #[test]
    fn weights_of_a_linear_filter_sum_to_one() {
        let linear = texture(Border::Clamp, Filter::Linear, false);
        let found = linear.sample([0; 3], [1.75, 1.0, 0.0], 2);
        assert_eq!(found.len(), 4);
        let weight: f32 = found.iter().map(|(_, weight)| weight).sum();
        assert_eq!(weight, 1.0);
        // A quarter of the way from texel 1's centre to texel 2's.
        assert_eq!(found[0], ([1, 0, 0], 0.75 * 0.5));
    }

    #[test]
    fn texels_outside_have_no_address() {
        let bordered = texture(Border::Zero, Filter::Nearest, false);
        assert_eq!(bordered.at([3, 1, 0]), Some(28));
        assert_eq!(bordered.at([4, 0, 0]), None);
        assert_eq!(bordered.at([0, -1, 0]), None);
    }

    #[test]
    fn bytes_are_read_as_fractions_or_as_integers() {
        let bytes = |fractions| Texture {
            element: Type::U8,
            channels: 4,
            fractions,
            ..texture(Border::Clamp, Filter::Nearest, false)
        };
        assert_eq!(
            bytes(true).decode(&[255, 0, 51, 255]).floats,
            [1.0, 0.0, 0.2, 1.0]
        );
        assert_eq!(
            bytes(false).decode(&[255, 0, 51, 255]).integers,
            [255, 0, 51, 255]
        );
    }
}

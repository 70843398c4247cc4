//! What a program is told of the GPU: properties and attributes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A GPU as programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability: 80 for 8.0.
    pub capability: u32,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Core clock.
    pub clock_khz: u32,
    /// Clock of the DRAM.
    pub memory_clock_khz: u32,
    /// Width of the DRAM's bus.
    pub memory_bits: u32,
    /// Bytes of device memory that a program may allocate.
    pub memory_bytes: u64,
    /// Bytes of the second-level cache.
    pub l2_bytes: u64,
    /// Threads that an SM holds.
    pub sm_threads: u32,
    /// Blocks that an SM holds.
    pub sm_blocks: u32,
    /// Registers of an SM.
    pub sm_registers: u32,
    /// Bytes of shared memory of an SM.
    pub sm_shared_bytes: u64,
}

impl Default for Device {
    /// A device of compute capability 8.0, for programs that nobody times.
    fn default() -> Self {
        Self {
            name: "warpwatt".to_owned(),
            capability: 80,
            sms: 108,
            clock_khz: 1_410_000,
            memory_clock_khz: 1_215_000,
            memory_bits: 5120,
            memory_bytes: 8 << 30,
            l2_bytes: 40 << 20,
            sm_threads: 2048,
            sm_blocks: 32,
            sm_registers: 65536,
            sm_shared_bytes: 164 << 10,
        }
    }
}

/// Shared memory that a block has without asking for more.
const BLOCK_SHARED: u64 = 48 << 10;
/// Shared memory that the system takes of each block, since compute capability 8.0.
const RESERVED_SHARED: u64 = 1 << 10;

/// Rows of the table of properties: name, type, elements, first and last major version of the runtime that has it, attributes of the elements.
const TABLE: &str = include_str!("../data/properties.tsv");

struct Row<'t> {
    name: &'t str,
    bytes: usize,
    count: usize,
    versions: std::ops::RangeInclusive<u32>,
    attributes: &'t str,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLE.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells.get(at)?.parse::<u32>().ok();
        Some(Row {
            name: cells.first()?,
            bytes: cells.get(1)?.get(1..)?.parse().ok()?,
            count: number(2)? as usize,
            versions: number(3)?..=number(4)?,
            attributes: cells.get(5)?,
        })
    })
}

impl Device {
    /// Shared memory that a block may ask for.
    pub fn block_shared_optin(&self) -> u64 {
        match self.capability {
            ..70 => BLOCK_SHARED,
            70..80 => self.sm_shared_bytes,
            _ => self.sm_shared_bytes.saturating_sub(RESERVED_SHARED),
        }
    }

    /// Values of what is not zero, by the names of `cudaDeviceProp`.
    fn values(&self) -> BTreeMap<&'static str, Vec<i64>> {
        let modern = i64::from(self.capability >= 60);
        let cooperative = i64::from(self.capability >= 60);
        let clusters = i64::from(self.capability >= 90);
        let reserved = if self.capability >= 80 {
            RESERVED_SHARED
        } else {
            0
        };
        let wide = 1 << 16;
        let of = |value: u64| vec![value as i64];
        let mut values = self.machine();
        values.extend([
            ("sharedMemPerBlockOptin", of(self.block_shared_optin())),
            ("reservedSharedMemPerBlock", of(reserved)),
            ("cooperativeLaunch", vec![cooperative]),
            ("clusterLaunch", vec![clusters]),
            ("concurrentManagedAccess", vec![modern]),
            ("computePreemptionSupported", vec![modern]),
            ("maxTexture1D", vec![1 << 17]),
            ("maxTexture1DMipmap", vec![1 << 15]),
            ("maxTexture1DLinear", vec![1 << 28]),
            ("maxTexture2D", vec![1 << 17, wide]),
            ("maxTexture2DMipmap", vec![1 << 15, 1 << 15]),
            ("maxTexture2DLinear", vec![1 << 17, 65000, (1 << 21) - 32]),
            ("maxTexture2DGather", vec![1 << 15, 1 << 15]),
            ("maxTexture3D", vec![1 << 14; 3]),
            ("maxTexture3DAlt", vec![1 << 13, 1 << 13, 1 << 15]),
            ("maxTextureCubemap", vec![1 << 15]),
            ("maxTexture1DLayered", vec![1 << 15, 1 << 11]),
            ("maxTexture2DLayered", vec![1 << 15, 1 << 15, 1 << 11]),
            ("maxTextureCubemapLayered", vec![1 << 15, 2046]),
            ("maxSurface1D", vec![1 << 15]),
            ("maxSurface2D", vec![1 << 17, wide]),
            ("maxSurface3D", vec![1 << 14; 3]),
            ("maxSurface1DLayered", vec![1 << 15, 1 << 11]),
            ("maxSurface2DLayered", vec![1 << 15, 1 << 15, 1 << 11]),
            ("maxSurfaceCubemap", vec![1 << 15]),
            ("maxSurfaceCubemapLayered", vec![1 << 15, 2046]),
        ]);
        values
    }

    /// Those that the GPU's own numbers decide, or that hold for all.
    fn machine(&self) -> BTreeMap<&'static str, Vec<i64>> {
        let of = |value: u64| vec![value as i64];
        let word = |value: u32| vec![i64::from(value)];
        BTreeMap::from([
            ("totalGlobalMem", of(self.memory_bytes)),
            (
                "sharedMemPerBlock",
                of(BLOCK_SHARED.min(self.sm_shared_bytes)),
            ),
            ("regsPerBlock", word(self.sm_registers.min(65536))),
            ("warpSize", vec![32]),
            ("memPitch", vec![i64::from(i32::MAX)]),
            ("maxThreadsPerBlock", vec![1024]),
            ("maxThreadsDim", vec![1024, 1024, 64]),
            ("maxGridSize", vec![i64::from(i32::MAX), 65535, 65535]),
            ("clockRate", word(self.clock_khz)),
            ("totalConstMem", vec![65536]),
            ("major", word(self.capability / 10)),
            ("minor", word(self.capability % 10)),
            ("textureAlignment", vec![512]),
            ("texturePitchAlignment", vec![32]),
            ("surfaceAlignment", vec![512]),
            ("deviceOverlap", vec![1]),
            ("multiProcessorCount", word(self.sms)),
            ("canMapHostMemory", vec![1]),
            ("concurrentKernels", vec![1]),
            ("asyncEngineCount", vec![1]),
            ("unifiedAddressing", vec![1]),
            ("memoryClockRate", word(self.memory_clock_khz)),
            ("memoryBusWidth", word(self.memory_bits)),
            ("l2CacheSize", of(self.l2_bytes)),
            ("maxThreadsPerMultiProcessor", word(self.sm_threads)),
            ("maxBlocksPerMultiProcessor", word(self.sm_blocks)),
            ("streamPrioritiesSupported", vec![1]),
            ("globalL1CacheSupported", vec![1]),
            ("localL1CacheSupported", vec![1]),
            ("sharedMemPerMultiprocessor", of(self.sm_shared_bytes)),
            ("regsPerMultiprocessor", word(self.sm_registers)),
            ("managedMemory", vec![1]),
            ("singleToDoublePrecisionPerfRatio", vec![2]),
            ("canUseHostPointerForRegisteredMem", vec![1]),
            ("hostRegisterSupported", vec![1]),
            ("memoryPoolsSupported", vec![1]),
            ("unifiedFunctionPointers", vec![1]),
            ("pciBusID", vec![1]),
        ])
    }

    /// `cudaDeviceProp` as the runtime of a major version lays it out.
    pub fn properties(&self, version: u32) -> Vec<u8> {
        let values = self.values();
        let mut bytes = Vec::new();
        for row in rows().filter(|row| row.versions.contains(&version)) {
            bytes.resize(bytes.len().next_multiple_of(row.bytes), 0);
            let start = bytes.len();
            bytes.resize(start + row.bytes * row.count, 0);
            let cells = bytes[start..].chunks_exact_mut(row.bytes);
            let known = values.get(row.name).into_iter().flatten();
            for (cell, value) in cells.zip(known) {
                cell.copy_from_slice(&value.to_le_bytes()[..row.bytes]);
            }
            if row.name == "name" {
                let name = self.name.as_bytes();
                let name = &name[..name.len().min(row.count - 1)];
                bytes[start..start + name.len()].copy_from_slice(name);
            }
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// The attribute of a number (`cudaDeviceAttr`); none if there is none.
    pub fn attribute(&self, number: i32) -> Option<i32> {
        /// Attributes that are no properties, and are zero: behind those that the table names.
        const OTHERS: std::ops::RangeInclusive<i32> = 1..=160;
        let name = number.to_string();
        let found = rows().find_map(|row| {
            let at = row.attributes.split(',').position(|known| known == name)?;
            let values = self.values();
            let value = values.get(row.name).and_then(|values| values.get(at));
            Some(value.copied().unwrap_or(0))
        });
        let value = found.or_else(|| OTHERS.contains(&number).then_some(0))?;
        Some(i32::try_from(value).unwrap_or(i32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> i32 {
        i32::from_le_bytes(*bytes[at..].first_chunk().unwrap())
    }

    /// Places as a compiler gives them, of CUDA 13.
    #[test]
    fn properties_lie_where_programs_look_for_them() {
        let device = Device::default();
        let bytes = device.properties(13);
        assert_eq!(bytes.len(), 1008);
        assert!(bytes.starts_with(b"warpwatt\0"));
        assert_eq!([360, 384].map(|at| word(&bytes, at)), [8, 108]);
        assert_eq!(word(&bytes, 596), 40 << 20);
        assert_eq!(word(&bytes, 672), 163 << 10);
        assert_eq!(word(&bytes, 696), 1 << 10);
        assert_eq!(word(&bytes, 552), 512);
    }

    #[test]
    fn older_runtimes_have_their_own_layouts() {
        let device = Device::default();
        assert_eq!(device.properties(12).len(), 1032);
        assert_eq!(device.properties(11).len(), 728);
        // The clock stands before the size of constant memory there.
        assert_eq!(word(&device.properties(12), 348), 1_410_000);
    }

    #[test]
    fn attributes_agree_with_properties() {
        let device = Device::default();
        assert_eq!(device.attribute(16), Some(108));
        assert_eq!(device.attribute(75), Some(8));
        assert_eq!(device.attribute(7), Some(65535));
        assert_eq!(device.attribute(92), Some(0));
        assert_eq!(
            [0, -1, 1000].map(|number| device.attribute(number)),
            [None; 3]
        );
    }
}

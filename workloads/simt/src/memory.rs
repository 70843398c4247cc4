//! Memories that a kernel sees.

mod host;
mod note;
mod pages;
mod view;

use std::collections::BTreeMap;
use std::ops::Range;

use warpwatt_ptx::Module;
use warpwatt_ptx::program::{GRID_WORKSPACE, GRID_WORKSPACE_BYTES, Source, Special};
use warpwatt_ptx::types::Space;

use crate::barrier_word::{Told, offset};
use crate::device_launch::DeviceLaunches;
use crate::error::Cause;
use crate::heap::Heap;
use crate::lane_watch::LaneWatch;
use crate::print::Printed;
use crate::races::Watch;
use crate::tensor_memory::TensorMemory;
use crate::texture::Texture;
use host::Bytes;
pub(crate) use note::Reached;
pub use pages::Behind;
use pages::Mapped;
pub(crate) use view::{PAGE, View, Writes, Written};

/// Where what kernels allocate lies: between the functions' addresses and the module's variables.
const KERNEL_HEAP_BASE: u64 = 0x0800_0000;

/// Where the first buffer lies: above every window of the generic space, and where a CUDA heap of GPGPU-Sim begins.
const HEAP_BASE: u64 = 0xc000_0000;

/// Bytes for buffers of a program whose addresses have 32 bits.
const NARROW_ROOM: u64 = (1 << 32) - HEAP_BASE;

/// Buffers begin at multiples of this, as `cudaMalloc`'s do.
const ALIGNMENT: u64 = 256;

/// Bytes of the blocks in which memories are compared.
pub const BLOCK_BYTES: u64 = 128;

/// Device memory: the module's variables and the buffers of a launch.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    /// By base address, ascending.
    buffers: Vec<Buffer>,
    next: u64,
    /// By handle.
    textures: BTreeMap<u64, Texture>,
    /// What kernels allocated.
    heap: Heap,
    /// What kernels launch.
    pub(crate) launches: DeviceLaunches,
    /// What kernels print.
    pub(crate) printed: Printed,
    /// Whether kernels reach behind the ends of buffers.
    mapped: Mapped,
    /// In place of all of it: what CTAs see that run before those in front of them have come to their end.
    view: Option<Box<View>>,
}

impl Default for DeviceMemory {
    /// Memory without variables of a module.
    fn default() -> Self {
        Self::new(&Module::default())
    }
}

#[derive(Clone, Debug)]
struct Buffer {
    name: String,
    base: u64,
    bytes: Bytes,
}

/// Where the CTAs of a grid meet.
fn workspace() -> Buffer {
    Buffer {
        name: "the barrier of the grid".to_owned(),
        base: GRID_WORKSPACE,
        bytes: Bytes::Own(vec![0; GRID_WORKSPACE_BYTES]),
    }
}

/// Whether a kernel of the module asks where the CTAs of its grid meet.
fn meets(module: &Module) -> bool {
    let asked = Source::Special(Special::Number(GRID_WORKSPACE as u32));
    let mut entries = module.entries.iter();
    entries.any(|entry| entry.words.contains(&asked))
}

impl DeviceMemory {
    /// Memory that holds a module's `.global` variables with their initial contents.
    pub fn new(module: &Module) -> Self {
        let globals = Buffer {
            name: "module variables".to_owned(),
            base: module.globals_base(),
            bytes: Bytes::Own(module.globals.clone()),
        };
        let workspace = meets(module).then(workspace);
        Self {
            buffers: workspace.into_iter().chain([globals]).collect(),
            next: HEAP_BASE,
            textures: BTreeMap::new(),
            heap: Heap::default(),
            launches: DeviceLaunches::default(),
            printed: Printed::default(),
            mapped: Mapped::default(),
            view: None,
        }
    }

    /// What CTAs see that run before those in front of them have come to their end.
    pub(crate) fn seen(view: View) -> Self {
        Self {
            view: Some(Box::new(view)),
            ..Self::default()
        }
    }

    /// The view that it is, if it is one.
    pub(crate) fn into_view(self) -> Option<View> {
        self.view.map(|view| *view)
    }

    /// The view that it is, if it is one.
    #[inline]
    pub(crate) fn view(&mut self) -> Option<&mut View> {
        self.view.as_deref_mut()
    }

    /// Places a buffer and returns its address. Neighbours are at least 256 bytes apart, so that running off an end is noticed.
    pub fn alloc(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> u64 {
        let base = self.next;
        self.next += taken(bytes.len() as u64);
        self.buffers.push(Buffer {
            name: name.into(),
            base,
            bytes: Bytes::Own(bytes),
        });
        base
    }

    /// Whether buffers of these sizes all lie below 4 GiB, where addresses of 32 bits reach.
    pub fn fits_narrow(sizes: impl Iterator<Item = u64>) -> bool {
        sizes.map(taken).sum::<u64>() <= NARROW_ROOM
    }

    /// `malloc` inside a kernel: zero if the heap has no room.
    pub(crate) fn allocate(&mut self, bytes: u64) -> u64 {
        let Some(offset) = self.heap.allocate(bytes) else {
            return 0;
        };
        self.fit_heap();
        KERNEL_HEAP_BASE + offset
    }

    /// `free` inside a kernel.
    pub(crate) fn release(&mut self, address: u64) -> Result<(), Cause> {
        let known = |offset| self.heap.release(offset);
        if address != 0 && !address.checked_sub(KERNEL_HEAP_BASE).is_some_and(known) {
            return Err(Cause::BadFree(address));
        }
        self.fit_heap();
        Ok(())
    }

    /// The text that kernels have printed and nobody has taken: of one CTA after the other, and of the lanes of a warp in their order.
    pub fn take_printed(&mut self) -> Vec<u8> {
        self.printed.take()
    }

    /// Sets how many bytes of such text are kept, 1 MiB if it is never said; of more the oldest is lost.
    pub fn set_printed_room(&mut self, bytes: usize) {
        self.printed.set_room(bytes);
    }

    /// What lies in the heap from an address on: so many bytes, or fewer at its end.
    pub(crate) fn heap_bytes(&self, address: u64, most: u64) -> Option<Vec<u8>> {
        let heap = self.buffers.first()?;
        let start = usize::try_from(address.checked_sub(KERNEL_HEAP_BASE)?).ok()?;
        let bytes = heap.bytes.get(start..)?;
        Some(bytes[..bytes.len().min(most as usize)].to_vec())
    }

    /// Gives the heap's buffer, which is the lowest, the size of what is in use.
    fn fit_heap(&mut self) {
        if self.buffers[0].base != KERNEL_HEAP_BASE {
            let heap = Buffer {
                name: "the kernel's heap".to_owned(),
                base: KERNEL_HEAP_BASE,
                bytes: Bytes::Own(Vec::new()),
            };
            self.buffers.insert(0, heap);
        }
        let bytes = self.heap.bytes() as usize;
        self.buffers[0].bytes.own().resize(bytes, 0);
    }

    /// Binds a texture to a handle: that of a [texture reference](Module::textures), or any number that a kernel is given as a texture object.
    pub fn bind_texture(&mut self, handle: u64, texture: Texture) {
        self.textures.insert(handle, texture);
    }

    /// The texture that is bound to a handle.
    pub(crate) fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(&handle)
    }

    /// Why an access that no buffer holds failed.
    pub(crate) fn outside(&self, address: u64, bytes: u32) -> Cause {
        Cause::OutOfBounds {
            space: Space::Global,
            address,
            bytes,
            near: self.near(address),
        }
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> u64 {
        let bytes = self.buffers.iter().map(|buffer| buffer.bytes.len() as u64);
        bytes.sum()
    }

    /// Blocks in which two memories differ, by address over [`BLOCK_BYTES`], ascending. They come from one memory, so that they have the same buffers; but for
    /// the kernel's heap, whose size is what is in use.
    pub fn differences(&self, other: &Self) -> Vec<u64> {
        /// Compared at once: most pages are equal.
        const PAGE: usize = 4096;
        let mut found = Vec::new();
        for (base, one, two) in self.pairs(other) {
            let block = |at: usize| (base + at as u64) / BLOCK_BYTES;
            let both = one.len().min(two.len());
            for (page, (ours, theirs)) in one.chunks(PAGE).zip(two.chunks(PAGE)).enumerate() {
                if ours == theirs {
                    continue;
                }
                let blocks = ours.chunks(BLOCK_BYTES as usize);
                let blocks = blocks.zip(theirs.chunks(BLOCK_BYTES as usize)).enumerate();
                let differ = blocks.filter(|(_, (ours, theirs))| ours != theirs);
                found.extend(differ.map(|(at, _)| block(page * PAGE + at * BLOCK_BYTES as usize)));
            }
            let longer = one.len().max(two.len());
            found.extend((both..longer).step_by(BLOCK_BYTES as usize).map(block));
        }
        found.dedup();
        found
    }

    /// Makes some blocks what they are in another memory with the same buffers.
    pub fn restore(&mut self, other: &Self, blocks: &[u64]) {
        if self.buffers.len() != other.buffers.len() || self.heap.bytes() != other.heap.bytes() {
            *self = other.clone();
            return;
        }
        self.heap.clone_from(&other.heap);
        for &block in blocks {
            let address = block * BLOCK_BYTES;
            let Some((base, to)) = self.range_of(address) else {
                continue;
            };
            let from = &other.buffers[other.at(base)].bytes;
            let start = (address - base) as usize;
            let end = (start + BLOCK_BYTES as usize).min(to.len());
            to[start..end].copy_from_slice(&from[start..end]);
        }
    }

    /// Buffers of two memories side by side; of one that only one has, nothing stands beside it.
    fn pairs<'b>(&'b self, other: &'b Self) -> impl Iterator<Item = (u64, &'b [u8], &'b [u8])> {
        let of = |memory: &'b Self, base| {
            let found = memory
                .buffers
                .iter()
                .find(move |buffer| buffer.base == base);
            found.map_or(&[][..], |buffer| &buffer.bytes)
        };
        let more = if self.buffers.len() < other.buffers.len() {
            other
        } else {
            self
        };
        let bases = more.buffers.iter().map(|buffer| buffer.base);
        bases.map(move |base| (base, of(self, base), of(other, base)))
    }

    /// The buffer that begins at `address`.
    ///
    /// # Panics
    /// If [`alloc`](Self::alloc) never returned that address.
    pub fn buffer(&self, address: u64) -> &[u8] {
        &self.buffers[self.at(address)].bytes
    }

    /// The buffer that begins at `address`, to change it between launches.
    ///
    /// # Panics
    /// If [`alloc`](Self::alloc) never returned that address.
    pub fn buffer_mut(&mut self, address: u64) -> &mut Vec<u8> {
        let at = self.at(address);
        self.buffers[at].bytes.own()
    }

    fn at(&self, address: u64) -> usize {
        self.buffers
            .binary_search_by_key(&address, |buffer| buffer.base)
            .expect("the address was returned by alloc")
    }

    /// The memory range that `address` lies in: base and contents.
    #[inline]
    pub fn range_of(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        if let Some(ref mut view) = self.view {
            return view.range_of(address);
        }
        let at = last_before(&self.buffers, address)?;
        let buffer = &self.buffers[at];
        if address - buffer.base >= buffer.bytes.len() as u64 {
            return self.behind(at, address);
        }
        let buffer = &mut self.buffers[at];
        Some((buffer.base, &mut buffer.bytes[..]))
    }

    /// The same to look at.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, &[u8])> {
        let buffer = &self.buffers[last_before(&self.buffers, address)?];
        (address - buffer.base < buffer.bytes.len() as u64)
            .then_some((buffer.base, &buffer.bytes[..]))
    }

    /// Says what lies at an address.
    pub(crate) fn place(&self, address: u64) -> String {
        match last_before(&self.buffers, address).map(|at| &self.buffers[at]) {
            Some(buffer) => format!("byte {} of `{}`", address - buffer.base, buffer.name),
            None => format!("global memory at {address:#x}"),
        }
    }

    /// Says what lies near an address that no buffer holds.
    pub fn near(&self, address: u64) -> String {
        match last_before(&self.buffers, address).map(|at| &self.buffers[at]) {
            Some(buffer) if !buffer.bytes.is_empty() => {
                let beyond = address - buffer.base;
                format!(
                    "byte {beyond} of `{}`, which has {}",
                    buffer.name,
                    buffer.bytes.len()
                )
            }
            _ => "no buffer begins below it".to_owned(),
        }
    }
}

/// The last buffer that begins at an address or before it.
#[inline]
fn last_before(buffers: &[Buffer], address: u64) -> Option<usize> {
    let after = buffers.partition_point(|buffer| buffer.base <= address);
    after.checked_sub(1)
}

/// Bytes that a buffer takes of the addresses: a byte at least lies between it and the next.
fn taken(bytes: u64) -> u64 {
    (bytes + 1).next_multiple_of(ALIGNMENT) + ALIGNMENT
}

/// Local memories of a warp's lanes: the frames of the entry and of the functions it has called.
#[derive(Clone, Debug)]
pub(crate) struct LocalMemory {
    bytes: Vec<u8>,
    /// Bytes of a lane.
    stride: u64,
    lanes: usize,
}

impl LocalMemory {
    pub fn new(lanes: usize, stride: u64) -> Self {
        Self {
            bytes: vec![0; lanes * stride as usize],
            stride,
            lanes,
        }
    }

    pub fn clear(&mut self) {
        self.bytes.fill(0);
    }

    /// The memory of one lane.
    pub fn of(&mut self, lane: u32) -> &mut [u8] {
        let start = lane as usize * self.stride as usize;
        &mut self.bytes[start..start + self.stride as usize]
    }

    /// The memories of all lanes, one after the other, and the bytes of each.
    pub fn all(&mut self) -> (&mut [u8], u64) {
        (&mut self.bytes, self.stride)
    }

    /// Makes room for `stride` bytes a lane.
    pub fn grow(&mut self, stride: u64) {
        if stride <= self.stride {
            return;
        }
        let mut grown = Self::new(self.lanes, stride.next_power_of_two());
        for lane in 0..self.lanes as u32 {
            let old = self.of(lane);
            grown.of(lane)[..old.len()].copy_from_slice(old);
        }
        *self = grown;
    }
}

/// A bad access: which lane, and why.
pub(crate) struct BadAccess {
    pub lane: u32,
    pub cause: Cause,
}

/// Shared memories of the other CTAs of a cluster.
pub(crate) struct Peers<'m> {
    below: &'m mut [u8],
    above: &'m mut [u8],
    /// Bytes of each, and the rank of the CTA itself.
    bytes: usize,
    rank: usize,
    count: usize,
}

impl<'m> Peers<'m> {
    /// The CTA's own shared memory, of `bytes` bytes, and those of the others, from all of them by rank.
    pub fn split(
        all: &'m mut [u8],
        bytes: usize,
        rank: usize,
        ctas: usize,
    ) -> (&'m mut [u8], Self) {
        let (below, rest) = all.split_at_mut(rank * bytes);
        let (own, above) = rest.split_at_mut(bytes);
        let peers = Self {
            below,
            above,
            bytes,
            rank,
            count: ctas - 1,
        };
        (own, peers)
    }

    fn is_none(&self) -> bool {
        self.count == 0
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    /// That of a rank below the own one.
    fn below(&mut self, rank: usize) -> Option<&mut [u8]> {
        self.below
            .get_mut(rank * self.bytes..)?
            .get_mut(..self.bytes)
    }

    /// That of the `number`-th rank above the own one.
    fn above(&mut self, number: usize) -> Option<&mut [u8]> {
        let start = number.checked_mul(self.bytes)?;
        self.above.get_mut(start..)?.get_mut(..self.bytes)
    }
}

/// The memories that a warp can reach, by space.
pub(crate) struct Memories<'m> {
    pub device: &'m mut DeviceMemory,
    pub shared: &'m mut [u8],
    /// Those of the cluster's other CTAs.
    pub peers: Peers<'m>,
    pub local: &'m mut LocalMemory,
    pub constants: &'m mut [u8],
    pub params: &'m mut [u8],
    /// What barriers in shared memory have been told.
    pub told: &'m mut Told,
    /// Tensor memories of the cluster's CTAs, by rank.
    pub tensor: &'m mut [TensorMemory],
    /// Who looks for races, if somebody does.
    pub watch: Option<&'m mut Watch>,
    /// Who sees what lanes compute, if somebody does.
    pub lanes: Option<&'m mut (dyn LaneWatch + 'm)>,
}

impl Memories<'_> {
    /// The range that holds an address of `lane`, with the address the range begins at.
    #[inline]
    pub fn range(&mut self, space: Space, lane: u32, address: u64) -> Option<(u64, &mut [u8])> {
        match space {
            Space::Global => self.device.range_of(address),
            Space::Shared if address < Space::PEER => Some((0, self.shared)),
            Space::Shared => self.shared_of_peer(address),
            Space::Const => Some((0, self.constants)),
            Space::Param => Some((0, self.params)),
            Space::Local => Some((0, self.local.of(lane))),
            Space::Generic => {
                let actual = Space::of(address);
                let base = actual.window_base();
                let (start, range) = self.range(actual, lane, address - base)?;
                Some((start + base, range))
            }
        }
    }

    /// Shared memory behind the first of its places: that of the cluster's CTAs by rank.
    fn shared_of_peer(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        if self.peers.is_none() {
            return Some((0, self.shared));
        }
        let place = address / Space::PEER;
        let bytes = match usize::try_from(place - 1)
            .ok()?
            .checked_sub(self.peers.rank())
        {
            Some(0) => &mut *self.shared,
            Some(behind) => self.peers.above(behind - 1)?,
            None => self.peers.below(place as usize - 1)?,
        };
        Some((place * Space::PEER, bytes))
    }

    /// The CTA's own tensor memory.
    pub fn own_tensor(&mut self) -> &mut TensorMemory {
        &mut self.tensor[self.peers.rank()]
    }

    /// Shared memory of the CTA of a rank.
    pub fn shared_of(&self, rank: usize) -> &[u8] {
        let Peers { below, above, .. } = &self.peers;
        let all = match rank.checked_sub(self.peers.rank()) {
            Some(0) => return self.shared,
            Some(behind) => &above[(behind - 1) * self.peers.bytes..],
            None => &below[rank * self.peers.bytes..],
        };
        &all[..self.peers.bytes]
    }

    /// The ranks of the CTAs that an instruction of this one concerns: its own, or those of its pair, which differ in the last bit.
    pub fn group(&self, pair: bool) -> Result<Range<usize>, Cause> {
        let rank = self.peers.rank();
        let group = match pair {
            true => rank & !1..(rank | 1) + 1,
            false => rank..rank + 1,
        };
        match group.end <= self.tensor.len() {
            true => Ok(group),
            false => Err(Cause::TensorMemory(format!(
                "a pair of CTAs needs a cluster of an even number of them, this one has {}",
                self.tensor.len()
            ))),
        }
    }

    /// An address of shared memory in the CTA of a rank.
    pub fn in_cta(&self, address: u64, rank: u64) -> u64 {
        let offset = address % Space::PEER;
        match rank == self.peers.rank() as u64 {
            true => offset,
            false => (rank + 1) * Space::PEER + offset,
        }
    }

    /// Whether an address of shared memory, or of its window, is the CTA's own.
    pub fn is_own(&self, address: u64) -> bool {
        let place = offset(address) / Space::PEER;
        self.peers.is_none() || place == 0 || place == self.peers.rank() as u64 + 1
    }

    /// Why an access failed.
    pub fn explain(&self, space: Space, address: u64, bytes: u32) -> Cause {
        if !address.is_multiple_of(u64::from(bytes)) {
            return Cause::Misaligned {
                space,
                address,
                bytes,
            };
        }
        let (space, within) = match space {
            Space::Generic => {
                let actual = Space::of(address);
                (actual, address - actual.window_base())
            }
            space => (space, address),
        };
        let near = match space {
            Space::Shared if within >= Space::PEER && !self.peers.is_none() => format!(
                "byte {} of the CTA of rank {}; the cluster has {} CTAs with {} bytes each",
                within % Space::PEER,
                within / Space::PEER - 1,
                self.peers.count() + 1,
                self.shared.len()
            ),
            Space::Shared => format!("the CTA has {} bytes", self.shared.len()),
            Space::Local => format!("a thread has {} bytes", self.local.stride),
            Space::Const => format!("the module has {} bytes", self.constants.len()),
            Space::Param => format!("the kernel has {} bytes", self.params.len()),
            Space::Global | Space::Generic => self.device.near(within),
        };
        Cause::OutOfBounds {
            space,
            address: within,
            bytes,
            near,
        }
    }
}

//! Memory as a program allocates it: of the device, of the host where kernels see it too, arrays.

use std::collections::{BTreeMap, BTreeSet};

use warpwatt_ptx::Module;
use warpwatt_ptx::program::GLOBALS_BASE;
use warpwatt_simt::{Behind, DeviceMemory};

use crate::error::{Code, Outcome};
use crate::foreign::{bytes_at, lent};
use crate::pages::{PAGE, Pages};

/// Rows of pitched memory begin at multiples of this, and textures may (`textureAlignment`).
pub const PITCH: u64 = 512;

/// A GPU maps device memory in pages of so many bytes (assumed: what `cuMemGetAllocationGranularity` answers on today's).
const DEVICE_PAGE: u64 = 2 << 20;

/// Bytes of the driver's in front of what programs allocate; how many there are is not known, so that any place behind them counts as reached by mistake.
const DRIVER_BYTES: u64 = 256;

/// Bytes of the widest access: where ends are not exact, one that begins in front of an end reaches over it.
const WIDEST: u64 = 16;

/// A two- or three-dimensional array of texels.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Address of its first texel.
    pub address: u64,
    /// Texels in x, y and z; at least one.
    pub extent: [u64; 3],
    /// Its extent as it was asked for: zero in directions that it does not have.
    pub asked: [u64; 3],
    /// Its texels.
    pub format: Format,
    /// As it was made.
    pub flags: u32,
}

/// A texel: bits of four channels, and what they are (`cudaChannelFormatDesc`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Bits of each channel.
    pub bits: [i32; 4],
    /// Signed (0), unsigned (1), float (2).
    pub kind: i32,
}

impl Format {
    /// Bytes of a texel.
    pub fn bytes(&self) -> u64 {
        self.bits
            .iter()
            .map(|&bits| bits.max(0) as u64)
            .sum::<u64>()
            / 8
    }
}

impl Array {
    /// Bytes from one row to the next.
    pub fn pitch(&self) -> u64 {
        self.extent[0] * self.format.bytes()
    }

    /// Address of what begins `x` bytes into row `y` of plane `z`.
    pub fn at(&self, [x, y, z]: [u64; 3]) -> u64 {
        self.address + (z * self.extent[1] + y) * self.pitch() + x
    }
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Host memory that nobody told us of.
    Unregistered,
    /// Page-locked or registered host memory.
    Host,
    /// Memory of the device.
    Device,
    /// Managed memory.
    Managed,
}

/// Host memory that kernels see.
#[derive(Debug)]
struct Shared {
    bytes: u64,
    kind: Kind,
    /// What was mapped for it; none if it is the program's own.
    _pages: Option<Pages>,
}

/// All memory.
#[derive(Debug)]
pub struct Memory {
    /// As kernels see it.
    pub device: DeviceMemory,
    /// Where memory of the driver lies, in the page in front of all buffers: what is there a GPU lets kernels reach, too.
    drivers: Option<u64>,
    /// Host memory that kernels see, by address.
    shared: BTreeMap<u64, Shared>,
    /// Allocations of the device: sizes by address.
    owned: BTreeMap<u64, u64>,
    /// Those of them that belong to graphs, which find them when they are launched again: what is given back stays.
    of_graphs: BTreeSet<u64>,
    /// By handle.
    arrays: BTreeMap<u64, Array>,
    /// How far behind the first place the next module's variables lie.
    shift: u64,
    /// Bytes that are allocated, and that may be.
    used: u64,
    limit: u64,
    /// Whether kernels stop where they reach behind the end of a buffer; a GPU does not notice before the end of the page.
    exact: bool,
}

impl Memory {
    /// Memory of so many bytes, all of them free; `exact`: kernels stop where they reach behind the end of a buffer.
    pub fn new(limit: u64, exact: bool) -> Self {
        let mut device = DeviceMemory::default();
        device.free(GLOBALS_BASE);
        let drivers = (!exact).then(|| {
            // What programs allocate begins at the page behind it.
            let drivers = device.alloc("memory of the driver", vec![0; DRIVER_BYTES as usize]);
            device.begin_page(DEVICE_PAGE);
            drivers
        });
        Self {
            device,
            drivers,
            shared: BTreeMap::new(),
            owned: BTreeMap::new(),
            of_graphs: BTreeSet::new(),
            arrays: BTreeMap::new(),
            shift: 0,
            used: 0,
            limit,
            exact,
        }
    }

    /// Bytes that are free, and bytes that there are.
    pub fn room(&self) -> (u64, u64) {
        (self.limit.saturating_sub(self.used), self.limit)
    }

    fn take(&mut self, bytes: u64) -> Outcome {
        let used = self.used.checked_add(bytes);
        let used = used.filter(|&used| used <= self.limit);
        self.used = used.ok_or(Code::MEMORY_ALLOCATION)?;
        Ok(())
    }

    /// Allocates device memory, which holds zeros; null for no bytes.
    ///
    /// # Errors
    /// There is no more.
    pub fn allocate(&mut self, bytes: u64) -> Outcome<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        self.take(bytes)?;
        let room = bytes.next_multiple_of(WIDEST);
        let room = if self.exact { bytes } else { room };
        let address = self.device.alloc("device memory", vec![0; room as usize]);
        self.owned.insert(address, bytes);
        Ok(address)
    }

    /// Allocates device memory that belongs to a graph.
    ///
    /// # Errors
    /// There is no more.
    pub fn allocate_for_graph(&mut self, bytes: u64) -> Outcome<u64> {
        let address = self.allocate(bytes)?;
        self.of_graphs.insert(address);
        Ok(address)
    }

    /// Gives back device or managed memory; null is allowed.
    ///
    /// # Errors
    /// Nothing was allocated there.
    pub fn free(&mut self, address: u64) -> Outcome {
        if address == 0 || self.of_graphs.contains(&address) {
            return Ok(());
        }
        if self.kind(address) == Kind::Managed {
            return self.free_shared(address);
        }
        let bytes = self.owned.remove(&address).ok_or(Code::INVALID_VALUE)?;
        self.device.free(address);
        self.used -= bytes;
        Ok(())
    }

    /// Allocates memory that the host and kernels see at the same address.
    ///
    /// # Errors
    /// There is no more.
    pub fn allocate_shared(&mut self, bytes: u64, kind: Kind) -> Outcome<u64> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        if bytes > self.limit {
            return Err(Code::MEMORY_ALLOCATION);
        }
        if kind == Kind::Managed {
            self.take(bytes)?;
        }
        let name = if kind == Kind::Managed {
            "managed memory"
        } else {
            "host memory"
        };
        let wanted = self
            .device
            .reserve(name, bytes.next_multiple_of(PAGE), PAGE);
        let pages = Pages::at(wanted, bytes).or_else(|| {
            self.device.free(wanted);
            let pages = Pages::anywhere(bytes)?;
            self.device.reserve_at(name, pages.address());
            Some(pages)
        });
        let pages = pages.ok_or(Code::MEMORY_ALLOCATION)?;
        let address = pages.address();
        let shared = Shared {
            bytes,
            kind,
            _pages: Some(pages),
        };
        self.shared.insert(address, shared);
        Ok(address)
    }

    /// Gives back memory that [`allocate_shared`](Self::allocate_shared) allocated; null is allowed.
    ///
    /// # Errors
    /// Nothing was allocated there.
    pub fn free_shared(&mut self, address: u64) -> Outcome {
        if address == 0 {
            return Ok(());
        }
        let shared = self.shared.remove(&address).ok_or(Code::INVALID_VALUE)?;
        if shared.kind == Kind::Managed {
            self.used -= shared.bytes;
        }
        self.device.free(address);
        Ok(())
    }

    /// Lets kernels see memory of the program.
    ///
    /// # Errors
    /// It is empty, or some of it is known already.
    pub fn register(&mut self, address: u64, bytes: u64) -> Outcome {
        let end = address
            .checked_add(bytes)
            .filter(|_| address != 0 && bytes != 0);
        let end = end.ok_or(Code::INVALID_VALUE)?;
        let before = self.shared.range(..end).next_back();
        if before.is_some_and(|(start, shared)| start + shared.bytes > address) {
            return Err(Code::ALREADY_REGISTERED);
        }
        self.device.reserve_at("registered memory", address);
        let shared = Shared {
            bytes,
            kind: Kind::Host,
            _pages: None,
        };
        self.shared.insert(address, shared);
        Ok(())
    }

    /// Hides it again.
    ///
    /// # Errors
    /// It was not registered.
    pub fn unregister(&mut self, address: u64) -> Outcome {
        let known = self.shared.get(&address);
        if known.is_none_or(|shared| shared._pages.is_some()) {
            return Err(Code::NOT_REGISTERED);
        }
        self.shared.remove(&address);
        self.device.free(address);
        Ok(())
    }

    /// What a pointer points to, and where that begins.
    pub fn found(&mut self, address: u64) -> (Kind, u64) {
        let shared = self.shared.range(..=address).next_back();
        match shared {
            Some((&start, shared)) if address - start < shared.bytes => (shared.kind, start),
            _ => match self.held(address) {
                Some((start, _)) => (Kind::Device, start),
                None => (Kind::Unregistered, address),
            },
        }
    }

    /// What a pointer points to.
    pub fn kind(&mut self, address: u64) -> Kind {
        self.found(address).0
    }

    /// The allocation that an address lies in: where it begins, and its bytes.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let owned = self.owned.range(..=address).next_back();
        let owned = owned.map(|(&start, &bytes)| (start, bytes));
        let shared = self.shared.range(..=address).next_back();
        let shared = shared.map(|(&start, shared)| (start, shared.bytes));
        let mut found = owned.into_iter().chain(shared);
        found.find(|(start, bytes)| address - start < *bytes)
    }

    /// What an allocation holds.
    pub fn contents(&mut self, start: u64, bytes: u64) -> Option<Vec<u8>> {
        let place = self.place(start, bytes).ok()?;
        Some(bytes_at(place, bytes as usize))
    }

    /// The memory range that an address lies in, as the host may use it: what kernels were let reach behind an allocation is not the host's.
    fn held(&mut self, address: u64) -> Option<(u64, &mut [u8])> {
        let (start, range) = self.device.range_of(address)?;
        let asked = self
            .owned
            .get(&start)
            .map_or(range.len(), |&it| it as usize);
        let within = address - start < asked as u64;
        within.then_some((start, &mut range[..asked]))
    }

    /// Where `bytes` bytes at an address lie in this process.
    ///
    /// # Errors
    /// They reach beyond a buffer of the device, or the address is null.
    pub fn place(&mut self, address: u64, bytes: u64) -> Outcome<*mut u8> {
        if address == 0 && bytes != 0 {
            return Err(Code::INVALID_VALUE);
        }
        match self.held(address) {
            Some((start, range)) => {
                let rest = &mut range[(address - start) as usize..];
                let fits = bytes <= rest.len() as u64;
                fits.then_some(rest.as_mut_ptr()).ok_or(Code::INVALID_VALUE)
            }
            None => Ok(address as *mut u8),
        }
    }

    /// As [`place`](Self::place), of memory that the device must know.
    ///
    /// # Errors
    /// As there, or only the host knows it.
    pub fn device_place(&mut self, address: u64, bytes: u64) -> Outcome<*mut u8> {
        match self.kind(address) {
            Kind::Unregistered if bytes != 0 => Err(Code::INVALID_VALUE),
            _ => self.place(address, bytes),
        }
    }

    /// Lets a kernel see host memory, until [`hide`](Self::hide).
    pub fn show(&mut self) {
        for (&address, shared) in &self.shared {
            self.device
                .lend(address, lent(address, shared.bytes as usize));
        }
        if !self.exact {
            self.device.map(DEVICE_PAGE);
        }
    }

    /// How many bytes in front of all buffers a place lies that was reached behind the driver's own, if it was that.
    pub fn in_front(&self, behind: &Behind) -> Option<u64> {
        let page = (self.drivers == Some(behind.base)).then_some(DEVICE_PAGE);
        page.map(|page| page - behind.at)
    }

    /// Takes host memory back. Says behind the ends of which buffers the kernel reached.
    pub fn hide(&mut self) -> Vec<Behind> {
        self.device.give_back();
        self.device.restrict()
    }

    /// How far behind the first place the variables of the next module must lie.
    pub fn next_shift(&self) -> u64 {
        self.shift
    }

    /// Adds the variables of a module that was read with [`next_shift`](Self::next_shift). If the host sees some of them, they become managed memory.
    ///
    /// # Errors
    /// Memory for managed variables cannot be mapped where kernels look for them.
    pub fn attach(&mut self, module: &Module, managed: bool) -> Outcome {
        let base = module.globals_base();
        let bytes = module.globals.len() as u64;
        self.shift += (bytes + 1).next_multiple_of(PAGE);
        self.device.attach(module);
        if !managed || bytes == 0 {
            return Ok(());
        }
        let pages = Pages::at(base, bytes).ok_or(Code::MEMORY_ALLOCATION)?;
        lent(base, bytes as usize).copy_from_slice(&module.globals);
        self.device.free(base);
        self.device.reserve_at("managed variables", base);
        let shared = Shared {
            bytes,
            kind: Kind::Managed,
            _pages: Some(pages),
        };
        self.shared.insert(base, shared);
        Ok(())
    }

    /// Makes an array; its handle.
    ///
    /// # Errors
    /// There is no more memory, or its texels are of no size.
    pub fn make_array(&mut self, format: Format, asked: [u64; 3], flags: u32) -> Outcome<u64> {
        if format.bytes() == 0 {
            return Err(Code::INVALID_CHANNEL);
        }
        let extent = asked.map(|extent| extent.max(1));
        let texels = extent
            .iter()
            .try_fold(1u64, |all, &one| all.checked_mul(one));
        let bytes = texels.and_then(|texels| texels.checked_mul(format.bytes()));
        let address = self.allocate(bytes.ok_or(Code::MEMORY_ALLOCATION)?)?;
        let array = Array {
            address,
            extent,
            asked,
            format,
            flags,
        };
        // Its address is as good a handle as any.
        self.arrays.insert(address, array);
        Ok(address)
    }

    /// The array of a handle.
    ///
    /// # Errors
    /// There is none.
    pub fn array(&self, handle: u64) -> Outcome<Array> {
        self.arrays
            .get(&handle)
            .copied()
            .ok_or(Code::INVALID_HANDLE)
    }

    /// Gives an array back; null is allowed.
    ///
    /// # Errors
    /// There is none.
    pub fn free_array(&mut self, handle: u64) -> Outcome {
        if handle == 0 {
            return Ok(());
        }
        let array = self.arrays.remove(&handle).ok_or(Code::INVALID_HANDLE)?;
        self.free(array.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_ends_where_it_says() {
        let mut memory = Memory::new(1000, true);
        let first = memory.allocate(600).unwrap();
        assert_eq!(memory.allocate(600), Err(Code::MEMORY_ALLOCATION));
        assert_eq!(memory.allocate(u64::MAX), Err(Code::MEMORY_ALLOCATION));
        memory.free(first).unwrap();
        assert_eq!(memory.free(first), Err(Code::INVALID_VALUE));
        assert_eq!(memory.room(), (1000, 1000));
        assert_eq!((memory.allocate(0), memory.free(0)), (Ok(0), Ok(())));
        // A graph that allocates may be launched again when that was given back.
        let of_graph = memory.allocate_for_graph(100).unwrap();
        memory.free(of_graph).unwrap();
        assert!(memory.device_place(of_graph, 100).is_ok());
    }

    #[test]
    fn a_range_beyond_a_buffer_is_refused() {
        for exact in [true, false] {
            let mut memory = Memory::new(1 << 20, exact);
            let buffer = memory.allocate(100).unwrap();
            // A kernel may have reached behind it.
            memory.show();
            assert_eq!(memory.device.range_of(buffer + 200).is_none(), exact);
            memory.hide();
            assert!(memory.device_place(buffer + 40, 60).is_ok());
            for (address, bytes) in [(buffer + 40, 61), (buffer + 104, 1), (5, 1)] {
                let placed = memory.device_place(address, bytes);
                assert_eq!(placed, Err(Code::INVALID_VALUE), "{exact}");
            }
            assert_eq!(memory.place(0, 1), Err(Code::INVALID_VALUE));
        }
    }

    #[test]
    fn in_front_of_the_first_buffer_is_a_page_of_the_driver() {
        let mut memory = Memory::new(1 << 20, false);
        let first = memory.allocate(100).unwrap();
        memory.show();
        assert!(memory.device.range_of(first - 4).is_some());
        assert!(memory.device.range_of(first - DEVICE_PAGE - 4).is_none());
        let behind = memory.hide();
        assert_eq!(memory.in_front(&behind[0]), Some(4));
        let mut exact = Memory::new(1 << 20, true);
        let first = exact.allocate(100).unwrap();
        exact.show();
        assert!(exact.device.range_of(first - 4).is_none());
    }

    #[test]
    fn kernels_see_what_the_host_writes() {
        let mut memory = Memory::new(1 << 20, true);
        let shared = memory.allocate_shared(100, Kind::Managed).unwrap();
        lent(shared, 100)[7] = 9;
        memory.show();
        assert_eq!(memory.device.range_of(shared + 7).unwrap().1[7], 9);
        memory.hide();
        assert_eq!(memory.kind(shared + 99), Kind::Managed);
        assert_eq!(memory.kind(shared + 100), Kind::Unregistered);
        memory.free(shared).unwrap();
        assert_eq!(memory.room().0, 1 << 20);
    }

    #[test]
    fn memory_of_the_program_is_registered_once() {
        let mut memory = Memory::new(1 << 20, true);
        let mut own = [1u8; 64];
        let address = own.as_mut_ptr() as u64;
        memory.register(address, 64).unwrap();
        assert_eq!(
            memory.register(address + 63, 8),
            Err(Code::ALREADY_REGISTERED)
        );
        assert_eq!(memory.register(0, 8), Err(Code::INVALID_VALUE));
        memory.unregister(address).unwrap();
        assert_eq!(memory.unregister(address), Err(Code::NOT_REGISTERED));
    }
}

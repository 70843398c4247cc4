//! Device memory as a host program manages it: modules that come one by one, memory that is given back, memory that the host sees too.

use std::ops::{Deref, DerefMut};

use warpwatt_ptx::Module;

use super::{Buffer, DeviceMemory, meets, taken, workspace};

/// The bytes of a buffer.
#[derive(Debug)]
pub(super) enum Bytes {
    /// Its own.
    Own(Vec<u8>),
    /// The host's, which kernels may use while one runs.
    Lent(&'static mut [u8]),
}

impl Bytes {
    /// The buffer's own bytes; what was lent is copied.
    pub fn own(&mut self) -> &mut Vec<u8> {
        if let Self::Lent(bytes) = self {
            *self = Self::Own(bytes.to_vec());
        }
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(_) => unreachable!("it was copied"),
        }
    }
}

impl Clone for Bytes {
    /// A copy is never the host's.
    fn clone(&self) -> Self {
        Self::Own(self.to_vec())
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

impl DerefMut for Bytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

impl DeviceMemory {
    /// Adds the variables of a further module, which must not lie where another one's do: [`Module::shift`] says where.
    pub fn attach(&mut self, module: &Module) {
        if meets(module) && !self.begins(workspace().base) {
            self.insert(workspace());
        }
        self.insert(Buffer {
            name: "module variables".to_owned(),
            base: module.globals_base(),
            bytes: Bytes::Own(module.globals.clone()),
        });
    }

    /// Finds addresses for a buffer whose bytes are the host's: a multiple of `alignment`, which is a power of two. Until the bytes are
    /// [lent](Self::lend) the buffer has none.
    pub fn reserve(&mut self, name: impl Into<String>, bytes: u64, alignment: u64) -> u64 {
        let base = self.next.next_multiple_of(alignment);
        self.next = base + taken(bytes);
        self.reserve_at(name, base);
        base
    }

    /// The same at the host's own address.
    pub fn reserve_at(&mut self, name: impl Into<String>, base: u64) {
        self.insert(Buffer {
            name: name.into(),
            base,
            bytes: Bytes::Own(Vec::new()),
        });
    }

    /// Lends a buffer that was [reserved](Self::reserve) its bytes, until [`give_back`](Self::give_back).
    pub fn lend(&mut self, base: u64, bytes: &'static mut [u8]) {
        if let Some(at) = self.position(base) {
            self.buffers[at].bytes = Bytes::Lent(bytes);
        }
    }

    /// Gives back all that was lent.
    pub fn give_back(&mut self) {
        for buffer in &mut self.buffers {
            if matches!(buffer.bytes, Bytes::Lent(_)) {
                buffer.bytes = Bytes::Own(Vec::new());
            }
        }
    }

    /// Forgets the buffer that begins at `base`; its addresses are not given to another one. Says whether there was one.
    pub fn free(&mut self, base: u64) -> bool {
        let found = self.position(base);
        if let Some(at) = found {
            self.buffers.remove(at);
        }
        found.is_some()
    }

    /// Unbinds the texture of a handle.
    pub fn unbind_texture(&mut self, handle: u64) {
        self.textures.remove(&handle);
    }

    fn begins(&self, base: u64) -> bool {
        self.position(base).is_some()
    }

    fn position(&self, base: u64) -> Option<usize> {
        let found = self.buffers.binary_search_by_key(&base, |it| it.base);
        found.ok()
    }

    /// Puts a buffer among the others, in order of their addresses.
    fn insert(&mut self, buffer: Buffer) {
        let base = buffer.base;
        let at = self.buffers.partition_point(|other| other.base < base);
        self.buffers.insert(at, buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_module_lies_behind_the_first() {
        let of = |shift, contents: &[u8]| Module {
            globals: contents.to_vec(),
            shift,
            ..Module::default()
        };
        let (first, second) = (of(0, &[1, 2]), of(4096, &[3]));
        let mut memory = DeviceMemory::new(&first);
        memory.attach(&second);
        assert_eq!(memory.buffer(first.globals_base()), [1, 2]);
        assert_eq!(memory.buffer(second.globals_base()), [3]);
    }

    #[test]
    fn memory_that_is_freed_holds_nothing() {
        let mut memory = DeviceMemory::default();
        let (first, second) = (memory.alloc("a", vec![1]), memory.alloc("b", vec![2]));
        assert!(memory.free(first) && !memory.free(first));
        assert!(memory.range_of(first).is_none());
        assert_eq!(memory.buffer(second), [2]);
        assert!(memory.alloc("c", vec![3]) > second);
    }

    #[test]
    fn what_is_lent_is_seen_until_it_is_given_back() {
        let mut memory = DeviceMemory::default();
        let base = memory.reserve("managed", 4, 4096);
        assert!(base.is_multiple_of(4096) && memory.range_of(base).is_none());
        memory.lend(base, Box::leak(Box::new([1, 2, 3, 4])));
        memory.range_of(base).unwrap().1[0] = 9;
        let copy = memory.clone();
        memory.give_back();
        assert!(memory.range_of(base).is_none());
        assert_eq!(copy.buffer(base), [9, 2, 3, 4]);
    }
}

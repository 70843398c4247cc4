//! Memory that the host and kernels see at the same address: managed and page-locked memory.
#![allow(unsafe_code)]

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Pages of this process, which hold zeros at first.
#[derive(Debug)]
pub struct Pages {
    address: u64,
    bytes: usize,
}

impl Pages {
    /// Maps pages at an address, or nowhere if something is mapped there.
    pub fn at(address: u64, bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes.max(1).next_multiple_of(PAGE)).ok()?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed(address);
        // SAFETY: new pages are asked for, never in place of others (`MAP_FIXED_NOREPLACE`).
        let found = unsafe {
            libc::mmap(
                address as *mut libc::c_void,
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if found == libc::MAP_FAILED {
            return None;
        }
        let pages = Self {
            address: found as u64,
            bytes,
        };
        // A kernel that does not know the flag takes the address for a wish: then the pages are dropped again.
        (address == 0 || pages.address == address).then_some(pages)
    }

    /// Maps pages where the system has room.
    pub fn anywhere(bytes: u64) -> Option<Self> {
        Self::at(0, bytes)
    }

    /// Where they begin.
    pub fn address(&self) -> u64 {
        self.address
    }
}

#[cfg(target_os = "linux")]
fn fixed(address: u64) -> libc::c_int {
    if address == 0 {
        0
    } else {
        libc::MAP_FIXED_NOREPLACE
    }
}

#[cfg(not(target_os = "linux"))]
fn fixed(_: u64) -> libc::c_int {
    0
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: these pages were mapped by `at`, and whoever has them owns them alone.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lie_where_they_are_asked_for_and_never_over_others() {
        let Some(pages) = Pages::at(0x3_0000_0000, 5000) else {
            return; // something lies there
        };
        assert_eq!(pages.address(), 0x3_0000_0000);
        assert!(Pages::at(0x3_0000_0000, 1).is_none());
        drop(pages);
        assert!(Pages::at(0x3_0000_0000, 1).is_some());
    }
}

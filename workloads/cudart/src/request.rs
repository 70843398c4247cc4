//! A launch as a program asks for it.

/// A launch as a program asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kernel's handle.
    pub kernel: u64,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y, z, if that is said.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes.
    pub shared: u64,
    /// Whether all blocks must run at once.
    pub cooperative: bool,
    /// The parameters, laid out as the kernel has them.
    pub params: Vec<u8>,
}

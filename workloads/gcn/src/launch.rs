//! What a host asks for.

/// A kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch<'l> {
    /// Name of the kernel.
    pub kernel: &'l str,
    /// Work-groups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a work-group in x, y, z: at most 1024 together.
    pub block: [u32; 3],
    /// Local data share beyond what the kernel declares, in bytes.
    pub dynamic_share: u32,
    /// The arguments, laid out as [`Kernel::arguments`](crate::Kernel::arguments) say.
    pub arguments: Vec<u8>,
}

//! Small kernels and their traces.

use warpwatt_simt::trace::KernelTrace;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// Executes `body` once a thread of `ctas` CTAs: `%rd1` is the address of a buffer, `%r1` the thread's number in its CTA and `%rd2` the address of its own
/// eight bytes of the buffer.
pub fn launch(ctas: u32, threads: u32, body: &str) -> KernelTrace {
    let source = format!(
        ".version 8.0 .target sm_80 .address_size 64
        .visible .entry k(.param .u64 p) {{
        .shared .align 4 .b8 tile[4096]; .local .align 4 .b8 mine[16];
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mad.wide.u32 %rd2, %r1, 8, %rd1;
        {body}
        ret; }}"
    );
    let module = warpwatt_ptx::load(&source).unwrap();
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 8192.max(8 * threads as usize)]);
    let launch = Launch {
        entry: "k",
        grid: [ctas, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let run = execute(&module, &launch, &mut memory, &Options::default()).unwrap();
    run.trace.unwrap()
}

/// One warp.
pub fn trace(body: &str) -> KernelTrace {
    launch(1, 32, body)
}

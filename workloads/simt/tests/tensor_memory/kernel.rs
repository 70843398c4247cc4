//! Kernels around the instructions that are looked at.

use std::fmt::Write as _;

use warpwatt_ptx::load;
use warpwatt_simt::{DeviceMemory, ExecError, Launch, Options, execute};

/// What is in the last buffer after a kernel of `threads` threads, whose parameters are the buffers' addresses. It may use `tile` and `bar` in shared memory, and
/// `%r90`, the address of `columns` columns of tensor memory that its first warp allocates and frees.
pub fn run(
    body: &str,
    threads: u32,
    columns: u32,
    buffers: &[Vec<u8>],
) -> Result<Vec<u8>, ExecError> {
    let body = format!(
        "mov.u32 %r80, %tid.x; setp.lt.u32 %p8, %r80, 32; setp.eq.u32 %p9, %r80, 0;
        @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], {columns};
        bar.sync 0; ld.shared.b32 %r90, [at]; bar.sync 0;
        @%p8 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
        shr.u32 %r91, %r80, 5; and.b32 %r91, %r91, 3; shl.b32 %r91, %r91, 21; add.u32 %r91, %r91, %r90;
        {body}
        bar.sync 0; @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r90, {columns};"
    );
    run_plain(&body, threads, buffers)
}

pub fn run_plain(body: &str, threads: u32, buffers: &[Vec<u8>]) -> Result<Vec<u8>, ExecError> {
    let params: Vec<String> = (0..buffers.len())
        .map(|at| format!(".param .u64 a{at}"))
        .collect();
    let loads: String = (0..buffers.len())
        .map(|at| format!("ld.param.u64 %d{at}, [a{at}]; "))
        .collect();
    let source = format!(
        ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k({})\n{{
        .shared .align 1024 .b8 tile[65536]; .shared .align 8 .b8 bar[16]; .shared .align 4 .b8 at[8];
        .reg .pred %p<10>; .reg .b32 %r<500>; .reg .b64 %d<60>; {loads} {body} ret; }}",
        params.join(", ")
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let entry = &module.entries[0];
    assert_eq!(entry.unsupported, []);
    let mut memory = DeviceMemory::new(&module);
    let addresses: Vec<u64> = buffers
        .iter()
        .map(|bytes| memory.alloc("buffer", bytes.clone()))
        .collect();
    let params = addresses.iter().flat_map(|it| it.to_le_bytes()).collect();
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params,
    };
    execute(&module, &launch, &mut memory, &Options::default())?;
    Ok(memory.buffer(addresses[addresses.len() - 1]).to_vec())
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

pub fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// `{%rA, ..., %rB}`.
pub fn registers(first: u32, count: u32) -> String {
    let names: Vec<String> = (first..first + count).map(|at| format!("%r{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// `%d20` points to what the thread has in a buffer of `each` words for every thread.
pub fn own(buffer: usize, each: u32) -> String {
    format!(
        "mul.wide.u32 %d20, %r80, {}; add.u64 %d20, %d20, %d{buffer};",
        4 * each
    )
}

/// Registers from or to what the thread has in a buffer.
pub fn moved(load: bool, first: u32, count: u32) -> String {
    let mut text = String::new();
    for at in 0..count {
        let (register, place) = (first + at, 4 * at);
        let _ = match load {
            true => write!(text, "ld.global.u32 %r{register}, [%d20+{place}]; "),
            false => write!(text, "st.global.u32 [%d20+{place}], %r{register}; "),
        };
    }
    text
}

/// Copies buffer 0 to the tile in shared memory.
pub fn into_tile(size: usize) -> String {
    format!(
        "mov.u32 %r0, %r80; mov.u32 %r1, tile; add.u32 %r1, %r1, %r0; cvt.u64.u32 %d20, %r0; add.u64 %d20, %d20, %d0;
        L: setp.ge.u32 %p2, %r0, {size}; @%p2 bra M; ld.global.u8 %r2, [%d20]; st.shared.u8 [%r1], %r2;
        add.u32 %r0, %r0, 128; add.u32 %r1, %r1, 128; add.u64 %d20, %d20, 128; bra L; M:
        @%p9 mbarrier.init.shared.b64 [bar], 1;
        fence.proxy.async; bar.sync 0;"
    )
}

/// Thread 0 commits what it has begun, and all wait for it.
pub const COMMITTED: &str = "@%p9 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
    W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; tcgen05.fence::after_thread_sync;";

/// Copies so many columns of all lanes to the last of `buffers` buffers.
pub fn out(buffer: usize, columns: u32) -> String {
    let pieces: String = (0..columns / 32)
        .map(|part| {
            format!(
                "tcgen05.ld.sync.aligned.32x32b.x32.b32 {}, [%r91 + {}]; tcgen05.wait::ld.sync.aligned;
                {} add.u64 %d20, %d20, {}; {}",
                registers(100, 32),
                32 * part,
                own(buffer, columns),
                128 * part,
                moved(false, 100, 32)
            )
        })
        .collect();
    pieces
}

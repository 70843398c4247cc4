//! What stops a kernel is said with its place.

use std::sync::atomic::AtomicBool;

use warpwatt_gcn::{Cause, Code, ExecError, Launch, Object, ObjectError, decode};
use warpwatt_simt::{DeviceMemory, Interrupt, Options};

const OBJECT: &[u8] = include_bytes!("cases/lanes/kernel.o");

/// Runs the kernel `lanes` on buffers of so many bytes, after its code was changed.
fn run(bytes: usize, limit: u64, change: impl FnOnce(&mut [u8])) -> Result<(), ExecError> {
    let options = Options {
        limit,
        ..Options::default()
    };
    run_with(bytes, options, change)
}

/// As [`run`], with all of the options.
fn run_with(
    bytes: usize,
    options: Options,
    change: impl FnOnce(&mut [u8]),
) -> Result<(), ExecError> {
    let mut file = OBJECT.to_vec();
    let object = Object::read(OBJECT).unwrap();
    let code = &object.image[object.code.start as usize..object.code.end as usize];
    let at = file
        .windows(code.len())
        .position(|window| window == code)
        .unwrap();
    change(&mut file[at..at + code.len()]);
    let code = Code::new(Object::read(&file).unwrap());
    let mut memory = DeviceMemory::default();
    let mut arguments = Vec::new();
    for name in ["bytes", "halves", "longs", "words", "out", "low"] {
        arguments.extend(memory.alloc(name, vec![1; bytes]).to_le_bytes());
    }
    arguments.resize(code.object().kernels[0].argument_bytes as usize, 0);
    let launch = Launch {
        kernel: "lanes",
        grid: [2, 1, 1],
        block: [64, 1, 1],
        dynamic_share: 0,
        arguments,
    };
    let options = Options {
        warp_width: 64,
        ..options
    };
    code.execute(&launch, &mut memory, &options).map(|_| ())
}

fn put(code: &mut [u8], words: &[u32]) {
    for (place, word) in code.chunks_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

#[test]
fn an_access_outside_of_a_buffer_names_address_and_instruction() {
    let ExecError::Fault(fault) = run(128, 100_000, |_| {}).unwrap_err() else {
        panic!("a fault")
    };
    assert!(
        matches!(
            fault.cause,
            Cause::OutOfBounds {
                space: "global",
                bytes: 8,
                ..
            }
        ),
        "{fault}"
    );
    let text = fault.to_string();
    assert!(
        text.contains("byte 128 of `longs`, which has 128"),
        "{text}"
    );
    assert!(
        text.contains("`buffer_load_dwordx2") && text.contains("lane 16"),
        "{text}"
    );
}

#[test]
fn an_endless_loop_ends_at_the_limit() {
    // s_branch to itself
    let error = run(4096, 5000, |code| put(code, &[0xbf82_ffff])).unwrap_err();
    let ExecError::Fault(fault) = error else {
        panic!("a fault")
    };
    assert_eq!(fault.cause, Cause::Limit(5000));
}

#[test]
fn an_endless_loop_ends_when_it_is_interrupted() {
    static FLAG: AtomicBool = AtomicBool::new(true);
    let options = Options {
        limit: u64::MAX,
        interrupt: Some(Interrupt(&FLAG)),
        ..Options::default()
    };
    let error = run_with(4096, options, |code| put(code, &[0xbf82_ffff])).unwrap_err();
    let ExecError::Fault(fault) = error else {
        panic!("a fault")
    };
    assert_eq!(fault.cause, Cause::Interrupted);
}

#[test]
fn an_unsupported_opcode_is_named_with_its_place_and_bytes() {
    // s_nop, then v_interp_p1_f32
    let error = run(4096, 5000, |code| put(code, &[0xbf80_0000, 0xc804_0002])).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "interpolation (VINTRP), which is not supported, bytes 02 00 04 c8 in `lanes` at 0x4"
        ),
        "{text}"
    );
    let image = decode(&[0xf000_1f00, 0x0002_0004]).unwrap_err();
    assert_eq!(
        image.to_string(),
        "an image access (MIMG), which is not supported, bytes 00 1f 00 f0 04 00 02 00"
    );
}

#[test]
fn misaligned_accesses_and_wild_jumps_stop() {
    // s_load_dwordx2 s[0:1], s[4:5], 0x0; s_waitcnt; buffer_load_dword v1, off, s[0:3], 0 offset:2
    let words = [
        0xc040_0500,
        0xbf8c_0000,
        0xbe82_03c1,
        0xbe83_0380,
        0xe030_0002,
        0x8000_0100,
    ];
    let error = run(4096, 5000, |code| put(code, &words))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("misaligned access to global memory")
            && error.contains("no multiple of 4"),
        "{error}"
    );
    // s_mov_b64 s[0:1], 0; s_setpc_b64 s[0:1]
    let error = run(4096, 5000, |code| put(code, &[0xbe80_0480, 0xbe80_2000]))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("a jump to 0x0, where no instruction of the object begins"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_launched_says_why() {
    let code = Code::new(Object::read(OBJECT).unwrap());
    let attempt = |kernel, block, bytes| {
        let launch = Launch {
            kernel,
            grid: [1; 3],
            block,
            dynamic_share: 0,
            arguments: vec![0; bytes],
        };
        code.execute(&launch, &mut DeviceMemory::default(), &Options::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        attempt("lane", [64, 1, 1], 64),
        "the object has no kernel `lane`; it has lanes"
    );
    assert_eq!(
        attempt("lanes", [64, 64, 1], 64),
        "`lanes`: a work-group of 4096 work-items is too large: at most 1024"
    );
    assert!(attempt("lanes", [64, 1, 1], 8).contains("8 bytes of arguments were given"));
}

#[test]
fn other_files_are_refused() {
    let mut other = OBJECT.to_vec();
    other[48] = 0x2c; // gfx900
    assert!(matches!(
        Object::read(&other),
        Err(ObjectError::Machine { .. })
    ));
    other[18] = 62; // x86-64
    assert_eq!(
        Object::read(&other).unwrap_err().to_string(),
        "the object is for machine 62: only gfx600 and gfx601 (Southern Islands) can run"
    );
    assert!(matches!(
        Object::read(b"no file at all"),
        Err(ObjectError::Elf(_))
    ));
}

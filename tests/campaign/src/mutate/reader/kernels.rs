//! Kernels: their files, their code, what a run of them leaves behind.

use sha2::{Digest, Sha256};
use warpwatt_ptx::Module;
use warpwatt_simt::trace::{Store, file};
use warpwatt_simt::{DeviceMemory, Execution, Launch, Options, execute};
use warpwatt_suite::launch::{Files, LaunchFile};

use super::super::seeds;
use super::{Check, of_text};

/// Bytes of buffers that are filled.
const MOST_BUFFERS: u64 = 1 << 16;

/// Warp instructions that are executed.
const MOST_INSTRUCTIONS: u64 = 3_000;

/// A launch file, and the buffers of its cases.
pub fn launch_file() -> (Vec<Vec<u8>>, Check) {
    let check = of_text(|text| {
        let Ok(file) = LaunchFile::parse(text) else {
            return;
        };
        for case in &file.cases {
            if case.buffer_bytes() <= MOST_BUFFERS {
                let _ = case.fill(Files::None);
            }
        }
    });
    (seeds::below("workloads/kernels", "launch.toml"), check)
}

/// A module: what is said of it, and a moment of each of its entries.
pub fn ptx() -> (Vec<Vec<u8>>, Check) {
    let check = of_text(|text| {
        let _ = warpwatt_ptx::inspect(text, None);
        let Ok(module) = warpwatt_ptx::load(text) else {
            return;
        };
        for entry in &module.entries {
            if entry.unsupported.is_empty() {
                let _ = run(&module, &entry.name, entry.param_bytes() as usize);
            }
        }
    });
    let mut modules = seeds::below("workloads/kernels", ".ptx");
    modules.extend(seeds::below("tests/data/compilers", ".ptx"));
    modules.extend(forms());
    (modules, check)
}

/// The forms of instructions, in modules of a few.
fn forms() -> Vec<Vec<u8>> {
    let forms = include_str!("../../../../../workloads/ptx/tests/forms.txt");
    let lines = forms.lines().filter_map(|line| line.strip_prefix("+ "));
    let lines: Vec<&str> = lines.collect();
    let modules = lines.chunks(4).map(|few| {
        let body = few.iter().map(|line| format!("{};\n", one_form(line)));
        let body: String = body.collect();
        format!(
            ".version 8.7\n.target sm_90a\n.address_size 64\n.func function() {{ ret; }}\n.visible .entry k(.param .u64 p)\n{{
            .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 16 .b8 s[256];
            ld.param.u64 %d1, [p]; mov.u64 %d2, %d1; mov.u32 %r1, s; mov.u32 %r2, 16; mov.u32 %r3, s;
            T: .branchtargets L, M;\nL:\n{body}\nM:\nret;\n}}\n"
        )
    });
    modules.map(String::into_bytes).collect()
}

/// A line with the last alternative of each brace that stands in its opcode.
fn one_form(line: &str) -> String {
    let opcode = match line.starts_with('@') {
        true => line.len(),
        false => line.find(' ').unwrap_or(line.len()),
    };
    let mut form = String::new();
    let mut rest = &line[..opcode];
    while let Some((before, inside)) = rest.split_once('{') {
        let (choices, after) = inside.split_once('}').expect("braces are closed");
        form.push_str(before);
        form.push_str(choices.rsplit(',').next().unwrap_or_default());
        rest = after;
    }
    form + rest + &line[opcode..]
}

fn run(module: &Module, entry: &str, bytes: usize) -> Option<Execution> {
    if module.globals.len() + module.constants.len() > 1 << 20 {
        return None;
    }
    let mut memory = DeviceMemory::new(module);
    let buffer = memory.alloc("buffer", vec![1; 1 << 14]);
    let pointers = buffer.to_le_bytes().into_iter().cycle();
    let launch = Launch {
        entry,
        grid: [2, 1, 1],
        block: [33, 1, 1],
        cluster: None,
        dynamic_shared: 1 << 12,
        params: pointers.take(bytes).collect(),
    };
    let options = Options {
        limit: MOST_INSTRUCTIONS,
        record: true,
        ..Options::default()
    };
    execute(module, &launch, &mut memory, &options).ok()
}

/// A trace as it is kept, with its checksum made right again every other time, so that what stands in it is read.
pub fn trace() -> (Vec<Vec<u8>>, Check) {
    let modules = ["vector_add", "reduction", "bfs", "transpose_naive"];
    let texts = modules.map(|name| seeds::below(&format!("workloads/kernels/{name}"), ".ptx"));
    let mut traces = Vec::new();
    for text in texts.iter().flatten() {
        let Ok(module) = warpwatt_ptx::load(&String::from_utf8_lossy(text)) else {
            continue;
        };
        for entry in &module.entries {
            let done = run(&module, &entry.name, entry.param_bytes() as usize);
            if let Some(trace) = done.and_then(|done| done.trace) {
                traces.push(file::encode(&[7; 32], "seed", &[&trace]).expect("it is in memory"));
            }
        }
    }
    assert!(!traces.is_empty(), "no kernel leaves a trace");
    let check = Box::new(|input: &[u8]| {
        const MEMORY: u64 = 64 << 20;
        let mut bytes = input.to_vec();
        if bytes.len().is_multiple_of(2) {
            seal(&mut bytes);
        }
        let _ = file::decode(&bytes, MEMORY, &Store::default());
    });
    (traces, check)
}

/// Puts the checksum of the contents at the end of a trace.
fn seal(bytes: &mut [u8]) {
    const CHECKSUM: usize = 32;
    if let Some(end) = bytes.len().checked_sub(CHECKSUM) {
        let (contents, checksum) = bytes.split_at_mut(end);
        checksum.copy_from_slice(&Sha256::digest(contents));
    }
}

//! What instructions compute, against what an NVIDIA H100 computed.
//!
//! `results.txt` and `approximations.txt` were measured on an NVIDIA H100 80GB HBM3 (driver 580.159.04) on 2026-11-26. To measure again: `WARPWATT_SILICON=FOLDER` has this
//! test write the kernels and what they read there; `measure.py FOLDER` runs them on a GPU; with the same variable and `WARPWATT_BLESS=1` this test then
//! writes both files.

mod approximate;
mod kernel;
mod matrices;
mod numbers;
mod record;
mod scalar;
mod warpgroups;
mod warps;

use std::path::PathBuf;

use kernel::{Inputs, Kernel, Module};
use record::{Mark, Record};
use warpwatt_ptx::{Lower, load_lowered};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// All modules, and what their kernels read.
fn everything() -> (Vec<Module>, Vec<u8>) {
    let mut inputs = Inputs::default();
    let mut modules = scalar::modules(&mut inputs);
    modules.push(warps::collectives(&mut inputs));
    modules.push(warps::out_of_bounds());
    modules.push(warps::in_bulk(&mut inputs));
    modules.push(matrices::products(&mut inputs));
    modules.push(matrices::sparse_products(&mut inputs));
    modules.push(matrices::wmma(&mut inputs));
    modules.push(matrices::rows(&mut inputs));
    modules.push(warpgroups::rounding(&mut inputs));
    modules.push(warpgroups::sparse(&mut inputs));
    modules.push(warpgroups::layouts(&mut inputs));
    (modules, inputs.bytes)
}

fn run(module: &warpwatt_ptx::program::Module, kernel: &Kernel, inputs: &[u8]) -> Vec<u8> {
    let entry = module
        .entries
        .iter()
        .find(|entry| entry.name == kernel.name);
    let unsupported = &entry.expect("every kernel is an entry").unsupported;
    assert_eq!(unsupported, &[], "{}", kernel.name);
    let mut memory = DeviceMemory::new(module);
    let addresses = [
        memory.alloc("in", inputs.to_vec()),
        memory.alloc("out", vec![kernel.fill; kernel.out]),
    ];
    let launch = Launch {
        entry: &kernel.name,
        grid: [kernel.grid as u32, 1, 1],
        block: [kernel.block as u32, 1, 1],
        cluster: None,
        dynamic_shared: kernel.shared as u32,
        params: addresses.iter().flat_map(|it| it.to_le_bytes()).collect(),
    };
    execute(module, &launch, &mut memory, &Options::default())
        .unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
    memory.buffer(addresses[1]).to_vec()
}

/// Where kernels for a GPU go and its results come from.
fn folder() -> Option<PathBuf> {
    std::env::var_os("WARPWATT_SILICON").map(PathBuf::from)
}

fn write_for_gpu(folder: &PathBuf, modules: &[Module], inputs: &[u8]) {
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("the folder can be written");
    };
    std::fs::create_dir_all(folder).expect("the folder can be made");
    write("inputs.bin", inputs);
    let mut list = String::new();
    for module in modules {
        write(&format!("{}.ptx", module.name), module.source().as_bytes());
        list += &format!("module {}.ptx\n", module.name);
        for Kernel {
            name,
            block,
            grid,
            shared,
            fill,
            out,
            ..
        } in &module.kernels
        {
            list += &format!("{name} {block} {grid} {shared} {fill} {out}\n");
        }
    }
    write("list.txt", list.as_bytes());
}

#[test]
fn instructions_compute_what_an_h100_computes() {
    let (modules, inputs) = everything();
    let measured = folder().map(|folder| {
        write_for_gpu(&folder, &modules, &inputs);
        std::fs::read(folder.join("results.bin"))
    });
    let mut measured = match (measured, std::env::var_os("WARPWATT_BLESS")) {
        (Some(Ok(bytes)), Some(_)) => Some((bytes, record::Writer::default())),
        _ => None,
    };
    let record = Record::read();
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut place = 0;
    for module in &modules {
        let [loaded, lowered] = Lower::ALL.map(|lowering| {
            load_lowered(&module.source(), lowering).unwrap_or_else(|errors| panic!("{errors:#?}"))
        });
        for kernel in &module.kernels {
            let found = run(&loaded, kernel, &inputs);
            assert!(
                run(&lowered, kernel, &inputs) == found,
                "{} computes something else once it is lowered",
                kernel.name
            );
            if let Some((bytes, writer)) = &mut measured {
                writer.kernel(kernel, &bytes[place..][..kernel.out], &found);
                place += kernel.out;
                continue;
            }
            let marks = record.of(kernel);
            for (outcome, mark) in kernel.outcomes.iter().zip(marks) {
                let bytes = &found[outcome.at..][..outcome.bytes];
                count += 1;
                match mark {
                    Mark::Same(hash) if *hash == record::hash(bytes) => {}
                    Mark::Other(hash) if *hash != record::hash(bytes) => {}
                    Mark::Near => wrong.extend(approximate::objection(outcome, bytes, &record)),
                    Mark::Same(_) => wrong.push(format!("{}: differs", outcome.name)),
                    Mark::Other(_) => wrong.push(format!("{}: is the same now", outcome.name)),
                }
            }
        }
    }
    if let Some((_, writer)) = measured {
        writer.finish();
        return;
    }
    assert!(count > 4000, "only {count} results");
    assert_eq!(wrong, Vec::<String>::new());
}

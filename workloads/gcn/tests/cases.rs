//! Kernels that a compiler built, run on their inputs: every buffer must hold what it must.
//!
//! Those of the project lie in `tests/cases`; where `WARPWATT_SOUTHERN_ISLANDS` names a folder of more, they are run as well.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use warpwatt_gcn::{Code, Launch, Object};
use warpwatt_simt::{DeviceMemory, Execution, Options};

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| path.join("meta.toml").exists())
        .collect();
    found.sort();
    found
}

fn cases() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut found = if own.exists() {
        folders(&own)
    } else {
        Vec::new()
    };
    if let Some(root) = std::env::var_os("WARPWATT_SOUTHERN_ISLANDS") {
        let root = Path::new(&root);
        found.extend(folders(&root.join("cases")));
        found.extend(folders(&root.join("fuzz")));
    }
    found
}

fn bytes_of(element: &str) -> usize {
    element[1..].parse::<usize>().unwrap() / 8
}

fn extent(case: &Table, key: &str) -> [u32; 3] {
    let values = case[key].as_array().unwrap();
    [0, 1, 2].map(|at| values[at].as_integer().unwrap() as u32)
}

fn before(folder: &Path, argument: &Table, bytes: usize) -> Vec<u8> {
    let read = |key: &str| std::fs::read(folder.join(argument[key].as_str().unwrap())).unwrap();
    match (
        argument["kind"].as_str(),
        argument.get("init").and_then(Value::as_str),
    ) {
        (Some("out"), Some("zeros()")) => vec![0; bytes],
        (Some("out"), Some(_)) => vec![0xcd; bytes],
        _ => read("file"),
    }
}

fn after(folder: &Path, argument: &Table) -> Vec<u8> {
    let key = if argument["kind"].as_str() == Some("inout") {
        "expect"
    } else {
        "file"
    };
    std::fs::read(folder.join(argument[key].as_str().unwrap())).unwrap()
}

fn number(argument: &Table, key: &str) -> f64 {
    let value = argument.get(key);
    value.map_or(0.0, |value| {
        value
            .as_float()
            .or(value.as_integer().map(|n| n as f64))
            .unwrap()
    })
}

fn element(kind: &str, bytes: &[u8]) -> f64 {
    match kind {
        "f32" => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    }
}

fn mismatches(argument: &Table, got: &[u8], want: &[u8]) -> usize {
    let kind = argument["type"].as_str().unwrap();
    let size = bytes_of(kind);
    let pairs = got.chunks(size).zip(want.chunks(size));
    let differ = pairs.filter(|(got, want)| {
        if got == want || !kind.starts_with('f') {
            return got != want;
        }
        let (got, want) = (element(kind, got), element(kind, want));
        let near = number(argument, "tol_abs") + number(argument, "tol_rel") * want.abs();
        (got - want).abs() > near || got.is_nan() != want.is_nan()
    });
    differ.count()
}

fn scalar(argument: &Table) -> Vec<u8> {
    let kind = argument["type"].as_str().unwrap();
    let value = &argument["value"];
    let float = || number(argument, "value");
    match kind {
        "f32" => (float() as f32).to_le_bytes().to_vec(),
        "f64" => float().to_le_bytes().to_vec(),
        _ => value.as_integer().unwrap().to_le_bytes()[..bytes_of(kind)].to_vec(),
    }
}

fn run(folder: &Path, object: &str, record: bool) -> Result<Execution, String> {
    run_case((folder, "small"), object, record)
}

fn run_case(
    (folder, case): (&Path, &str),
    object: &str,
    record: bool,
) -> Result<Execution, String> {
    let meta: Table = std::fs::read_to_string(folder.join("meta.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let case = meta[case].as_table().unwrap();
    let file = std::fs::read(folder.join(object)).unwrap();
    let code = Code::new(Object::read(&file).map_err(|error| error.to_string())?);
    let kernel = code
        .object()
        .kernel(case["kernel"].as_str().unwrap())
        .unwrap();
    let mut memory = DeviceMemory::default();
    let mut block = vec![0; kernel.argument_bytes as usize];
    let mut buffers = Vec::new();
    for (argument, place) in case["arg"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&kernel.arguments)
    {
        let argument = argument.as_table().unwrap();
        let value = if argument["kind"].as_str() == Some("scalar") {
            scalar(argument)
        } else {
            let size = bytes_of(argument["type"].as_str().unwrap());
            let bytes = size * argument["count"].as_integer().unwrap() as usize;
            let address = memory.alloc(
                argument["name"].as_str().unwrap(),
                before(folder, argument, bytes),
            );
            buffers.push((argument, address));
            address.to_le_bytes().to_vec()
        };
        assert_eq!(value.len(), place.bytes as usize, "{argument:?}");
        block[place.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    let launch = Launch {
        kernel: &kernel.name,
        grid: extent(case, "grid"),
        block: extent(case, "block"),
        dynamic_share: 0,
        arguments: block,
    };
    let options = Options {
        warp_width: 64,
        record,
        ..Options::default()
    };
    let execution = code
        .execute(&launch, &mut memory, &options)
        .map_err(|error| error.to_string())?;
    for (argument, address) in buffers {
        let wrong = mismatches(argument, memory.buffer(address), &after(folder, argument));
        if wrong > 0 {
            return Err(format!(
                "{wrong} elements of `{}` differ",
                argument["name"].as_str().unwrap()
            ));
        }
    }
    Ok(execution)
}

fn all(object: &str) {
    let results = cases().into_iter().map(|folder| {
        let result = run(&folder, object, true);
        result
            .map(|execution| check_trace(&execution))
            .map_err(|error| format!("{}: {error}", folder.display()))
    });
    let (passed, failed): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
    let failed: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    assert!(passed.len() + failed.len() >= 4);
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The trace is one that execution of PTX could have left.
fn check_trace(execution: &Execution) {
    let trace = execution.trace.as_ref().unwrap();
    let counts = trace.counts().unwrap();
    assert_eq!(counts.warp_instructions, execution.warp_instructions);
}

#[test]
fn linked_objects_compute_what_they_must() {
    all("kernel.hsaco");
}

#[test]
fn relocatable_objects_compute_what_they_must() {
    all("kernel.o");
}

/// What compilers and assemblers write beyond the other cases, at every level of optimisation.
#[test]
fn breadth_computes_what_it_must() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/breadth");
    let meta: Table = std::fs::read_to_string(folder.join("meta.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let names: Vec<&String> = meta.keys().filter(|key| meta[*key].is_table()).collect();
    assert_eq!(names.len(), 12);
    for name in names {
        let objects: &[&str] = match name.as_str() {
            "odd" => &["typed.o"],
            _ => &["kernel.O0.o", "kernel.O1.o", "kernel.O2.o", "kernel.O3.o"],
        };
        for object in objects {
            let done = run_case((&folder, name), object, true);
            done.map_or_else(
                |error| panic!("{name} of {object}: {error}"),
                |execution| check_trace(&execution),
            );
        }
    }
}

//! The JSON schemas against real files: what ships passes, and what readers refuse for its shape does not.

use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::Value;
use warpwatt::schema::Schema;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn validator(schema: Schema) -> Validator {
    jsonschema::draft202012::new(&schema.document())
        .unwrap_or_else(|error| panic!("{schema:?}: {error}"))
}

fn toml(path: &Path) -> Value {
    json(&fs::read_to_string(path).unwrap())
}

fn json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

/// Every file below `directory` with that name, or that extension.
fn files(directory: &str, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![root().join(directory)];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.file_name().is_some_and(|file| file == name)
                || path.extension().is_some_and(|extension| extension == name)
            {
                found.push(path);
            }
        }
    }
    found
}

fn all_pass(schema: Schema, files: &[PathBuf], at_least: usize) {
    assert!(files.len() >= at_least, "only {} files", files.len());
    let validator = validator(schema);
    for path in files {
        let document = toml(path);
        let faults: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(
            faults.is_empty(),
            "{}:\n{}",
            path.display(),
            faults.join("\n")
        );
    }
}

#[test]
fn studies_that_ship_pass() {
    all_pass(Schema::Study, &files("workloads/studies", "toml"), 12);
}

#[test]
fn launch_files_that_ship_pass() {
    all_pass(
        Schema::Launch,
        &files("workloads/kernels", "launch.toml"),
        45,
    );
}

#[test]
fn presets_pass() {
    all_pass(Schema::Preset, &files("models/gpu/presets", "toml"), 9);
}

#[test]
fn technology_nodes_pass() {
    all_pass(
        Schema::Technology,
        &files("techlib/data/silicon", "toml"),
        15,
    );
    all_pass(Schema::Technology, &files("techlib/data/itrs", "toml"), 5);
}

/// A study that is right, and lines that make it wrong.
#[test]
fn studies_of_a_wrong_shape_do_not_pass() {
    let right = "[study]\ntitle = \"t\"\n[workloads]\nkernels = [\"bfs\"]\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\n";
    let validator = validator(Schema::Study);
    assert!(validator.is_valid(&json(right)));
    let more = [
        "sm.threads = [1024, 512]",
        "scheduler = { policy = [\"round_robin\", \"two_level\"], group_size = 8 }",
        "[[technique]]\nname = \"filter_cache\"\nentries = [8, 16]",
        "[[technique]]\nstack = [{ name = \"filter_cache\" }, { name = \"power_gating\" }]",
        "[budget]\nslowdown = \"1%\"",
        "[budget]\nenergy_j = [\"<= 1 mJ\", \">= 1 uJ\"]\nfilter_cache.hit_rate = \">= 90%\"",
        "[pareto]\nmetrics = [\"energy_j\", \"max:fetches\"]",
        "sm.threads = { from = 128, to = 1024, count = 4, scale = \"log\" }",
        "vdd = { from = \"0.6 V\", to = \"0.8 V\" }\n[sweep]\nsample = \"sobol\"\ncount = 8",
        "[sweep]\nzip = [\"gpu.node\", \"gpu.preset\"]",
    ];
    for line in more {
        assert!(
            validator.is_valid(&json(&format!("{right}{line}"))),
            "{line}"
        );
    }
    let wrong = [
        "sm.thread = 512",
        "sm.threads = \"many\"",
        "sm.threads = []",
        "scheduler.policy = \"youngest\"",
        "nodes = \"7nm\"",
        "[techniques]\nname = \"filter_cache\"",
        "[[technique]]\nname = \"filter_cash\"",
        "[[technique]]\nname = \"filter_cache\"\nentry = 8",
        "[[technique]]\nname = \"filter_cache\"\nentries = \"8\"",
        "[[technique]]\nstack = [{ name = \"filter_cache\" }]",
        "[budget]\nslowdown = 1",
        "[budget]\nenergy_j = 1",
        "[pareto]\nmetrics = [\"energy_j\"]",
        "[output]\nformats = [\"pdf\"]",
        "[limits]\nwarp_instructions = 0",
    ];
    for line in wrong {
        assert!(
            !validator.is_valid(&json(&format!("{right}{line}"))),
            "{line}"
        );
    }
}

#[test]
fn launch_files_of_a_wrong_shape_do_not_pass() {
    let right = "name = \"k\"\n[small]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n";
    let validator = validator(Schema::Launch);
    assert!(validator.is_valid(&json(right)));
    for line in [
        "registers = 256",
        "[[small.arg]]\nname = \"x\"\nkind = \"in\"\ntype = \"f33\"",
        "[[small.arg]]\nname = \"x\"\nkind = \"input\"\ntype = \"f32\"",
        "[[small.arg]]\nname = \"x\"\nkind = \"in\"\ntype = \"f32\"\nlength = 4",
        "[[small.texture]]\nbuffer = \"x\"\nwidth = 4\nchannels = 3",
    ] {
        assert!(
            !validator.is_valid(&json(&format!("{right}{line}"))),
            "{line}"
        );
    }
}

#[test]
fn a_preset_lacks_nothing_and_has_nothing_else() {
    let validator = validator(Schema::Preset);
    let mut preset = toml(&root().join("models/gpu/presets/tesla-16sm.toml"));
    preset["sm"]
        .as_object_mut()
        .unwrap()
        .insert("colour".to_owned(), 1.into());
    assert!(!validator.is_valid(&preset));
    preset["sm"].as_object_mut().unwrap().remove("colour");
    preset["sm"].as_object_mut().unwrap().remove("count");
    assert!(!validator.is_valid(&preset));
}

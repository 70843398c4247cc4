//! Every preset of a product prices all that it counts.

use crate::common::{Scratch, stderr, warpwatt};
use serde_json::Value;
use warpwatt_gpu::{Inventory, Preset, presets};

/// A texture through a reference, multiply-adds of double precision, and a product of matrices.
const PTX: &str = "
.version 8.0 .target sm_80 .address_size 64
.global .texref image;
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<12>; .reg .f64 %d<4>; .reg .b64 %rd<5>;
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, {%f1, 0f3F800000}];
  cvt.f64.f32 %d1, %f2;
  fma.rn.f64 %d2, %d1, %d1, %d1;
  cvt.rn.f32.f64 %f2, %d2;
  mov.b32 %r2, 0; mov.f32 %f6, 0f00000000;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f7,%f8,%f9,%f10}, {%r2,%r2,%r2,%r2}, {%r2,%r2}, {%f6,%f6,%f6,%f6};
  add.rn.f32 %f2, %f2, %f7;
  ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;
  st.global.f32 [%rd2], %f2;
  ret;
}";

const LAUNCH: &str = r#"
name = "everything"
[build]
ptx = "k.ptx"
[small]
kernel = "k"
grid = [4]
block = [32]
[[small.arg]]
name = "out"
kind = "out"
type = "f32"
count = 32
[[small.arg]]
name = "pixels"
kind = "in"
type = "u8"
count = 8
init = "iota()"
[[small.texture]]
reference = "image"
buffer = "pixels"
width = 4
height = 2
filter = "linear"
fractions = true
"#;

/// Node and power limit, in watts, of each product's board; a preset without a row fails here. The limits are those of
/// TechPowerUp's GPU database, of V100, A100, H100 and H200 those of NVIDIA's data sheets of the SXM modules.
const BOARDS: [(&str, &str, f64); 11] = [
    ("gtx480", "40nm", 250.0),
    ("gtx-titan-x", "28nm", 250.0),
    ("titan-x-pascal", "16nm", 250.0),
    ("titan-xp", "16nm", 250.0),
    ("v100", "12nm", 300.0),
    ("titan-v", "12nm", 250.0),
    ("rtx2060s", "12nm", 175.0),
    ("a100", "7nm", 400.0),
    ("h100", "5nm", 700.0),
    ("h200", "5nm", 700.0),
    ("tahiti", "28nm", 250.0),
];

fn products() -> Vec<&'static Preset> {
    let is_product = |preset: &&Preset| {
        let spec = preset.spec().unwrap();
        spec.chip.inventory == Inventory::Chip
    };
    presets().iter().filter(is_product).collect()
}

/// The document of one kernel on one product at its node, and the limit of the board.
fn priced(scratch: &Scratch, kernel: &str, preset: &str) -> (Value, f64) {
    let board = BOARDS.iter().find(|(name, ..)| *name == preset);
    let (_, node, limit) = board.unwrap_or_else(|| panic!("{preset}: at which node?"));
    let arguments = [
        "kernel", kernel, "--preset", preset, "--node", node, "--json",
    ];
    let output = warpwatt(&scratch.path(""), &arguments);
    let value = serde_json::from_slice(&output.stdout);
    let value = value.unwrap_or_else(|error| panic!("{preset}: {error}: {}", stderr(&output)));
    (value, *limit)
}

/// Nothing is left out, nothing is negative, and the parts are the whole.
fn balanced(value: &Value, place: &str) {
    let unpriced = value["unpriced"].as_object().unwrap();
    assert!(unpriced.is_empty(), "{place}: {unpriced:?}");
    let structures = value["structures"].as_array().unwrap();
    let whole = |key: &str| value[key].as_f64().unwrap();
    for (part, total) in [
        ("energy_j", "energy_j"),
        ("dynamic_j", "dynamic_energy_j"),
        ("leakage_j", "leakage_energy_j"),
        ("power_w", "power_w"),
    ] {
        let parts: Vec<f64> = structures
            .iter()
            .map(|it| it[part].as_f64().unwrap())
            .collect();
        assert!(parts.iter().all(|it| *it >= 0.0), "{place}: {part} below 0");
        let ratio = parts.iter().sum::<f64>() / whole(total);
        assert!((ratio - 1.0).abs() < 1e-9, "{place}: {part}: {ratio}");
        assert!(whole(total) > 0.0, "{place}: {total}");
    }
    let sum = |rows: &Value| -> f64 {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["dynamic_j"].as_f64().unwrap()).sum()
    };
    let rest = value["of_no_instruction"].as_object().unwrap().values();
    let rest: f64 = rest.map(|joules| joules.as_f64().unwrap()).sum();
    for parts in ["opcodes", "lines"] {
        let ratio = (sum(&value[parts]) + rest) / whole("dynamic_energy_j");
        assert!((ratio - 1.0).abs() < 1e-9, "{place}: {parts}: {ratio}");
    }
    let ratio = whole("power_w") * whole("time_s") / whole("energy_j");
    assert!((ratio - 1.0).abs() < 1e-9, "{place}: power x time: {ratio}");
}

#[test]
fn every_product_prices_all_that_a_kernel_counts_and_stays_below_its_board() {
    let scratch = Scratch::new();
    scratch.write("k.ptx", PTX);
    scratch.write("everything.toml", LAUNCH);
    for preset in products() {
        let (value, limit) = priced(&scratch, "vector_add", preset.name);
        balanced(&value, preset.name);
        // Streaming through all SMs is neither nothing nor more than the board may take.
        let watts = value["power_w"].as_f64().unwrap();
        assert!(
            (0.02 * limit..limit).contains(&watts),
            "{}: {watts} W",
            preset.name
        );

        let (value, _) = priced(&scratch, "everything.toml", preset.name);
        balanced(&value, &format!("{}, everything", preset.name));
        for counter in ["fp64.read", "tensor_multiply_adds"] {
            let count = value["counters"][counter].as_u64().unwrap_or(0);
            assert!(count > 0, "{}: {counter}", preset.name);
        }
    }
}

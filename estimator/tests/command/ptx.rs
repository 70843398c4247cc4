//! `warpwatt ptx` through the command.

use serde_json::Value;

use crate::common::{Scratch, errors, stderr, stdout, warpwatt};

#[test]
fn a_supported_module_is_described() {
    let output = warpwatt(&errors(), &["ptx", "launches/copy.ptx", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["coverage"], 1.0);
    assert_eq!(value["unsupported"], Value::Array(Vec::new()));
    let entry = &value["entries"][0];
    let mix = entry["mix"].as_object().unwrap();
    let total: u64 = mix.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(Some(total), entry["instructions"].as_u64());
    let registers = |key: &str| entry["registers"][key].as_u64().unwrap();
    assert!(registers("after_allocation") <= registers("before_allocation"));
}

#[test]
fn what_is_not_supported_is_listed_with_its_place() {
    let scratch = Scratch::new();
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n  .reg .b32 %r<3>;\n  frobnicate.sync %r1, %r2;\n  ret;\n}\n";
    scratch.write("k.ptx", ptx);
    let output = warpwatt(&scratch.path(""), &["ptx", "k.ptx", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["instructions"], 2);
    assert_eq!(value["coverage"], 0.5);
    let item = &value["unsupported"][0];
    assert_eq!(item["form"], "frobnicate.sync");
    assert_eq!((&item["line"], &item["column"]), (&6.into(), &3.into()));
    let text = stdout(&warpwatt(&scratch.path(""), &["ptx", "k.ptx"]));
    assert!(
        text.contains("frobnicate.sync") && text.contains("6:3"),
        "{text}"
    );
}

#[test]
fn what_is_no_ptx_is_rejected_with_its_place() {
    let scratch = Scratch::new();
    scratch.write(
        "k.ptx",
        ".version 8.0\n.target sm_90\n.visible .entry k( {\n",
    );
    let output = warpwatt(&scratch.path(""), &["ptx", "k.ptx"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("k.ptx:3:"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_limit_of_registers_spills_and_one_too_low_is_refused_with_the_least() {
    let registers = |arguments: &[&str]| {
        let output = warpwatt(&errors(), arguments);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        value["entries"][0]["registers"].clone()
    };
    let free = registers(&["ptx", "launches/copy.ptx", "--json"]);
    assert_eq!(free["spills"]["values"], 0);
    let limited = registers(&["ptx", "launches/copy.ptx", "--registers", "4", "--json"]);
    assert!(free["after_allocation"].as_u64() > Some(4), "{free}");
    assert_eq!(limited["after_allocation"], 4);
    assert!(limited["spills"]["values"].as_u64() > Some(0), "{limited}");
    let output = warpwatt(&errors(), &["ptx", "launches/copy.ptx", "--registers", "3"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(
        text.contains("`copy` needs at least 4 registers, not 3"),
        "{text}"
    );
    assert!(text.contains("copy.ptx:"), "{text}");
}

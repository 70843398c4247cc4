//! Schemas against the readers: they must know the same keys.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Schema;
use crate::diag::Sink;
use crate::run::catalogue;
use crate::study::read;

const ALL: [Schema; 4] = [
    Schema::Study,
    Schema::Launch,
    Schema::Preset,
    Schema::Technology,
];

#[test]
fn every_schema_is_a_document_with_a_title_and_the_dialect() {
    for schema in ALL {
        let document = schema.document();
        assert!(
            document["title"]
                .as_str()
                .is_some_and(|title| title.starts_with("warpwatt")),
            "{schema:?}"
        );
        assert_eq!(
            document["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{schema:?}"
        );
    }
}

/// A key that no section has, and so unlike all others that the reader names what it knows.
const NONSENSE: &str = "qqqqqqqqqqqqqqqqqqqqqqqqq";

/// The keys that the study reader says it knows, when it finds [`NONSENSE`] in `text`.
fn keys_of_reader(text: &str) -> BTreeSet<String> {
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text);
    read(&mut sink, source, &catalogue());
    let said = sink
        .diags
        .iter()
        .filter(|diag| diag.code == "study::unknown_key")
        .find(|diag| diag.message.contains(NONSENSE))
        .unwrap_or_else(|| panic!("no complaint about:\n{text}"));
    let help = said.help.as_deref().unwrap_or_default();
    let names = help
        .strip_prefix("choose one of ")
        .unwrap_or_else(|| panic!("{help}"));
    names
        .split(", ")
        .map(|name| name.trim_matches('`').to_owned())
        .collect()
}

fn keys_of_schema(table: &Value) -> BTreeSet<String> {
    table["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect()
}

#[test]
fn a_study_has_the_sections_that_the_reader_knows() {
    assert_eq!(
        keys_of_schema(&Schema::Study.document()),
        keys_of_reader(&format!("{NONSENSE} = 1"))
    );
}

/// Sections that are one table of fixed keys; `[gpu]` and techniques are generated from code.
#[test]
fn a_section_has_the_keys_that_the_reader_knows() {
    let document = Schema::Study.document();
    let sections = document["properties"].as_object().unwrap();
    let mut seen = 0;
    for (name, section) in sections {
        if section["properties"].is_object()
            && section["additionalProperties"] == false
            && name != "gpu"
        {
            let text = format!("[{name}]\n{NONSENSE} = 1");
            assert_eq!(keys_of_schema(section), keys_of_reader(&text), "[{name}]");
            seen += 1;
        }
    }
    assert!(seen >= 5, "only {seen} sections were compared");
}

#[test]
fn the_gpu_has_its_own_keys_and_every_setting_of_a_preset() {
    let document = Schema::Study.document();
    let keys = keys_of_schema(&document["properties"]["gpu"]);
    let settings = warpwatt_gpu::presets()[0].table();
    let known: BTreeSet<String> = crate::study::GPU_KEYS
        .iter()
        .map(|key| (*key).to_owned())
        .chain(settings.keys().cloned())
        .collect();
    assert_eq!(keys, known);
}

#[test]
fn every_setting_of_a_gpu_is_described() {
    fn undescribed(path: &str, table: &Value, found: &mut Vec<String>) {
        for (key, setting) in table["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            if setting["description"].as_str().is_none_or(str::is_empty) {
                found.push(path.clone());
            }
            undescribed(&path, setting, found);
        }
    }
    let mut found = Vec::new();
    undescribed("", &Schema::Preset.document(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_structure_has_the_keys_that_the_reader_knows() {
    let document = Schema::Study.document();
    let structure = &document["properties"]["structure"]["items"];
    let text = format!("[[structure]]\n{NONSENSE} = 1");
    assert_eq!(keys_of_schema(structure), keys_of_reader(&text));
    let array = keys_of_schema(&structure["properties"]["array"]);
    let known = crate::array::Request::structure_keys().map(str::to_owned);
    assert_eq!(array, known.collect());
}

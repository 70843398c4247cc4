//! The schema of a study: what is written down, and what is made of the names that there are.

use serde_json::{Map, Value, json};
use warpwatt_reliability::Structure;
use warpwatt_techniques::parameter::Range;
use warpwatt_techniques::{Definition, Kind, Parameter};

use super::gpu::{axis, overrides};
use super::parsed;
use crate::papers::BESIDE;
use crate::report::metric::Metrics;
use crate::run::catalogue;
use crate::study::Format;

/// Keys of `[gpu]` that are axes, by the definition of their values.
const OPERATING: [&str; 5] = ["node", "flavour", "temperature", "vdd", "profile"];

pub(super) fn schema() -> Value {
    let names = catalogue();
    let mut schema = parsed(include_str!("data/study.json"));
    let of_gpu = &mut schema["properties"]["gpu"]["properties"];
    of_gpu["board"] = json!({
        "description": "Graphics board whose watts are reported: a shipped one by name, or the file of one. Its GPU is the preset.", "type": "string",
    });
    of_gpu["preset"] = axis(json!({
        "description": "GPU to start from; `warpwatt list presets NAME` shows every setting.", "enum": names.presets,
    }));
    for key in OPERATING {
        of_gpu[key] = axis(json!({ "$ref": format!("#/$defs/{key}") }));
    }
    for (setting, values) in overrides() {
        of_gpu[setting] = values;
    }
    let budget = &mut schema["properties"]["budget"]["properties"];
    for metric in Metrics::known().iter() {
        if budget[metric.name()].is_null() {
            budget[metric.name()] = json!({
                "description": format!("{} ({})", metric.meaning(), metric.unit()), "$ref": "#/$defs/bounds",
            });
        }
    }
    schema["properties"]["study"]["properties"]["paper"]["enum"] = json!(BESIDE);
    schema["properties"]["technique"]["items"] = technique_items();
    sweep_structures(&mut schema["properties"]["structure"]["items"]["properties"]);
    schema["$defs"]["format"]["enum"] = json!(Format::ALL.map(Format::name));
    schema["$defs"]["storage"]["enum"] = json!(Structure::ALL.map(Structure::name));
    schema["$defs"]["kernel"]["anyOf"][0]["enum"] = json!(names.kernels);
    schema
}

/// The keys of a structure that are axes: how many, and what it is made of.
fn sweep_structures(keys: &mut Value) {
    keys["count"] = axis(keys["count"].take());
    for of in ["array", "logic"] {
        for (_, key) in keys[of]["properties"].as_object_mut().into_iter().flatten() {
            *key = axis(key.take());
        }
    }
}

/// A technique, or a stack of them.
fn technique_items() -> Value {
    let mut kinds: Vec<Value> = warpwatt_techniques::ALL
        .iter()
        .map(|definition| technique(definition))
        .collect();
    kinds.push(json!({
        "type": "object",
        "required": ["stack"],
        "additionalProperties": false,
        "properties": {
            "stack": {
                "description": "Techniques that work together.",
                "type": "array", "minItems": 2, "items": { "anyOf": kinds.clone() },
            },
        },
    }));
    json!({ "anyOf": kinds })
}

fn technique(definition: &Definition) -> Value {
    let mut keys = Map::new();
    keys.insert(
        "name".to_owned(),
        json!({ "const": definition.name, "description": definition.summary }),
    );
    for parameter in definition.parameters {
        keys.insert(parameter.name.to_owned(), axis(value_of(parameter)));
    }
    json!({
        "description": definition.summary,
        "type": "object", "required": ["name"], "additionalProperties": false, "properties": keys,
    })
}

/// What a parameter takes.
fn value_of(parameter: &Parameter) -> Value {
    let description = format!(
        "{} ({}; {} by default)",
        parameter.meaning,
        parameter.range(),
        parameter.default()
    );
    let count =
        |range: Range| json!({ "type": "integer", "minimum": range.least, "maximum": range.most });
    let mut value = match parameter.kind {
        Kind::Count { range, .. } => count(range),
        Kind::PowerOfTwo { range, .. } => {
            json!({ "enum": range.powers_of_two().collect::<Vec<_>>() })
        }
        Kind::Counts { range, .. } => {
            let each = count(range);
            json!({ "anyOf": [each, { "type": "array", "minItems": 1, "items": each }] })
        }
        Kind::CountOr { range, word, .. } => json!({ "anyOf": [count(range), { "const": word }] }),
        Kind::Choice { words, .. } => json!({ "enum": words }),
        Kind::Flag { .. } => json!({ "type": "boolean" }),
    };
    value["description"] = json!(description);
    value
}

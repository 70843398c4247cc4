//! The schema of a GPU, from its specification's own types and their documentation.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use warpwatt_gpu::GpuSpec;

/// A whole GPU: every setting is there.
pub(super) fn schema() -> Value {
    let mut schema = inlined();
    if let Value::Object(schema) = &mut schema {
        schema.insert("title".to_owned(), json!("warpwatt GPU"));
    }
    schema
}

/// The settings of a study's `[gpu]`: any of them, each a value or a list of values.
pub(super) fn overrides() -> Map<String, Value> {
    let mut schema = inlined();
    swept(&mut schema);
    match schema.get_mut("properties").map(Value::take) {
        Some(Value::Object(settings)) => settings,
        _ => Map::new(),
    }
}

/// One schema without references, so that a study's can hold parts of it.
fn inlined() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<GpuSpec>()
        .to_value()
}

/// Makes every table's keys optional and every setting an axis.
fn swept(schema: &mut Value) {
    let Value::Object(table) = schema else { return };
    table.remove("required");
    let Some(Value::Object(settings)) = table.get_mut("properties") else {
        return;
    };
    for setting in settings.values_mut() {
        if setting.get("properties").is_some() {
            swept(setting);
        } else {
            *setting = axis(setting.take());
        }
    }
}

/// A value or a list of values without repeats; the value's description is that of both.
pub(super) fn axis(mut value: Value) -> Value {
    let description = match &mut value {
        Value::Object(value) => value.remove("description"),
        _ => None,
    };
    let mut axis = json!({
        "anyOf": [value, { "type": "array", "minItems": 1, "uniqueItems": true, "items": value }],
    });
    if let (Some(description), Value::Object(axis)) = (description, &mut axis) {
        axis.insert("description".to_owned(), description);
    }
    axis
}

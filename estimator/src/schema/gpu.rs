//! The schema of a GPU, from its specification's own types and their documentation.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use warpwatt_gpu::{GpuSpec, Lowering};

/// A whole GPU: every setting is there, and some once more in a table of a lowering with which they are others.
pub(super) fn schema() -> Value {
    let mut schema = inlined();
    let mut others = schema.clone();
    optional(&mut others);
    others["description"] = json!("What is otherwise with this `lower`.");
    for name in Lowering::NAMES {
        schema["properties"][name] = others.clone();
    }
    schema["title"] = json!("warpwatt GPU");
    schema
}

/// Makes every table's keys optional.
fn optional(schema: &mut Value) {
    let Value::Object(table) = schema else { return };
    table.remove("required");
    if let Some(Value::Object(settings)) = table.get_mut("properties") {
        settings.values_mut().for_each(optional);
    }
}

/// The settings of a study's `[gpu]`: any of them, each a value or a list of values.
pub(super) fn overrides() -> Map<String, Value> {
    let mut schema = inlined();
    optional(&mut schema);
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

/// Makes every setting an axis.
fn swept(schema: &mut Value) {
    let Some(Value::Object(settings)) = schema.get_mut("properties") else {
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

/// A value, a list of values without repeats, or a range if they are numbers; the value's description is that of both.
pub(super) fn axis(mut value: Value) -> Value {
    let description = match &mut value {
        Value::Object(value) => value.remove("description"),
        _ => None,
    };
    let range = range_of(&value);
    let mut kinds = vec![
        value.clone(),
        json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": value }),
    ];
    kinds.extend(range);
    let mut axis = json!({ "anyOf": kinds });
    if let (Some(description), Value::Object(axis)) = (description, &mut axis) {
        axis.insert("description".to_owned(), description);
    }
    axis
}

/// What ranges of such values look like, if there are any.
fn range_of(value: &Value) -> Option<Value> {
    let is_number = |value: &Value| value["type"] == "integer" || value["type"] == "number";
    let choices = value["anyOf"].as_array();
    let number = is_number(value) || choices.is_some_and(|choices| choices.iter().any(is_number));
    let quantity = ["#/$defs/temperature", "#/$defs/vdd"].map(|name| value["$ref"] == name);
    if number {
        Some(json!({ "$ref": "#/$defs/range" }))
    } else if quantity.contains(&true) {
        Some(json!({ "$ref": "#/$defs/quantity_range" }))
    } else {
        None
    }
}

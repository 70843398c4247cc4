//! What is counted, and what of it has a price: the names that expressions of studies may use.

use std::fmt::Write as _;

use comfy_table::Table;
use serde_json::{Value, json};
use warpwatt_activity::Event;

use super::{Listed, table};

/// Counters of the GPU model, then those of each technique.
pub(super) fn counters() -> Listed {
    let mut values = Vec::new();
    let mut rows = Table::new();
    for counter in warpwatt_gpu::COUNTERS {
        rows.add_row([counter.name, counter.unit, counter.meaning]);
        values.push(value(
            counter.name,
            counter.meaning,
            Some(counter.unit),
            None,
        ));
    }
    let mut text = String::from("Counters of the GPU model, over all SMs:\n\n");
    text += &table(rows, ["counter", "one count is a", "meaning"]);
    let techniques = warpwatt_techniques::ALL.iter();
    for definition in techniques.filter(|definition| !definition.counters.is_empty()) {
        let mut rows = Table::new();
        for (name, meaning) in definition.counters {
            rows.add_row([*name, *meaning]);
            values.push(value(name, meaning, None, Some(definition.name)));
        }
        let rows = table(rows, ["counter", "meaning"]);
        let _ = write!(text, "\nWith `{}`:\n\n{rows}", definition.name);
    }
    Listed {
        value: Value::Array(values),
        text,
    }
}

/// The action `read` of the structure `icache.tag` is counted as `icache.tag.read`; what has no dot is a statistic.
fn value(name: &str, meaning: &str, unit: Option<&str>, technique: Option<&str>) -> Value {
    let event = Event::of(name);
    json!({
        "name": name, "unit": unit, "meaning": meaning, "technique": technique,
        "structure": event.map(|event| event.structure), "action": event.map(|event| event.action),
    })
}

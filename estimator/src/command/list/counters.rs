//! What is counted, and what of it has a price: the names that expressions of studies may use.

use serde_json::json;
use warpwatt_activity::Event;

use super::{Entry, Listed, described};

/// Counters of the GPU model over all SMs, then those of each technique.
pub(super) fn counters() -> Listed {
    let of_gpu = warpwatt_gpu::COUNTERS
        .iter()
        .map(|counter| entry(counter.name, counter.meaning, Some(counter.unit), None));
    let of_techniques = warpwatt_techniques::ALL.iter().flat_map(|definition| {
        let counters = definition.counters.iter();
        counters.map(|(name, meaning)| entry(name, meaning, None, Some(definition.name)))
    });
    Listed {
        heading: vec!["counter", "one count is a", "with", "meaning"],
        entries: of_gpu.chain(of_techniques).collect(),
        foot: String::new(),
    }
}

/// The action `read` of the structure `icache.tag` is counted as `icache.tag.read`; what has no dot is a statistic.
fn entry(name: &str, meaning: &str, unit: Option<&str>, technique: Option<&str>) -> Entry {
    let event = Event::of(name);
    let (structure, action) = event.map_or((None, None), |event| {
        (Some(event.structure), Some(event.action))
    });
    let facts = [
        ("one count is a", unit),
        ("with the technique", technique),
        ("structure", structure),
        ("action", action),
    ];
    Entry {
        name: name.to_owned(),
        line: [name, unit.unwrap_or(""), technique.unwrap_or(""), meaning]
            .map(str::to_owned)
            .to_vec(),
        full: described(
            name,
            meaning,
            &facts.map(|(what, fact)| (what, fact.unwrap_or(""))),
        ),
        values: vec![json!({
            "name": name, "unit": unit, "meaning": meaning, "technique": technique, "structure": structure, "action": action,
        })],
    }
}

//! An answer as one JSON document: SI, with the unit in the key.

use serde_json::{Map, Value, json};
use warpwatt_circuit::{Cost, Organisation};

use super::Answer;
use super::answer::figures;
use crate::uncertainty::CONFIDENCE;

impl Answer {
    /// The document. Its keys are described in `docs/arrays.md`.
    pub fn json(&self) -> Value {
        let query = &self.query;
        let technology = &self.technology;
        let mut document = json!({
            "library": technology.library,
            "profile": technology.profile,
            "node": technology.node,
            "flavours": { "cell": query.flavours.cell.name(), "periphery": query.flavours.periphery.name() },
            "temperature_k": technology.temperature_k,
            "vdd_v": technology.vdd_v,
            "interpolation": technology.interpolation,
            "structure": query.spec,
            "settings": query.settings,
        });
        let object = document.as_object_mut();
        if let Some(object) = object {
            object.append(&mut side(&self.cost));
            object.insert("notes".to_owned(), json!(self.notes));
            object.insert("provenance".to_owned(), json!(technology.provenance));
            object.insert("sources".to_owned(), json!(technology.sources));
        }
        document
    }
}

/// The figures of a structure, or of one side of a cache.
fn side(cost: &Cost) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("model", json!(cost.model));
    let mut intervals = Map::new();
    for figure in figures(cost) {
        put(figure.key, json!(figure.value));
        let interval = figure.interval();
        intervals.insert(
            figure.key.to_owned(),
            json!({ "sigma": figure.uncertainty, "low": interval.low, "high": interval.high }),
        );
    }
    put("confidence", json!(CONFIDENCE));
    put("intervals", Value::Object(intervals));
    put(
        "organisation",
        cost.organisation
            .map_or(Value::Null, |of| organisation(&of)),
    );
    put("breakdown", breakdown(cost));
    put("gating", gating(cost));
    put("alternatives", alternatives(cost));
    for (key, inner) in [("tag", &cost.tag), ("data", &cost.data)] {
        let inner = inner.as_ref().map(|inner| Value::Object(side(inner)));
        put(key, inner.unwrap_or(Value::Null));
    }
    map
}

fn organisation(of: &Organisation) -> Value {
    json!({
        "slices": of.slices,
        "ndwl": of.ndwl, "ndbl": of.ndbl, "nspd": of.nspd,
        "ndcm": of.ndcm, "ndsam1": of.ndsam1, "ndsam2": of.ndsam2,
        "rows": of.rows, "cols": of.cols,
        "subarrays": of.subarrays, "active_subarrays": of.active_subarrays,
        "wires": of.wires,
    })
}

fn breakdown(cost: &Cost) -> Value {
    let parts = cost.breakdown.iter().map(|part| {
        json!({
            "name": part.name,
            "area_m2": part.area.si(),
            "delay_s": part.delay.si(),
            "read_energy_j": part.read_energy.si(),
            "leakage_w": part.leakage.si(),
        })
    });
    Value::Array(parts.collect())
}

fn gating(cost: &Cost) -> Value {
    let Some(gated) = &cost.gated else {
        return Value::Null;
    };
    json!({
        "leakage_w": gated.leakage.si(),
        "gate_leakage_w": gated.gate_leakage.si(),
        "wake_time_s": gated.wake_time.si(),
        "wake_energy_j": gated.wake_energy.si(),
        "header_area_m2": gated.header_area.si(),
        "header_width_m": gated.header_width.si(),
        "break_even_s": gated.break_even.si(),
        "rail_v": gated.rail.si(),
        "domains": gated.domains,
        "keeps_data": gated.keeps_data,
    })
}

fn alternatives(cost: &Cost) -> Value {
    let others = cost.alternatives.iter().map(|other| {
        json!({
            "model": other.model,
            "area_m2": other.area.si(),
            "access_time_s": other.access_time.si(),
            "cycle_time_s": other.cycle_time.si(),
            "read_energy_j": other.read_energy.si(),
            "write_energy_j": other.write_energy.si(),
            "leakage_w": other.leakage.si(),
        })
    });
    Value::Array(others.collect())
}

//! Listings and costs as text and as data.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use serde_json::{Value, json};
use warpwatt_circuit::logic;
use warpwatt_circuit::registry::{self, Block};
use warpwatt_circuit::{Cost, Part, Spec};
use warpwatt_techlib::quantity::{Area, Energy, Power, Time};

use super::request::{Priced, Request};

/// Every block with its parameters.
pub fn list() -> String {
    registry::blocks()
        .map(parameters)
        .collect::<Vec<String>>()
        .join("\n")
}

/// One block with its parameters.
pub fn parameters(block: &Block) -> String {
    let mut rows = table();
    for parameter in block.parameters {
        rows.add_row([
            format!("  --{}", parameter.name),
            parameter.default.to_owned(),
            parameter.allowed.text(),
            parameter.meaning.to_owned(),
        ]);
    }
    format!(
        "{}: {}\n  energy of {}\n{}",
        block.name,
        block.summary,
        block.operation,
        lines(&rows)
    )
}

/// A cost for people.
pub fn text(request: &Request, priced: &Priced) -> String {
    let cost = &priced.cost;
    let mut text = format!(
        "{}: {}\n{}\n\n",
        request.block.name,
        cost.model,
        place(request)
    );
    let sigma = &cost.uncertainty;
    let mut rows = table();
    let mut row = |name: &str, value: String, low: String, high: String| {
        rows.add_row([format!("  {name}"), value, format!("{low} to {high}")]);
    };
    let energy = |value: Energy| {
        (
            format!("{value}"),
            ends(value.si(), sigma.energy).map(|end| format!("{}", Energy::from_si(end))),
        )
    };
    if cost.area > Area::ZERO {
        let [low, high] =
            ends(cost.area.si(), sigma.area).map(|end| format!("{}", Area::from_si(end)));
        row("area", format!("{}", cost.area), low, high);
    }
    if cost.access_time > Time::ZERO {
        let [low, high] =
            ends(cost.access_time.si(), sigma.delay).map(|end| format!("{}", Time::from_si(end)));
        row("delay", format!("{}", cost.access_time), low, high);
    }
    let (value, [low, high]) = energy(cost.read_energy);
    row("energy", value, low, high);
    if cost.write_energy > Energy::ZERO {
        let (value, [low, high]) = energy(cost.write_energy);
        row("write energy", value, low, high);
    }
    if cost.leakage > Power::ZERO {
        let [low, high] =
            ends(cost.leakage.si(), sigma.leakage).map(|end| format!("{}", Power::from_si(end)));
        row("leakage", format!("{}", cost.leakage), low, high);
        rows.add_row([
            "  gate leakage".to_owned(),
            format!("{}", cost.gate_leakage),
            String::new(),
        ]);
    }
    let _ = writeln!(
        text,
        "{}  (energy of {}; ranges are one sigma)\n\n{}",
        lines(&rows),
        request.block.operation,
        parts(&cost.breakdown)
    );
    let counts = gates(&request.spec);
    if !counts.is_empty() {
        let counts: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let _ = writeln!(text, "\ngates: {}", counts.join(", "));
    }
    let _ = writeln!(text, "\nsources:");
    for source in &priced.sources {
        let _ = writeln!(text, "  {source}");
    }
    text
}

/// A cost for programs.
pub fn json(request: &Request, priced: &Priced) -> Value {
    let Cost {
        area,
        width,
        height,
        access_time,
        read_energy,
        write_energy,
        leakage,
        gate_leakage,
        ..
    } = &priced.cost;
    let sigma = &priced.cost.uncertainty;
    let breakdown: Vec<Value> = priced.cost.breakdown.iter().map(part).collect();
    let counts: serde_json::Map<String, Value> = gates(&request.spec)
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    json!({
        "block": request.block.name, "operation": request.block.operation, "model": priced.cost.model, "spec": request.spec,
        "library": request.technology.library.to_string(), "node": format!("{:.0}nm", request.technology.feature.as_nm()),
        "flavour": request.technology.flavour.name(), "temperature_k": request.at.temperature.si(), "vdd_v": vdd(request),
        "area_m2": area.si(), "width_m": width.si(), "height_m": height.si(), "delay_s": access_time.si(), "energy_j": read_energy.si(),
        "write_energy_j": write_energy.si(), "leakage_w": leakage.si(), "gate_leakage_w": gate_leakage.si(),
        "interval": {
            "area_m2": ends(area.si(), sigma.area), "delay_s": ends(access_time.si(), sigma.delay),
            "energy_j": ends(read_energy.si(), sigma.energy), "leakage_w": ends(leakage.si(), sigma.leakage),
        },
        "uncertainty": sigma, "breakdown": breakdown, "gates": counts, "sources": priced.sources,
    })
}

fn part(part: &Part) -> Value {
    json!({
        "name": part.name, "area_m2": part.area.si(), "delay_s": part.delay.si(), "energy_j": part.read_energy.si(), "leakage_w": part.leakage.si(),
    })
}

/// One sigma down and up; a factor, so that nothing gets negative.
fn ends(value: f64, sigma: f64) -> [f64; 2] {
    [value / (1.0 + sigma), value * (1.0 + sigma)]
}

fn vdd(request: &Request) -> f64 {
    request
        .at
        .vdd
        .unwrap_or(request.technology.device.vdd.value)
        .si()
}

fn place(request: &Request) -> String {
    let technology = &request.technology;
    let between = technology
        .interpolation
        .as_ref()
        .map_or_else(String::new, |between| {
            format!(
                ", between the tables of {} and {}",
                between.larger, between.smaller
            )
        });
    format!(
        "{} of library `{}`{between}, {:.3} V, {}",
        technology.label(),
        technology.library,
        vdd(request),
        request.at.temperature
    )
}

fn gates(spec: &Spec) -> Vec<(&'static str, u64)> {
    let Spec::Logic(block) = spec else {
        return Vec::new();
    };
    let counts = logic::gates(block).unwrap_or_default();
    counts
        .into_iter()
        .map(|(kind, count)| (kind.name(), count))
        .collect()
}

fn parts(breakdown: &[Part]) -> String {
    let mut rows = table();
    rows.set_header(["  part", "area", "delay", "energy", "leakage"]);
    for part in breakdown {
        rows.add_row([
            format!("  {}", part.name),
            format!("{}", part.area),
            format!("{}", part.delay),
            format!("{}", part.read_energy),
            format!("{}", part.leakage),
        ]);
    }
    lines(&rows)
}

fn table() -> Table {
    let mut rows = Table::new();
    rows.load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    rows
}

fn lines(rows: &Table) -> String {
    let lines: Vec<String> = rows
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n") + "\n"
}

//! What a data sheet of a technology says at one operating point.

use serde_json::{Map, Value, json};
use warpwatt_techlib::quantity::{Figure, Temperature, Voltage};
use warpwatt_techlib::{How, Operating, TechError, Technology, WireStack, metrics};

/// One figure that follows from the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Key in JSON: `fo4_s`.
    pub key: &'static str,
    /// For people.
    pub name: &'static str,
    /// In SI.
    pub si: f64,
    /// In a readable unit.
    pub text: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

/// A technology at an operating point.
pub struct Sheet<'t> {
    /// The technology.
    pub technology: &'t Technology,
    /// The operating point.
    pub at: Operating,
    /// What follows from its values.
    pub lines: Vec<Line>,
}

impl<'t> Sheet<'t> {
    /// The sheet of a technology.
    ///
    /// # Errors
    ///
    /// The operating point is outside the ranges of the technology.
    pub fn new(
        technology: &'t Technology,
        vdd: Option<Voltage>,
        temperature: Temperature,
    ) -> Result<Self, TechError> {
        let at = technology.at(vdd, temperature)?;
        let cell_leakage = technology.cell_leakage(vdd, temperature)?;
        let device = &technology.device;
        let (i_on, c) = (device.i_on_n.uncertainty, device.c_gate_ideal.uncertainty);
        let i_off = device.i_off_n.uncertainty();
        let cell = &technology.cell;
        let ratio = at.i_on_n / at.i_off;
        let mut lines = vec![
            line("vdd_v", "supply", at.vdd, device.vdd.uncertainty),
            line(
                "fo4_s",
                "fan-out-of-4 delay",
                metrics::fo4(technology, &at),
                i_on.hypot(c),
            ),
            line("i_on_a_per_m", "on-current", at.i_on_n, i_on),
            line("i_off_a_per_m", "off-current", at.i_off, i_off),
            line("i_on_over_i_off", "on over off", ratio, i_on.hypot(i_off)),
            line(
                "i_gate_a_per_m",
                "gate leakage",
                at.i_gate,
                device.i_gate_n.uncertainty(),
            ),
            line("r_n_ohm_m", "on-resistance, NMOS", at.r_n, i_on),
            line("r_p_ohm_m", "on-resistance, PMOS", at.r_p, i_on),
            line(
                "c_gate_f_per_m",
                "gate capacitance",
                metrics::gate_capacitance(technology),
                c,
            ),
            line(
                "c_drain_f_per_m",
                "drain capacitance",
                metrics::drain_capacitance(technology),
                c,
            ),
            line(
                "cell_area_m2",
                "memory cell, area",
                cell.width.value * cell.height.value,
                cell.width.uncertainty,
            ),
            line(
                "cell_width_m",
                "memory cell, along the wordline",
                cell.width.value,
                cell.width.uncertainty,
            ),
            line(
                "cell_height_m",
                "memory cell, along the bitline",
                cell.height.value,
                cell.height.uncertainty,
            ),
            line(
                "cell_leakage_w",
                "memory cell of these transistors, leakage",
                cell_leakage,
                i_off,
            ),
        ];
        lines.extend(wires(technology));
        Ok(Self {
            technology,
            at,
            lines,
        })
    }

    /// Everything as one JSON document, SI with the unit in the key.
    pub fn json(&self) -> Value {
        let technology = self.technology;
        let figures: Map<String, Value> = self
            .lines
            .iter()
            .map(|line| {
                (
                    line.key.to_owned(),
                    json!({ "value": line.si, "uncertainty": line.uncertainty }),
                )
            })
            .collect();
        let values: Vec<Value> = technology
            .entries()
            .iter()
            .map(|entry| {
                let (how, detail) = how(entry.pedigree.how);
                json!({
                    "name": entry.name, "value": entry.si, "unit": entry.unit, "uncertainty": entry.uncertainty, "cause": entry.cause,
                    "source": entry.pedigree.source, "how": how, "detail": detail, "valid": entry.valid,
                })
            })
            .collect();
        let drive = &technology.device.drive;
        json!({
            "library": &*technology.library, "node": format!("{:.0}nm", technology.feature.as_nm()), "flavour": technology.flavour.name(),
            "kind": technology.layout.kind, "sketch": technology.sketch.as_deref(), "vdd_v": self.at.vdd.si(), "temperature_k": self.at.temperature.si(),
            "vdd_range_v": [drive.low.si(), drive.high.si()],
            "interpolation": technology.interpolation.as_ref().map(|between| json!({
                "larger_m": between.larger.si(), "smaller_m": between.smaller.si(), "share_of_larger": between.share_of_larger, "rule": &*between.rule,
            })),
            "figures": figures, "values": values,
            "defects": technology.defects.iter().map(|defect| json!({ "value": defect.name, "at": defect.at, "note": defect.note })).collect::<Vec<_>>(),
        })
    }
}

/// How a value was obtained, and the rule, script or reason.
pub fn how(how: &How) -> (&'static str, Option<&str>) {
    match how {
        How::Published => ("published", None),
        How::Measured => ("measured", None),
        How::Scaled { rule } => ("scaled", Some(rule)),
        How::Fitted { script } => ("fitted", Some(script)),
        How::Assumed { reason } => ("assumed", Some(reason)),
    }
}

fn line<T: Figure>(key: &'static str, name: &'static str, value: T, uncertainty: f64) -> Line {
    Line {
        key,
        name,
        si: value.number(),
        text: value.readable(),
        uncertainty,
    }
}

fn wires(technology: &Technology) -> Vec<Line> {
    let stack = |stack: &WireStack, keys: [(&'static str, &'static str); 6]| {
        let layers = [&stack.local, &stack.semi_global, &stack.global];
        let pairs = keys.chunks(2).zip(layers).map(|(keys, layer)| {
            [
                line(
                    keys[0].0,
                    keys[0].1,
                    layer.resistance.value,
                    layer.resistance.uncertainty,
                ),
                line(
                    keys[1].0,
                    keys[1].1,
                    layer.capacitance.value,
                    layer.capacitance.uncertainty,
                ),
            ]
        });
        pairs.flatten().collect::<Vec<_>>()
    };
    let mut lines = stack(
        &technology.wires.conservative,
        [
            ("local_ohm_per_m", "local wire, resistance"),
            ("local_f_per_m", "local wire, capacitance"),
            ("semi_global_ohm_per_m", "semi-global wire, resistance"),
            ("semi_global_f_per_m", "semi-global wire, capacitance"),
            ("global_ohm_per_m", "global wire, resistance"),
            ("global_f_per_m", "global wire, capacitance"),
        ],
    );
    lines.extend(stack(
        &technology.wires.aggressive,
        [
            (
                "aggressive_local_ohm_per_m",
                "aggressive local wire, resistance",
            ),
            (
                "aggressive_local_f_per_m",
                "aggressive local wire, capacitance",
            ),
            (
                "aggressive_semi_global_ohm_per_m",
                "aggressive semi-global wire, resistance",
            ),
            (
                "aggressive_semi_global_f_per_m",
                "aggressive semi-global wire, capacitance",
            ),
            (
                "aggressive_global_ohm_per_m",
                "aggressive global wire, resistance",
            ),
            (
                "aggressive_global_f_per_m",
                "aggressive global wire, capacitance",
            ),
        ],
    ));
    lines
}

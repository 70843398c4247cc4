//! Every value of a technology with its unit, its pedigree and what its error has in common with others.

use std::fmt;

use serde::Serialize;

use crate::law::{ActivatedLaw, DriveLaw, Leakage, TunnelLaw};
use crate::quantity::Figure;
use crate::technology::{
    Cell, CellFamily, Device, Fin, Layout, Sense, SquareLaw, WireLayer, WireStack,
};
use crate::{How, Sourced, Technology};

/// Where one value is from and how it was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pedigree<'a> {
    /// Document or file with line.
    pub source: &'a str,
    /// How it was obtained.
    pub how: &'a How,
}

/// One value of a technology.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// `device.i_on_n`, `wires.conservative.local.pitch`.
    pub name: String,
    /// In SI.
    pub si: f64,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// For people, in a readable unit.
    pub text: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
    /// With which other values of the node it errs together.
    pub cause: Cause,
    /// Where it is from and how it was obtained.
    pub pedigree: Pedigree<'a>,
    /// Where it holds.
    pub valid: &'a str,
    /// Whether it falls where the others of its cause rise: the on-resistance of a transistor is its supply over its on-current.
    pub inverse: bool,
}

/// What a value's error has in common with others: values of one node and one cause err together, those of different causes do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Supply and thresholds.
    Voltage,
    /// On-current and what follows from it.
    IOn,
    /// How drive depends on supply and temperature.
    DriveLaw,
    /// Sub-threshold leakage at its reference point.
    IOff,
    /// How it depends on supply and temperature.
    IOffLaw,
    /// Gate leakage.
    IGate,
    /// Capacitances of transistors.
    Capacitance,
    /// Lengths of the layout.
    Geometry,
    /// Memory cells.
    Cell,
    /// Resistance of wires.
    WireR,
    /// Capacitance of wires.
    WireC,
}

impl Cause {
    /// As written in reports: `i_on`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Voltage => "voltage",
            Self::IOn => "i_on",
            Self::DriveLaw => "drive_law",
            Self::IOff => "i_off",
            Self::IOffLaw => "i_off_law",
            Self::IGate => "i_gate",
            Self::Capacitance => "capacitance",
            Self::Geometry => "geometry",
            Self::Cell => "cell",
            Self::WireR => "wire_r",
            Self::WireC => "wire_c",
        }
    }

    /// Of a field in a group of fields.
    fn of(group: &str, field: &str) -> Self {
        match field {
            "vdd" | "vth" | "vdsat" | "precharge" => Self::Voltage,
            "i_on_n" | "r_n_on" | "r_p_on" | "n_to_p_drive_ratio" | "mobility_n" | "gmp_to_gmn" => {
                Self::IOn
            }
            "alpha" | "threshold" | "r_temperature" => Self::DriveLaw,
            "activation" | "dibl" | "swing" => Self::IOffLaw,
            "exponent" => Self::IGate,
            "resistance" | "barrier" => Self::WireR,
            "capacitance" | "miller" | "k_horizontal" | "k_vertical" | "ild" | "fringe" => {
                Self::WireC
            }
            "current" if group.contains("i_gate") => Self::IGate,
            "current" => Self::IOff,
            "pitch" | "aspect_ratio" | "l_elec" => Self::Geometry,
            _ if group.starts_with("cell") => Self::Cell,
            _ if group.starts_with("layout") => Self::Geometry,
            _ => Self::Capacitance,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'a> Entry<'a> {
    fn of<T: Figure>(group: &str, field: &str, value: &'a Sourced<T>) -> Self {
        Self {
            name: format!("{group}.{field}"),
            si: value.value.number(),
            unit: T::UNIT,
            text: value.value.readable(),
            uncertainty: value.uncertainty,
            cause: Cause::of(group, field),
            pedigree: Pedigree {
                source: &value.source,
                how: &value.how,
            },
            valid: &value.valid,
            inverse: matches!(field, "r_n_on" | "r_p_on"),
        }
    }
}

/// The listed fields. Destructuring without `..` makes a field that is added later a compile error here.
macro_rules! entries {
    ($group:expr, $type:ident, $value:expr, { $($field:ident),+ $(,)? } $(, $other:ident)*) => {{
        let $type { $($field,)+ $($other: _,)* } = $value;
        vec![$(Entry::of($group, stringify!($field), $field)),+]
    }};
}

impl Technology {
    /// Every value, in a fixed order.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut all = device(&self.device);
        all.extend(layout(&self.layout));
        all.extend(entries!("cell", Cell, &self.cell, {
            width, height, access_width, nmos_width, pmos_width, precharge,
        }));
        all.extend(self.cells.iter().flat_map(|cells| {
            entries!("cells", CellFamily, cells, {
                high_current_area, high_current_drive, eight_t_area, cam_area,
            })
        }));
        all.extend(stack("wires.aggressive", &self.wires.aggressive));
        all.extend(stack("wires.conservative", &self.wires.conservative));
        all
    }

    /// Where every value of this technology is from, in a fixed order.
    pub fn pedigrees(&self) -> Vec<Pedigree<'_>> {
        self.entries().iter().map(|entry| entry.pedigree).collect()
    }
}

fn device(device: &Device) -> Vec<Entry<'_>> {
    let mut all = entries!("device", Device, device, {
        vdd, vth, i_on_n, n_to_p_drive_ratio, r_n_on, r_p_on, c_gate_ideal, c_fringe, c_junction, c_junction_sidewall, l_elec,
    }, drive, i_off_n, i_gate_n, sense);
    all.extend(entries!("device.drive", DriveLaw, &device.drive, { alpha, threshold, r_temperature }, low, high));
    all.extend(leakage("device.i_off_n", &device.i_off_n));
    all.extend(leakage("device.i_gate_n", &device.i_gate_n));
    if let Sense::Square(law) = &device.sense {
        let law = law.as_ref();
        all.extend(
            entries!("device.sense", SquareLaw, law, { c_ox, mobility_n, vdsat, gmp_to_gmn }),
        );
    }
    all
}

fn leakage<'a>(group: &str, leakage: &'a Leakage) -> Vec<Entry<'a>> {
    match leakage {
        Leakage::Table(table) => table
            .rows()
            .iter()
            .map(|(at, value)| Entry {
                name: format!("{group}.{:.0}K", at.as_k()),
                ..Entry::of(group, "current", value)
            })
            .collect(),
        Leakage::Activated(law) => {
            entries!(group, ActivatedLaw, law, { current, activation, dibl, swing }, range)
        }
        Leakage::Tunnel(law) => entries!(group, TunnelLaw, law, { current, exponent }),
    }
}

fn layout(layout: &Layout) -> Vec<Entry<'_>> {
    let mut all = entries!("layout", Layout, layout, { unit, gate_pitch, row_height }, kind, fin);
    if let Some(fin) = &layout.fin {
        all.extend(entries!("layout.fin", Fin, fin, { pitch, effective_width }));
    }
    all
}

fn stack<'a>(group: &str, stack: &'a WireStack) -> Vec<Entry<'a>> {
    let WireStack {
        local,
        semi_global,
        global,
    } = stack;
    let layers = [
        ("local", local),
        ("semi_global", semi_global),
        ("global", global),
    ];
    let each = layers.map(|(name, layer)| {
        entries!(&format!("{group}.{name}"), WireLayer, layer, {
            pitch, resistance, capacitance, aspect_ratio, miller, k_horizontal, k_vertical, ild, barrier, fringe,
        })
    });
    each.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flavour, Library};

    #[test]
    fn an_interpolated_node_has_as_many_values_as_a_table_and_all_that_mix_are_scaled() {
        let library = Library::itrs().unwrap();
        let table = library.node("32nm", Flavour::Hp).unwrap();
        let between = library.node("28nm", Flavour::Hp).unwrap();
        let scaled = |technology: &Technology| {
            let all = technology.pedigrees();
            let scaled = all
                .iter()
                .filter(|pedigree| matches!(pedigree.how, How::Scaled { .. }));
            (all.len(), scaled.count())
        };
        assert_eq!(scaled(&table).0, scaled(&between).0);
        assert!(scaled(&between).1 > scaled(&table).1);
        assert!(table.pedigrees().iter().all(|p| !p.source.is_empty()));
    }
}

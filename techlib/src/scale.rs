//! A technology with other values: what it would be if its inputs were not quite what the sources say.

use std::ops::Mul;

use crate::law::{ActivatedLaw, DriveLaw, Leakage, TunnelLaw};
use crate::technology::{
    Cell, CellFamily, Device, Fin, Layout, Sense, SquareLaw, WireLayer, WireStack,
};
use crate::{Entry, Sourced, Technology};

/// A value that can be multiplied where it stands.
trait Scale {
    fn scale(&mut self, factor: f64);
}

impl<T: Copy + Mul<f64, Output = T>> Scale for Sourced<T> {
    fn scale(&mut self, factor: f64) {
        self.value = self.value * factor;
    }
}

impl Technology {
    /// The same technology with each of its [`entries`](Self::entries) multiplied by what `factor` says of it. Pedigrees and uncertainties stay. Where the
    /// nominal supply moves, the supplies between which the drive law holds reach as far as before and as far as the moved ones.
    ///
    /// ```
    /// use warpwatt_techlib::{Cause, Flavour, Library};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let technology = Library::silicon()?.node("7nm", Flavour::Hp)?;
    /// let leaky = technology.scaled(|entry| if entry.cause == Cause::IOff { 2.0 } else { 1.0 });
    /// let current = |of: &warpwatt_techlib::Technology| of.at(None, warpwatt_techlib::quantity::Temperature::from_k(300.0)).map(|at| at.i_off);
    /// assert_eq!(current(&leaky)?, current(&technology)? * 2.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn scaled(&self, factor: impl FnMut(&Entry<'_>) -> f64) -> Self {
        let factors: Vec<f64> = self.entries().iter().map(factor).collect();
        let nominal = self.device.vdd.value;
        let mut scaled = self.clone();
        for (value, factor) in values(&mut scaled).into_iter().zip(factors) {
            value.scale(factor);
        }
        let moved = scaled.device.vdd.value / nominal;
        let drive = &mut scaled.device.drive;
        drive.low = drive.low.min(drive.low * moved);
        drive.high = drive.high.max(drive.high * moved);
        scaled
    }
}

/// The listed fields. Destructuring without `..` makes a field that is added later a compile error here.
macro_rules! fields {
    ($type:ident, $value:expr, { $($field:ident),+ $(,)? } $(, $other:ident)*) => {{
        let $type { $($field,)+ $($other: _,)* } = $value;
        let fields: Vec<&mut dyn Scale> = vec![$($field),+];
        fields
    }};
}

/// Every value, in the order of [`Technology::entries`].
fn values(technology: &mut Technology) -> Vec<&mut dyn Scale> {
    let mut all = device(&mut technology.device);
    all.extend(layout(&mut technology.layout));
    all.extend(fields!(Cell, &mut technology.cell, {
        width, height, access_width, nmos_width, pmos_width, precharge,
    }));
    if let Some(cells) = &mut technology.cells {
        all.extend(fields!(CellFamily, cells, {
            high_current_area, high_current_drive, eight_t_area, cam_area,
        }));
    }
    all.extend(stack(&mut technology.wires.aggressive));
    all.extend(stack(&mut technology.wires.conservative));
    all
}

fn device(device: &mut Device) -> Vec<&mut dyn Scale> {
    let Device {
        c_gate_ideal,
        c_fringe,
        c_junction,
        c_junction_sidewall,
        l_elec,
        vdd,
        vth,
        i_on_n,
        n_to_p_drive_ratio,
        r_n_on,
        r_p_on,
        drive,
        i_off_n,
        i_gate_n,
        sense,
    } = device;
    let mut all: Vec<&mut dyn Scale> = vec![
        vdd,
        vth,
        i_on_n,
        n_to_p_drive_ratio,
        r_n_on,
        r_p_on,
        c_gate_ideal,
        c_fringe,
        c_junction,
        c_junction_sidewall,
        l_elec,
    ];
    all.extend(fields!(DriveLaw, drive, { alpha, threshold, r_temperature }, low, high));
    all.extend(leakage(i_off_n));
    all.extend(leakage(i_gate_n));
    if let Sense::Square(law) = sense {
        let law = law.as_mut();
        all.extend(fields!(SquareLaw, law, { c_ox, mobility_n, vdsat, gmp_to_gmn }));
    }
    all
}

fn leakage(leakage: &mut Leakage) -> Vec<&mut dyn Scale> {
    match leakage {
        Leakage::Table(table) => table
            .rows_mut()
            .iter_mut()
            .map(|(_, value)| value as &mut dyn Scale)
            .collect(),
        Leakage::Activated(law) => {
            fields!(ActivatedLaw, law, { current, activation, dibl, swing }, range)
        }
        Leakage::Tunnel(law) => fields!(TunnelLaw, law, { current, exponent }),
    }
}

fn layout(layout: &mut Layout) -> Vec<&mut dyn Scale> {
    let Layout {
        kind: _,
        unit,
        gate_pitch,
        row_height,
        fin,
    } = layout;
    let mut all: Vec<&mut dyn Scale> = vec![unit, gate_pitch, row_height];
    if let Some(fin) = fin {
        all.extend(fields!(Fin, fin, { pitch, effective_width }));
    }
    all
}

fn stack(stack: &mut WireStack) -> Vec<&mut dyn Scale> {
    let WireStack {
        local,
        semi_global,
        global,
    } = stack;
    let each = [local, semi_global, global].map(|layer| {
        fields!(WireLayer, layer, {
            pitch, resistance, capacitance, aspect_ratio, miller, k_horizontal, k_vertical, ild, barrier, fringe,
        })
    });
    each.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use crate::{Flavour, Library};

    #[test]
    fn every_value_is_multiplied_by_its_own_factor() {
        let nodes = [
            (Library::silicon().unwrap(), "7nm"),
            (Library::silicon().unwrap(), "28nm"),
            (Library::itrs().unwrap(), "32nm"),
        ];
        for (library, node) in nodes {
            let technology = library.node(node, Flavour::Hp).unwrap();
            let mut next = 0.0;
            let scaled = technology.scaled(|_| {
                next += 1.0;
                next
            });
            let (before, after) = (technology.entries(), scaled.entries());
            assert_eq!(before.len(), after.len());
            for (number, (before, after)) in before.iter().zip(&after).enumerate() {
                let expected = before.si * (number as f64 + 1.0);
                assert!(
                    (after.si - expected).abs() <= 1e-12 * expected.abs(),
                    "{}",
                    before.name
                );
                assert_eq!(before.uncertainty, after.uncertainty);
            }
        }
    }

    #[test]
    fn factors_of_one_change_nothing() {
        let technology = Library::silicon()
            .unwrap()
            .node("7nm", Flavour::Hp)
            .unwrap();
        assert_eq!(technology.scaled(|_| 1.0), technology);
    }

    #[test]
    fn a_technology_survives_being_written_down() {
        for (library, node) in [
            (Library::silicon().unwrap(), "28nm"),
            (Library::itrs().unwrap(), "32nm"),
        ] {
            let technology = library.node(node, Flavour::Lstp).unwrap();
            let text = serde_json::to_string(&technology).unwrap();
            let back: crate::Technology = serde_json::from_str(&text).unwrap();
            assert_eq!(format!("{technology:?}"), format!("{back:?}"));
        }
    }
}

//! The pedigree of every value of a technology.

use crate::law::{ActivatedLaw, DriveLaw, Leakage, TunnelLaw};
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

impl<'a> Pedigree<'a> {
    fn of<T>(value: &'a Sourced<T>) -> Self {
        Self {
            source: &value.source,
            how: &value.how,
        }
    }
}

/// The pedigrees of the listed fields. Destructuring without `..` makes a field that is added later a compile error here.
macro_rules! pedigrees {
    ($type:ident, $value:expr, { $($field:ident),+ $(,)? } $(, $other:ident)*) => {{
        let $type { $($field,)+ $($other: _,)* } = $value;
        [$(Pedigree::of($field)),+]
    }};
}

impl Technology {
    /// Where every value of this technology is from, in a fixed order.
    pub fn pedigrees(&self) -> Vec<Pedigree<'_>> {
        let mut all = device(&self.device);
        all.extend(layout(&self.layout));
        all.extend(self.cells.iter().flat_map(family));
        all.extend(cell(&self.cell));
        for stack in [&self.wires.aggressive, &self.wires.conservative] {
            let WireStack {
                local,
                semi_global,
                global,
            } = stack;
            for layer in [local, semi_global, global] {
                all.extend(wire(layer));
            }
        }
        all
    }
}

fn device(device: &Device) -> Vec<Pedigree<'_>> {
    let mut all = pedigrees!(Device, device, {
        c_gate_ideal, c_fringe, c_junction, c_junction_sidewall, l_elec, vdd, vth, i_on_n, n_to_p_drive_ratio, r_n_on, r_p_on,
    }, drive, i_off_n, i_gate_n, sense)
    .to_vec();
    all.extend(pedigrees!(DriveLaw, &device.drive, { alpha, threshold, r_temperature }, low, high));
    for leakage in [&device.i_off_n, &device.i_gate_n] {
        match leakage {
            Leakage::Table(table) => {
                all.extend(table.rows().iter().map(|(_, value)| Pedigree::of(value)));
            }
            Leakage::Activated(law) => {
                all.extend(
                    pedigrees!(ActivatedLaw, law, { current, activation, dibl, swing }, range),
                );
            }
            Leakage::Tunnel(law) => all.extend(pedigrees!(TunnelLaw, law, { current, exponent })),
        }
    }
    if let Sense::Square(law) = &device.sense {
        let law = law.as_ref();
        all.extend(pedigrees!(SquareLaw, law, { c_ox, mobility_n, vdsat, gmp_to_gmn }));
    }
    all
}

fn layout(layout: &Layout) -> Vec<Pedigree<'_>> {
    let mut all = pedigrees!(Layout, layout, { unit, gate_pitch, row_height }, kind, fin).to_vec();
    if let Some(fin) = &layout.fin {
        all.extend(pedigrees!(Fin, fin, { pitch, effective_width }));
    }
    all
}

fn family(family: &CellFamily) -> [Pedigree<'_>; 4] {
    pedigrees!(CellFamily, family, { high_current_area, high_current_drive, eight_t_area, cam_area })
}

fn cell(cell: &Cell) -> [Pedigree<'_>; 6] {
    pedigrees!(Cell, cell, { width, height, access_width, nmos_width, pmos_width, precharge })
}

fn wire(layer: &WireLayer) -> [Pedigree<'_>; 10] {
    pedigrees!(WireLayer, layer, {
        pitch, resistance, capacitance, aspect_ratio, miller, k_horizontal, k_vertical, ild, barrier, fringe,
    })
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

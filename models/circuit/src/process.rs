//! A technology evaluated at one operating point: what the circuit equations read.

use warpwatt_techlib::quantity::{
    Capacitance, CapacitancePerArea, CapacitancePerLength, Current, CurrentPerLength, Energy,
    Length, Power, Resistivity, Voltage,
};
use warpwatt_techlib::{Technology, WireLayer, WireStack, rules};

use crate::repeater::Repeaters;
use crate::{CircuitError, Layer, OperatingPoint, Profile, Projection, Settings, WireChoice};

/// Numbers per width at one temperature and supply, and the wires of one profile.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) profile: Profile,
    pub(crate) feature: Length,
    pub(crate) vdd: Voltage,
    pub(crate) vth: Voltage,
    /// Of the bitlines.
    pub(crate) precharge: Voltage,
    /// Gate capacitance per width, with overlap and fringe.
    pub(crate) c_gate: CapacitancePerLength,
    /// Fringe of one gate edge.
    pub(crate) c_fringe: CapacitancePerLength,
    /// Drain edge per width: fringe and overlap.
    pub(crate) c_edge: CapacitancePerLength,
    pub(crate) c_junction: CapacitancePerArea,
    pub(crate) c_sidewall: CapacitancePerLength,
    pub(crate) r_n: Resistivity,
    pub(crate) r_p: Resistivity,
    pub(crate) i_off: CurrentPerLength,
    pub(crate) i_gate: CurrentPerLength,
    /// PMOS width over NMOS width.
    pub(crate) p_to_n: f64,
    pub(crate) sense_gm: f64,
    pub(crate) cell: CellSizes,
    pub(crate) wire_local: Wire,
    pub(crate) wire_inside: Wire,
    pub(crate) wire_outside: Wire,
    pub(crate) repeaters: Repeaters,
}

/// The memory cell with one port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellSizes {
    pub(crate) width: Length,
    pub(crate) height: Length,
    pub(crate) access: Length,
    pub(crate) nmos: Length,
    pub(crate) pmos: Length,
}

/// A wire layer, per length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) pitch: Length,
    pub(crate) r: warpwatt_techlib::quantity::ResistancePerLength,
    pub(crate) c: CapacitancePerLength,
}

impl Process {
    fn bare(
        cell: &Technology,
        technology: &Technology,
        at: &OperatingPoint,
        settings: &Settings,
    ) -> Result<Self, CircuitError> {
        let device = &technology.device;
        let now = technology.at(at.vdd, at.temperature)?;
        let overlap = device.c_gate_ideal.value * rules::OVERLAP;
        let wires = &settings.wires;
        let sense_width = technology.layout.unit.value * rules::SENSE_N;
        Ok(Self {
            profile: settings.profile,
            feature: technology.layout.unit.value,
            vdd: now.vdd,
            vth: now.vth,
            precharge: cell.cell.precharge.value * (now.vdd / device.vdd.value),
            c_gate: device.c_gate_ideal.value + overlap + device.c_fringe.value * 3.0,
            c_fringe: device.c_fringe.value,
            c_edge: device.c_fringe.value * 2.0 + overlap * 2.0,
            c_junction: device.c_junction.value,
            c_sidewall: device.c_junction_sidewall.value,
            r_n: now.r_n,
            r_p: now.r_p,
            i_off: now.i_off,
            i_gate: now.i_gate,
            p_to_n: device.n_to_p_drive_ratio.value,
            sense_gm: now.sense_gm(sense_width),
            cell: CellSizes {
                width: cell.cell.width.value,
                height: cell.cell.height.value,
                access: cell.cell.access_width.value,
                nmos: cell.cell.nmos_width.value,
                pmos: cell.cell.pmos_width.value,
            },
            wire_local: Wire::of(&stack(technology, wires).local),
            wire_inside: Wire::of(layer(technology, wires, wires.inside)),
            wire_outside: Wire::of(layer(technology, wires, wires.outside)),
            repeaters: Repeaters::default(),
        })
    }

    /// The process at the nominal supply, for which structures are sized, and at the operating point, where they run.
    pub(crate) fn design_and_run(
        cell: &Technology,
        periphery: &Technology,
        at: &OperatingPoint,
        settings: &Settings,
    ) -> Result<(Self, Self), CircuitError> {
        if cell.feature != periphery.feature {
            return Err(CircuitError::Mixed {
                cell: cell.feature,
                periphery: periphery.feature,
            });
        }
        let layer = layer(periphery, &settings.wires, settings.wires.outside);
        let nominal = OperatingPoint { vdd: None, ..*at };
        let mut design = Self::bare(cell, periphery, &nominal, settings)?;
        design.repeaters = Repeaters::new(&design, layer, settings.wires.signalling)?;
        if at.vdd.is_none() {
            return Ok((design.clone(), design));
        }
        let mut run = Self::bare(cell, periphery, at, settings)?;
        run.repeaters = design.repeaters.at(&run, layer);
        Ok((design, run))
    }

    /// A length of so many F.
    pub(crate) fn f(&self, count: f64) -> Length {
        self.feature * count
    }

    pub(crate) fn min_nmos(&self) -> Length {
        self.f(rules::MIN_NMOS)
    }

    pub(crate) fn min_pmos(&self) -> Length {
        self.min_nmos() * self.p_to_n
    }

    /// Energy that charging `c` to the supply takes out of it.
    pub(crate) fn full_swing(&self, c: Capacitance) -> Energy {
        c * self.vdd * self.vdd
    }

    pub(crate) fn power(&self, current: Current) -> Power {
        current * self.vdd
    }

    /// Threshold of the gates in trees, over the supply: CACTI takes that of their transistors.
    pub(crate) fn tree_threshold(&self) -> f64 {
        match self.profile {
            Profile::Silicon => 0.5,
            Profile::Cacti65 | Profile::Cacti7 => self.vth / self.vdd,
        }
    }

    /// Swing of a bitline during a read.
    pub(crate) fn sense_swing(&self) -> Voltage {
        (self.vdd * rules::SENSE_FRACTION).max(rules::SENSE_MINIMUM)
    }
}

impl Wire {
    fn of(layer: &WireLayer) -> Self {
        Self {
            pitch: layer.pitch.value,
            r: layer.resistance.value,
            c: layer.capacitance.value,
        }
    }
}

fn stack<'a>(technology: &'a Technology, wires: &WireChoice) -> &'a WireStack {
    match wires.projection {
        Projection::Aggressive => &technology.wires.aggressive,
        Projection::Conservative => &technology.wires.conservative,
    }
}

fn layer<'a>(technology: &'a Technology, wires: &WireChoice, which: Layer) -> &'a WireLayer {
    let stack = stack(technology, wires);
    match which {
        Layer::SemiGlobal => &stack.semi_global,
        Layer::Global => &stack.global,
    }
}

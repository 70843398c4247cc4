//! A technology evaluated at one operating point: what the circuit equations read.

use warpwatt_techlib::quantity::{
    Capacitance, CapacitancePerArea, CapacitancePerLength, Current, CurrentPerLength, Energy,
    Length, Power, Resistivity, Temperature, Voltage,
};
use warpwatt_techlib::{Technology, WireLayer, WireStack, rules};

use crate::low_swing;
use crate::repeater::Repeaters;
use crate::{
    BitCell, CircuitError, Layer, OperatingPoint, Profile, Projection, Settings, Signalling,
    WireChoice,
};

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
    /// Of a repeater, while both of its transistors conduct.
    pub(crate) i_short: CurrentPerLength,
    /// PMOS width over NMOS width.
    pub(crate) p_to_n: f64,
    pub(crate) sense_gm: f64,
    pub(crate) cell: CellSizes,
    pub(crate) wire_local: Wire,
    pub(crate) wire_inside: Wire,
    pub(crate) wire_outside: Wire,
    /// Shape and dielectrics that CACTI 6.5 takes for repeated wires of all layers.
    pub(crate) repeated_shape: WireShape,
    pub(crate) repeaters: Repeaters,
    /// Pitch of the fins where transistors have them and the profile heeds them.
    fin: Option<Length>,
    /// That of the memory cells, if they are of another flavour.
    cells: Option<Box<Process>>,
}

/// The memory cell with one port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellSizes {
    pub(crate) width: Length,
    pub(crate) height: Length,
    pub(crate) access: Length,
    pub(crate) nmos: Length,
    pub(crate) pmos: Length,
    /// What a read port of two transistors adds to its area, over that of this cell.
    pub(crate) read_port: f64,
}

/// Shape and surroundings of a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireShape {
    pub(crate) aspect_ratio: f64,
    pub(crate) miller: f64,
    pub(crate) k_horizontal: f64,
    pub(crate) k_vertical: f64,
}

/// A wire layer, per length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) pitch: Length,
    pub(crate) r: warpwatt_techlib::quantity::ResistancePerLength,
    pub(crate) c: CapacitancePerLength,
    /// Stretches with repeaters between them, squared, per length and load; zero where lines have none.
    repeats: f64,
}

impl Process {
    fn bare(
        cell: &Technology,
        technology: &Technology,
        at: &OperatingPoint,
        settings: &Settings,
    ) -> Result<Self, CircuitError> {
        let mut process = Self::of_one(technology, at, settings)?;
        if cell.flavour != technology.flavour {
            // A supply off the nominal one moves that of the cells in proportion.
            let scale = process.vdd / technology.device.vdd.value;
            let at = OperatingPoint {
                vdd: at.vdd.map(|_| cell.device.vdd.value * scale),
                ..*at
            };
            let cells = Self::of_one(cell, &at, settings)?;
            process.cell = cells.cell;
            process.cells = Some(Box::new(cells));
        }
        Ok(process)
    }

    fn of_one(
        technology: &Technology,
        at: &OperatingPoint,
        settings: &Settings,
    ) -> Result<Self, CircuitError> {
        let device = &technology.device;
        let now = technology.at(at.vdd, at.temperature)?;
        let overlap = device.c_gate_ideal.value * rules::OVERLAP;
        let fin = match settings.profile {
            Profile::Silicon => technology.layout.fin.as_ref().map(|fin| fin.pitch.value),
            Profile::Cacti65 | Profile::Cacti7 => None,
        };
        let wires = &settings.wires;
        let sense_width = technology.layout.unit.value * rules::SENSE_N;
        let sense_width = fin.map_or(sense_width, |_| technology.layout.buildable(sense_width));
        Ok(Self {
            profile: settings.profile,
            feature: technology.layout.unit.value,
            vdd: now.vdd,
            vth: now.vth,
            precharge: technology.cell.precharge.value * (now.vdd / device.vdd.value),
            c_gate: device.c_gate_ideal.value + overlap + device.c_fringe.value * 3.0,
            c_fringe: device.c_fringe.value,
            c_edge: device.c_fringe.value * 2.0 + overlap * 2.0,
            c_junction: device.c_junction.value,
            c_sidewall: device.c_junction_sidewall.value,
            r_n: now.r_n,
            r_p: now.r_p,
            i_off: now.i_off,
            i_gate: now.i_gate,
            i_short: match settings.profile {
                // It falls with the supply as the current of a transistor does.
                Profile::Silicon => {
                    rules::SHORT_CIRCUIT * device.drive.current(now.vdd, device.vdd.value)
                }
                Profile::Cacti65 | Profile::Cacti7 => rules::SHORT_CIRCUIT,
            },
            // Fins come in pairs: as many in the PMOS as in the NMOS.
            p_to_n: fin.map_or(device.n_to_p_drive_ratio.value, |_| 1.0),
            sense_gm: now.sense_gm(sense_width),
            cell: CellSizes::of(technology, settings),
            wire_local: Wire::of(&stack(technology, wires).local),
            wire_inside: Wire::of(layer(technology, wires, wires.inside)),
            wire_outside: Wire::of(layer(technology, wires, wires.outside)),
            repeated_shape: WireShape::of(&technology.wires.conservative.global),
            repeaters: Repeaters::default(),
            fin,
            cells: None,
        })
    }

    /// The process at the nominal supply, for which structures are sized and organised whatever they run at.
    ///
    /// On-resistances of the silicon library depend on temperature; what is built must not. The tools design for the temperature that they are asked about.
    pub(crate) fn design(
        cell: &Technology,
        periphery: &Technology,
        temperature: Temperature,
        settings: &Settings,
    ) -> Result<Self, CircuitError> {
        if cell.feature != periphery.feature {
            return Err(CircuitError::Mixed {
                cell: cell.feature,
                periphery: periphery.feature,
            });
        }
        let nominal = OperatingPoint {
            vdd: None,
            temperature: settings.profile.design_temperature(temperature),
        };
        let layer = layer(periphery, &settings.wires, settings.wires.outside);
        let mut design = Self::bare(cell, periphery, &nominal, settings)?;
        design.repeaters = Repeaters::new(&design, layer, settings.wires.signalling);
        design.wire_local = design.wire_local.with_repeaters(&design);
        design.wire_inside = design.wire_inside.with_repeaters(&design);
        Ok(design)
    }

    /// What was designed for this process, made in a technology, its own or another, and running at the operating point.
    pub(crate) fn running(
        &self,
        (cell, periphery): (&Technology, &Technology),
        at: &OperatingPoint,
        settings: &Settings,
    ) -> Result<Self, CircuitError> {
        let mut run = Self::bare(cell, periphery, at, settings)?;
        let layer = layer(periphery, &settings.wires, settings.wires.outside);
        run.repeaters = self.repeaters.at(&run, layer);
        run.wire_local.repeats = self.wire_local.repeats;
        run.wire_inside.repeats = self.wire_inside.repeats;
        Ok(run)
    }

    /// The same with other wires between mats, one of those that the settings offer.
    pub(crate) fn with_wires(&self, kind: Signalling) -> Self {
        Self {
            repeaters: self.repeaters.with(kind),
            ..self.clone()
        }
    }

    /// The transistors and the supply of the memory cells.
    pub(crate) fn cells(&self) -> &Self {
        self.cells.as_deref().unwrap_or(self)
    }

    /// A length of so many F.
    pub(crate) fn f(&self, count: f64) -> Length {
        self.feature * count
    }

    /// A transistor of so many F that can be built: whole fins where there are fins.
    pub(crate) fn wide(&self, count: f64) -> Length {
        self.buildable(self.f(count))
    }

    /// The nearest width that can be built and is not narrower.
    pub(crate) fn buildable(&self, width: Length) -> Length {
        match self.fin {
            // The tolerance keeps whole numbers of fins what they are.
            Some(pitch) => pitch * (width / pitch - 1e-9).ceil().max(1.0),
            None => width,
        }
    }

    pub(crate) fn min_nmos(&self) -> Length {
        self.wide(rules::MIN_NMOS)
    }

    pub(crate) fn min_pmos(&self) -> Length {
        self.min_nmos() * self.p_to_n
    }

    /// Mean of both edges of a gate over the one that falls: above one where PMOS are not as wide as their weakness asks for.
    pub(crate) fn edges(&self) -> f64 {
        match self.fin {
            Some(_) => (1.0 + self.r_p / self.r_n / self.p_to_n) / 2.0,
            None => 1.0,
        }
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
        (self.cells().vdd * rules::SENSE_FRACTION).max(rules::SENSE_MINIMUM)
    }
}

impl WireShape {
    fn of(layer: &WireLayer) -> Self {
        Self {
            aspect_ratio: layer.aspect_ratio.value,
            miller: layer.miller.value,
            k_horizontal: layer.k_horizontal.value,
            k_vertical: layer.k_vertical.value,
        }
    }
}

impl CellSizes {
    fn of(technology: &Technology, settings: &Settings) -> Self {
        let cell = &technology.cell;
        let family = technology
            .cells
            .as_ref()
            .filter(|_| settings.profile == Profile::Silicon);
        let fast = family.filter(|_| settings.cell == BitCell::HighCurrent);
        let (wider, stronger) = fast.map_or((1.0, 1.0), |family| {
            (
                family.high_current_area.value,
                family.high_current_drive.value,
            )
        });
        Self {
            width: cell.width.value * wider,
            height: cell.height.value,
            access: cell.access_width.value * stronger,
            nmos: cell.nmos_width.value * stronger,
            pmos: cell.pmos_width.value,
            read_port: family.map_or(rules::EIGHT_T_READ_PORT, |family| {
                family.eight_t_area.value - 1.0
            }),
        }
    }
}

impl Wire {
    fn of(layer: &WireLayer) -> Self {
        Self {
            pitch: layer.pitch.value,
            r: layer.resistance.value,
            c: layer.capacitance.value,
            repeats: 0.0,
        }
    }

    /// With repeaters where they make a line faster. A stretch begins with a chain of inverters and ends with the wire's own delay, ln 2 R C / 2; so many stretches
    /// take least time as make both equal (Bakoglu, Circuits, Interconnections and Packaging for VLSI, 1990). Chains of three, each of which drives four times itself.
    fn with_repeaters(self, p: &Process) -> Self {
        const CHAIN: f64 = 3.0;
        let chain = low_swing::fan_out_of_four(p) * CHAIN;
        let repeats = match p.profile {
            Profile::Cacti65 | Profile::Cacti7 => 0.0,
            Profile::Silicon => self.r.si() * rules::LN_2 / (2.0 * chain.si()),
        };
        Self { repeats, ..self }
    }

    /// In how many stretches a line of a length and a load is.
    pub(crate) fn stretches(&self, length: Length, load: Capacitance) -> f64 {
        libm::sqrt(self.repeats * length.si() * load.si())
            .round()
            .max(1.0)
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

//! Repeated wires (CACTI 6.0 TR, HPL-2009-85, section 2.2).

use warpwatt_techlib::quantity::{
    Area, Capacitance, CapacitancePerLength, Energy, Length, Power, ResistancePerLength, Time,
};
use warpwatt_techlib::{WireLayer, rules};

use crate::gate::{self, Kind};
use crate::low_swing::LowSwing;
use crate::process::Process;
use crate::{Profile, Signalling};

/// Spacings tried grow by this much ...
const SPACING_STEP: Length = Length::from_um(100.0);
/// ... up to this multiple of the fastest one.
const SPACING_LIMIT: f64 = 4.0;

/// A repeated wire: how far apart and how large its repeaters are, and what a metre of it costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repeated {
    pub(crate) spacing: Length,
    /// Repeater size in smallest inverters.
    pub(crate) size: f64,
    delay: Time,
    energy: Energy,
    leakage: Power,
    gate_leakage: Power,
    /// One repeater.
    repeater: Area,
}

/// A wire between mats.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Channel {
    /// With repeaters.
    Repeated(Repeated),
    /// Differential, of low swing, without repeaters.
    LowSwing(LowSwing),
}

/// The wires of an array.
#[derive(Clone, Debug)]
pub(crate) struct Repeaters {
    /// Which one `chosen` is.
    pub(crate) kind: Signalling,
    /// For trees between mats and for subarray outputs.
    pub(crate) chosen: Channel,
    /// For trees between banks, which the search does not choose.
    pub(crate) between_banks: Channel,
    /// Capacitance of the bare wire at the drawn width of the repeated wire.
    pub(crate) bare: CapacitancePerLength,
    /// Everything that the search may choose.
    pub(crate) offers: Vec<(Signalling, Channel)>,
}

/// What a stretch of repeated wire costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) delay: Time,
    pub(crate) energy: Energy,
    pub(crate) leakage: Power,
    pub(crate) gate_leakage: Power,
    pub(crate) area: Area,
}

/// What the wire equations need per metre and per smallest inverter.
struct Line<'a> {
    process: &'a Process,
    r: ResistancePerLength,
    c: CapacitancePerLength,
    c_in: Capacitance,
    c_out: Capacitance,
    r_out: warpwatt_techlib::quantity::Resistance,
}

impl Default for Repeaters {
    /// Nothing, until the process is complete.
    fn default() -> Self {
        let none = Channel::Repeated(Repeated::default());
        Self {
            kind: Signalling::Global,
            chosen: none,
            between_banks: none,
            bare: CapacitancePerLength::ZERO,
            offers: Vec::new(),
        }
    }
}

impl Repeaters {
    /// The wires that settings offer. CACTI 6.5 has one wire in each array, whatever its search enumerates (its calculate_time takes no wire).
    pub(crate) fn new(process: &Process, layer: &WireLayer, signalling: Signalling) -> Self {
        use Signalling::{Any, FullSwing, Global, Global5, Global10, Global20, Global30, LowSwing};
        let kinds: &[Signalling] = match (signalling, process.profile) {
            (Any, Profile::Cacti65) => &[Global],
            (FullSwing, Profile::Cacti65) => &[LowSwing],
            (FullSwing, _) => &[Global, Global5, Global10, Global20, Global30],
            (Any, _) => &[Global, Global5, Global10, Global20, Global30, LowSwing],
            _ => &[signalling],
        };
        let line = Line::new(process, layer);
        let offers: Vec<(Signalling, Channel)> = kinds
            .iter()
            .map(|&kind| (kind, line.channel(kind)))
            .collect();
        let between_banks = match signalling {
            Any | FullSwing => offers[0].1,
            _ => line.channel(signalling),
        };
        Self {
            kind: offers[0].0,
            chosen: offers[0].1,
            between_banks,
            bare: line.c,
            offers,
        }
    }

    /// The same wires in another operating point.
    pub(crate) fn at(&self, process: &Process, layer: &WireLayer) -> Self {
        let line = Line::new(process, layer);
        let again = |channel: &Channel| match channel {
            Channel::Repeated(wire) => {
                Channel::Repeated(line.metre(wire.spacing, wire.size).laid_out(process))
            }
            Channel::LowSwing(_) => Channel::LowSwing(line.low_swing()),
        };
        Self {
            kind: self.kind,
            chosen: again(&self.chosen),
            between_banks: again(&self.between_banks),
            bare: line.c,
            offers: self
                .offers
                .iter()
                .map(|(kind, channel)| (*kind, again(channel)))
                .collect(),
        }
    }

    /// The same with one of the offers chosen.
    pub(crate) fn with(&self, kind: Signalling) -> Self {
        let found = self.offers.iter().find(|offer| offer.0 == kind);
        Self {
            kind,
            chosen: found.map_or(self.chosen, |offer| offer.1),
            ..self.clone()
        }
    }
}

impl Channel {
    /// What `length` of this wire costs.
    pub(crate) fn stretch(&self, process: &Process, length: Length) -> Stretch {
        match self {
            Self::Repeated(wire) => wire.stretch(length),
            Self::LowSwing(wire) => wire.stretch(process, length),
        }
    }

    /// Distance between repeaters on a wire of `length`.
    pub(crate) fn spacing(&self, length: Length) -> Length {
        match self {
            Self::Repeated(wire) => wire.spacing,
            Self::LowSwing(_) => length,
        }
    }

    /// Size of what drives it, in smallest inverters.
    pub(crate) fn size(&self) -> f64 {
        match self {
            Self::Repeated(wire) => wire.size,
            Self::LowSwing(_) => 1.0,
        }
    }

    /// Ramp of the signal at its end, as the gates behind it see it: that of repeaters is negligible.
    pub(crate) fn ramp(&self) -> Time {
        match self {
            Self::Repeated(_) => Time::ZERO,
            Self::LowSwing(wire) => wire.ramp,
        }
    }
}

impl Repeated {
    /// With the area of its repeaters.
    fn laid_out(self, process: &Process) -> Self {
        let (p, n) = (
            process.min_pmos() * self.size,
            process.min_nmos() * self.size,
        );
        let tall = process.f(rules::CELL_HEIGHT);
        let repeater = gate::area(process, Kind::Inverter, p, n, tall);
        Self { repeater, ..self }
    }

    /// What `length` of this wire costs.
    pub(crate) fn stretch(&self, length: Length) -> Stretch {
        let metres = length.as_m();
        Stretch {
            delay: self.delay * metres,
            energy: self.energy * metres,
            leakage: self.leakage * metres,
            gate_leakage: self.gate_leakage * metres,
            area: self.repeater * (length / self.spacing),
        }
    }
}

impl<'a> Line<'a> {
    fn channel(&self, kind: Signalling) -> Channel {
        let within =
            |slower| Channel::Repeated(self.cheapest_within(slower).laid_out(self.process));
        match kind {
            Signalling::Global5 => within(1.05),
            Signalling::Global10 => within(1.1),
            Signalling::Global20 => within(1.2),
            Signalling::Global30 => within(1.3),
            Signalling::LowSwing => Channel::LowSwing(self.low_swing()),
            Signalling::Global | Signalling::FullSwing | Signalling::Any => {
                let (spacing, size) = self.fastest();
                let mut wire = self.metre(spacing, size);
                if self.process.profile == Profile::Cacti65 {
                    wire.delay = self.delay(spacing, size, self.c_in);
                }
                Channel::Repeated(wire.laid_out(self.process))
            }
        }
    }

    /// Delay of a metre; `next` is the capacitance into each repeater but the first.
    fn delay(&self, spacing: Length, size: f64, next: Capacitance) -> Time {
        self.stage(spacing, size, next) * (rules::LN_2 * (Length::from_m(1.0) / spacing))
    }

    /// Time constant between two repeaters (Bakoglu's model).
    fn stage(&self, spacing: Length, size: f64, next: Capacitance) -> Time {
        let wire_c = self.c * spacing;
        let wire_r = self.r * spacing;
        self.r_out * (self.c_in + self.c_out)
            + self.r_out * wire_c / size
            + wire_r * next * size
            + wire_r * wire_c * 0.5
    }

    fn low_swing(&self) -> LowSwing {
        LowSwing::new(self.process, self.r, self.c)
    }

    fn new(process: &'a Process, layer: &WireLayer) -> Self {
        let (r, c) = match process.profile {
            Profile::Cacti65 => Self::cacti65(process, layer),
            Profile::Cacti7 => Self::cacti7(layer),
            Profile::Silicon => (layer.resistance.value, layer.capacitance.value),
        };
        let (n, p) = (process.min_nmos(), process.min_pmos());
        let tall = process.f(rules::CELL_HEIGHT);
        Self {
            process,
            r,
            c,
            c_in: gate::gate_c(process, n + p),
            c_out: gate::drain_p(process, p, tall) + gate::drain_n(process, n, 1, tall),
            r_out: (process.r_n / n + process.r_p / p) / 2.0,
        }
    }

    /// Half a pitch wide. Whatever the layer, CACTI 6.5 takes shape and dielectrics of the global conservative one, plates of one width's distance between
    /// layers, and the fringe of a gate for that of the wire.
    fn cacti65(
        process: &Process,
        layer: &WireLayer,
    ) -> (ResistancePerLength, CapacitancePerLength) {
        let width = layer.pitch.value / 2.0;
        let shape = &process.repeated_shape;
        let plates = shape.miller * (shape.k_horizontal * shape.aspect_ratio + shape.k_vertical);
        let c = rules::VACUUM_PERMITTIVITY * plates + process.c_fringe;
        let r = rules::COPPER * rules::REPEATED_DISHING / (width * width * shape.aspect_ratio);
        (r, c)
    }

    /// A quarter pitch wide, half of what the layer's own resistance assumes (CACTI 7, wire.cc).
    fn cacti7(layer: &WireLayer) -> (ResistancePerLength, CapacitancePerLength) {
        let width = layer.pitch.value / 4.0;
        let height = width * layer.aspect_ratio.value;
        let sidewall = layer.miller.value * layer.k_horizontal.value * layer.aspect_ratio.value;
        let vertical = layer.miller.value * layer.k_vertical.value * (width / layer.ild.value);
        let c = rules::VACUUM_PERMITTIVITY * (sidewall + vertical) + layer.fringe.value;
        (
            rules::COPPER * rules::REPEATED_SCATTER / (height * width),
            c,
        )
    }

    /// Spacing and size of the fastest wire.
    fn fastest(&self) -> (Length, f64) {
        // sqrt(R0 c / (r C0)) and sqrt(2 R0 (Cp + C0) / (r c)), in SI.
        let size = (self.r_out.si() * self.c.si() / (self.r.si() * self.c_in.si())).sqrt();
        let square = self.r_out * (self.c_out + self.c_in) * 2.0;
        let per_square = self.r.si() * self.c.si();
        (Length::from_m((square.si() / per_square).sqrt()), size)
    }

    /// One metre of wire with given repeaters (Bakoglu's model; self-loading of the repeater as CACTI 7 wire_model has it).
    fn metre(&self, spacing: Length, size: f64) -> Repeated {
        let process = self.process;
        let wire_c = self.c * spacing;
        // The wire drives the gate of the next repeater; CACTI takes its drain.
        let next = match process.profile {
            Profile::Silicon => self.c_in,
            Profile::Cacti65 | Profile::Cacti7 => self.c_out,
        };
        let tau = self.stage(spacing, size, next);
        let count = Length::from_m(1.0) / spacing;
        let (n, p) = (process.min_nmos() * size, process.min_pmos() * size);
        let switching = process.full_swing((self.c_in + self.c_out) * size + wire_c);
        let short = process.i_short
            * process.min_nmos()
            * process.vdd
            * (rules::SHORT_CIRCUIT_WINDOW * size)
            * tau;
        Repeated {
            spacing,
            size,
            delay: tau * (rules::LN_2 * count),
            energy: (switching + short) * count,
            leakage: process.power(gate::leak(process, Kind::Inverter, n, p)) * count,
            gate_leakage: process.power(gate::gate_leak(process, Kind::Inverter, n, p)) * count,
            repeater: Area::ZERO,
        }
    }

    /// The wire with the least sum of relative energy and leakage among those at most `slower` times as slow as the fastest.
    fn cheapest_within(&self, slower: f64) -> Repeated {
        let (spacing, size) = self.fastest();
        let fastest = self.metre(spacing, size);
        let mut best = (f64::INFINITY, fastest);
        let step = match self.process.profile {
            // A hundred micrometres are several spacings of a fine wire.
            Profile::Silicon => spacing / 4.0,
            Profile::Cacti65 | Profile::Cacti7 => SPACING_STEP,
        };
        let mut at = spacing;
        while at < spacing * SPACING_LIMIT {
            let mut smaller = size;
            while smaller > 1.0 {
                let wire = self.metre(at, smaller);
                let price = wire.energy / fastest.energy + wire.leakage / fastest.leakage;
                if wire.delay <= fastest.delay * slower && price < best.0 {
                    best = (price, wire);
                }
                smaller -= 1.0;
            }
            at += step;
        }
        best.1
    }
}

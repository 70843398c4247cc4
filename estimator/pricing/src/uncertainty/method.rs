//! What of a figure's error is the circuit model's own, beside that of the technology's values.

use warpwatt_circuit::{Cost, Spec};
use warpwatt_techlib::Technology;

/// Kinds of figures of a structure whose models err independently of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// Energy of an event, of whatever kind.
    Energy,
    /// Leakage power of whatever kind.
    Leakage,
    /// Area.
    Area,
    /// Access time.
    Delay,
}

impl Figure {
    /// As written in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Energy => "energy",
            Self::Leakage => "leakage",
            Self::Area => "area",
            Self::Delay => "delay",
        }
    }

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Energy, Self::Leakage, Self::Area, Self::Delay];
}

/// The relative error, one standard deviation, of the model of one structure alone. Of equations it is the error of the method. Of units and memories that
/// are priced by published figures it is the whole scatter of these, as no value of the technology is behind them.
pub fn own_error(technology: &Technology, spec: &Spec, cost: &Cost, figure: Figure) -> f64 {
    let all = &cost.uncertainty;
    let published = matches!(spec, Spec::Unit(_) | Spec::Datapath(_) | Spec::Memory(_));
    match (figure, published) {
        (Figure::Energy, true) => all.energy,
        (Figure::Area, true) => all.area,
        (Figure::Leakage, true) if matches!(spec, Spec::Memory(_)) => all.leakage,
        (Figure::Leakage, true) => {
            let process = technology.device.i_off_n.uncertainty();
            (all.leakage * all.leakage - process * process)
                .max(0.0)
                .sqrt()
        }
        _ => all.method,
    }
}

/// The name of a model's own error.
pub fn method_cause(structure: &str, figure: Figure) -> String {
    format!("model: {} of {structure}", figure.name())
}

//! Physical quantities: newtypes over `f64` that hold SI base units.
//!
//! A value is made by naming its unit ([`Energy::from_pj`]) or by parsing text (`"0.9 V"`), and read the same way. Only products and
//! quotients that are physics compile:
//!
//! ```
//! use warpwatt_techlib::quantity::{Capacitance, Energy, Voltage};
//! let energy: Energy = Capacitance::from_ff(2.0) * Voltage::from_v(0.9) * Voltage::from_v(0.9);
//! assert!((energy.as_fj() - 1.62).abs() < 1e-12);
//! assert_eq!("1.25 pJ".parse::<Energy>().unwrap(), Energy::from_pj(1.25));
//! ```
//!
//! Adding an energy to a power does not:
//!
//! ```compile_fail
//! use warpwatt_techlib::quantity::{Energy, Power};
//! let _ = Energy::from_pj(1.0) + Power::from_mw(1.0);
//! ```
//!
//! Serialised as text with the SI unit (`"1.25e-12 J"`), which reads back to the same bits; [`Display`](std::fmt::Display) picks a readable unit.
//! Machine output that carries the unit in its key uses the plain SI number, `.si()`.

mod macros;
mod parse;
mod products;

pub use parse::ParseQuantityError;

use macros::quantity;
use parse::Unit;

/// A quantity, or a plain ratio, as a number with a unit.
pub trait Figure: Copy {
    /// The SI unit; empty for a ratio.
    const UNIT: &'static str;

    /// The number in that unit.
    fn number(self) -> f64;

    /// For people.
    fn readable(self) -> String;
}

impl Figure for f64 {
    const UNIT: &'static str = "";

    fn number(self) -> f64 {
        self
    }

    fn readable(self) -> String {
        if self != 0.0 && (self.abs() < 0.01 || self.abs() >= 1e5) {
            format!("{self:.3e}")
        } else {
            format!("{self:.4}")
        }
    }
}

quantity! {
    /// An energy, for example of one access.
    Energy, "energy", "1.25 pJ", {
        from_j as_j "J" 1.0,
        from_mj as_mj "mJ" 1e-3,
        from_uj as_uj "uJ" 1e-6,
        from_nj as_nj "nJ" 1e-9,
        from_pj as_pj "pJ" 1e-12,
        from_fj as_fj "fJ" 1e-15,
        from_aj as_aj "aJ" 1e-18,
        from_ev as_ev "eV" 1.602176634e-19,
    }
}

quantity! {
    /// A power, for example leakage.
    Power, "power", "3.2 mW", {
        from_kw as_kw "kW" 1e3,
        from_w as_w "W" 1.0,
        from_mw as_mw "mW" 1e-3,
        from_uw as_uw "uW" 1e-6,
        from_nw as_nw "nW" 1e-9,
        from_pw as_pw "pW" 1e-12,
    }
}

quantity! {
    /// A duration of a circuit event.
    Time, "time", "0.28 ns", {
        from_s as_s "s" 1.0,
        from_ms as_ms "ms" 1e-3,
        from_us as_us "us" 1e-6,
        from_ns as_ns "ns" 1e-9,
        from_ps as_ps "ps" 1e-12,
        from_fs as_fs "fs" 1e-15,
    }
}

quantity! {
    /// A frequency.
    Frequency, "frequency", "1300 MHz", {
        from_ghz as_ghz "GHz" 1e9,
        from_mhz as_mhz "MHz" 1e6,
        from_khz as_khz "kHz" 1e3,
        from_hz as_hz "Hz" 1.0,
    }
}

quantity! {
    /// A length.
    Length, "length", "32 nm", {
        from_m as_m "m" 1.0,
        from_mm as_mm "mm" 1e-3,
        from_um as_um "um" 1e-6,
        from_nm as_nm "nm" 1e-9,
    }
}

quantity! {
    /// An area.
    Area, "area", "0.12 mm2", {
        from_m2 as_m2 "m2" 1.0,
        from_mm2 as_mm2 "mm2" 1e-6,
        from_um2 as_um2 "um2" 1e-12,
        from_nm2 as_nm2 "nm2" 1e-18,
    }
}

quantity! {
    /// A voltage.
    Voltage, "voltage", "0.9 V", {
        from_v as_v "V" 1.0,
        from_mv as_mv "mV" 1e-3,
    }
}

quantity! {
    /// An absolute temperature.
    Temperature, "temperature", "350 K", {
        from_k as_k "K" 1.0,
    }
}

quantity! {
    /// A current.
    Current, "current", "1.2 mA", {
        from_a as_a "A" 1.0,
        from_ma as_ma "mA" 1e-3,
        from_ua as_ua "uA" 1e-6,
        from_na as_na "nA" 1e-9,
    }
}

quantity! {
    /// An electric charge.
    Charge, "charge", "1.8 fC", {
        from_c as_c "C" 1.0,
        from_pc as_pc "pC" 1e-12,
        from_fc as_fc "fC" 1e-15,
    }
}

quantity! {
    /// A resistance.
    Resistance, "resistance", "4.7 kohm", {
        from_mohm as_mohm "Mohm" 1e6,
        from_kohm as_kohm "kohm" 1e3,
        from_ohm as_ohm "ohm" 1.0,
    }
}

quantity! {
    /// A capacitance.
    Capacitance, "capacitance", "2.1 fF", {
        from_f as_f "F" 1.0,
        from_pf as_pf "pF" 1e-12,
        from_ff as_ff "fF" 1e-15,
        from_af as_af "aF" 1e-18,
    }
}

quantity! {
    /// Capacitance per length: of a wire, or of a gate per width.
    CapacitancePerLength, "capacitance per length", "0.26 fF/um", {
        from_f_per_m as_f_per_m "F/m" 1.0,
        from_f_per_um as_f_per_um "F/um" 1e6,
        from_ff_per_um as_ff_per_um "fF/um" 1e-9,
    }
}

quantity! {
    /// Capacitance per area: of a junction or of the gate oxide.
    CapacitancePerArea, "capacitance per area", "1.0 fF/um2", {
        from_f_per_m2 as_f_per_m2 "F/m2" 1.0,
        from_f_per_um2 as_f_per_um2 "F/um2" 1e12,
        from_ff_per_um2 as_ff_per_um2 "fF/um2" 1e-3,
    }
}

quantity! {
    /// Resistance per length of a wire.
    ResistancePerLength, "resistance per length", "3.0 ohm/um", {
        from_ohm_per_um as_ohm_per_um "ohm/um" 1e6,
        from_ohm_per_mm as_ohm_per_mm "ohm/mm" 1e3,
        from_ohm_per_m as_ohm_per_m "ohm/m" 1.0,
    }
}

quantity! {
    /// Resistance times length: the resistivity of a metal, or the on-resistance of a transistor times its width.
    Resistivity, "resistivity", "0.022 ohm*um", {
        from_ohm_m as_ohm_m "ohm*m" 1.0,
        from_ohm_um as_ohm_um "ohm*um" 1e-6,
    }
}

quantity! {
    /// Current per length: of a transistor per width.
    CurrentPerLength, "current per length", "1.1e-3 A/um", {
        from_a_per_um as_a_per_um "A/um" 1e6,
        from_ma_per_um as_ma_per_um "mA/um" 1e3,
        from_a_per_m as_a_per_m "A/m" 1.0,
        from_ua_per_um as_ua_per_um "uA/um" 1.0e0,
        from_na_per_um as_na_per_um "nA/um" 1e-3,
    }
}

quantity! {
    /// Carrier mobility.
    Mobility, "mobility", "300 cm2/Vs", {
        from_m2_per_vs as_m2_per_vs "m2/Vs" 1.0,
        from_cm2_per_vs as_cm2_per_vs "cm2/Vs" 1e-4,
        from_um2_per_vs as_um2_per_vs "um2/Vs" 1e-12,
    }
}

quantity! {
    /// How well a material conducts heat.
    ThermalConductivity, "thermal conductivity", "400 W/mK", {
        from_w_per_mk as_w_per_mk "W/mK" 1.0,
    }
}

quantity! {
    /// Heat that a volume takes up.
    VolumetricHeat, "volumetric heat capacity", "1.75e6 J/m3K", {
        from_j_per_m3k as_j_per_m3k "J/m3K" 1.0,
    }
}

quantity! {
    /// Kelvin that a watt makes.
    ThermalResistance, "thermal resistance", "0.1 K/W", {
        from_k_per_w as_k_per_w "K/W" 1.0,
    }
}

quantity! {
    /// Heat that a body takes up.
    HeatCapacity, "heat capacity", "140 J/K", {
        from_j_per_k as_j_per_k "J/K" 1.0,
    }
}

#[cfg(test)]
mod tests;

//! What a value of a data file may be: its quantity and the range outside which it can only be a slip.

use std::fmt::Display;
use std::str::FromStr;

use crate::quantity::{
    Area, CapacitancePerArea, CapacitancePerLength, CurrentPerLength, Energy, Figure, Length,
    Mobility, Resistivity, Voltage,
};

/// Reads a text in its quantity and returns the SI number.
type Read = fn(&str) -> Result<f64, String>;

/// Fields of transistors, cells, layouts and wires: last part of the name, quantity, lowest and highest SI number that is not absurd.
const FIELDS: [(&[&str], Read, f64, f64); 17] = [
    (&["vdd", "vth", "vdsat"], read::<Voltage>, 0.0, 10.0),
    (&["drive_threshold"], read::<Voltage>, -0.5, 2.0),
    (&["swing"], read::<Voltage>, 0.03, 0.3),
    (&["i_on_n", "i_on_p"], read::<CurrentPerLength>, 1.0, 1e5),
    (&["i_off", "i_gate"], read::<CurrentPerLength>, 0.0, 1e3),
    (&["activation"], read::<Energy>, 0.0, 2.5e-19),
    (
        &["c_gate_ideal", "c_fringe", "c_junction_sidewall", "fringe"],
        read::<CapacitancePerLength>,
        0.0,
        1e-7,
    ),
    (
        &["c_junction", "c_ox"],
        read::<CapacitancePerArea>,
        0.0,
        1.0,
    ),
    (
        &["resistivity", "bulk_resistivity"],
        read::<Resistivity>,
        1e-9,
        1e-5,
    ),
    (&["mobility_n"], read::<Mobility>, 1e-4, 1.0),
    (&["area"], read::<Area>, 1e-16, 2e-11),
    (
        &[
            "l_elec",
            "l_phy",
            "unit",
            "gate_pitch",
            "row_height",
            "pitch",
            "effective_width",
            "height",
            "access_width",
            "nmos_width",
            "pmos_width",
            "ild",
            "mean_free_path",
        ],
        read::<Length>,
        1e-10,
        1e-3,
    ),
    (&["barrier", "dishing"], read::<Length>, 0.0, 1e-6),
    (&["dibl", "specularity", "r_temperature"], ratio, -0.05, 1.0),
    (&["alpha"], ratio, 0.3, 3.0),
    (&["reflectivity"], ratio, 1e-6, 0.999),
    (
        &[
            "r_eff_multiplier",
            "n_to_p_drive_ratio",
            "gmp_to_gmn",
            "i_gate_exponent",
            "aspect_ratio",
            "miller",
            "k_horizontal",
            "k_vertical",
            "alpha_scatter",
            "pitch_f",
            "area_f2",
            "aspect",
            "access_width_f",
            "nmos_width_f",
            "pmos_width_f",
            "high_current_area",
            "high_current_drive",
            "eight_t_area",
            "cam_area",
        ],
        ratio,
        0.05,
        2000.0,
    ),
];

/// Checks the text of the value `name`.
pub(super) fn check(name: &str, text: &str) -> Result<(), String> {
    let field = name.rsplit('.').next().unwrap_or(name);
    let found = FIELDS.iter().find(|(names, ..)| names.contains(&field));
    let Some((_, read, low, high)) = found else {
        return Err(format!("`{name}` has no known quantity"));
    };
    let number = read(text)?;
    if number >= *low && number <= *high {
        return Ok(());
    }
    Err(format!(
        "`{text}` is impossible for `{name}`: it must lie between {low:e} and {high:e} in SI units"
    ))
}

fn read<T: FromStr + Figure>(text: &str) -> Result<f64, String>
where
    T::Err: Display,
{
    text.parse::<T>()
        .map(Figure::number)
        .map_err(|error| error.to_string())
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!(
            "`{text}` is not a number; it has no unit and is written like \"1.3\""
        )),
    }
}

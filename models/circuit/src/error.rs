//! Why a structure cannot be priced.

use warpwatt_techlib::TechError;

/// A structure that the models refuse, with the constraint that binds and the nearest one that would do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CircuitError {
    /// A size is outside what the models accept.
    #[error("{what} is {got}, but {constraint}; nearest that works: {nearest}")]
    Size {
        /// Which size.
        what: &'static str,
        /// What was asked for.
        got: u64,
        /// The rule it breaks.
        constraint: &'static str,
        /// The nearest value that satisfies it.
        nearest: u64,
    },
    /// No port can do what the structure is for.
    #[error(
        "{what} has no port that can {action}; give it at least one read_write or {action} port"
    )]
    NoPort {
        /// Which structure.
        what: &'static str,
        /// `read` or `write`.
        action: &'static str,
    },
    /// The supply is outside the range in which the device equations hold.
    #[error(
        "a supply of {vdd} is outside {low} to {high}, the range of this device; nearest that works: {nearest}"
    )]
    Supply {
        /// What was asked for.
        vdd: warpwatt_techlib::quantity::Voltage,
        /// Lowest accepted.
        low: warpwatt_techlib::quantity::Voltage,
        /// Highest accepted.
        high: warpwatt_techlib::quantity::Voltage,
        /// The nearer of the two.
        nearest: warpwatt_techlib::quantity::Voltage,
    },
    /// The technology has no value for this.
    #[error(transparent)]
    Technology(#[from] TechError),
}

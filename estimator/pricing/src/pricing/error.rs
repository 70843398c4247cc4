//! Why an activity cannot be priced.

use warpwatt_circuit::CircuitError;
use warpwatt_techlib::TechError;
use warpwatt_techlib::quantity::Area;

/// A fault between what was counted and what has a price.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PricingError {
    /// A structure is in the table, but the action counted on it has no energy there.
    #[error(
        "`{structure}.{action}` was counted, but `{structure}` ({model}) has no price for `{action}`; it has prices for: {known}"
    )]
    NoPrice {
        /// The structure.
        structure: String,
        /// The action.
        action: String,
        /// The circuit model of the structure.
        model: String,
        /// The actions with a price.
        known: String,
    },
    /// Two structures of one configuration have one name.
    #[error(
        "two structures are called `{name}`; a technique that replaces a structure must remove the first"
    )]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A structure cannot be built.
    #[error("structure `{name}`: {source}")]
    Circuit {
        /// The structure.
        name: String,
        /// Why not.
        source: Box<CircuitError>,
    },
    /// Time passes only if the clock runs.
    #[error("the clock must run: {hz} Hz")]
    Clock {
        /// The frequency asked for.
        hz: f64,
    },
    /// A die cannot be smaller than what is on it.
    #[error(
        "`die_area` is {die}, but the priced structures alone take {priced}: say at least that, or leave it out"
    )]
    Die {
        /// The die that was asked for.
        die: Area,
        /// What is on it.
        priced: Area,
    },
    /// The technology's laws do not hold.
    #[error("{0}")]
    Technology(Box<TechError>),
}

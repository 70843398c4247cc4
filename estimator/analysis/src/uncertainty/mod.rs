//! How sure a figure is: the uncertain values of a technology, drawn and propagated through the circuit models (JCGM 101:2008), and the variation of its
//! transistors.

mod monte_carlo;
mod prices;
mod shares;

pub use crate::report::drawn::{MonteCarlo, Share, Spread};
pub use monte_carlo::{Goals, drawn, monte_carlo, with_uncertainty};
pub use prices::{MethodDraws, Prices};
pub use shares::shares;
pub use warpwatt_pricing::uncertainty::{
    CONFIDENCE, Draws, Figure, ProcessVariation, UPSETS, input, method_cause, own_error, process,
    upsets,
};

#[cfg(test)]
mod goals_tests;
#[cfg(test)]
mod process_tests;
#[cfg(test)]
mod tests;

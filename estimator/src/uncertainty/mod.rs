//! How sure a figure is: the uncertain values of a technology, drawn and propagated through the circuit models (JCGM 101:2008), and the variation of its
//! transistors.

mod draws;
pub mod input;
mod method;
mod monte_carlo;
mod prices;
pub mod process;
mod shares;
mod upsets;

pub use draws::Draws;
pub use method::{Figure, method_cause, own_error};
pub use monte_carlo::{Goals, MonteCarlo, Spread, drawn};
pub use prices::{MethodDraws, Prices};
pub use process::ProcessVariation;
pub use shares::{Share, shares};
pub use upsets::UPSETS;

#[cfg(test)]
mod goals_tests;
#[cfg(test)]
mod process_tests;
#[cfg(test)]
mod tests;

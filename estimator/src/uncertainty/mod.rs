//! How sure a figure is: the uncertain values of a technology, drawn and propagated through the circuit models (JCGM 101:2008).

mod draws;
pub mod input;
mod method;
mod monte_carlo;
mod prices;
mod shares;

pub use draws::Draws;
pub use method::{Figure, method_cause, own_error};
pub use monte_carlo::{MonteCarlo, Spread, drawn};
pub use prices::{MethodDraws, Prices};
pub use shares::{Share, shares};

#[cfg(test)]
mod tests;

//! How sure a figure is: the uncertain values of a technology, drawn and propagated through the circuit models (JCGM 101:2008).

mod draws;
pub mod input;
mod method;
mod monte_carlo;
mod prices;

pub use draws::Sampling;
pub use method::{Figure, method_cause, own_error};
pub use monte_carlo::{MonteCarlo, Spread, prices, values};
pub use prices::{MethodDraws, Prices};

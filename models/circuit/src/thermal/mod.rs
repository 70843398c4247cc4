//! How hot a die becomes: a small network of thermal resistances and capacities, and the balance of power and temperature in it.
//!
//! ```text
//!  block -- silicon, interface --+
//!  block -- silicon, interface --+-- spreader --(spreading)-- sink --(spreading, convection)-- air
//! ```
//!
//! Heat flows from each block of the die straight down; what flows sideways in the silicon between blocks is left out, so that neighbours of different power differ a
//! little more here than they would. Blocks are parts of the die that are alike everywhere, such as all SMs together: the network knows no floor plan.

mod balance;
mod network;
mod spreading;

pub use balance::{Balance, Limit, balance};
pub use network::{Block, Network};

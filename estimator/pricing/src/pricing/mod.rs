//! Counts times costs: how an activity becomes joules.
//!
//! The way of a price: [`NodeCircuits`] gives every structure its cost at one node and operating point, a [`CostTable`] holds them by name, [`price()`]
//! joins the table with the activity. The join is strict: what was counted on a structure of the table has a price, or there is an error.

mod circuits;
mod designs;
mod error;
mod floor;
mod join;
mod table;
mod technology;
mod thermal;

pub use circuits::NodeCircuits;
pub use designs::Designs;
pub use error::PricingError;
pub use floor::laid_out;
pub use join::{Counted, price};
pub use table::{CostEntry, CostTable, Switched};
pub use technology::{Described, technology_name, technology_notes};
pub use thermal::{Cooling, price_settled};

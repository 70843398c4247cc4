//! Watts of graphics boards: what a board draws for what it does, calibrated on measurements, with intervals.
//!
//! Energies of events come from the models' prices of the chip, and measurements correct them. [`Board`] holds what is known; [`calibrate`](calibrate::calibrate) learns from a table
//! of measured watts; [`Board::predict`] says what a row of counts draws.

pub mod board;
pub mod calibrate;
pub mod channel;
pub mod counted;
pub mod errors;
pub mod facts;
pub mod fit;
pub mod law;
pub mod map;
pub mod own;
pub mod parameter;
pub mod picture;
pub mod reported;
pub mod rows;
pub mod shipped;
pub mod split;
pub mod transfer;

pub use board::{Board, Prediction};

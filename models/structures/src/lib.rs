//! What a GPU is made of: structures that circuit models price, and those that every GPU has before any technique.

pub mod plain;
mod structure;

pub use structure::{Gates, Group, Structure};

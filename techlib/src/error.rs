//! Why a technology cannot be had.

use crate::quantity::{Length, ParseQuantityError, Temperature};

/// A technology that the library refuses, or data that it cannot read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TechError {
    /// The node is not between the smallest and the largest table.
    #[error(
        "{library} has no node {node}: it covers {low} to {high}; choose one of {nodes} or a node in between"
    )]
    NodeOutOfRange {
        /// The library asked.
        library: &'static str,
        /// What was asked for.
        node: Length,
        /// Its smallest node.
        low: Length,
        /// Its largest node.
        high: Length,
        /// Its tabulated nodes.
        nodes: String,
    },
    /// The name of a node is not a length.
    #[error("`{name}` is not a node name: {problem}; write it like \"32nm\"")]
    NodeName {
        /// What was given.
        name: String,
        /// What is wrong with it.
        problem: ParseQuantityError,
    },
    /// The temperature is outside the tables.
    #[error(
        "{temperature} is outside {low} to {high}, where the leakage tables of {library} hold; nearest that works: {nearest}"
    )]
    Temperature {
        /// The library asked.
        library: &'static str,
        /// What was asked for.
        temperature: Temperature,
        /// Lowest tabulated.
        low: Temperature,
        /// Highest tabulated.
        high: Temperature,
        /// The nearer of the two.
        nearest: Temperature,
    },
    /// A data file of the library is not as it must be.
    #[error("technology data {file}: {message}")]
    Data {
        /// Which file.
        file: String,
        /// What is wrong.
        message: String,
    },
}

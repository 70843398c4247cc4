//! Why a technology cannot be had.

use crate::Flavour;
use crate::quantity::{Length, ParseQuantityError, Temperature, Voltage};

/// A technology that the library refuses, or data that it cannot read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TechError {
    /// The node is not between the smallest and the largest table.
    #[error(
        "{library} has no node {node}: it covers {low} to {high}; choose one of {nodes} or a node in between"
    )]
    NodeOutOfRange {
        /// The library asked.
        library: String,
        /// What was asked for.
        node: Length,
        /// Its smallest node.
        low: Length,
        /// Its largest node.
        high: Length,
        /// Its tabulated nodes.
        nodes: String,
    },
    /// There is no such library.
    #[error("there is no technology library `{name}`; libraries: silicon, itrs")]
    Library {
        /// What was asked for.
        name: String,
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
        library: String,
        /// What was asked for.
        temperature: Temperature,
        /// Lowest tabulated.
        low: Temperature,
        /// Highest tabulated.
        high: Temperature,
        /// The nearer of the two.
        nearest: Temperature,
    },
    /// The supply is outside the range in which the law of the on-resistance holds.
    #[error(
        "a supply of {vdd} is outside {low} to {high}, the range of this device; nearest that works: {nearest}"
    )]
    Supply {
        /// What was asked for.
        vdd: Voltage,
        /// Lowest accepted.
        low: Voltage,
        /// Highest accepted.
        high: Voltage,
        /// The nearer of the two.
        nearest: Voltage,
    },
    /// The node has no such transistor.
    #[error("{library} has no {flavour} transistors at {node}; it has {flavours}")]
    Flavour {
        /// The library asked.
        library: String,
        /// The node.
        node: Length,
        /// What was asked for.
        flavour: Flavour,
        /// What there is.
        flavours: String,
    },
    /// Between the last planar node and the first one with fins nothing can be mixed.
    #[error(
        "{library} has no node {node}: {larger} and {smaller} on either side are different kinds of transistor, which do not mix; choose one of the two"
    )]
    BetweenKinds {
        /// The library asked.
        library: String,
        /// What was asked for.
        node: Length,
        /// The larger neighbour.
        larger: Length,
        /// The smaller one.
        smaller: Length,
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

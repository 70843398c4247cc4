//! Circuit costs at one node and operating point, each computed once.

use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_techlib::Technology;

/// A node with an operating point and a profile behind it. Equal specifications are computed once, from whichever thread asks first; the cost of a
/// specification depends on nothing else, so the order of the questions does not matter.
#[derive(Debug)]
pub struct NodeCircuits {
    technology: Technology,
    point: OperatingPoint,
    profile: Profile,
}

impl NodeCircuits {
    /// Circuits made in `technology` by the rules of `profile`, running at `point`.
    pub fn new(technology: Technology, point: OperatingPoint, profile: Profile) -> Self {
        Self {
            technology,
            point,
            profile,
        }
    }

    /// The technology.
    pub fn technology(&self) -> &Technology {
        &self.technology
    }

    /// The operating point.
    pub fn operating_point(&self) -> &OperatingPoint {
        &self.point
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }
}

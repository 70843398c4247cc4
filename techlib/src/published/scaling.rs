//! Scaling laws from node to node: Stillmaker and Baas (2017) from 180 nm to 7 nm, foundries' statements below.

use serde::Deserialize;

use super::{checked, parse, problem};
use crate::TechError;
use crate::quantity::{Length, Voltage};

const FILE: &str = "operations/scaling.toml";
const TEXT: &str = include_str!("../../data/operations/scaling.toml");
/// Supplies outside this band around the nominal one are outside the fits.
const BAND: (f64, f64) = (0.65, 1.3);

/// The laws.
#[derive(Clone, Debug)]
pub struct Scaling {
    nodes: Vec<Node>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    node: Vec<Node>,
    step: Vec<Step>,
}

/// One node of the polynomials.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    node: Length,
    /// Coefficients of V^3 to V^0.
    delay: [f64; 4],
    /// Coefficients of V^2 to V^0.
    energy: [f64; 3],
    /// Over that at 45 nm.
    area: f64,
    vdd: Voltage,
    source: String,
    uncertainty: f64,
}

/// From one node to the next, as foundries state it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The smaller node.
    pub node: Length,
    /// The larger one.
    pub larger: Length,
    /// Energy of an operation over that at the larger node, each at its nominal supply.
    pub energy: f64,
    /// Area of logic over that at the larger node.
    pub area: f64,
    /// Nominal supply.
    pub vdd: Voltage,
    /// Document.
    pub source: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

impl Scaling {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// If the data file is not as it must be.
    pub fn read() -> Result<Self, TechError> {
        let document: Document = parse(FILE, TEXT)?;
        for node in &document.node {
            checked(FILE, &node.source, node.uncertainty)?;
        }
        for step in &document.step {
            checked(FILE, &step.source, step.uncertainty)?;
        }
        if document.node.len() < 2 {
            return Err(problem(FILE, "it takes two nodes at least"));
        }
        Ok(Self {
            nodes: document.node,
            steps: document.step,
        })
    }

    /// Nominal supply at a node.
    pub fn nominal(&self, node: Length) -> Voltage {
        Voltage::from_v(self.at(node, |node| node.vdd.as_v(), |step, _| step.vdd.as_v()))
    }

    /// Energy of an operation at a node and supply, in units of its energy at 45 nm and 1 V.
    pub fn energy(&self, node: Length, vdd: Voltage) -> f64 {
        let relative = |at: &Node| {
            let fits = vdd
                .as_v()
                .clamp(at.vdd.as_v() * BAND.0, at.vdd.as_v() * BAND.1);
            let beyond = vdd.as_v() / fits;
            polynomial(&at.energy, fits) * beyond * beyond
        };
        let unit = self.unit(|at| polynomial(&at.energy, 1.0));
        // Below the last polynomial: the foundry's ratio at nominal supplies, and the square of the supply.
        let last = &self.nodes[self.nodes.len() - 1];
        let start = polynomial(&last.energy, last.vdd.as_v());
        let stepped = |step: &Step, product: f64| {
            let over = vdd / step.vdd;
            start * product * over * over
        };
        self.at(node, relative, |step, products| {
            stepped(step, products.energy)
        }) / unit
    }

    /// Delay of a gate at a node and supply, in units of that at 45 nm and 1 V. Below 7 nm it stays: foundries state power at one speed.
    pub fn delay(&self, node: Length, vdd: Voltage) -> f64 {
        let relative = |at: &Node| {
            let fits = vdd
                .as_v()
                .clamp(at.vdd.as_v() * BAND.0, at.vdd.as_v() * BAND.1);
            polynomial(&at.delay, fits)
        };
        let unit = self.unit(|at| polynomial(&at.delay, 1.0));
        let last = &self.nodes[self.nodes.len() - 1];
        let end = polynomial(&last.delay, last.vdd.as_v());
        self.at(node, relative, |_, _| end) / unit
    }

    /// Area of logic over that at 45 nm.
    pub fn area(&self, node: Length) -> f64 {
        let end = self.nodes[self.nodes.len() - 1].area;
        self.at(node, |at| at.area, |_, products| end * products.area)
    }

    /// One sigma of an energy or an area that was scaled from one node to another: a quarter for each halving of the feature size (Stillmaker's fall from
    /// 45 nm to 7 nm is four times steeper than that of the operation energies published for both: half of that gap's logarithm over its 2.7 halvings).
    pub fn uncertainty(&self, from: Length, to: Length) -> f64 {
        0.25 * (libm::log(from / to) / core::f64::consts::LN_2).abs()
    }

    fn unit(&self, value: impl Fn(&Node) -> f64) -> f64 {
        let at = |node: &&Node| (node.node.as_nm() - 45.0).abs() < 1e-6;
        self.nodes.iter().find(at).map_or(1.0, value)
    }

    /// A figure at a node, geometric between two nodes of the tables and constant beyond their ends.
    fn at(
        &self,
        node: Length,
        of: impl Fn(&Node) -> f64,
        step: impl Fn(&Step, Products) -> f64,
    ) -> f64 {
        let mut points: Vec<(f64, f64)> = self
            .nodes
            .iter()
            .map(|at| (at.node.as_nm(), of(at)))
            .collect();
        let mut products = Products {
            energy: 1.0,
            area: 1.0,
        };
        for at in &self.steps {
            products = Products {
                energy: products.energy * at.energy,
                area: products.area * at.area,
            };
            points.push((at.node.as_nm(), step(at, products)));
        }
        let nm = node.as_nm();
        for pair in points.windows(2) {
            let ((larger, from), (smaller, to)) = (pair[0], pair[1]);
            if nm <= larger && nm >= smaller {
                let share = libm::log(nm / smaller) / libm::log(larger / smaller);
                return to * libm::pow(from / to, share);
            }
        }
        let end = if nm > points[0].0 {
            0
        } else {
            points.len() - 1
        };
        points[end].1
    }
}

/// Ratios along the steps so far.
#[derive(Clone, Copy)]
struct Products {
    energy: f64,
    area: f64,
}

/// Coefficients from the highest power down.
fn polynomial(coefficients: &[f64], at: f64) -> f64 {
    coefficients
        .iter()
        .fold(0.0, |sum, coefficient| sum * at + coefficient)
}

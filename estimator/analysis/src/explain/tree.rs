//! The derivation of a figure as a tree: each node's value is what its formula makes of its inputs.

use std::collections::BTreeMap;

use serde::Serialize;

/// Sums of terms that cancel are this small, relative to the terms.
const ROUNDING: f64 = 1e-12;

/// A figure and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// What it is.
    pub name: String,
    /// Its value, in SI or as counted.
    pub value: f64,
    /// Its unit; `1` for a ratio.
    pub unit: String,
    /// How it follows from its inputs.
    pub formula: Formula,
    /// Where the equation, or the value itself, is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its part of the variance of the root, to first order; the leaves' parts add up to 1. Absent where the root has no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variance_share: Option<f64>,
    /// What it follows from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Node>,
}

/// How a value follows from the inputs of its node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// It does not: a setting, a constant, a count of the GPU model.
    Given,
    /// Input of a technology, with its relative uncertainty (one sigma) and what the node above changes by, in the logarithm, if it rises by that.
    Technology {
        /// One sigma, relative.
        uncertainty: f64,
        /// What it has in common with other inputs.
        cause: String,
        /// How it was obtained.
        how: String,
        /// Change of the logarithm of the node above.
        effect: f64,
    },
    /// A factor of one: how far the model of a figure may be off for itself.
    Method {
        /// One sigma, relative.
        uncertainty: f64,
        /// Whose error it is; the same factor stands wherever this does.
        cause: String,
    },
    /// The inputs together.
    Sum,
    /// One times the other.
    Product,
    /// The first over the second.
    Quotient,
    /// The first less the others.
    Difference,
    /// The first over the second, less one.
    Change,
    /// One less the first over the second.
    Saving,
    /// The greatest of the inputs.
    Greatest,
    /// The inputs' squares together, and the root of that.
    Quadrature,
    /// An equation of a circuit model, whose inputs are those values of the technology on which it depends.
    Model {
        /// The equation.
        equation: String,
    },
    /// What a technique makes of its counters.
    Reported,
}

impl Node {
    /// A value that follows from nothing else.
    pub fn given(name: &str, value: f64, unit: &str, source: &str) -> Self {
        Self {
            source: Some(source.to_owned()),
            ..Self::made(name, value, unit, Formula::Given, Vec::new())
        }
    }

    /// A value that `formula` makes of `inputs`.
    pub fn made(name: &str, value: f64, unit: &str, formula: Formula, inputs: Vec<Node>) -> Self {
        Self {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            formula,
            source: None,
            variance_share: None,
            inputs,
        }
    }

    /// A value that `formula`, which is arithmetic, makes of `inputs`.
    pub fn of(name: &str, unit: &str, formula: Formula, inputs: Vec<Node>) -> Self {
        let node = Self::made(name, 0.0, unit, formula, inputs);
        let value = node.evaluated().unwrap_or(f64::NAN);
        Self { value, ..node }
    }

    /// The sum of `inputs`.
    pub fn sum(name: &str, unit: &str, inputs: Vec<Node>) -> Self {
        Self::of(name, unit, Formula::Sum, inputs)
    }

    /// The product of `inputs`.
    pub fn product(name: &str, unit: &str, inputs: Vec<Node>) -> Self {
        Self::of(name, unit, Formula::Product, inputs)
    }

    /// The first over the second.
    pub fn quotient(name: &str, unit: &str, upper: Node, lower: Node) -> Self {
        Self::of(name, unit, Formula::Quotient, vec![upper, lower])
    }

    /// With a source.
    #[must_use]
    pub fn from(mut self, source: &str) -> Self {
        self.source = Some(source.to_owned());
        self
    }

    /// Under another name.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// What the formula makes of the values of the inputs; `None` where it is no arithmetic.
    pub fn evaluated(&self) -> Option<f64> {
        let mut values = self.inputs.iter().map(|input| input.value);
        match self.formula {
            Formula::Sum => Some(values.sum()),
            Formula::Product => Some(values.product()),
            Formula::Quotient => Some(values.next()? / values.next()?),
            Formula::Difference => Some(values.next()? - values.sum::<f64>()),
            Formula::Change => Some(values.next()? / values.next()? - 1.0),
            Formula::Saving => Some(1.0 - values.next()? / values.next()?),
            Formula::Greatest => values.max_by(f64::total_cmp),
            Formula::Quadrature => Some(values.map(|value| value * value).sum::<f64>().sqrt()),
            Formula::Given
            | Formula::Technology { .. }
            | Formula::Method { .. }
            | Formula::Model { .. }
            | Formula::Reported => None,
        }
    }

    /// How the value changes with each input: the partial derivatives, where the formula is arithmetic.
    fn gradient(&self) -> Vec<f64> {
        let values: Vec<f64> = self.inputs.iter().map(|input| input.value).collect();
        let ratio = |sign: f64| match values[..] {
            [upper, lower] => vec![sign / lower, -sign * upper / (lower * lower)],
            _ => vec![0.0; values.len()],
        };
        match self.formula {
            Formula::Sum => vec![1.0; values.len()],
            Formula::Product => (0..values.len())
                .map(|i| {
                    let others = values.iter().enumerate().filter(|(j, _)| *j != i);
                    others.map(|(_, value)| value).product()
                })
                .collect(),
            Formula::Quotient | Formula::Change => ratio(1.0),
            Formula::Saving => ratio(-1.0),
            Formula::Difference => (0..values.len())
                .map(|i| if i == 0 { 1.0 } else { -1.0 })
                .collect(),
            Formula::Greatest => values
                .iter()
                .map(|value| f64::from(u8::from(*value == self.value)))
                .collect(),
            _ => vec![0.0; values.len()],
        }
    }

    /// Finds each node's part of the variance of this one, and returns what moves it: each cause of error with what a sigma of it moves the value by, to first
    /// order. Parts of a cause that act against each other cancel, as they do in the value.
    pub fn attribute(&mut self) -> BTreeMap<String, f64> {
        let mut sums = BTreeMap::new();
        self.collect(1.0, &mut sums);
        // What cancels but for rounding is nothing.
        let left = |(sum, size): (f64, f64)| {
            if sum.abs() > ROUNDING * size {
                sum
            } else {
                0.0
            }
        };
        let moved: BTreeMap<String, f64> = sums
            .into_iter()
            .map(|(cause, by)| (cause, left(by)))
            .collect();
        let variance: f64 = moved.values().map(|by| by * by).sum();
        self.share(1.0, &moved, variance);
        moved
    }

    /// Of each cause what it moves the root by, and the same without regard to signs.
    fn collect(&self, slope: f64, sums: &mut BTreeMap<String, (f64, f64)>) {
        if let Some((cause, by)) = self.error(slope) {
            let sum = sums.entry(cause.to_owned()).or_default();
            *sum = (sum.0 + by, sum.1 + by.abs());
        }
        for (input, slope) in self.inputs.iter().zip(self.slopes(slope)) {
            input.collect(slope, sums);
        }
    }

    fn share(&mut self, slope: f64, moved: &BTreeMap<String, f64>, variance: f64) -> f64 {
        let own = self.error(slope).map_or(0.0, |(cause, by)| {
            by * moved.get(cause).copied().unwrap_or(0.0)
        });
        let slopes = self.slopes(slope);
        let inputs = self.inputs.iter_mut().zip(slopes);
        let below: f64 = inputs
            .map(|(input, slope)| input.share(slope, moved, variance))
            .sum();
        let all = own + below;
        self.variance_share = (variance > 0.0).then(|| all / variance);
        all
    }

    /// What a unit of each input moves the root by. Of an equation: what a relative change of the node does.
    fn slopes(&self, slope: f64) -> Vec<f64> {
        match self.formula {
            Formula::Model { .. } => vec![slope * self.value; self.inputs.len()],
            _ => self.gradient().into_iter().map(|by| slope * by).collect(),
        }
    }

    /// The cause of error that a leaf is, and what a sigma of it moves the root by through this leaf.
    fn error(&self, slope: f64) -> Option<(&str, f64)> {
        match &self.formula {
            Formula::Technology { cause, effect, .. } => Some((cause, slope * effect)),
            Formula::Method { cause, uncertainty } => Some((cause, slope * uncertainty)),
            _ => None,
        }
    }

    /// Every leaf with what a sigma of it moves this node by.
    pub fn leaf_moves(&self) -> Vec<(&Node, f64)> {
        let mut all = Vec::new();
        self.find_leaves(1.0, &mut all);
        all
    }

    fn find_leaves<'n>(&'n self, slope: f64, all: &mut Vec<(&'n Node, f64)>) {
        if let Some((_, by)) = self.error(slope) {
            all.push((self, by));
        }
        for (input, slope) in self.inputs.iter().zip(self.slopes(slope)) {
            input.find_leaves(slope, all);
        }
    }

    /// Every node, this one first.
    pub fn all(&self) -> Vec<&Node> {
        let mut all = vec![self];
        all.extend(self.inputs.iter().flat_map(Node::all));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn method(cause: &str, uncertainty: f64) -> Node {
        let formula = Formula::Method {
            uncertainty,
            cause: cause.to_owned(),
        };
        Node::made(cause, 1.0, "1", formula, Vec::new())
    }

    fn figure(name: &str, value: f64, cause: &str, uncertainty: f64) -> Node {
        let given = Node::given("model", value, "J", "by hand");
        Node::product(name, "J", vec![given, method(cause, uncertainty)])
    }

    #[test]
    fn the_first_order_error_is_that_of_the_formula() {
        // d/da (a + b) / b - 1 by hand: a moves it by u_a a / b, b by -u_b a / b.
        let upper = Node::sum(
            "with",
            "J",
            vec![figure("a", 1.0, "a", 0.2), figure("b", 4.0, "b", 0.1)],
        );
        let mut change = Node::of(
            "change",
            "1",
            Formula::Change,
            vec![upper, figure("b", 4.0, "b", 0.1)],
        );
        assert_relative_eq!(change.value, 0.25);
        let moved = change.attribute();
        assert_relative_eq!(moved["a"], 0.2 / 4.0, max_relative = 1e-12);
        assert_relative_eq!(moved["b"], -0.1 / 4.0, max_relative = 1e-12);
        let leaves = change
            .all()
            .into_iter()
            .filter(|node| node.inputs.is_empty());
        let shares: f64 = leaves.filter_map(|leaf| leaf.variance_share).sum();
        assert_relative_eq!(shares, 1.0, max_relative = 1e-12);
        assert_relative_eq!(change.variance_share.unwrap(), 1.0, max_relative = 1e-12);
    }

    #[test]
    fn what_both_sides_have_in_common_has_no_part() {
        let side = |value| figure("energy", value, "common", 0.3);
        let mut ratio = Node::quotient("ratio", "1", side(3.0), side(4.0));
        let moved = ratio.attribute();
        assert!(moved["common"].abs() < 1e-15);
    }

    #[test]
    fn a_count_has_no_error() {
        let mut node = Node::given("cycles", 7.0, "cycles", "counted");
        assert!(node.attribute().is_empty());
        assert_eq!(node.variance_share, None);
    }
}

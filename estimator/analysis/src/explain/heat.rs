//! The temperature at which power and temperature come to rest.

use super::side::Side;
use super::tree::{Formula, Node};
use crate::outcome::Heat;

/// Where temperatures are from.
const NETWORK: &str = "steady state of the thermal network: docs/operating-points.md";

impl Side<'_> {
    /// The derivation of a temperature or of the gain of its loop; nothing if the point has no heat of its own.
    pub fn heated(&self, name: &str) -> Option<Node> {
        match name {
            "junction_k" => self.outcome.at_rest().map(|heat| self.junction(&heat)),
            "loop_gain" => self.outcome.heat.map(|heat| gain(&heat)),
            _ => None,
        }
    }

    /// Air, what the structures' own power makes of it, what the rest of the die does, and by how much the fixed point is missed.
    fn junction(&self, heat: &Heat) -> Node {
        let power = Node::quotient("power_w", "W", self.energy_on_chip(), self.time());
        let own = heat.rise_k_per_w * power.value;
        let residual = heat.junction_k - (heat.ambient_k + own + heat.others_k);
        let rise = Node::given("kelvin a watt makes", heat.rise_k_per_w, "K/W", NETWORK);
        let terms = vec![
            Node::given(
                "air",
                heat.ambient_k,
                "K",
                "`[thermal]`, or techlib's package",
            ),
            Node::product("rise by the structures' own power", "K", vec![rise, power]),
            Node::given("rise by the rest of the die", heat.others_k, "K", NETWORK),
            Node::given(
                "residual of the fixed point",
                residual,
                "K",
                "where the iteration of power and temperature stopped",
            ),
        ];
        Node::sum("junction_k", "K", terms)
    }

    /// The temperature at which structures leak, as an input of their leakage; nothing where it is the study's own.
    pub fn resting_at(heat: &Heat) -> Node {
        Node::given(
            "junction temperature",
            heat.junction_k,
            "K",
            "fixed point of power and temperature: the metric junction_k",
        )
    }
}

/// What a kelvin more of leakage makes.
fn gain(heat: &Heat) -> Node {
    let slope = heat.loop_gain / heat.rise_k_per_w;
    let rise = Node::given("kelvin a watt makes", heat.rise_k_per_w, "K/W", NETWORK);
    let slope = Node::given(
        "watts of leakage that a kelvin more makes",
        slope,
        "W/K",
        "slope of leakage at the last temperature",
    );
    match heat.rise_k_per_w > 0.0 {
        true => Node::product("loop_gain", "1", vec![rise, slope]),
        false => Node::given("loop_gain", heat.loop_gain, "1", NETWORK),
    }
}

/// A [`Formula`] of equations that also depend on a temperature that was found.
pub fn with_temperature(mut node: Node, heat: Option<&Heat>) -> Node {
    if let Some(heat) = heat {
        add(&mut node, heat);
    }
    node
}

fn add(node: &mut Node, heat: &Heat) {
    if matches!(node.formula, Formula::Model { .. }) {
        node.inputs.push(Side::resting_at(heat));
        return;
    }
    node.inputs.iter_mut().for_each(|input| add(input, heat));
}

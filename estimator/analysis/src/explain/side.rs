//! Figures of one point.

use std::collections::BTreeMap;

use warpwatt_circuit::{CircuitError, Flavours};

use super::circuit::{Traced, Uncertain};
use super::heat::with_temperature;
use super::tree::{Formula, Node};
use crate::outcome::{DRAM, FRONT_END, Outcome, PricedStructure};
use crate::recipe::{Built, Gpu, Process, powered_share};

/// A point with its structures as they are built.
pub struct Side<'b> {
    /// The point.
    pub outcome: &'b Outcome,
    /// The GPU that was timed.
    pub gpu: &'b Gpu,
    /// Of what it is made, and how it runs.
    pub process: &'b Process,
    traced: BTreeMap<&'b str, Traced<'b>>,
}

/// Where counts come from.
pub const COUNTED: &str = "counted by the GPU model";

impl<'b> Side<'b> {
    /// Traces every structure of the point; `uncertain` is what its process has in the flavours of its structures.
    ///
    /// # Errors
    /// A moved technology is outside what the models cover.
    pub fn new(
        outcome: &'b Outcome,
        gpu: &'b Gpu,
        (process, built): (&'b Process, &'b Built<'b>),
        uncertain: &'b BTreeMap<Option<Flavours>, Uncertain>,
    ) -> Result<Self, CircuitError> {
        let mut traced = BTreeMap::new();
        for part in &built.parts {
            if let Some(uncertain) = uncertain.get(&part.part.flavours) {
                let one = Traced::new(part, uncertain)?;
                traced.insert(part.part.name.as_str(), one);
            }
        }
        Ok(Self {
            outcome,
            gpu,
            process,
            traced,
        })
    }

    /// A counter.
    pub fn count(&self, name: &str) -> Node {
        let count = self.outcome.activity.get(name) as f64;
        Node::given(name, count, "1", COUNTED)
    }

    /// A setting of the GPU.
    pub fn setting(name: &str, value: f64, unit: &str) -> Node {
        Node::given(name, value, unit, "the GPU's configuration")
    }

    /// Cycles, by what the SMs spent them on.
    pub fn cycles(&self) -> Node {
        let sms = Self::setting("SMs", f64::from(self.gpu.spec.sm.count), "1");
        let spent = self.outcome.performance.stalls.iter();
        let spent = spent.map(|(what, count)| Node::given(what, *count as f64, "cycles", COUNTED));
        let whole = Node::sum(
            "cycles of all SMs by what they were spent on",
            "cycles",
            spent.collect(),
        );
        Node::quotient("cycles", "cycles", whole, sms)
    }

    /// Time of the run.
    pub fn time(&self) -> Node {
        Node::quotient("time_s", "s", self.cycles(), self.clock())
    }

    /// The core clock.
    pub fn clock(&self) -> Node {
        Self::setting("clock_hz", self.outcome.clock_hz, "Hz")
    }

    /// Dynamic energy of all structures that `which` wants.
    pub fn dynamic(&self, name: &str, which: impl Fn(&PricedStructure) -> bool) -> Node {
        let structures = self.outcome.structures.iter().filter(|s| which(s));
        let spending = structures.filter(|structure| structure.dynamic_j != 0.0);
        Node::sum(
            name,
            "J",
            spending.map(|s| self.structure_dynamic(s)).collect(),
        )
    }

    /// Dynamic energy of a structure.
    pub fn structure_dynamic(&self, structure: &PricedStructure) -> Node {
        let actions = structure.actions.names();
        let actions = actions.map(|action| self.action(structure, action));
        Node::sum(&structure.name, "J", actions.collect())
    }

    /// Energy of all events of a kind.
    pub fn action(&self, structure: &PricedStructure, action: &str) -> Node {
        let count = structure.count(action) as f64;
        let counter = format!("{}.{action}", structure.name);
        let times = self.events(
            structure,
            action,
            Node::given(&counter, count, "1", COUNTED),
        );
        times.called(action)
    }

    /// So many events, at the price of one.
    pub fn events(&self, structure: &PricedStructure, action: &str, count: Node) -> Node {
        let price = match self.traced.get(&*structure.name) {
            Some(traced) => traced.energy(action),
            None => Node::given(
                "energy of one",
                structure.unit_j(action),
                "J",
                "the result store",
            ),
        };
        Node::product(
            &format!("{} {action}", structure.name),
            "J",
            vec![count, price],
        )
    }

    /// Leakage energy of all structures.
    pub fn leakage_energy(&self) -> Node {
        let leaking = self
            .outcome
            .structures
            .iter()
            .filter(|s| s.leakage_j != 0.0);
        let each = leaking.map(|structure| self.structure_leakage(structure));
        Node::sum("leakage_energy_j", "J", each.collect())
    }

    /// Leakage energy of a structure.
    pub fn structure_leakage(&self, structure: &PricedStructure) -> Node {
        let name = format!("{} leakage", structure.name);
        let Some(traced) = self.traced.get(&*structure.name) else {
            return Node::given(&name, structure.leakage_j, "J", "the result store");
        };
        let instances = Self::setting("instances", structure.instances as f64, "1");
        let one = match powered_share(traced.built.part, self.outcome) {
            None => self.leaking(traced.leakage()),
            Some(share) => {
                let on = Node::given("share of time on", share, "1", COUNTED);
                let whole = Node::given("all of the time", 1.0, "1", "definition");
                let off = Node::of(
                    "share of time off",
                    "1",
                    Formula::Difference,
                    vec![whole, on.clone()],
                );
                Node::sum(
                    "leakage of one, on and off",
                    "W",
                    vec![
                        Node::product("while on", "W", vec![on, self.leaking(traced.leakage())]),
                        Node::product(
                            "while off",
                            "W",
                            vec![off, self.leaking(traced.leakage_off())],
                        ),
                    ],
                )
            }
        };
        Node::product(&name, "J", vec![instances, one, self.time()])
    }

    /// A leakage, with the temperature among its inputs if that was found and not set.
    fn leaking(&self, leakage: Node) -> Node {
        with_temperature(leakage, self.outcome.at_rest().as_ref())
    }

    /// Power of the window that takes the most: its events, and the mean of what windows do not hold. Nothing if no windows were counted.
    pub fn peak_power(&self) -> Option<Node> {
        let peak = self.outcome.peak.as_ref()?;
        let (mut inside, mut beside) = (Vec::new(), Vec::new());
        for structure in &self.outcome.structures {
            for action in structure.actions.names() {
                match peak.count(&structure.name, action) {
                    Some(0) => {}
                    Some(count) => {
                        let count = Node::given("in the window", count as f64, "1", COUNTED);
                        inside.push(self.events(structure, action, count));
                    }
                    None => beside.push(self.action(structure, action)),
                }
            }
        }
        let cycles = Node::given(
            "cycles of the window",
            peak.cycles as f64,
            "cycles",
            COUNTED,
        );
        let window = Node::quotient("time of the window", "s", cycles, self.clock());
        let events = Node::sum("dynamic energy of the window", "J", inside);
        beside.push(self.leakage_energy());
        let rest = Node::sum("energy that no window holds", "J", beside);
        let terms = vec![
            Node::quotient("dynamic power of the window", "W", events, window),
            Node::quotient("mean power of the rest", "W", rest, self.time()),
        ];
        Some(Node::sum("peak_power_w", "W", terms))
    }

    /// Dynamic and leakage energy.
    pub fn energy(&self) -> Node {
        Node::sum(
            "energy_j",
            "J",
            vec![
                self.dynamic("dynamic_energy_j", |_| true),
                self.leakage_energy(),
            ],
        )
    }

    /// Energy of what is on the chip, which warms it.
    pub fn energy_on_chip(&self) -> Node {
        let on_chip = |structure: &PricedStructure| &*structure.group != DRAM;
        let beside = self.outcome.structures.iter().any(|it| !on_chip(it));
        if !beside {
            return self.energy();
        }
        let leaking = self.outcome.structures.iter();
        let leaking = leaking.filter(|it| on_chip(it) && it.leakage_j != 0.0);
        let leakage = leaking.map(|structure| self.structure_leakage(structure));
        let leakage = Node::sum("leakage energy of the chip", "J", leakage.collect());
        let dynamic = self.dynamic("dynamic energy of the chip", on_chip);
        Node::sum("energy of the chip", "J", vec![dynamic, leakage])
    }

    /// Area of all instances of the structures that `which` wants.
    pub fn area(&self, name: &str, which: impl Fn(&PricedStructure) -> bool) -> Node {
        let built = self
            .outcome
            .structures
            .iter()
            .filter(|s| which(s) && s.total_area_m2() != 0.0);
        let each = built.map(|structure| {
            let instances = Self::setting("instances", structure.instances as f64, "1");
            Node::product(
                &structure.name,
                "m2",
                vec![instances, self.one_area(structure)],
            )
        });
        Node::sum(name, "m2", each.collect())
    }

    fn one_area(&self, structure: &PricedStructure) -> Node {
        match self.traced.get(&*structure.name) {
            Some(traced) => traced.area(),
            None => Node::given("area of one", structure.area_m2, "m2", "the result store"),
        }
    }

    /// Leakage power of all instances of the structures that `which` wants, all switched on.
    pub fn leakage_power(&self, name: &str, which: impl Fn(&PricedStructure) -> bool) -> Node {
        let built = self
            .outcome
            .structures
            .iter()
            .filter(|s| which(s) && s.total_leakage_w() != 0.0);
        let each = built.filter_map(|structure| {
            let traced = self.traced.get(&*structure.name)?;
            let instances = Self::setting("instances", structure.instances as f64, "1");
            Some(Node::product(
                &structure.name,
                "W",
                vec![instances, self.leaking(traced.leakage())],
            ))
        });
        Node::sum(name, "W", each.collect())
    }

    /// A figure of a structure, called as in `report.json`.
    pub fn structure_figure(&self, structure: &str, figure: &str) -> Option<Node> {
        let priced = self.outcome.structure(structure)?;
        let traced = self.traced.get(structure)?;
        let leakage = || self.leaking(traced.leakage());
        let kinds = || leakage().inputs.into_iter().next();
        // Both kinds of leakage carry the same error of the model.
        let kind = |place: usize| -> Option<Node> {
            let all = kinds()?.inputs;
            let method = leakage().inputs.pop()?;
            let one = all.into_iter().nth(place);
            let one = one.unwrap_or_else(|| {
                Node::given("gate leakage", 0.0, "W", "left out by the profile")
            });
            Some(Node::product(figure, "W", vec![one, method]))
        };
        Some(match figure {
            "area_m2" => traced.area(),
            "delay_s" => traced.delay(),
            "leakage_w" => kind(0)?,
            "gate_leakage_w" => kind(1)?,
            "dynamic_j" => self.structure_dynamic(priced),
            "leakage_j" => self.structure_leakage(priced),
            "instances" => Self::setting("instances", priced.instances as f64, "1"),
            _ => return None,
        })
    }

    /// Access time of the slowest structure.
    pub fn slowest(&self) -> Node {
        let each = self
            .traced
            .iter()
            .map(|(name, traced)| traced.delay().called(name));
        Node::of("slowest_delay_s", "s", Formula::Greatest, each.collect())
    }

    /// Whether a structure belongs to the front end.
    pub fn is_front_end(structure: &PricedStructure) -> bool {
        &*structure.group == FRONT_END
    }
}

//! Figures of one structure, down to the values of the technology.

use warpwatt_circuit::{CircuitError, Cost, Gated, Part as Contribution, Quantity};
use warpwatt_techlib::{TechError, Technology};

use super::tree::{Formula, Node};
use crate::recipe::{BuiltPart, Process, World};
use crate::uncertainty::input::{Input, inputs, moved};
use crate::uncertainty::process::Varied;
use crate::uncertainty::{Figure, ProcessVariation, method_cause, own_error};

/// A structure with what each uncertain input of its technology does to it.
pub struct Traced<'b> {
    /// How it is built.
    pub built: &'b BuiltPart<'b>,
    inputs: &'b [Input],
    /// One sigma up and one down for each input that changes anything.
    moves: Vec<(usize, [Priced; 2])>,
}

type Priced = (Cost, Option<Gated>);

/// A change of the logarithm below which an input does not matter.
const NOTHING: f64 = 1e-9;

impl<'b> Traced<'b> {
    /// Evaluates the structure with each uncertain input of its process moved by its own standard deviation.
    ///
    /// # Errors
    /// A moved technology is outside what the models cover.
    pub fn new(built: &'b BuiltPart<'b>, uncertain: &'b Uncertain) -> Result<Self, CircuitError> {
        let mut moves = Vec::new();
        for (number, both) in uncertain.moves.iter().enumerate() {
            let priced = |moved: &Made| built.under(moved.world());
            let pair = [priced(&both[0])?, priced(&both[1])?];
            if pair[0] != pair[1] {
                moves.push((number, pair));
            }
        }
        Ok(Self {
            built,
            inputs: &uncertain.inputs,
            moves,
        })
    }

    fn cost(&self) -> &Cost {
        &self.built.cost
    }

    /// Energy of one `action`.
    pub fn energy(&self, action: &str) -> Node {
        let spec = self.built.design.spec();
        let cost = self.cost();
        let model = match action {
            "read" => self.parts("energy of the contributions", Quantity::Energy, |part| {
                part.read_energy.si()
            }),
            "search" => self.parts("energy of the contributions", Quantity::Energy, |part| {
                part.search_energy.map_or(0.0, |energy| energy.si())
            }),
            _ => {
                let gates = action == "write" && cost.organisation.is_none();
                let part = if gates { "write lines" } else { action };
                let equation = spec.equation(part, Quantity::Energy);
                let of = |cost: &Cost, gated: Option<&Gated>| match action {
                    "wake" => gated.map_or(0.0, |gated| gated.wake_energy.si()),
                    _ => cost.write_energy.si(),
                };
                let name = if action == "wake" {
                    "energy of waking one part of the circuit"
                } else {
                    "energy as modelled"
                };
                self.model(name, "J", equation, of)
            }
        };
        let mut factors = vec![model, self.method(Figure::Energy)];
        if let ("wake", Some(gated), Some(gates)) =
            (action, &self.built.gated, &self.built.part.gates)
        {
            let parts = self.built.part.instances as f64 * gated.domains as f64;
            let count = Node::quotient(
                "parts of the circuits that wake at once",
                "1",
                Node::given(
                    "parts of the circuits",
                    parts,
                    "1",
                    "instances x domains of the circuit model",
                ),
                Node::given(
                    "parts that the GPU model switches",
                    gates.domains as f64,
                    "1",
                    "configuration",
                ),
            );
            factors.push(count);
        }
        let source = format!("{}{}", cost.model, self.split());
        Node::product(&format!("energy of one {action}"), "J", factors).from(&source)
    }

    /// Leakage of one, gate leakage included.
    pub fn leakage(&self) -> Node {
        let spec = self.built.design.spec();
        let parts = self.parts("sub-threshold leakage", Quantity::Leakage, |part| {
            part.leakage.si()
        });
        let mut kinds = vec![parts];
        if self.cost().gate_leakage.si() > 0.0 {
            let equation = spec.equation("", Quantity::GateLeakage);
            kinds.push(self.model("gate leakage", "W", equation, |cost, _| {
                cost.gate_leakage.si()
            }));
        }
        let both = Node::sum("leakage as modelled", "W", kinds);
        Node::product(
            "leakage of one",
            "W",
            vec![both, self.method(Figure::Leakage)],
        )
        .from(&self.cost().model)
    }

    /// Leakage of one whose parts are all switched off.
    pub fn leakage_off(&self) -> Node {
        let equation = self.built.design.spec().equation("", Quantity::Leakage);
        let off = |_: &Cost, gated: Option<&Gated>| {
            gated.map_or(0.0, |gated| gated.leakage.si() + gated.gate_leakage.si())
        };
        let model = self.model("leakage behind sleep transistors", "W", equation, off);
        Node::product(
            "leakage of one, switched off",
            "W",
            vec![model, self.method(Figure::Leakage)],
        )
    }

    /// Area of one, sleep transistors included.
    pub fn area(&self) -> Node {
        let parts = self.parts("area of the contributions", Quantity::Area, |part| {
            part.area.si()
        });
        let mut all = vec![parts];
        if self.built.gated.is_some() {
            let equation = self.built.design.spec().equation("", Quantity::Area);
            let header =
                |_: &Cost, gated: Option<&Gated>| gated.map_or(0.0, |gated| gated.header_area.si());
            all.push(self.model("sleep transistors", "m2", equation, header));
        }
        let sum = Node::sum("area as modelled", "m2", all);
        Node::product("area of one", "m2", vec![sum, self.method(Figure::Area)]).from(&format!(
            "{}{}",
            self.cost().model,
            self.split()
        ))
    }

    /// Access time.
    pub fn delay(&self) -> Node {
        let equation = self.built.design.spec().equation("", Quantity::Delay);
        let model = self.model("access time as modelled", "s", equation, |cost, _| {
            cost.access_time.si()
        });
        Node::product("access time", "s", vec![model, self.method(Figure::Delay)])
            .from(&self.cost().model)
    }

    fn split(&self) -> String {
        self.cost().organisation.map_or_else(String::new, |split| {
            format!(
                ", {} x {} subarrays of {} x {}",
                split.ndwl, split.ndbl, split.rows, split.cols
            )
        })
    }

    /// The sum of the breakdown's contributions to a figure.
    fn parts(&self, name: &str, quantity: Quantity, of: fn(&Contribution) -> f64) -> Node {
        let (unit, spec) = (unit(quantity), self.built.design.spec());
        let breakdown = self.cost().breakdown.iter().enumerate();
        let inputs = breakdown
            .filter(|(_, part)| of(part) != 0.0)
            .map(|(place, part)| {
                let figure =
                    move |cost: &Cost, _: Option<&Gated>| cost.breakdown.get(place).map_or(0.0, of);
                self.model(
                    &part.name,
                    unit,
                    spec.equation(&part.name, quantity),
                    figure,
                )
            });
        Node::sum(name, unit, inputs.collect())
    }

    /// A value that an equation makes of values of the technology.
    fn model(
        &self,
        name: &str,
        unit: &str,
        equation: warpwatt_circuit::Equation,
        of: impl Fn(&Cost, Option<&Gated>) -> f64,
    ) -> Node {
        let value = of(self.cost(), self.built.gated.as_ref());
        let inputs = self.moves.iter().filter_map(|(number, [up, down])| {
            let log = |priced: &Priced| libm::log(of(&priced.0, priced.1.as_ref()) / value);
            let effect = (log(up) - log(down)) / 2.0;
            (effect.is_finite() && effect.abs() > NOTHING)
                .then(|| input(&self.inputs[*number], effect))
        });
        let formula = Formula::Model {
            equation: equation.text.to_owned(),
        };
        Node::made(name, value, unit, formula, inputs.collect()).from(equation.origin)
    }

    fn method(&self, figure: Figure) -> Node {
        let spec = self.built.design.spec();
        let uncertainty = own_error(&self.built.process.technology, spec, self.cost(), figure);
        let cause = method_cause(&self.built.part.name, figure);
        let formula = Formula::Method { uncertainty, cause };
        Node::made("error of the model itself", 1.0, "1", formula, Vec::new())
            .from("docs/theory-pricing.md: the method's own error")
    }
}

/// The technologies of a process with an input moved.
pub struct Made {
    technology: Technology,
    cells: Option<Technology>,
    switch: Technology,
}

impl Made {
    fn world(&self) -> World<'_> {
        World {
            cells: self.cells.as_ref().unwrap_or(&self.technology),
            technology: &self.technology,
            switch: &self.switch,
        }
    }
}

/// What of a process is uncertain: of each input its value, and what is made with one sigma more of it and one less.
pub struct Uncertain {
    inputs: Vec<Input>,
    moves: Vec<[Made; 2]>,
}

impl Uncertain {
    /// That of `process`, whose transistors vary as `variation` says.
    ///
    /// # Errors
    /// The data of process variation cannot be read.
    pub fn of(process: &Process, variation: Option<ProcessVariation>) -> Result<Self, TechError> {
        let varied = |technology| variation.map(|it| it.of(technology)).transpose();
        let [own, switch] = [varied(&process.technology)?, varied(process.switch())?];
        let cells = varied(process.cells())?;
        let mut inputs = inputs(&process.technology);
        let of_die = own.iter().flat_map(|own| own.inputs(&process.technology));
        inputs.extend(of_die);
        let of = |technology, varied: &Option<Varied>, input: &Input, z| {
            let varied = varied.as_ref();
            let varied = varied.and_then(|varied| varied.moved(technology, input, z));
            varied.unwrap_or_else(|| moved(technology, input, z))
        };
        let at = |input: &Input, z: f64| Made {
            technology: of(&process.technology, &own, input, z),
            cells: process
                .cells
                .as_ref()
                .map(|technology| of(technology, &cells, input, z)),
            switch: of(process.switch(), &switch, input, z),
        };
        let moves = inputs.iter();
        let moves = moves
            .map(|input| [at(input, 1.0), at(input, -1.0)])
            .collect();
        Ok(Self { inputs, moves })
    }
}

fn input(input: &Input, effect: f64) -> Node {
    let formula = Formula::Technology {
        uncertainty: input.uncertainty,
        cause: input.cause.to_owned(),
        how: input.how.clone(),
        effect,
    };
    Node::made(&input.name, input.value, input.unit, formula, Vec::new()).from(&input.source)
}

const fn unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Energy => "J",
        Quantity::Leakage | Quantity::GateLeakage => "W",
        Quantity::Area => "m2",
        Quantity::Delay => "s",
    }
}

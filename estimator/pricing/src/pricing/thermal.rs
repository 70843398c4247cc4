//! What a point costs at the temperature that its own heat makes.
//!
//! Steady state of a kernel that is run again and again: a run takes microseconds, a die follows in milliseconds and a heat sink in a minute. All SMs share one
//! temperature; structures that are not priced make heat only as far as `other_power` says, in the rest of the die.

use std::sync::Arc;

use warpwatt_circuit::thermal::{Balance, Block, Limit, Network, balance};
use warpwatt_circuit::{CircuitError, Cost, Flavours, Gated, Granularity, OperatingPoint, Spec};
use warpwatt_structures::Stage;
use warpwatt_techlib::published::{Package, package};
use warpwatt_techlib::quantity::{Area, Power, Temperature, ThermalResistance};
use warpwatt_techlib::{TechError, Technology};
use warpwatt_techniques::Circuits;

use super::join::{Counted, leakage_power, price};
use super::{CostTable, NodeCircuits, PricingError};
use crate::outcome::{Heat, HeatState, Note, NoteKind, Outcome, Point};

/// How a GPU is cooled.
#[derive(Clone, Debug, PartialEq)]
pub struct Cooling {
    /// The package.
    pub package: Package,
    /// The air.
    pub ambient: Temperature,
    /// From the heat sink to the air.
    pub sink: ThermalResistance,
    /// The whole die; as much as is priced if that is not said.
    pub die_area: Option<Area>,
    /// Heat of what is not priced.
    pub other_power: Power,
}

impl Cooling {
    /// The package that comes with the technology data, nothing but what is priced on its die.
    ///
    /// # Errors
    /// If the data cannot be read.
    pub fn of_package() -> Result<Self, TechError> {
        let package = package()?;
        Ok(Self {
            ambient: package.convection.ambient.value,
            sink: package.convection.resistance.value,
            die_area: None,
            other_power: Power::ZERO,
            package,
        })
    }

    fn network(&self, priced: Area) -> Result<Network, PricingError> {
        let mut blocks = vec![Block { area: priced }];
        if let Some(die) = self.die_area {
            if die < priced {
                return Err(PricingError::Die { die, priced });
            }
            if die > priced {
                blocks.push(Block { area: die - priced });
            }
        }
        Ok(Network::new(
            &self.package,
            &blocks,
            self.sink,
            self.ambient,
        ))
    }
}

/// Prices what was counted at the temperature that it comes to under `cooling`; `costs` says what there is and what it costs in given circuits. Where there is no such
/// temperature, at that of `circuits`, with a note.
///
/// # Errors
/// As [`price`]; if the die is smaller than what is on it.
pub fn price_settled(
    point: Point,
    counted: Counted,
    costs: impl Fn(&dyn Circuits) -> Result<CostTable, PricingError>,
    circuits: &NodeCircuits,
    cooling: &Cooling,
) -> Result<Outcome, PricingError> {
    let mut outcome = price(point.clone(), counted.clone(), &costs(circuits)?)?;
    let dynamic = Power::from_w(outcome.dynamic_power_w() - outcome.beside_power_w());
    let network = cooling.network(Area::from_m2(outcome.totals.area_m2))?;
    let at = |temperature: Temperature| -> Result<CostTable, PricingError> {
        let heated = Heated::new(circuits, temperature)
            .map_err(|error| PricingError::Technology(Box::new(error)))?;
        costs(&heated)
    };
    let balance = balance(&network, |temperatures| {
        let leakage = leakage_power(&at(temperatures[0]).ok()?, &counted);
        let mut powers = vec![dynamic + leakage];
        powers.resize(temperatures.len(), cooling.other_power);
        Some(powers)
    });
    let before = outcome.leakage_power_w();
    if balance.limit.is_none() {
        outcome = price(point, counted, &at(balance.blocks[0])?)?;
    } else {
        let notes = Arc::make_mut(&mut outcome.notes);
        notes.push(Note {
            kind: NoteKind::Thermal,
            text: restless(&balance, circuits.operating_point().temperature).into(),
        });
        notes.sort();
    }
    let warmed = warmed(&network, cooling.other_power);
    outcome.heat = Some(heat(&balance, &network, before, warmed));
    Ok(outcome)
}

/// By how much a watt of what is priced warms it, and by how much all of the rest of the die does: the network is linear.
fn warmed(network: &Network, others: Power) -> (f64, f64) {
    let with = |watts: f64| {
        let mut powers = vec![Power::from_w(watts)];
        powers.resize(network.blocks(), others);
        network.steady(&powers)[0]
    };
    let (cold, warm) = (with(0.0), with(1.0));
    (warm.si() - cold.si(), cold.si() - network.ambient().si())
}

fn heat(
    balance: &Balance,
    network: &Network,
    before_w: f64,
    (rise_k_per_w, others_k): (f64, f64),
) -> Heat {
    let times = network.time_constants();
    let edge = |time: Option<&warpwatt_techlib::quantity::Time>| time.map_or(0.0, |time| time.si());
    Heat {
        state: match balance.limit {
            None => HeatState::Settled,
            Some(Limit::Runaway) => HeatState::Runaway,
            Some(Limit::OutOfRange) => HeatState::OutOfRange,
        },
        ambient_k: network.ambient().si(),
        junction_k: balance.blocks[0].si(),
        sink_k: balance.sink.si(),
        loop_gain: balance.gain,
        study_leakage_w: before_w,
        die_time_s: edge(times.last()),
        sink_time_s: edge(times.first()),
        rise_k_per_w,
        others_k,
    }
}

/// Why there is no temperature.
fn restless(balance: &Balance, study: Temperature) -> String {
    let reached = balance.blocks[0];
    let why = match balance.limit {
        Some(Limit::Runaway) => format!(
            "thermal runaway: at {reached} one kelvin more leaks as much heat as makes {:.2} K",
            balance.gain
        ),
        _ => format!(
            "too hot: the technology's laws end before power and temperature come to rest; at {reached} they had not"
        ),
    };
    format!("{why}; priced at {study} instead")
}

/// Circuits at another temperature than their own. Their leakage goes as the transistors' does; all else stays.
struct Heated<'c> {
    circuits: &'c NodeCircuits,
    at: OperatingPoint,
    sub_threshold: f64,
    gate: f64,
    /// The other flavours, as hot.
    others: Vec<(Flavours, Heated<'c>)>,
}

impl<'c> Heated<'c> {
    fn new(circuits: &'c NodeCircuits, temperature: Temperature) -> Result<Self, TechError> {
        let own = circuits.operating_point();
        let technology: &Technology = circuits.technology();
        let (cold, hot) = (
            technology.at(own.vdd, own.temperature)?,
            technology.at(own.vdd, temperature)?,
        );
        let ratio = |hot: f64, cold: f64| if cold > 0.0 { hot / cold } else { 1.0 };
        let others = circuits
            .others()
            .map(|(flavours, other)| Ok((flavours, Self::new(other, temperature)?)));
        Ok(Self {
            circuits,
            at: OperatingPoint {
                temperature,
                ..*own
            },
            sub_threshold: ratio(hot.i_off.si(), cold.i_off.si()),
            gate: ratio(hot.i_gate.si(), cold.i_gate.si()),
            others: others.collect::<Result<_, _>>()?,
        })
    }
}

impl Heated<'_> {
    /// A cost as it is at this temperature.
    fn heated(&self, spec: &Spec, cost: &Cost) -> Cost {
        let mut cost = cost.clone();
        // What DRAM takes when idle is not the leakage of these transistors.
        if !matches!(spec, Spec::Memory(_)) {
            cost.leak(self.sub_threshold, self.gate);
        }
        cost
    }
}

impl Circuits for Heated<'_> {
    fn cost(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError> {
        Ok(Arc::new(self.heated(spec, &*self.circuits.cost(spec)?)))
    }

    fn gated(&self, spec: &Spec, granularity: Granularity) -> Result<Gated, CircuitError> {
        let cost = self.heated(spec, &*self.circuits.whole(spec)?);
        self.circuits.gate_at(spec, (&self.at, &cost), granularity)
    }

    /// What is built does not depend on how hot it gets.
    fn in_time(&self, spec: &Spec, stage: Stage) -> Result<Option<Flavours>, CircuitError> {
        self.circuits.in_time(spec, stage)
    }

    fn conditions(&self) -> Option<(&Technology, OperatingPoint)> {
        self.circuits.conditions()
    }

    fn of_flavours(&self, flavours: Flavours) -> Option<&dyn Circuits> {
        let other = self.others.iter().find(|(known, _)| *known == flavours);
        other.map(|(_, heated)| heated as &dyn Circuits)
    }
}

#[cfg(test)]
mod tests;

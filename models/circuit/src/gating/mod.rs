//! Power gating: a sleep transistor between the supply and a structure that is idle (the questions of CACTI-P: Li et al., ICCAD 2011; the answers from
//! device physics, see `docs/power-gating.md`).

mod domain;
mod rail;
mod switch;

use serde::{Deserialize, Serialize};
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time, Voltage};
use warpwatt_techlib::{TechError, Technology, rules};

use crate::{CircuitError, Cost, OperatingPoint};
use domain::Domain;
use rail::Rail;
use switch::Switch;

/// How a structure is cut off from its supply while it is idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gating {
    /// Which side is switched.
    pub side: GatedSide,
    /// How much is switched together.
    pub granularity: Granularity,
    /// How much slower the structure may become through the drop over its switch: 0.01 is one percent. More than 0, at most 0.5.
    pub loss: f64,
    /// Cut off, or kept at a reduced supply.
    pub mode: GatedMode,
    /// Largest current at wake-up over the largest in operation; the whole switch at once if absent. Practice turns switches on one after the other to spare
    /// the supply of the neighbours.
    pub inrush: Option<f64>,
}

/// Which side of the supply a sleep transistor cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatedSide {
    /// PMOS towards the supply.
    #[default]
    Header,
    /// NMOS towards ground.
    Footer,
}

/// How much one switch cuts off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// The whole structure.
    #[default]
    Array,
    /// Each subarray with its row decoders and column circuits; predecoders, trees and routing stay on.
    Subarray,
    /// The cells of each row; everything else stays on.
    Row,
}

/// What becomes of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatedMode {
    /// Cut off: the data are lost.
    #[default]
    Off,
    /// On a second rail of 0.65 times the supply: the data stay, an access must wait for the wake-up.
    Drowsy,
    /// The same with another voltage of the second rail.
    DrowsyAt(Voltage),
}

/// What power gating gives and takes. Energies, times and `break_even` are those of one domain: what wakes at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gated {
    /// Sub-threshold leakage of the whole structure with every domain gated, the switches' own included.
    pub leakage: Power,
    /// Gate leakage of the same.
    pub gate_leakage: Power,
    /// From the wake-up signal until the virtual rail is back.
    pub wake_time: Time,
    /// One sleep and wake-up: recharge of rail and nodes, and the gate of the switch twice.
    pub wake_energy: Energy,
    /// All switches.
    pub header_area: Area,
    /// All switches together.
    pub header_width: Length,
    /// Shortest sleep that saves energy.
    pub break_even: Time,
    /// Voltage to which the virtual rail sinks, over the ground of the block.
    pub rail: Voltage,
    /// Domains that can sleep on their own.
    pub domains: u64,
    /// Whether the data survive.
    pub keeps_data: bool,
}

impl Default for Gating {
    /// A header for the whole structure, one percent slower: CACTI-P's defaults.
    fn default() -> Self {
        Self {
            side: GatedSide::default(),
            granularity: Granularity::default(),
            loss: 0.01,
            mode: GatedMode::default(),
            inrush: None,
        }
    }
}

/// A structure's cost, and the operating point at which it costs that.
pub type CostAt<'c> = (&'c OperatingPoint, &'c Cost);

/// What gating does to a structure of `technology` where it `runs`. Its switches are transistors of `switch`, a flavour of the same node, best one of low
/// leakage; they are sized for the currents of the structure as it was `designed`, whatever it runs at.
///
/// # Errors
///
/// If a parameter is outside its range, the supply is too low for the switch, or the structure has no part of that granularity.
pub fn gate(
    technology: &Technology,
    switch: &Technology,
    designed: CostAt,
    runs: CostAt,
    gating: &Gating,
) -> Result<Gated, CircuitError> {
    check(gating)?;
    let (at, cost) = runs;
    let sides = (&designed.1.tag, &designed.1.data, &cost.tag, &cost.data);
    if let (Some(old_tag), Some(old_data), Some(tag), Some(data)) = sides {
        let side = |old, new| gate(technology, switch, (designed.0, old), (at, new), gating);
        let (tag, data) = (side(old_tag, tag)?, side(old_data, data)?);
        return Ok(together(cost, &tag, &data));
    }
    let domain = Domain::new(technology, at, cost, gating)?;
    let sized = Domain::new(technology, designed.0, designed.1, gating)?;
    let width = switch::width(switch, &sized, gating);
    let switch = Switch::new(technology, switch, at, (&domain, width), gating)?;
    let (settled, asleep) = match gating.mode {
        GatedMode::Off => {
            let rail = Rail::cut_off(at, &domain, &switch);
            (rail, rail.current * domain.vdd)
        }
        GatedMode::Drowsy | GatedMode::DrowsyAt(_) => {
            let kept = retention(gating, &domain)?;
            let rail = Rail::held(at, &domain, kept);
            let through = rail.current.min(switch.off_at(domain.vdd - kept));
            (rail, rail.current * kept + through * (domain.vdd - kept))
        }
    };
    let count = domain.count as f64;
    let left = settled.rail / domain.vdd;
    let gate_leakage = domain.gate_leakage_on + domain.gate_leakage * (left * left);
    let leakage = domain.leakage_on + asleep * count;
    let rise = domain.vdd - settled.rail;
    let wake_energy = domain.capacitance * domain.vdd * rise + switch.toggle;
    let saved = (cost.leakage + cost.gate_leakage - leakage - gate_leakage) / count;
    Ok(Gated {
        leakage,
        gate_leakage,
        wake_time: switch.turn_on + domain.capacitance * rise / switch.wake_current,
        wake_energy,
        header_area: switch.area * count,
        header_width: switch.width * count,
        break_even: wake_energy / saved,
        rail: settled.rail,
        domains: domain.count,
        keeps_data: !matches!(gating.mode, GatedMode::Off),
    })
}

/// Both sides of a cache, a domain of one with a domain of the other.
fn together(cost: &Cost, tag: &Gated, data: &Gated) -> Gated {
    let domains = tag.domains.max(data.domains);
    let wake_energy = tag.wake_energy + data.wake_energy;
    let (leakage, gate_leakage) = (
        tag.leakage + data.leakage,
        tag.gate_leakage + data.gate_leakage,
    );
    let all = cost.leakage + cost.gate_leakage - leakage - gate_leakage;
    Gated {
        leakage,
        gate_leakage,
        wake_time: tag.wake_time.max(data.wake_time),
        wake_energy,
        header_area: tag.header_area + data.header_area,
        header_width: tag.header_width + data.header_width,
        break_even: wake_energy / (all / domains as f64),
        rail: data.rail,
        domains,
        keeps_data: data.keeps_data,
    }
}

fn check(gating: &Gating) -> Result<(), CircuitError> {
    let loss = gating.loss > 0.0 && gating.loss <= 0.5;
    if !loss {
        return Err(CircuitError::Gating {
            what: "loss",
            got: gating.loss,
            low: 0.0,
            high: 0.5,
        });
    }
    match gating.inrush {
        Some(inrush) if !(inrush > 0.0 && inrush.is_finite()) => Err(CircuitError::Gating {
            what: "inrush",
            got: inrush,
            low: 0.0,
            high: 1000.0,
        }),
        _ => Ok(()),
    }
}

/// The voltage that keeps the data: enough for the cell to have two states, less than the supply.
fn retention(gating: &Gating, domain: &Domain) -> Result<Voltage, CircuitError> {
    let low = domain.vth;
    let kept = match gating.mode {
        GatedMode::DrowsyAt(voltage) => voltage,
        _ => (domain.vdd * rules::RETENTION).max(low * 1.01),
    };
    if kept > low && kept < domain.vdd {
        return Ok(kept);
    }
    let nearest = if kept >= domain.vdd {
        domain.vdd * rules::RETENTION
    } else {
        low
    };
    Err(CircuitError::Technology(TechError::Supply {
        vdd: kept,
        low,
        high: domain.vdd,
        nearest,
    }))
}

#[cfg(test)]
mod tests;

//! What the models say that an event costs on a chip: what is known of a board before anything is measured.

use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::{GpuSpec, Inventory};
use warpwatt_pricing::outcome::Action;
use warpwatt_pricing::pricing::{CostEntry, CostTable, NodeCircuits};
use warpwatt_structures::inventory;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

use crate::channel::{CHANNELS, Channel};
use crate::facts::Facts;
use crate::law::Places;
use crate::parameter::{
    ACTIVE, CLOCK, CONSTANT, EXPONENT, FRESH, KNEE, LEAKAGE, MEMORY, PARAMETERS, PEAKS, REACHED,
    SCALE, SLOPE, STILL_FLOAT, STILL_INT,
};

/// The junction temperature at which chips are priced.
const WARM_K: f64 = 350.0;
/// Standard deviation of the logarithm of what an event really moves, beside what [`Channel::events`] says. Assumed.
const RECIPE: f64 = 0.6;

/// An energy and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Joules of an event.
    pub energy_j: f64,
    /// Standard deviation of its logarithm.
    pub sigma: f64,
}

/// Energies of all kinds of events on a board's chip, in the order of [`Channel::ALL`].
///
/// # Errors
/// The preset or the node is not known, or the preset is not of a whole chip: a sentence.
pub fn prices(facts: &Facts, gpu: &GpuSpec) -> Result<[Price; CHANNELS], String> {
    if gpu.chip.inventory != Inventory::Chip {
        let name = &facts.preset;
        return Err(format!(
            "the preset `{name}` is not of a whole chip, so events on it have no prices"
        ));
    }
    let circuits = circuits(&facts.node)?;
    let table = CostTable::of(&inventory(gpu), gpu.sm.count, &circuits);
    let table = table.map_err(|error| error.to_string())?;
    Ok(Channel::ALL.map(|channel| price(channel, gpu, &table)))
}

fn circuits(node: &str) -> Result<NodeCircuits, String> {
    let library = Library::silicon().map_err(|error| error.to_string())?;
    let technology = library
        .node(node, Flavour::Hp)
        .map_err(|error| error.to_string())?;
    let point = OperatingPoint::at(Temperature::from_k(WARM_K));
    Ok(NodeCircuits::new(technology, point, Profile::Silicon))
}

/// The dynamic energy of what one event moves, over all structures.
fn price(channel: Channel, gpu: &GpuSpec, table: &CostTable) -> Price {
    let activity = channel.events(gpu);
    let mut energy_j = 0.0;
    let mut doubt_j = 0.0;
    for (name, entry) in table.iter() {
        let own = of_entry(name, entry, &activity);
        energy_j += own;
        doubt_j += own * entry.cost.uncertainty.energy;
    }
    let stated = if energy_j > 0.0 {
        doubt_j / energy_j
    } else {
        1.0
    };
    Price {
        // A chip without the unit has no price of it; none is priced as a femtojoule, which its rate of zero multiplies.
        energy_j: (energy_j / channel.batch()).max(1e-15),
        sigma: stated.hypot(RECIPE),
    }
}

fn of_entry(name: &str, entry: &CostEntry, activity: &warpwatt_activity::Activity) -> f64 {
    let joules = |action: Action, count: u64| {
        let each = entry.energy(action).map_or(0.0, |energy| energy.si());
        each * count as f64
    };
    if entry.leakage_only {
        return 0.0;
    }
    if entry.charges.is_empty() {
        let actions = [Action::Read, Action::Write, Action::Search].into_iter();
        let counter = |action: Action| format!("{name}.{}", action.name());
        return actions
            .map(|action| joules(action, activity.get(&counter(action))))
            .sum();
    }
    let charges = entry.charges.iter();
    charges
        .filter_map(|charge| {
            Some(joules(
                Action::named(charge.action)?,
                charge.count(activity),
            ))
        })
        .sum()
}

/// Shares of the thermal design power that stand whatever runs, with the standard deviation of their logarithms. Assumed: half of a busy board's power is no work.
const STANDING: [(usize, f64, f64); 5] = [
    (CONSTANT, 0.08, 0.6),
    (MEMORY, 0.10, 0.8),
    (CLOCK, 0.03, 0.7),
    (LEAKAGE, 0.05, 0.6),
    (ACTIVE, 0.09, 0.6),
];
/// Supply, leakage, operands: places and standard deviations. Assumed, in the ranges that J. Guerreiro et al., HPCA 2018, found on three boards.
const LAWS: [(usize, f64, f64); 8] = [
    (SCALE, 0.0, 0.5),
    (KNEE, 0.95, 0.1),
    (SLOPE, 0.6, 0.3),
    (EXPONENT, 3.0, 1.0),
    (STILL_INT, -0.5, 0.7),
    (STILL_FLOAT, -0.5, 0.7),
    (REACHED, -0.4, 0.15),
    (FRESH, 4.0, 0.5),
];

/// Places and standard deviations of a board's values of which nothing was measured.
pub fn prior(facts: &Facts, prices: &[Price; CHANNELS]) -> (Places, Places) {
    let (mut mean, mut sigma) = ([0.0; PARAMETERS], [0.5; PARAMETERS]);
    for (at, price) in prices.iter().enumerate() {
        mean[at] = libm::log(price.energy_j);
        sigma[at] = price.sigma;
    }
    for (at, share, doubt) in STANDING {
        mean[at] = libm::log(share * facts.tdp_w);
        sigma[at] = doubt;
    }
    for (at, place, doubt) in LAWS {
        mean[at] = place;
        sigma[at] = doubt;
    }
    // Loops of special functions reach 0.23, 0.22 and 0.31 of the documented peak on three boards, as if it were that of all lanes of single precision.
    let (sfu, _) = PEAKS[0];
    (mean[sfu], sigma[sfu]) = (libm::log(4.0), 0.3);
    (mean, sigma)
}

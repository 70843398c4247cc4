//! A structure of a GPU that circuit models price.

use std::fmt;
use std::sync::Arc;

use warpwatt_activity::{Activity, Event};
use warpwatt_circuit::{Flavours, Granularity, Spec};

/// Something with an area, a leakage and actions that cost energy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Its name. The action `read` of `icache.data` is counted as `icache.data.read`, unless `charges` say otherwise.
    pub name: &'static str,
    /// What it belongs to.
    pub group: Group,
    /// What it is made of.
    pub spec: Spec,
    /// How many there are.
    pub count: Count,
    /// Whether only its area and leakage count: its size is known well enough for them, but its accesses are not modelled as those of this circuit.
    pub leakage_only: bool,
    /// Which counters say how often it works, where they are not called after it. None: they are.
    pub charges: Arc<Vec<Charge>>,
    /// How far its wires go, where the floor plan decides it; `spec` is then one of interconnect, whose own length means nothing.
    pub span: Option<Span>,
    /// What switches parts of it off.
    pub gates: Option<Gates>,
    /// The time that it has, where its transistors are chosen by it. None: they are those that everything is asked for with.
    pub stage: Option<Stage>,
    /// What was chosen, where that is not what everything is asked for with.
    pub flavours: Option<Flavours>,
}

/// The time that a structure has for an access or an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stage {
    /// Cycles.
    pub cycles: u32,
    /// Of this clock, in MHz.
    pub clock_mhz: u32,
    /// Depth of its logic in inverters that drive four; zero where its circuit model knows a delay.
    pub depth: u32,
}

/// How many there are of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many in every SM.
    PerSm(u32),
    /// So many in the whole GPU.
    PerGpu(u32),
}

/// An action of a structure that counters of other names count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// What it does: `read`, `write` or `search`.
    pub action: &'static str,
    /// Counters, and how often the structure does it for each of their events. Their sum counts.
    pub events: Vec<(&'static str, u32)>,
    /// How many of these the structure does at once: words that one access moves.
    pub at_once: u32,
}

/// How far wires go on the floor plan, whose regions are squares as large as what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The square.
    pub region: Region,
    /// Length of wires in percent of its side; what a clock tree covers in percent of its area.
    pub percent: u32,
}

/// A part of the floor plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// One SM.
    Sm,
    /// What lies between the SMs: what the whole GPU has once.
    Uncore,
    /// All of it.
    Die,
}

/// Sleep transistors of a structure, and what counts how they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gates {
    /// What one switch cuts off.
    pub granularity: Granularity,
    /// Parts of an SM that are switched on their own.
    pub domains: u32,
    /// The counter of parts that are on, summed over cycles.
    pub powered: &'static str,
    /// The counter of parts switched on.
    pub wakes: &'static str,
}

/// Parts of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Fetch, instruction buffer, scoreboard, operand collection: what the filter-cache paper calls the pipeline front end.
    FrontEnd,
    /// Register file and on-chip memories of an SM.
    Storage,
    /// What lanes read, write and compute with.
    Execution,
    /// Network, second-level cache and memory controllers.
    Uncore,
    /// DRAM beside the chip, which it does not warm.
    Dram,
    /// Clock trees.
    Clock,
}

impl Group {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::FrontEnd => "front_end",
            Self::Storage => "storage",
            Self::Execution => "execution",
            Self::Uncore => "uncore",
            Self::Dram => "dram",
            Self::Clock => "clock",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Count {
    /// On a GPU of so many SMs.
    pub fn of(self, sms: u32) -> u64 {
        match self {
            Self::PerSm(count) => u64::from(count) * u64::from(sms),
            Self::PerGpu(count) => u64::from(count),
        }
    }

    /// So many times as many.
    #[must_use]
    pub fn times(self, more: u32) -> Self {
        match self {
            Self::PerSm(count) => Self::PerSm(count * more),
            Self::PerGpu(count) => Self::PerGpu(count * more),
        }
    }
}

impl Charge {
    /// An action that happens so often for each event of these.
    pub fn weighted(
        action: &'static str,
        events: impl IntoIterator<Item = (&'static str, u32)>,
    ) -> Self {
        Self {
            action,
            events: events.into_iter().collect(),
            at_once: 1,
        }
    }

    /// An action that the events of a counter are, one by one.
    pub fn each(action: &'static str, counter: &'static str) -> Self {
        Self::any(action, &[counter])
    }

    /// An action that happens for each event of any of these.
    pub fn any(action: &'static str, counters: &[&'static str]) -> Self {
        Self::weighted(action, counters.iter().map(|counter| (*counter, 1)))
    }

    /// The same, so many at once.
    #[must_use]
    pub fn at_once(self, at_once: u32) -> Self {
        Self {
            at_once: at_once.max(1),
            ..self
        }
    }

    /// How often it was done. What is left over when many are done at once takes another.
    pub fn count(&self, activity: &Activity) -> u64 {
        let events = self.events.iter();
        let events = events.map(|(counter, each)| activity.get(counter) * u64::from(*each));
        events.sum::<u64>().div_ceil(u64::from(self.at_once))
    }

    /// How it is counted, in words: `(l2_reads + l2_writes) / 4`.
    pub fn formula(&self) -> String {
        let charged = self.events.iter().filter(|(_, each)| *each > 0);
        let terms = charged.map(|(counter, each)| match each {
            1 => (*counter).to_owned(),
            each => format!("{each} {counter}"),
        });
        let terms: Vec<String> = terms.collect();
        let sum = terms.join(" + ");
        match (self.at_once, terms.len()) {
            (1, _) => sum,
            (at_once, 1) => format!("{sum} / {at_once}"),
            (at_once, _) => format!("({sum}) / {at_once}"),
        }
    }
}

impl Structure {
    /// A structure of which every SM has one, and whose actions are counted under its name.
    pub fn new(name: &'static str, group: Group, spec: Spec) -> Self {
        Self {
            name,
            group,
            spec,
            count: Count::PerSm(1),
            leakage_only: false,
            charges: Arc::default(),
            span: None,
            gates: None,
            stage: None,
            flavours: None,
        }
    }

    /// A structure of the front end.
    pub fn front_end(name: &'static str, spec: Spec) -> Self {
        Self::new(name, Group::FrontEnd, spec)
    }

    /// One structure an SM that a technique adds to what lanes work with.
    pub fn added(name: &'static str, spec: Spec) -> Self {
        Self::execution(name, spec, 1)
    }

    /// Something that lanes work with.
    pub fn execution(name: &'static str, spec: Spec, per_sm: u32) -> Self {
        Self::new(name, Group::Execution, spec).per_sm(per_sm)
    }

    /// A memory of which only area and leakage count.
    pub fn storage(name: &'static str, spec: Spec, per_sm: u32) -> Self {
        Self {
            leakage_only: true,
            ..Self::new(name, Group::Storage, spec).per_sm(per_sm)
        }
    }

    /// Whether events of a counter cost energy here.
    pub fn counts(&self, counter: &str) -> bool {
        let own = || Event::of(counter).is_some_and(|event| event.structure == self.name);
        if self.charges.is_empty() {
            return !self.leakage_only && own();
        }
        let mut events = self.charges.iter().flat_map(|charge| &charge.events);
        events.any(|(charged, _)| *charged == counter)
    }

    /// The same, so many in every SM.
    #[must_use]
    pub fn per_sm(self, count: u32) -> Self {
        Self {
            count: Count::PerSm(count),
            ..self
        }
    }

    /// The same, so many in the whole GPU.
    #[must_use]
    pub fn per_gpu(self, count: u32) -> Self {
        Self {
            count: Count::PerGpu(count),
            ..self
        }
    }

    /// The same, with another counted action.
    #[must_use]
    pub fn charged(mut self, charge: Charge) -> Self {
        Arc::make_mut(&mut self.charges).push(charge);
        self
    }

    /// The same, with wires as the floor plan has them.
    #[must_use]
    pub fn spanning(self, region: Region, percent: u32) -> Self {
        Self {
            span: Some(Span { region, percent }),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_add_up_weigh_and_round_up() {
        let activity: Activity = [("a", 10), ("b", 3)].into_iter().collect();
        let both = Charge::any("read", &["a", "b"]);
        assert_eq!(both.count(&activity), 13);
        assert_eq!(both.clone().at_once(4).count(&activity), 4);
        assert_eq!(both.clone().at_once(4).formula(), "(a + b) / 4");
        assert_eq!(both.formula(), "a + b");
        let heavy = Charge::weighted("read", [("a", 8), ("b", 1)]);
        assert_eq!(heavy.count(&activity), 83);
        assert_eq!(heavy.formula(), "8 a + b");
        assert_eq!(Charge::each("read", "never").count(&activity), 0);
    }

    #[test]
    fn a_gpu_has_what_its_sms_have_and_what_it_has_itself() {
        assert_eq!(Count::PerSm(4).of(80), 320);
        assert_eq!(Count::PerGpu(4).of(80), 4);
        assert_eq!(Count::PerGpu(4).times(2).of(80), 8);
    }
}

//! Circuit costs at one node and operating point, each computed once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpwatt_circuit::logic::Arrivals;
use warpwatt_circuit::{
    CircuitError, Cost, CostAt, Flavours, Gated, Gating, Granularity, OperatingPoint, Profile,
    Running, Spec, power_gate,
};
use warpwatt_structures::Stage;
use warpwatt_techlib::quantity::{Frequency, Power, Time, Voltage};
use warpwatt_techlib::{Technology, metrics};
use warpwatt_techniques::Circuits;

use super::{Described, Designs};
use crate::outcome::Note;

/// A node with an operating point and a profile behind it. Costs are those of whole structures, without their parts. Equal specifications are computed once, from whichever thread asks first; the cost of a
/// specification depends on nothing else, so the order of the questions does not matter.
#[derive(Debug)]
pub struct NodeCircuits {
    designs: Arc<Designs>,
    point: OperatingPoint,
    /// Of which sleep transistors are.
    switch: Described,
    /// What a reader must know about the technology beside what it says itself.
    notes: Vec<Note>,
    /// The same node in other flavours, of which structures may be made that have time.
    others: Vec<(Flavours, NodeCircuits)>,
    /// The supply for which structures are in time, where it is not that which its transistors are made for.
    supply: Option<Voltage>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    running: Option<Running>,
    costs: BTreeMap<Spec, Result<Arc<Cost>, CircuitError>>,
    /// Those of structures that are switched off, with their parts.
    whole: BTreeMap<Spec, Arc<Cost>>,
    chosen: BTreeMap<(Spec, Stage), Result<Option<Flavours>, CircuitError>>,
}

impl NodeCircuits {
    /// Circuits made in `technology` by the rules of `profile`, running at `point`; sleep transistors are of the same flavour.
    pub fn new(technology: impl Into<Described>, point: OperatingPoint, profile: Profile) -> Self {
        let designs = Designs::new(technology.into(), profile, &point);
        Self::of(Arc::new(designs), point)
    }

    /// Circuits of `designs`, which serve `point`.
    pub fn of(designs: Arc<Designs>, point: OperatingPoint) -> Self {
        Self {
            switch: designs.technology().clone(),
            designs,
            point,
            notes: Vec::new(),
            others: Vec::new(),
            supply: None,
            known: Mutex::default(),
        }
    }

    /// The same with sleep transistors of `switch`, another flavour of the node.
    #[must_use]
    pub fn with_switch(self, switch: impl Into<Described>) -> Self {
        let switch = switch.into();
        Self { switch, ..self }
    }

    /// The same with remarks on its technology.
    #[must_use]
    pub fn with_notes(self, notes: Vec<Note>) -> Self {
        Self { notes, ..self }
    }

    /// The same with other flavours of its node beside its own.
    #[must_use]
    pub fn with_others(self, others: Vec<(Flavours, Self)>) -> Self {
        Self { others, ..self }
    }

    /// The same for a supply that is not that which its transistors are made for: what is in time is so there.
    #[must_use]
    pub fn designed_for(self, supply: Option<Voltage>) -> Self {
        Self { supply, ..self }
    }

    /// The same circuits at another supply.
    #[must_use]
    pub fn at_supply(&self, supply: Voltage) -> Self {
        let others = self.others.iter();
        let others = others.map(|(flavours, other)| (*flavours, other.at_supply(supply)));
        Self {
            designs: Arc::clone(&self.designs),
            point: OperatingPoint {
                vdd: Some(supply),
                ..self.point
            },
            switch: self.switch.clone(),
            notes: self.notes.clone(),
            others: others.collect(),
            supply: self.supply,
            known: Mutex::default(),
        }
    }

    /// Other flavours of its node, of which structures may be made.
    pub fn others(&self) -> impl Iterator<Item = (Flavours, &Self)> {
        self.others
            .iter()
            .map(|(flavours, other)| (*flavours, other))
    }

    /// The technology of its memory cells.
    pub fn cells(&self) -> &Arc<Technology> {
        self.designs.cells().shared()
    }

    /// Remarks on its technology.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The technology.
    pub fn technology(&self) -> &Technology {
        self.described().technology()
    }

    /// The technology, with what reports say of it.
    pub fn described(&self) -> &Described {
        self.designs.technology()
    }

    /// The technology, and that of sleep transistors: the same where they are of one flavour.
    pub fn shared(&self) -> (&Arc<Technology>, &Arc<Technology>) {
        (self.described().shared(), self.switch.shared())
    }

    /// The operating point.
    pub fn operating_point(&self) -> &OperatingPoint {
        &self.point
    }

    /// Forgets the costs that were computed.
    pub fn forget(&self) {
        *self.lock() = Known::default();
        for (_, other) in &self.others {
            other.forget();
        }
    }

    /// Whether what is laid out for one is laid out for the other.
    pub fn shares_layouts(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.designs, &other.designs)
    }

    /// Forgets layouts that few operating points share.
    pub fn forget_layouts(&self) {
        self.designs.forget();
        for (_, other) in &self.others {
            other.forget_layouts();
        }
    }

    /// A panic of another thread cannot leave it half-written: an insertion is one step.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the technology's laws cover the operating point.
    ///
    /// # Errors
    /// They do not.
    pub fn runs(&self) -> Result<(), CircuitError> {
        self.designs.running(&self.point).map(|_| ())
    }

    fn computed(&self, spec: &Spec) -> Result<Cost, CircuitError> {
        let known = self.lock().running.clone();
        let running = match known {
            Some(running) => running,
            None => {
                let running = self.designs.running(&self.point)?;
                self.lock().running.insert(running).clone()
            }
        };
        self.designs.cost(&running, spec)
    }

    /// What a structure costs with all its parts: what of them is switched off decides what that saves.
    ///
    /// # Errors
    /// It cannot be built, or the operating point is outside the technology's laws.
    pub fn whole(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError> {
        if let Some(whole) = self.lock().whole.get(spec) {
            return Ok(Arc::clone(whole));
        }
        let whole = Arc::new(self.computed(spec)?);
        let mut known = self.lock();
        known.whole.insert(spec.clone(), Arc::clone(&whole));
        Ok(whole)
    }

    /// A number of what is built, and what else may be: operating points that share their designs have the same.
    pub fn design(&self) -> (usize, Vec<Flavours>) {
        let others = self.others.iter().map(|(flavours, _)| *flavours);
        (Arc::as_ptr(&self.designs).addr(), others.collect())
    }

    /// Time and leakage of a structure as it is designed, and so the same wherever it runs.
    fn designed(&self, spec: &Spec, depth: u32) -> Result<(Time, Power), CircuitError> {
        let (nominal, layout) = self.designs.laid_out(spec)?;
        let nominal = OperatingPoint {
            vdd: self.supply.or(nominal.vdd),
            ..nominal
        };
        let lower = match self.supply {
            None => None,
            Some(_) => Some(self.designs.cost(&self.designs.running(&nominal)?, spec)?),
        };
        let cost = lower.as_ref().unwrap_or_else(|| layout.cost());
        let technology = self.technology();
        let time = match depth {
            0 => cost.access_time,
            depth => {
                let now = technology.at(nominal.vdd, nominal.temperature)?;
                metrics::fo4(technology, &now) * f64::from(depth)
            }
        };
        Ok((time, cost.leakage + cost.gate_leakage))
    }

    /// The least leaky of what is in time; its own flavour is what there is at worst.
    fn choose(&self, spec: &Spec, stage: Stage) -> Result<Option<Flavours>, CircuitError> {
        let period = Frequency::from_mhz(f64::from(stage.clock_mhz));
        let within = f64::from(stage.cycles) / period.si();
        let (_, mut least) = self.designed(spec, stage.depth)?;
        let mut chosen = None;
        for (flavours, other) in &self.others {
            // Without cells it would be another one twice.
            let is_new = spec.has_cells() || flavours.cells == flavours.periphery;
            // What cannot be built in them is not built in them.
            let designed = is_new.then(|| other.designed(spec, stage.depth).ok());
            if let Some((time, leakage)) = designed.flatten()
                && time.si() <= within
                && leakage < least
            {
                (least, chosen) = (leakage, Some(*flavours));
            }
        }
        Ok(chosen)
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.designs.profile()
    }
}

impl NodeCircuits {
    /// What sleep transistors do, at an operating point, to something that costs `cost` there, with its parts.
    ///
    /// # Errors
    /// If it has no parts of that granularity, or the operating point is outside the technology's laws.
    pub fn gate_at(
        &self,
        spec: &Spec,
        (at, cost): CostAt,
        granularity: Granularity,
    ) -> Result<Gated, CircuitError> {
        let (nominal, layout) = self.designs.laid_out(spec)?;
        let gating = Gating {
            granularity,
            ..Gating::default()
        };
        let with = |switch| {
            let designed = (&nominal, layout.cost());
            power_gate(self.technology(), switch, designed, (at, cost), &gating)
        };
        // The supply may be too low for transistors of low leakage.
        with(self.switch.technology()).or_else(|_| with(self.technology()))
    }
}

impl Circuits for NodeCircuits {
    fn cost(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError> {
        if let Some(cost) = self.lock().costs.get(spec) {
            return cost.clone();
        }
        let cost = self.computed(spec);
        let cost = cost.map(|cost| Arc::new(cost.without_parts()));
        self.lock().costs.insert(spec.clone(), cost.clone());
        cost
    }

    fn gated(&self, spec: &Spec, granularity: Granularity) -> Result<Gated, CircuitError> {
        self.gate_at(spec, (&self.point, &*self.whole(spec)?), granularity)
    }

    fn in_time(&self, spec: &Spec, stage: Stage) -> Result<Option<Flavours>, CircuitError> {
        let key = (spec.clone(), stage);
        if let Some(chosen) = self.lock().chosen.get(&key) {
            return chosen.clone();
        }
        let chosen = self.choose(spec, stage);
        self.lock().chosen.insert(key, chosen.clone());
        chosen
    }

    fn arrivals(&self, spec: &Spec) -> Result<Arc<Arrivals>, CircuitError> {
        self.designs.arrivals(spec)
    }

    fn conditions(&self) -> Option<(&Technology, OperatingPoint)> {
        Some((self.technology(), self.point))
    }

    fn of_flavours(&self, flavours: Flavours) -> Option<&dyn Circuits> {
        let other = self.others.iter().find(|(known, _)| *known == flavours);
        other.map(|(_, circuits)| circuits as &dyn Circuits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_circuit::{Ports, RamSpec};
    use warpwatt_gpu::GpuSpec;
    use warpwatt_structures::plain;
    use warpwatt_techlib::quantity::{Temperature, Voltage};
    use warpwatt_techlib::{Flavour, Library};

    #[test]
    fn a_cost_is_the_circuit_models_and_stays_it() {
        let technology = Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap();
        let point = OperatingPoint::at(Temperature::from_k(350.0));
        let spec = Spec::Ram(RamSpec {
            words: 32,
            bits: 64,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        });
        let direct = warpwatt_circuit::cost(&technology, &point, Profile::Cacti65, &spec)
            .unwrap()
            .without_parts();
        let circuits = NodeCircuits::new(technology, point, Profile::Cacti65);
        assert_eq!(*circuits.cost(&spec).unwrap(), direct);
        assert_eq!(*circuits.cost(&spec).unwrap(), direct);
        assert_eq!(circuits.lock().costs.len(), 1);
    }

    #[test]
    fn a_refusal_is_remembered_too() {
        let technology = Library::itrs().unwrap().node("32nm", Flavour::Hp).unwrap();
        let point = OperatingPoint::at(Temperature::from_k(350.0));
        let circuits = NodeCircuits::new(technology, point, Profile::Cacti65);
        let nothing = Spec::Ram(RamSpec {
            words: 0,
            bits: 64,
            out_bits: None,
            ports: Ports::ONE,
            banks: 1,
        });
        assert!(circuits.cost(&nothing).is_err());
        assert_eq!(circuits.cost(&nothing), circuits.cost(&nothing));
    }

    /// Operating points that share designs price as each on its own, in any order, after designs were forgotten too.
    #[test]
    fn sharing_designs_changes_no_bit() {
        let technology = Library::silicon()
            .unwrap()
            .node("16nm", Flavour::Hp)
            .unwrap();
        let at = |kelvin: f64, volts: f64| OperatingPoint {
            temperature: Temperature::from_k(kelvin),
            vdd: Some(Voltage::from_v(volts)),
        };
        let points = [
            at(350.0, 0.8),
            at(320.0, 0.7),
            at(380.0, 0.75),
            at(350.0, 0.65),
        ];
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let structures = plain::structures(&gpu);
        for profile in [Profile::Silicon, Profile::Cacti7] {
            for turned in 0..points.len() {
                let described = Described::from(technology.clone());
                let first = points[turned];
                let designs = Arc::new(Designs::new(described, profile, &first));
                for place in 0..points.len() {
                    let point = points[(turned + place) % points.len()];
                    let design = |at: &OperatingPoint| profile.design_temperature(at.temperature);
                    if design(&point) != design(&first) {
                        continue;
                    }
                    let shared = NodeCircuits::of(Arc::clone(&designs), point);
                    let alone = NodeCircuits::new(technology.clone(), point, profile);
                    for structure in &structures {
                        let spec = &structure.spec;
                        let direct = warpwatt_circuit::cost(&technology, &point, profile, spec);
                        assert_eq!(
                            shared.cost(spec),
                            direct.map(|cost| Arc::new(cost.without_parts()))
                        );
                        let gated =
                            |circuits: &NodeCircuits| circuits.gated(spec, Granularity::Array);
                        assert_eq!(gated(&shared), gated(&alone));
                    }
                    if place == 1 {
                        shared.forget();
                        shared.forget_layouts();
                    }
                }
            }
        }
    }

    /// What is built does not depend on where it runs: sleep transistors as little as arrays.
    #[test]
    fn sleep_transistors_are_of_one_size_at_every_operating_point() {
        let technology = Library::silicon()
            .unwrap()
            .node("16nm", Flavour::Hp)
            .unwrap();
        let spec = Spec::Ram(RamSpec {
            words: 256,
            bits: 128,
            out_bits: None,
            ports: Ports::READ_AND_WRITE,
            banks: 1,
        });
        let gated = |kelvin: f64, vdd: Option<f64>| {
            let point = OperatingPoint {
                temperature: Temperature::from_k(kelvin),
                vdd: vdd.map(Voltage::from_v),
            };
            let circuits = NodeCircuits::new(technology.clone(), point, Profile::Silicon);
            circuits.gated(&spec, Granularity::Array).unwrap()
        };
        let built = gated(350.0, None);
        for (kelvin, vdd) in [
            (320.0, None),
            (390.0, None),
            (350.0, Some(0.7)),
            (330.0, Some(0.65)),
        ] {
            let elsewhere = gated(kelvin, vdd);
            assert_eq!(elsewhere.header_area, built.header_area, "{kelvin} {vdd:?}");
            assert_eq!(
                elsewhere.header_width, built.header_width,
                "{kelvin} {vdd:?}"
            );
        }
    }
}

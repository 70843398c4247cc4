//! Structures laid out once for all operating points.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpwatt_circuit::logic::Arrivals;
use warpwatt_circuit::{
    CircuitError, Cost, Layout, OperatingPoint, Profile, Running, Spec, Workshop,
};
use warpwatt_techlib::Sigma;
use warpwatt_techlib::published::variation;
use warpwatt_techlib::quantity::Temperature;

use super::Described;

/// What of a technology, by the rules of a profile, does not depend on where it runs. Operating points share it; an array that was organised for one is that
/// of all.
#[derive(Debug)]
pub struct Designs {
    technology: Described,
    /// Of which memory cells are.
    cells: Described,
    profile: Profile,
    temperature: Temperature,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Made when it is first needed: a study of many operating points that are priced already needs none.
    workshop: Option<Result<Workshop, CircuitError>>,
    layouts: BTreeMap<Spec, Result<Arc<Layout>, CircuitError>>,
    arrivals: BTreeMap<Spec, Result<Arc<Arrivals>, CircuitError>>,
}

/// Layouts that are remembered at once: some kilobytes each.
const MOST_LAYOUTS: usize = 8192;

impl Designs {
    /// Designs in `technology` by the rules of `profile`, for circuits that run at `at`.
    pub fn new(technology: Described, profile: Profile, at: &OperatingPoint) -> Self {
        Self::mixed((technology.clone(), technology), profile, at)
    }

    /// The same with memory cells of one flavour of a node, and all else of another.
    pub fn mixed(
        (cells, technology): (Described, Described),
        profile: Profile,
        at: &OperatingPoint,
    ) -> Self {
        Self {
            technology,
            cells,
            profile,
            temperature: profile.design_temperature(at.temperature),
            known: Mutex::default(),
        }
    }

    /// The technology.
    pub fn technology(&self) -> &Described {
        &self.technology
    }

    /// That of memory cells.
    pub(super) fn cells(&self) -> &Described {
        &self.cells
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Forgets layouts that few operating points share: those of profiles that organise arrays for the temperature at which they run.
    pub(super) fn forget(&self) {
        if self.profile != Profile::Silicon {
            self.lock().layouts.clear();
        }
    }

    /// The technology at an operating point that these serve.
    pub(super) fn running(&self, at: &OperatingPoint) -> Result<Running, CircuitError> {
        self.workshop()?.running(at)
    }

    /// What a structure costs there.
    pub(super) fn cost(&self, running: &Running, spec: &Spec) -> Result<Cost, CircuitError> {
        let layout = self.layout(spec)?;
        self.workshop()?.cost(&layout, running)
    }

    /// A structure as it is designed, and for what.
    pub(super) fn laid_out(
        &self,
        spec: &Spec,
    ) -> Result<(OperatingPoint, Arc<Layout>), CircuitError> {
        Ok((*self.workshop()?.nominal(), self.layout(spec)?))
    }

    /// When the outputs of a block of logic change last, where transistors of a die differ as published for the node.
    pub(super) fn arrivals(&self, spec: &Spec) -> Result<Arc<Arrivals>, CircuitError> {
        if let Some(known) = self.lock().arrivals.get(spec) {
            return known.clone();
        }
        let find = || {
            let within = variation(self.technology.technology())?;
            let within = Sigma {
                vth: within.vth_within_die.value,
                log_length: within.length_within_die.value,
            };
            self.workshop()?.arrivals(spec, within)
        };
        let found = find().map(Arc::new);
        let mut known = self.lock();
        known.arrivals.insert(spec.clone(), found.clone());
        found
    }

    fn layout(&self, spec: &Spec) -> Result<Arc<Layout>, CircuitError> {
        if let Some(known) = self.lock().layouts.get(spec) {
            return known.clone();
        }
        let layout = self.workshop()?.lay_out(spec).map(Arc::new);
        let mut known = self.lock();
        if known.layouts.len() >= MOST_LAYOUTS {
            known.layouts.clear();
        }
        known.layouts.insert(spec.clone(), layout.clone());
        layout
    }

    fn workshop(&self) -> Result<Workshop, CircuitError> {
        let make = || {
            let both = (&self.cells, &self.technology);
            Workshop::mixed(
                (Arc::clone(both.0.shared()), Arc::clone(both.1.shared())),
                &OperatingPoint::at(self.temperature),
                self.profile,
            )
        };
        self.lock().workshop.get_or_insert_with(make).clone()
    }

    /// A panic of another thread cannot leave it half-written: an insertion is one step.
    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

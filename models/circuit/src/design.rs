//! A structure whose organisation is chosen, to be evaluated again where its process turns out otherwise than its data sheet says.

use std::cell::{Cell, RefCell};

use warpwatt_techlib::Technology;

use crate::array::{Array, CamArray, Limits};
use crate::build::Sizing;
use crate::process::Process;
use crate::{CircuitError, Cost, OperatingPoint, Profile, Settings, Spec, priced};

/// A structure as it was designed: its organisation, its wires and which circuits it is made of are chosen for one technology. [`Design::under`] evaluates it
/// under another one. Gates are sized by the values of that other technology, as its designer would size them; nothing is searched again.
///
/// ```
/// use warpwatt_circuit::{Design, OperatingPoint, Ports, Profile, RamSpec, Spec};
/// use warpwatt_techlib::{Cause, Flavour, Library, quantity::Temperature};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let technology = Library::silicon()?.node("7nm", Flavour::Hp)?;
/// let spec = Spec::Ram(RamSpec { words: 256, bits: 128, out_bits: None, ports: Ports::READ_AND_WRITE, banks: 1 });
/// let at = OperatingPoint::at(Temperature::from_k(350.0));
/// let design = Design::new(&technology, &at, Profile::Silicon, &spec)?;
/// let leaky = design.under(&technology.scaled(|entry| if entry.cause == Cause::IOff { 2.0 } else { 1.0 }))?;
/// assert!((leaky.leakage / design.cost().leakage - 2.0).abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Design {
    at: OperatingPoint,
    settings: Settings,
    spec: Spec,
    process: Process,
    made: Vec<Choice>,
    cost: Cost,
}

impl Design {
    /// The structure that [`cost`](crate::cost) prices, with what was chosen for it.
    ///
    /// # Errors
    ///
    /// As of [`cost`](crate::cost).
    pub fn new(
        technology: &Technology,
        at: &OperatingPoint,
        profile: Profile,
        spec: &Spec,
    ) -> Result<Self, CircuitError> {
        let settings = profile.settings();
        let (design, run) = Process::design_and_run(technology, technology, at, &settings)?;
        let choices = Choices::default();
        let sizing = Sizing {
            technology,
            settings: &settings,
            design: &design,
            run: &run,
            choices: &choices,
        };
        let cost = priced(&sizing, spec)?;
        Ok(Self {
            at: *at,
            settings,
            spec: spec.clone(),
            process: design,
            made: choices.made.into_inner(),
            cost,
        })
    }

    /// What it costs in the technology that it was designed for.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// What it is.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What it costs if `technology` is what is made.
    ///
    /// # Errors
    ///
    /// If the operating point is outside what that technology's laws cover.
    pub fn under(&self, technology: &Technology) -> Result<Cost, CircuitError> {
        let run = self.process.made_in(technology, &self.at, &self.settings)?;
        let choices = Choices::again(self.made.clone());
        let sizing = Sizing {
            technology,
            settings: &self.settings,
            design: &self.process,
            run: &run,
            choices: &choices,
        };
        priced(&sizing, &self.spec)
    }
}

/// One thing that a search decided.
#[derive(Clone, Debug)]
enum Choice {
    Array(Box<Array>, Limits),
    Cam(Box<CamArray>),
    /// Which of several candidates.
    Circuit(usize),
}

/// What was decided in pricing a structure, in order. A search is asked for each decision the first time; where a design is evaluated again, the list is read
/// from its beginning instead.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    made: RefCell<Vec<Choice>>,
    /// The next decision to read, if they are read.
    next: Option<Cell<usize>>,
}

impl Choices {
    fn again(made: Vec<Choice>) -> Self {
        Self {
            made: RefCell::new(made),
            next: Some(Cell::new(0)),
        }
    }

    /// The decision that was made at this place before.
    fn before(&self) -> Option<Choice> {
        let next = self.next.as_ref()?;
        let choice = self.made.borrow().get(next.get()).cloned();
        next.set(next.get() + 1);
        choice
    }

    fn keep(&self, choice: Choice) {
        if self.next.is_none() {
            self.made.borrow_mut().push(choice);
        }
    }

    /// An organisation of an array.
    pub(crate) fn array(
        &self,
        search: impl FnOnce() -> Option<(Array, Limits)>,
    ) -> Option<(Array, Limits)> {
        if let Some(Choice::Array(array, limits)) = self.before() {
            return Some((*array, limits));
        }
        let (array, limits) = search()?;
        self.keep(Choice::Array(Box::new(array), limits));
        Some((array, limits))
    }

    /// An organisation of an associative array.
    pub(crate) fn cam(&self, search: impl FnOnce() -> Option<CamArray>) -> Option<CamArray> {
        if let Some(Choice::Cam(array)) = self.before() {
            return Some(*array);
        }
        let array = search()?;
        self.keep(Choice::Cam(Box::new(array.clone())));
        Some(array)
    }

    /// One of several circuits.
    pub(crate) fn circuit(&self, search: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if let Some(Choice::Circuit(which)) = self.before() {
            return Some(which);
        }
        let which = search()?;
        self.keep(Choice::Circuit(which));
        Some(which)
    }
}

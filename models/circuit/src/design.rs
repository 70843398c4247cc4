//! Structures that are laid out once and evaluated often: at other operating points, or where their process turns out otherwise than its data sheet says.

use std::sync::Arc;

use warpwatt_techlib::{Sigma, Technology};

use crate::build::Sizing;
use crate::choices::{Choice, Choices};
use crate::logic::Arrivals;
use crate::process::Process;
use crate::{CircuitError, Cost, OperatingPoint, Profile, Settings, Spec, priced};

/// A structure as it is laid out for one technology: its organisation, its wires and which circuits it is made of are chosen, for the nominal supply and the
/// design temperature.
#[derive(Debug)]
pub struct Layout {
    spec: Spec,
    made: Vec<Choice>,
    cost: Cost,
}

impl Layout {
    /// Chooses what `spec` is made of in `process`, for which it is designed.
    pub(crate) fn new(
        process: &Process,
        (technology, settings): (&Technology, &Settings),
        spec: &Spec,
    ) -> Result<Self, CircuitError> {
        let choices = Choices::make();
        let sizing = Sizing {
            technology,
            settings,
            run: process,
            choices: &choices,
        };
        let cost = priced(&sizing, spec)?;
        Ok(Self {
            spec: spec.clone(),
            made: choices.into_made(),
            cost,
        })
    }

    /// What it costs in `process`; nothing is searched again.
    pub(crate) fn running(
        &self,
        process: &Process,
        (technology, settings): (&Technology, &Settings),
    ) -> Result<Cost, CircuitError> {
        let sizing = Sizing {
            technology,
            settings,
            run: process,
            choices: &Choices::again(&self.made),
        };
        priced(&sizing, &self.spec)
    }

    /// What it is.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What it costs at the nominal supply and the design temperature.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }
}

/// Where structures are laid out: a technology, by the rules of a profile. What is laid out in a workshop is evaluated at each operating point of the
/// same [design temperature](Profile::design_temperature) and costs there, bit for bit, what [`cost`](crate::cost) says.
///
/// ```
/// use std::sync::Arc;
/// use warpwatt_circuit::{OperatingPoint, Ports, Profile, RamSpec, Spec, Workshop, cost};
/// use warpwatt_techlib::{Flavour, Library, quantity::{Temperature, Voltage}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let technology = Arc::new(Library::silicon()?.node("7nm", Flavour::Hp)?);
/// let nominal = OperatingPoint::at(Temperature::from_k(350.0));
/// let workshop = Workshop::new(Arc::clone(&technology), &nominal, Profile::Silicon)?;
/// let spec = Spec::Ram(RamSpec { words: 256, bits: 128, out_bits: None, ports: Ports::READ_AND_WRITE, banks: 1 });
/// let layout = workshop.lay_out(&spec)?;
/// let slow = OperatingPoint { vdd: Some(Voltage::from_v(0.6)), ..nominal };
/// let running = workshop.running(&slow)?;
/// assert_eq!(workshop.cost(&layout, &running)?, cost(&technology, &slow, Profile::Silicon, &spec)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Workshop {
    technology: Arc<Technology>,
    /// Of which memory cells are.
    cells: Arc<Technology>,
    settings: Settings,
    /// For which structures are laid out.
    process: Arc<Process>,
    nominal: OperatingPoint,
}

/// A workshop's technology at an operating point.
#[derive(Clone, Debug)]
pub struct Running {
    /// None where it is what structures are laid out for.
    process: Option<Arc<Process>>,
}

impl Workshop {
    /// A workshop for structures that run at `at`.
    ///
    /// # Errors
    ///
    /// If the temperature is outside what the technology's laws cover.
    pub fn new(
        technology: Arc<Technology>,
        at: &OperatingPoint,
        profile: Profile,
    ) -> Result<Self, CircuitError> {
        Self::mixed((Arc::clone(&technology), technology), at, profile)
    }

    /// The same with memory cells of one flavour of a node, and all else of another.
    ///
    /// # Errors
    ///
    /// As of [`Workshop::new`]; also if the two are not of one node.
    pub fn mixed(
        (cells, technology): (Arc<Technology>, Arc<Technology>),
        at: &OperatingPoint,
        profile: Profile,
    ) -> Result<Self, CircuitError> {
        let settings = profile.settings();
        let process = Process::design(&cells, &technology, at.temperature, &settings)?;
        Ok(Self {
            technology,
            cells,
            settings,
            process: Arc::new(process),
            nominal: OperatingPoint::at(profile.design_temperature(at.temperature)),
        })
    }

    /// For which structures are laid out.
    pub fn nominal(&self) -> &OperatingPoint {
        &self.nominal
    }

    /// A structure, laid out.
    ///
    /// # Errors
    ///
    /// As of [`cost`](crate::cost), but for the operating point.
    pub fn lay_out(&self, spec: &Spec) -> Result<Layout, CircuitError> {
        Layout::new(&self.process, (&self.technology, &self.settings), spec)
    }

    /// When the outputs of a block of logic change last, as it is laid out, where transistors of a die differ by `within`.
    ///
    /// # Errors
    ///
    /// If it is no logic of gates alone, or as of [`Workshop::lay_out`].
    pub fn arrivals(&self, spec: &Spec, within: Sigma) -> Result<Arrivals, CircuitError> {
        let none = CircuitError::NotModelled {
            what: "distribution of path delays but of gates",
        };
        let Spec::Logic(logic) = spec else {
            return Err(none);
        };
        let sizing = Sizing {
            technology: &self.technology,
            settings: &self.settings,
            run: &self.process,
            choices: &Choices::make(),
        };
        crate::logic::arrivals(&sizing, logic, within)?.ok_or(none)
    }

    /// The technology at an operating point of the same design temperature.
    ///
    /// # Errors
    ///
    /// If it is outside what the technology's laws cover.
    pub fn running(&self, at: &OperatingPoint) -> Result<Running, CircuitError> {
        if *at == self.nominal {
            return Ok(Running { process: None });
        }
        let both = (&*self.cells, &*self.technology);
        let process = self.process.running(both, at, &self.settings)?;
        Ok(Running {
            process: Some(Arc::new(process)),
        })
    }

    /// What a structure of this workshop costs there.
    ///
    /// # Errors
    ///
    /// If the models do not cover it.
    pub fn cost(&self, layout: &Layout, running: &Running) -> Result<Cost, CircuitError> {
        match &running.process {
            Some(process) => layout.running(process, (&self.technology, &self.settings)),
            None => Ok(layout.cost.clone()),
        }
    }
}

/// A structure of one technology at one operating point. [`Design::under`] evaluates it under another technology. Gates are sized by the values of that other
/// technology, as its designer would size them; nothing is searched again.
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
    workshop: Workshop,
    layout: Layout,
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
        let technology = Arc::new(technology.clone());
        Self::mixed((Arc::clone(&technology), technology), at, profile, spec)
    }

    /// The same with memory cells of one flavour of a node, and all else of another.
    ///
    /// # Errors
    ///
    /// As of [`cost_with`](crate::cost_with).
    pub fn mixed(
        both: (Arc<Technology>, Arc<Technology>),
        at: &OperatingPoint,
        profile: Profile,
        spec: &Spec,
    ) -> Result<Self, CircuitError> {
        let workshop = Workshop::mixed(both, at, profile)?;
        let running = workshop.running(at)?;
        let layout = workshop.lay_out(spec)?;
        let cost = workshop.cost(&layout, &running)?;
        Ok(Self {
            at: *at,
            workshop,
            layout,
            cost,
        })
    }

    /// What it costs in the technology that it was designed for.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// What it is.
    pub fn spec(&self) -> &Spec {
        self.layout.spec()
    }

    /// What it costs if `technology` is what is made.
    ///
    /// # Errors
    ///
    /// If the operating point is outside what that technology's laws cover.
    pub fn under(&self, technology: &Technology) -> Result<Cost, CircuitError> {
        self.made_in((technology, technology), &self.at)
    }

    /// The same where memory cells and all else have a technology each.
    ///
    /// # Errors
    ///
    /// As of [`Design::under`].
    pub fn under_both(&self, both: (&Technology, &Technology)) -> Result<Cost, CircuitError> {
        self.made_in(both, &self.at)
    }

    /// The operating point for which it is designed, and what it costs there if cells and all else are of these: what its sleep transistors are sized for.
    ///
    /// # Errors
    ///
    /// As of [`Design::under`].
    pub fn designed_under(
        &self,
        both: (&Technology, &Technology),
    ) -> Result<(OperatingPoint, Cost), CircuitError> {
        let nominal = self.workshop.nominal;
        Ok((nominal, self.made_in(both, &nominal)?))
    }

    fn made_in(
        &self,
        (cells, technology): (&Technology, &Technology),
        at: &OperatingPoint,
    ) -> Result<Cost, CircuitError> {
        let Workshop {
            process, settings, ..
        } = &self.workshop;
        let run = process.running((cells, technology), at, settings)?;
        self.layout.running(&run, (technology, settings))
    }
}

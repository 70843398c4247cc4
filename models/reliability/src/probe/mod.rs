//! Looks on while a GPU runs and adds up where needed bits lie, and for how long.

mod added;
mod caches;
mod code;
mod encoding;
mod l2;
mod launches;
mod registers;
mod shape;
mod shared;
mod sm;
mod stack;
mod warp;
mod words;

use std::rc::Rc;
use std::sync::Arc;

use warpwatt_gpu::{GpuSpec, Hooks};

use crate::{BitCycles, Journals, Ledger, Liveness, OverTime, Protection, Structure, Whole};
use l2::L2Probe;
use launches::{Gathered, Launches};
pub use shape::Shape;
use sm::SmProbe;

/// Makes the protections of one SM; the argument is the SM's number.
pub type ProtectionFactory = Box<dyn Fn(u32) -> Vec<Box<dyn Protection>>>;

/// Makes the same codes on whole structures for every SM.
pub fn whole_structures(codes: Vec<Whole>) -> ProtectionFactory {
    Box::new(move |_| {
        let each = codes.iter();
        each.map(|code| Box::new(*code) as Box<dyn Protection>)
            .collect()
    })
}

/// All that several make.
pub fn all_of(factories: Vec<ProtectionFactory>) -> ProtectionFactory {
    Box::new(move |sm| factories.iter().flat_map(|make| make(sm)).collect())
}

/// What a launch did to the structures of the GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchAvf {
    /// The kernel.
    pub kernel: String,
    /// SM cycles from its start to its end.
    pub cycles: u64,
    /// Bit-cycles over all SMs. What is not [measured](Shape::measures) is zero.
    pub structures: [BitCycles; Structure::COUNT],
    /// ACE bit-cycles over time.
    pub over_time: OverTime,
}

impl LaunchAvf {
    /// The bit-cycles of a structure.
    pub fn of(&self, structure: Structure) -> &BitCycles {
        &self.structures[structure as usize]
    }
}

/// Measures a run: attach it to the hooks behind everything else, run, and ask for what it found.
pub struct Probe {
    shape: Shape,
    launches: Rc<[Arc<Liveness>]>,
    gathered: Gathered,
    window: u64,
    shared: Vec<Whole>,
    journals: Journals,
}

impl Probe {
    /// For a run of launches with these needs, one a launch, in order; a run that goes through them again needs the same again. `window` is the least length of the windows over time, in cycles.
    pub fn new(spec: &GpuSpec, launches: Vec<Arc<Liveness>>, window: u64) -> Self {
        Self {
            shape: Shape::new(spec),
            launches: launches.into(),
            gathered: Rc::default(),
            window,
            shared: Vec::new(),
            journals: Journals::default(),
        }
    }

    /// With storage that techniques add, of so many bits an SM, and what they say of it.
    pub fn with_added(mut self, storage: &[(Structure, u64)], journals: &Journals) -> Self {
        self.shape = self.shape.with_added(storage);
        self.journals = journals.clone();
        self
    }

    /// With codes on what all SMs share; those on other structures are the SMs' own.
    pub fn with_shared(mut self, codes: &[Whole]) -> Self {
        self.shared = codes.to_vec();
        self
    }

    /// Attaches it, with what protects the structures of each SM.
    pub fn attach(&self, hooks: &mut Hooks, protections: ProtectionFactory) {
        let launches = Launches::new(
            self.shape.clone(),
            self.launches.clone(),
            self.gathered.clone(),
        );
        let journals = self.journals.clone();
        let (window, filtered) = (self.window, hooks.fetch_filter.is_some());
        if self.shape.measures(Structure::L2) {
            let (launches, codes) = (launches.clone(), self.shared.clone());
            hooks.shared.push(Box::new(move || {
                let protections = whole_structures(codes.clone())(0);
                let ledger = Ledger::new(0, window, protections);
                Box::new(L2Probe::new(launches.clone(), ledger))
            }));
        }
        hooks.storage.push(Box::new(move |sm| {
            let ledger = Ledger::new(0, window, protections(sm));
            let probe = SmProbe::new(launches.clone(), ledger, filtered);
            Box::new(probe.hearing(journals.of(sm)))
        }));
    }

    /// What the run did, launch by launch.
    pub fn finish(&self) -> Vec<LaunchAvf> {
        self.gathered.take()
    }
}

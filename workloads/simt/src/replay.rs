//! Single CTAs of a launch, executed as often as needed, with or without an upset.

use std::borrow::Cow;

use warpwatt_ptx::{Entry, Module};

use crate::cta::{Cta, Ground, Idle};
use crate::error::ExecError;
use crate::execute::{
    Launch, Options, bound, check, find, has_clusters, locate, new_cta, place_in,
};
use crate::lane_watch::LaneWatch;
use crate::memory::DeviceMemory;
use crate::trace::LaunchShape;
use crate::upset::Upset;

/// A launch whose CTAs can be executed one by one. What they leave in memory is theirs to see for those that are executed later.
pub struct Replay<'m> {
    entry: Cow<'m, Entry>,
    shape: LaunchShape,
    constants: Vec<u8>,
    params: Vec<u8>,
    cta: Ctas,
}

/// The CTA that runs, of warps of 32 or 64 lanes.
enum Ctas {
    Narrow(Cta<32>),
    Wide(Cta<64>),
}

impl<'m> Replay<'m> {
    /// A launch of `module`, in warps of 32 or 64 lanes.
    ///
    /// # Errors
    /// As [`execute`](crate::execute), before anything runs.
    pub fn new(
        module: &'m Module,
        launch: &Launch<'_>,
        warp_width: u32,
    ) -> Result<Self, ExecError> {
        let options = Options {
            warp_width,
            record: false,
            ..Options::default()
        };
        let entry = bound(find(module, launch)?, &launch.params);
        check(&entry, launch, &options)?;
        if has_clusters(&entry, launch) {
            let message = "its CTAs are executed in clusters, not one by one".to_owned();
            let kernel = entry.name.clone();
            return Err(ExecError::Launch { kernel, message });
        }
        let shape = LaunchShape {
            grid: launch.grid,
            block: launch.block,
            warp_width,
            shared_bytes: entry.shared_bytes + launch.dynamic_shared,
            registers: entry.registers,
        };
        let cta = match warp_width {
            64 => Ctas::Wide(new_cta(&entry, launch, &shape, &options)),
            _ => Ctas::Narrow(new_cta(&entry, launch, &shape, &options)),
        };
        Ok(Self {
            entry,
            shape,
            constants: module.constants.clone(),
            params: launch.params.clone(),
            cta,
        })
    }

    /// The launch's shape.
    pub fn shape(&self) -> &LaunchShape {
        &self.shape
    }

    /// Executes CTA `cta` of the grid on `memory`, in at most `limit` warp instructions; how many there were.
    ///
    /// # Errors
    /// What stops the CTA; `memory` is then as it was in that moment.
    pub fn run(
        &mut self,
        cta: usize,
        memory: &mut DeviceMemory,
        upset: Option<&Upset<'_>>,
        limit: u64,
    ) -> Result<u64, ExecError> {
        self.execute(cta, memory, (upset, None), limit)
    }

    /// As [`run`](Self::run), on lanes that somebody sees compute.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_watched(
        &mut self,
        cta: usize,
        memory: &mut DeviceMemory,
        lanes: &mut dyn LaneWatch,
        limit: u64,
    ) -> Result<u64, ExecError> {
        self.execute(cta, memory, (None, Some(lanes)), limit)
    }

    fn execute<'r>(
        &'r mut self,
        cta: usize,
        memory: &'r mut DeviceMemory,
        (upset, lanes): (Option<&Upset<'_>>, Option<&'r mut (dyn LaneWatch + 'r)>),
        limit: u64,
    ) -> Result<u64, ExecError> {
        let place = place_in(self.shape.grid, cta);
        let mut ground = Ground {
            entry: &self.entry,
            device: memory,
            constants: &mut self.constants,
            params: &mut self.params,
            left: limit,
            changes: 0,
            idle: Idle::of(limit),
            interrupt: None,
            lanes,
        };
        let done = match (&mut self.cta, upset) {
            (Ctas::Narrow(cta), None) => cta.run_alone(place, &mut ground),
            (Ctas::Narrow(cta), Some(upset)) => cta.run_upset(place, &mut ground, upset),
            (Ctas::Wide(cta), None) => cta.run_alone(place, &mut ground),
            (Ctas::Wide(cta), Some(upset)) => cta.run_upset(place, &mut ground, upset),
        };
        let left = ground.left;
        let LaunchShape {
            block, warp_width, ..
        } = self.shape;
        done.map_err(|fault| locate(&self.entry, place, block, warp_width, fault, limit))?;
        Ok(limit - left)
    }
}

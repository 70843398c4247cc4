//! The second-level cache under the eyes of a probe.
//!
//! Reads are for lines of the first levels, of which instructions may read anything later: each is needed in a launch that needs anything.

use warpwatt_gpu::{SharedEvent, SharedObserver};
use warpwatt_simt::trace::KernelTrace;

use super::caches::Contents;
use super::launches::Launches;
use crate::{Ledger, Structure};

/// What a probe knows of the second level.
pub(super) struct L2Probe {
    launches: Launches,
    ledger: Ledger,
    contents: Contents,
    has_needs: bool,
}

impl L2Probe {
    pub fn new(launches: Launches, ledger: Ledger) -> Self {
        Self {
            contents: Contents::new(Structure::L2, launches.shape.sector_bits[0]),
            launches,
            ledger,
            has_needs: false,
        }
    }
}

impl SharedObserver for L2Probe {
    fn begin(&mut self, cycle: u64, trace: &KernelTrace) {
        self.launches.begin(cycle, &trace.kernel);
        self.ledger.start_at(cycle);
        self.has_needs = self.launches.needs().has_needs();
    }

    fn cached(&mut self, cycle: u64, event: SharedEvent) {
        let (contents, ledger) = (&mut self.contents, &mut self.ledger);
        match event {
            SharedEvent::Evicted { place } => contents.evicted(place, cycle, ledger),
            SharedEvent::Filled { place, sectors } => contents.filled(place, sectors, cycle),
            SharedEvent::Written { place, sectors } => contents.written(place, sectors, cycle),
            SharedEvent::Read { place, sectors } => {
                if self.has_needs {
                    contents.read(place, sectors, cycle, ledger);
                }
            }
        }
    }

    fn end(&mut self, cycle: u64) {
        self.contents.settle(cycle, &mut self.ledger);
        self.launches.gather(cycle, self.ledger.close(cycle));
    }
}

//! The chance that an instruction has an error: that one of the operations it is made of is late.

use warpwatt_gpu::LateOperations;
use warpwatt_gpu::trace::Unit;

/// What chances of operations are in parts of.
pub(super) const PARTS: f64 = 4_294_967_296.0;

/// Logarithms of the chances that operations are in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chances {
    /// Fetch, instruction buffer, decode, issue and the warp's state: every instruction goes through each.
    front: f64,
    scalar: f64,
    /// Of a lane.
    integer: f64,
    float: f64,
    access: f64,
}

impl Chances {
    pub fn new(late: &LateOperations) -> Self {
        let in_time = |parts: u32| libm::log1p(-f64::from(parts) / PARTS);
        let front = [
            late.fetch,
            late.wavepool,
            late.decode,
            late.issue,
            late.exec,
        ];
        Self {
            front: front.map(in_time).iter().sum(),
            scalar: in_time(late.salu),
            integer: in_time(late.simd),
            float: in_time(late.simf),
            access: in_time(late.lsu),
        }
    }

    /// Whether anything is ever late.
    pub fn any(&self) -> bool {
        let all = [
            self.front,
            self.scalar,
            self.integer,
            self.float,
            self.access,
        ];
        all.iter().any(|in_time| *in_time < 0.0)
    }

    /// The chance that an instruction has an error that so many lanes execute.
    pub fn of(&self, unit: Unit, lanes: u32) -> f64 {
        let lanes = f64::from(lanes);
        let unit = match unit {
            Unit::Int => self.integer * lanes,
            Unit::Fp32 | Unit::Fp64 | Unit::Sfu | Unit::Matrix => self.float * lanes,
            Unit::Memory => self.access * lanes,
            Unit::Scalar | Unit::Control | Unit::Fence => self.scalar,
            Unit::Barrier => 0.0,
        };
        -libm::expm1(self.front + unit)
    }
}

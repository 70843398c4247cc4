//! Vulnerability as figures of a point: needed bits, times rates of upsets.

mod fit;
mod metrics;

pub use fit::{Fit, Rate};
pub use metrics::{meaning, metrics, names};

use warpwatt_reliability::{BitCycles, LaunchAvf, Structure};

/// Several launches together: the cycles, and the bit-cycles of each structure.
pub fn together<'l>(
    launches: impl IntoIterator<Item = &'l LaunchAvf>,
) -> (u64, [BitCycles; Structure::COUNT]) {
    let mut sum = (0, [BitCycles::default(); Structure::COUNT]);
    for launch in launches {
        sum.0 += launch.cycles;
        for (all, more) in sum.1.iter_mut().zip(launch.structures) {
            *all += more;
        }
    }
    sum
}

//! How many CTAs an SM holds at once, and what limits them.

use warpwatt_simt::trace::{KernelTrace, LaunchShape};

use crate::{GpuError, GpuSpec, Lack, Resource};

/// What one CTA of a launch takes of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub warps: u32,
    pub registers: u32,
    pub shared_bytes: u32,
    /// CTAs that fit an SM at once.
    pub ctas_per_sm: u32,
    pub limited_by: Resource,
}

/// Warps that an SM holds at once of a launch.
///
/// # Errors
/// If not even one CTA fits.
pub fn resident_warps(spec: &GpuSpec, trace: &KernelTrace) -> Result<u32, GpuError> {
    let demand = demand(spec, trace)?;
    Ok(demand.ctas_per_sm * demand.warps)
}

/// CTAs that an SM holds at once of a launch of `kernel`.
///
/// # Errors
/// If not even one CTA fits.
pub fn resident_ctas(spec: &GpuSpec, kernel: &str, launch: &LaunchShape) -> Result<u32, GpuError> {
    Ok(demand_of(spec, kernel, launch)?.ctas_per_sm)
}

/// The demand of a CTA of `trace`, by the allocation rules of the CUDA occupancy calculator: whole warps, registers for an even number of warps in units, shared memory in units.
///
/// # Errors
/// If not even one CTA fits.
pub(crate) fn demand(spec: &GpuSpec, trace: &KernelTrace) -> Result<Demand, GpuError> {
    demand_of(spec, &trace.kernel, &trace.launch)
}

fn demand_of(spec: &GpuSpec, kernel: &str, launch: &LaunchShape) -> Result<Demand, GpuError> {
    let sm = &spec.sm;
    if launch.warp_width != sm.warp_width {
        return Err(GpuError::WarpWidth {
            kernel: kernel.to_owned(),
            trace: launch.warp_width,
            gpu: sm.warp_width,
        });
    }
    let warps = launch.warps_per_cta() as u64;
    let per_thread =
        u64::from(launch.registers).next_multiple_of(u64::from(sm.thread_register_granule));
    let allocated_warps = warps.next_multiple_of(u64::from(sm.warp_granule));
    let registers = (allocated_warps * u64::from(sm.warp_width) * per_thread)
        .next_multiple_of(u64::from(sm.register_granule));
    let shared_bytes =
        u64::from(launch.shared_bytes).next_multiple_of(u64::from(sm.shared_granule));
    let rows = [
        (Resource::Ctas, 1, u64::from(sm.ctas)),
        (
            Resource::Threads,
            warps * u64::from(sm.warp_width),
            u64::from(sm.threads),
        ),
        (
            Resource::Registers,
            registers,
            u64::from(spec.registers_per_sm()),
        ),
        (
            Resource::SharedBytes,
            shared_bytes,
            u64::from(sm.shared_bytes),
        ),
    ];
    let lacks: Vec<Lack> = rows
        .iter()
        .filter(|&&(_, needed, available)| needed > available)
        .map(|&(resource, needed, available)| Lack {
            resource,
            needed,
            available,
        })
        .collect();
    if !lacks.is_empty() {
        let kernel = kernel.to_owned();
        return Err(GpuError::CtaTooLarge { kernel, lacks });
    }
    let fitting = |&(resource, needed, available): &(Resource, u64, u64)| {
        let ctas = available.checked_div(needed).unwrap_or(u64::MAX);
        (ctas, resource)
    };
    let tightest = rows.iter().map(fitting).min();
    let (ctas, limited_by) = tightest.unwrap_or((0, Resource::Ctas));
    Ok(Demand {
        warps: warps as u32,
        registers: registers as u32,
        shared_bytes: shared_bytes as u32,
        ctas_per_sm: ctas as u32,
        limited_by,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn of(threads: u32, registers: u32, shared_bytes: u32) -> Result<Demand, GpuError> {
        let spec = GpuSpec::preset("tesla-16sm").unwrap();
        let launch = LaunchShape {
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            warp_width: 32,
            shared_bytes,
            registers,
        };
        demand(&spec, &KernelTrace::new("k", Arc::from([]), launch))
    }

    /// Each row: threads, registers, shared bytes; CTAs of an SM of compute capability 1.3 and what binds.
    #[test]
    fn each_resource_binds_in_turn() {
        for ((threads, registers, shared), ctas, limited_by) in [
            ((64, 8, 0), 8, Resource::Ctas),
            ((256, 8, 0), 4, Resource::Threads),
            ((256, 17, 0), 3, Resource::Registers),
            // Three warps are allocated as four: 4 x 32 x 42 = 5376 registers, eleven units of 512.
            ((96, 42, 0), 2, Resource::Registers),
            ((32, 8, 6000), 2, Resource::SharedBytes),
        ] {
            let demand = of(threads, registers, shared).unwrap();
            assert_eq!(
                (demand.ctas_per_sm, demand.limited_by),
                (ctas, limited_by),
                "{threads} {registers} {shared}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_says_why() {
        let error = of(512, 40, 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a CTA of kernel `k` does not fit an SM: it needs 20480 registers, an SM has 16384"
        );
        let GpuError::CtaTooLarge { lacks, .. } = of(2048, 40, 100_000).unwrap_err() else {
            panic!("it does not fit");
        };
        let remedies: Vec<(&str, u64)> = lacks.iter().map(Lack::remedy).collect();
        let all = [
            ("sm.threads", 2048),
            ("sm.registers_bytes", 4 * 2048 * 40),
            ("sm.shared_bytes", 100_352),
        ];
        assert_eq!(remedies, all, "everything at once");
    }
}

//! The look-up of the renaming table, in the pipeline.

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::GpuSpec;

use super::Management;
use super::costs::structures;
use crate::{Circuits, Fit, Path};

/// Whether the look-up of a register and the choice of a free one fit into the cycles that they are given.
///
/// # Errors
/// If a circuit cannot be built.
pub fn fit(
    management: &Management,
    gpu: &GpuSpec,
    circuits: &dyn Circuits,
) -> Result<Fit, CircuitError> {
    let mut paths = Vec::new();
    for structure in structures(management, gpu) {
        let name = match structure.name {
            "renaming_table" => "look-up of a physical register",
            "register_select" => "choice of a free register",
            _ => continue,
        };
        let delay = circuits.cost(&structure.spec)?.access_time;
        paths.push(Path {
            name,
            parts: vec![(structure.name, delay)],
        });
    }
    let period_ps = gpu.core_period_fs() as f64 / 1000.0;
    let allowed = f64::from(management.stage_cycles.max(1)) * period_ps;
    let note = |path: &Path| {
        let (delay, verdict) = (path.total().as_ps(), path.total().as_ps() <= allowed);
        let verdict = if verdict { "fits" } else { "does not fit" };
        format!("{}: {delay:.0} ps, {verdict} {allowed:.0} ps", path.name)
    };
    let notes = paths.iter().map(note).collect();
    Ok(Fit {
        paths,
        notes,
        ..Fit::default()
    })
}

/// Adds pipeline stages in front of operand collection; instructions pass them without holding a collector.
pub fn lengthen(gpu: &mut GpuSpec, cycles: u32) {
    let timing = &mut gpu.timing;
    let classes = [&mut timing.int, &mut timing.fp32, &mut timing.fp64];
    for class in classes {
        let rows = [
            &mut class.add,
            &mut class.minmax,
            &mut class.mul,
            &mut class.mad,
            &mut class.div,
            &mut class.simple,
        ];
        for row in rows {
            row.latency += cycles;
        }
    }
    let rows = [
        &mut timing.special,
        &mut timing.shuffle,
        &mut timing.tensor,
        &mut timing.control,
    ];
    for row in rows {
        row.latency += cycles;
    }
    gpu.shared.latency += cycles;
    gpu.constant.latency += cycles;
    gpu.texture.latency += cycles;
    if gpu.has_l1() {
        gpu.l1.latency += cycles;
    }
}

//! Section 2.8.6: register virtualization beside a hierarchy of three register files.

use warpwatt_circuit::Spec;
use warpwatt_gpu::GpuSpec;
use warpwatt_techniques::find;

use super::{AVERAGE, Check, check, leakage};
use crate::outcome::Outcome;
use crate::papers::RegisterVirtualizationPaper;
use crate::validate::rows::{Rows, least, most};

/// Both with registers switched off one by one, as the work has it.
const RENAMED: &str = "register_virtualization(gating=register)";
const LEVELS: &str = "hierarchical_register_file(gating=register)";

/// Figure 2.19 and the sizes of the register files.
pub(super) fn checks(rows: &Rows<'_>) -> Vec<Check> {
    let said = RegisterVirtualizationPaper::load().section_2_8_6;
    let fewer = rows.against(LEVELS, RENAMED, |levels, renamed| {
        1.0 - renamed.activity.get("registers_most") as f64 / taken(levels)
    });
    let saved = rows.against(LEVELS, RENAMED, |levels, renamed| {
        1.0 - leakage(renamed) / leakage(levels)
    });
    let (figure_a, figure_b) = ("Figure 2.19 (a)", "Figure 2.19 (b)");
    let mut checks = vec![
        check(
            figure_a,
            "registers taken less than with three levels, least",
            (said.fewer_registers_least, least(&fewer)),
            AVERAGE,
        ),
        check(
            figure_a,
            "registers taken less than with three levels, most",
            (said.fewer_registers_most, most(&fewer)),
            AVERAGE,
        ),
        check(
            figure_b,
            "static power of the main register file less than with three levels, most",
            (said.static_power_less_most, most(&saved)),
            AVERAGE,
        ),
    ];
    if let Some(ours) = size() {
        checks.push(check(
            "section 2.8.6",
            "main register file over the two small ones, bytes",
            (said.main_over_small, ours),
            AVERAGE,
        ));
    }
    checks
}

/// Registers in the main register file at the most, and those of the active warps in the small ones.
fn taken(outcome: &Outcome) -> f64 {
    let said = RegisterVirtualizationPaper::load().section_2_8_6;
    let n = |counter: &str| outcome.activity.get(counter) as f64;
    let entries = said.orf_entries + said.lrf_entries;
    n("main_registers_most") + entries * n("hierarchy_warps")
}

/// The size of the main register file over that of the small ones, of the work's GPU with the technique's defaults.
fn size() -> Option<f64> {
    let gpu = GpuSpec::preset("fermi-16sm")?;
    let technique = find("hierarchical_register_file").ok()?;
    let technique = technique.parse(&toml::Table::new()).ok()?;
    let structures = technique.structures(&gpu).into_iter();
    let bits = structures.map(|structure| match structure.spec {
        Spec::Buffer(buffer) => buffer.entries * buffer.bits * u64::from(structure.per_sm),
        _ => 0,
    });
    let bits: u64 = bits.sum();
    Some(8.0 * f64::from(gpu.sm.registers_bytes) / bits as f64)
}

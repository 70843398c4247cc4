//! Shared memory to register protection (SHARP): check bits of registers lie in idle shared memory while their warp waits for memory.
//!
//! J. Tan, Z. Li, X. Fu, "Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs", CF 2013, section 3.3. The claim: the vulnerability of the
//! register file falls by 41 % for 6 % more power, where a code on every register takes 24 %.
//!
//! When a warp starts to wait for memory, check bits of all its registers are made and put into words of shared memory that no CTA has written; when the last
//! of its loads is back, the registers are checked against them. Both take ports that nobody else wants. Registers that get another value meanwhile lose
//! their check bits; so do those whose word the program takes.
//!
//! ```
//! let technique = warpwatt_techniques::sharp::DEFINITION.parse(&Default::default());
//! assert_eq!(technique.unwrap().label(), "sharp");
//! ```

mod engine;
mod guards;
mod hook;
mod ports;
mod store;
mod structures;

use warpwatt_circuit::logic::Code;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage};

use crate::protection::attach_issue;
use crate::recovery::{Found, Recovery};
use crate::{Claim, Definition, Judged, Metric, Structure, Technique};
use hook::Hook;

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "sharp",
    summary: "check bits of registers lie in idle shared memory while their warp waits for memory",
    citation: "J. Tan, Z. Li, X. Fu, \"Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs\", CF 2013, section 3.3",
    parameters: &[],
    counters: &[
        (
            "sharp.queue.write",
            "requests: one when a warp starts to wait for memory, one when it ends",
        ),
        ("sharp.queue.read", "requests taken up"),
        ("sharp.warp_table.read", "looks for a warp, one a request"),
        ("sharp.warp_table.write", "warps put in and taken out"),
        (
            "sharp.waiting_queue.write",
            "groups of four registers put into the waiting queue",
        ),
        ("sharp.waiting_queue.read", "groups taken out of it"),
        (
            "sharp.generator.read",
            "registers of lanes whose check bits were made",
        ),
        ("sharp.checker.read", "registers of lanes that were checked"),
        (
            "sharp.shared_bank.write",
            "words of shared memory written: check bits, or that they are none any more",
        ),
        ("sharp.shared_bank.read", "words of check bits read"),
        (
            "sharp_dropped",
            "requests that were dropped: no room, a conflict, or nothing recorded",
        ),
        (
            "sharp_registers_recorded",
            "warp-wide registers whose check bits were made",
        ),
        (
            "sharp_registers_checked",
            "warp-wide registers that were checked",
        ),
        (
            "sharp_groups_refused",
            "groups whose word of shared memory held data of the program",
        ),
        (
            "sharp_groups_pushed_out",
            "groups whose word the program took",
        ),
        (
            "sharp_groups_reset",
            "groups whose register got another value",
        ),
        (
            "sharp_waited_cycles",
            "cycles in which a request waited for a port",
        ),
        (
            "sharp_stalled_cycles",
            "cycles by which operands were read later because of a check, summed over instructions",
        ),
        (
            "sharp_live_cycles",
            "eighths of warp-wide registers times cycles between accesses that end with a read",
        ),
        (
            "sharp_guarded_cycles",
            "of them those in which a flip would be found before the read",
        ),
        ("shared_word_cycles", "words of shared memory times cycles"),
        (
            "shared_valid_cycles",
            "of them those of words that a resident CTA has written",
        ),
        ("sharp_shared_words", "words of shared memory of all SMs"),
        ("shared_untouched", "of them those that no CTA has written"),
    ],
    metrics: &[Judged::headline("coverage"), Judged::lower("dropped")],
    configure: |_| Ok(Box::new(Sharp)),
};

/// The technique; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharp;

impl Technique for Sharp {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let gpu = gpu.clone();
        hooks
            .issue
            .push(Box::new(move |_| Box::new(Hook::new(&gpu))));
    }

    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        let gpu = gpu.clone();
        Some(attach_issue(hooks, move |_| Hook::new(&gpu).guarding()))
    }

    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        structures::structures(gpu)
    }

    fn alter(&self, _: &GpuSpec, structures: &mut [Structure]) {
        structures::widen(structures);
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        let share =
            |name: &str, part: u64, whole: u64| Metric::ratio(format!("sharp.{name}"), part, whole);
        let (live, guarded) = (count("sharp_live_cycles"), count("sharp_guarded_cycles"));
        let (cycles, valid) = (count("shared_word_cycles"), count("shared_valid_cycles"));
        let words = count("sharp_shared_words");
        vec![
            share("coverage", guarded, live),
            share("shared_memory_used", valid, cycles),
            share(
                "shared_memory_touched",
                words - count("shared_untouched"),
                words,
            ),
            share(
                "dropped",
                count("sharp_dropped"),
                count("sharp.queue.write"),
            ),
        ]
    }

    /// What a check finds wrong is sent back to the registers, for which the warp waits anyway (section 3.3.3).
    fn recovery(&self, _: &GpuSpec, structure: Storage) -> Option<Recovery> {
        (structure == Storage::RegisterFile).then_some(Recovery {
            corrector: "sharp.corrector.read",
            code: (Code::Hsiao, 32),
            found: Found::Before,
            rewrites: true,
        })
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterCheckBits, Claim::RegisterPlaces]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_circuit::Spec;

    /// Section 3.3.4: 16 requests of 6 bits, 32 warp ids of 5, 8 groups of 140.
    #[test]
    fn the_paper_s_queues() {
        let gpu = GpuSpec::preset("softerror-28sm").unwrap();
        let sizes: Vec<(u64, u64)> = Sharp
            .structures(&gpu)
            .iter()
            .filter_map(|it| match &it.spec {
                Spec::Buffer(buffer) => Some((buffer.entries, buffer.bits)),
                _ => None,
            })
            .collect();
        assert_eq!(sizes, [(16, 6), (32, 5), (8, 140)]);
    }
}

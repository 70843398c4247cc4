//! Register-to-register protection (RTRP): check bits of registers lie in registers that no warp has.
//!
//! J. Tan, Z. Li, X. Fu, "Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs", CF 2013, section 3.3.2, where it is what SHARP is compared
//! with. A free warp-wide register has room for the check bits of four. As many of the registers in use as that gives room for are protected, warp after warp;
//! their check bits are made at every write and looked at at every read.
//!
//! ```
//! let technique = warpwatt_techniques::register_to_register_protection::DEFINITION.parse(&Default::default());
//! assert_eq!(technique.unwrap().label(), "register_to_register_protection");
//! ```

use warpwatt_activity::Activity;
use warpwatt_circuit::logic::Code;
use warpwatt_gpu::trace::{KernelTrace, LaneMask};
use warpwatt_gpu::{
    GpuSpec, Hooks, IssueEvent, IssueHook, IssuePlan, PlaceEvent, Run, resident_warps,
};
use warpwatt_reliability::{
    Cover, Journals, Protection, ProtectionFactory, Residency, Structure as Storage,
};

use crate::protection::{
    Guard, Lives, WarpRegister, Words, attach_issue, beside, in_file, is_whole, seldom,
};
use crate::recovery::{Found, Recovery};
use crate::{Claim, Definition, Judged, Metric, Structure, Technique};

/// The technique in the registry.
pub static DEFINITION: Definition = Definition {
    name: "register_to_register_protection",
    summary: "check bits of registers lie in registers that no warp has",
    citation: "J. Tan, Z. Li, X. Fu, \"Cost-Effective Soft-Error Protection for SRAM-Based Structures in GPGPUs\", CF 2013, section 3.3.2",
    parameters: &[],
    counters: &[
        (
            "rtrp.generator.read",
            "registers of lanes whose check bits were made",
        ),
        ("rtrp.checker.read", "registers of lanes that were checked"),
        (
            "rtrp_live_cycles",
            "eighths of warp-wide registers times cycles between accesses that end with a read",
        ),
        (
            "rtrp_guarded_cycles",
            "of them those of protected registers",
        ),
        (
            "rtrp_free_registers",
            "warp-wide registers of an SM that no warp can have, summed over SMs and launches",
        ),
    ],
    metrics: &[Judged::headline("coverage")],
    configure: |_| Ok(Box::new(RegisterToRegister)),
};

/// Warp-wide registers whose check bits one has room for: four times seven bits and more a lane.
const PROTECTED_BY_ONE: u32 = 4;
const CODE: Guard = Guard::Correcting(Code::Hsiao);

/// The technique; it has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterToRegister;

impl Technique for RegisterToRegister {
    fn name(&self) -> &'static str {
        DEFINITION.name
    }

    fn adds_up(&self) -> bool {
        true
    }

    /// It only watches.
    fn decides(&self) -> String {
        String::new()
    }

    fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        let gpu = gpu.clone();
        hooks
            .issue
            .push(Box::new(move |_| Box::new(Protector::new(gpu.clone()))));
    }

    fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        _: &Journals,
    ) -> Option<ProtectionFactory> {
        let gpu = gpu.clone();
        Some(attach_issue(hooks, move |_| Protector::new(gpu.clone())))
    }

    /// As many generators as results can be written in a cycle, as many checkers as operands of an instruction, and one corrector.
    fn structures(&self, gpu: &GpuSpec) -> Vec<Structure> {
        let of = |name, spec, count: u32| {
            let all = Structure::added(name, spec).per_sm(count * gpu.sm.warp_width);
            beside(gpu, all)
        };
        let mut found = vec![
            of(
                "rtrp.generator",
                CODE.generator(32),
                gpu.operands.result_buses,
            ),
            of("rtrp.checker", CODE.detector(32), gpu.operands.sources),
        ];
        let corrector = CODE.corrector(32);
        found.extend(corrector.map(|it| seldom(gpu, Structure::added("rtrp.corrector", it))));
        found
    }

    fn metrics(&self, run: &Run) -> Vec<Metric> {
        let count = |name: &str| run.activity.get(name);
        vec![Metric::ratio(
            "rtrp.coverage",
            count("rtrp_guarded_cycles"),
            count("rtrp_live_cycles"),
        )]
    }

    fn recovery(&self, _: &GpuSpec, structure: Storage) -> Option<Recovery> {
        let Guard::Correcting(code) = CODE else {
            return None;
        };
        (structure == Storage::RegisterFile).then_some(Recovery {
            corrector: "rtrp.corrector.read",
            code: (code, 32),
            found: Found::Operands,
            rewrites: true,
        })
    }

    fn claims(&self) -> &'static [Claim] {
        &[Claim::RegisterCheckBits, Claim::RegisterPlaces]
    }
}

/// Follows the registers of an SM.
struct Protector {
    gpu: GpuSpec,
    code: Vec<Words>,
    /// Registers of a warp; and how many registers, warp after warp, are protected.
    registers: u32,
    protected: u32,
    lives: Lives,
    lanes: LaneMask,
    free: u64,
    /// Warp-wide registers, and words of lanes, encoded and checked.
    encoded: [u64; 2],
    checked: [u64; 2],
}

impl Protector {
    fn new(gpu: GpuSpec) -> Self {
        Self {
            lives: Lives::new(gpu.warps_per_sm()),
            lanes: LaneMask::MAX >> (LaneMask::BITS - gpu.sm.warp_width),
            gpu,
            code: Vec::new(),
            registers: 0,
            protected: 0,
            free: 0,
            encoded: [0; 2],
            checked: [0; 2],
        }
    }

    fn protects(&self, warp: u8, word: u16) -> bool {
        u32::from(warp) * self.registers + u32::from(word) < self.protected
    }
}

impl IssueHook for Protector {
    fn begin(&mut self, trace: &KernelTrace) {
        self.code = Words::of(trace);
        let granule = self.gpu.sm.thread_register_granule.max(1);
        self.registers = Words::count(&self.code, trace).next_multiple_of(granule);
        let resident = resident_warps(&self.gpu, trace).unwrap_or(0);
        let all = self.gpu.sm.registers_bytes / 4 / self.gpu.sm.warp_width;
        let free = all.saturating_sub(resident * self.registers);
        self.free += u64::from(free);
        self.protected = free * PROTECTED_BY_ONE;
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.lives.start(event.warp, self.registers);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let words = std::mem::take(&mut self.code[event.step.inst as usize]);
        let (from_file, to_file) = in_file(plan);
        let (whole, lanes) = (
            is_whole(event, self.lanes),
            u64::from(event.step.executed.count_ones()),
        );
        let register = |word| WarpRegister {
            warp: event.warp,
            word,
        };
        let read = words.reads.iter().enumerate();
        for (_, &word) in read.filter(|(place, _)| from_file(*place)) {
            let protected = self.protects(event.warp, word);
            self.lives.read(register(word), event.cycle, protected);
            self.checked[0] += u64::from(protected);
            self.checked[1] += if protected { lanes } else { 0 };
        }
        for &word in words.writes.iter().filter(|_| to_file) {
            self.lives.write(register(word), event.cycle, whole);
            let protected = self.protects(event.warp, word);
            self.encoded[0] += u64::from(protected);
            self.encoded[1] += if protected { lanes } else { 0 };
        }
        self.code[event.step.inst as usize] = words;
    }

    fn report(&self, activity: &mut Activity) {
        activity.add("rtrp.generator.read", self.encoded[1]);
        activity.add("rtrp.checker.read", self.checked[1]);
        // Check bits of four lanes are a word of the free register.
        activity.add("register_file.read", self.checked[0]);
        activity.add("register_file.write", self.encoded[0]);
        activity.add("register_words_read", self.checked[1].div_ceil(4));
        activity.add("register_words_written", self.encoded[1].div_ceil(4));
        activity.add("rtrp_live_cycles", self.lives.live);
        activity.add("rtrp_guarded_cycles", self.lives.guarded);
        activity.add("rtrp_free_registers", self.free);
    }
}

/// Check bits of a protected register are made at every write and looked at at every read.
impl Protection for Protector {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        let file = residency.structure == warpwatt_reliability::Structure::RegisterFile;
        if file && self.protects(residency.warp, residency.entry as u16) {
            covers.push(Cover::always(CODE.outcome()));
        }
    }
}

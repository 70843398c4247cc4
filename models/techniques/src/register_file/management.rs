//! How a register file is managed, and what that counts.

use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{GpuSpec, Hooks, resident_warps};
use warpwatt_reliability::{Journals, Structure as Storage};

use super::costs::TABLE_BANKS;
use super::flags::Decoded;
use super::manager::Manager;
use super::{Code, Domain, FlagCache, Geometry, Selection, Size};
use crate::compiled::needs_facts;
use crate::parameter::Handle;
use crate::registers_over_time::RegistersOverTime;

/// Where registers of a warp lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// All registers of a CTA in fixed places from its launch to its end: no renaming.
    Static,
    /// A place for a value from its first write to its release, chosen so.
    Renamed(Selection),
}

/// A way of managing the register file of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Management {
    /// Where registers lie.
    pub allocation: Allocation,
    /// What is switched off while nothing is in it.
    pub gating: Option<Domain>,
    /// Bytes of the renaming table; enough for everything if absent.
    pub table_bytes: Option<u32>,
    /// Entries of the release-flag cache.
    pub flag_entries: u32,
    /// Cycles that looking up the table adds to every instruction.
    pub stage_cycles: u32,
    /// Cycles from switching a domain on until it can be written.
    pub wake_cycles: u32,
    /// Subarrays of a bank.
    pub subarrays: u32,
    /// Physical registers: fewer than programs see, unless the file is whole.
    pub size: Size,
}

impl Management {
    /// The register file of `gpu`: rows that do not divide evenly among subarrays make fewer of them.
    pub fn geometry(&self, gpu: &GpuSpec) -> Geometry {
        let banks = gpu.operands.banks;
        let registers = self.size.bytes(gpu) / 4 / gpu.sm.warp_width / banks * banks;
        let rows = (registers / banks).max(1);
        let fits = |count: &u32| rows.is_multiple_of(*count);
        let subarrays = (1..=self.subarrays.min(rows)).rev().find(fits);
        Geometry {
            registers,
            banks,
            subarrays: subarrays.unwrap_or(1),
        }
    }

    /// Whether registers may run short.
    pub fn is_shrunk(&self) -> bool {
        self.size != Size::Whole
    }

    /// Bits of an entry of the renaming table: the number of a physical register.
    pub fn entry_bits(&self, gpu: &GpuSpec) -> u32 {
        self.geometry(gpu)
            .registers
            .next_power_of_two()
            .ilog2()
            .max(1)
    }

    /// Entries of the renaming table.
    pub fn entries(&self, gpu: &GpuSpec) -> u32 {
        match self.table_bytes {
            Some(bytes) => 8 * bytes / self.entry_bits(gpu),
            None => gpu.warps_per_sm() * super::code::NAMES as u32,
        }
    }

    /// The same in whole banks.
    pub fn table_entries(&self, gpu: &GpuSpec) -> u32 {
        self.entries(gpu).next_multiple_of(TABLE_BANKS)
    }

    /// Domains of an SM that are switched on their own.
    pub fn domains(&self, gpu: &GpuSpec) -> u32 {
        let geometry = self.geometry(gpu);
        match self.gating {
            None => 1,
            Some(Domain::Subarray) => geometry.banks * geometry.subarrays,
            Some(Domain::Register) => geometry.registers,
        }
    }

    /// The code of a launch as the renaming hardware sees it: as many registers are renamed as entries of the table go round among the warps that an SM holds.
    pub fn code(&self, gpu: &GpuSpec, trace: &KernelTrace) -> Code {
        let resident = resident_warps(gpu, trace).unwrap_or(1).max(1);
        let most = match self.allocation {
            Allocation::Static => 0,
            Allocation::Renamed(_) => self.entries(gpu) / resident,
        };
        Code::new(trace, most as usize)
    }

    /// A warp alone must find enough registers.
    fn can_run(&self, gpu: &GpuSpec, trace: &KernelTrace) -> Result<(), String> {
        let (needs, has) = (
            self.code(gpu, trace).registers(),
            self.geometry(gpu).registers,
        );
        if needs <= u64::from(has) {
            return Ok(());
        }
        let bytes = needs * 4 * u64::from(gpu.sm.warp_width);
        Err(format!(
            "a warp needs {needs} registers, the shrunk register file has {has}; set {} to at least {}",
            super::REGISTER_FILE_KB.name(),
            bytes.div_ceil(1024)
        ))
    }

    /// What the renaming table adds to an SM, in bits.
    pub fn storage(&self, gpu: &GpuSpec) -> Vec<(Storage, u64)> {
        let bits = u64::from(self.table_entries(gpu)) * u64::from(self.entry_bits(gpu));
        let renames = self.allocation != Allocation::Static;
        renames
            .then_some((Storage::RenamingTable, bits))
            .into_iter()
            .collect()
    }

    /// What of it can change time. Where registers are switched on one by one, each that is taken is, wherever it lies; and what a cache of flags saves is not fetched
    /// less.
    pub fn decides(&self) -> String {
        let Allocation::Renamed(choice) = self.allocation else {
            return String::new();
        };
        // Who holds instructions back can be compared with nobody.
        if self.is_shrunk() {
            return self.without_flags();
        }
        let woken = self.gating.filter(|_| self.wake_cycles > 0);
        let woken = woken.map(|domain| match domain {
            Domain::Register => (self.wake_cycles, None),
            Domain::Subarray => (self.wake_cycles, Some((choice, self.subarrays))),
        });
        let (table, stage) = (self.table_bytes, self.stage_cycles);
        format!("renaming(table={table:?}, stage={stage}, woken={woken:?})")
    }

    /// Names of what it attaches.
    pub fn attached(&self) -> Vec<String> {
        let flags = format!("flags({})", self.flag_entries);
        match self.allocation {
            Allocation::Renamed(_) => vec![self.without_flags(), flags],
            Allocation::Static => {
                let alone = Self {
                    table_bytes: None,
                    stage_cycles: 0,
                    wake_cycles: 0,
                    ..*self
                };
                vec![alone.without_flags()]
            }
        }
    }

    fn without_flags(&self) -> String {
        let registers = Self {
            flag_entries: 0,
            ..*self
        };
        format!("{registers:?}")
    }

    /// Attaches the management to every SM; it notes what the renaming table holds, where somebody follows that.
    pub fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks, journals: Option<&Journals>) {
        self.attach_seen(gpu, hooks, (journals, None));
    }

    /// The same, telling of registers over time.
    pub fn attach_over_time(&self, gpu: &GpuSpec, hooks: &mut Hooks, log: &RegistersOverTime) {
        self.attach_seen(gpu, hooks, (None, Some(log)));
    }

    fn attach_seen(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        (journals, log): (Option<&Journals>, Option<&RegistersOverTime>),
    ) {
        let (management, gpu) = (*self, gpu.clone());
        if self.allocation != Allocation::Static {
            needs_facts(hooks, "lifetimes of registers");
            let gpu = gpu.clone();
            hooks.metadata = Some(Box::new(move |trace| {
                management.code(&gpu, trace).metadata_by_instruction()
            }));
        }
        if self.is_shrunk() {
            let gpu = gpu.clone();
            hooks
                .conditions
                .push(Box::new(move |trace| management.can_run(&gpu, trace)));
        }
        let flags_gpu = gpu.clone();
        let (journals, log) = (journals.cloned(), log.cloned());
        hooks.issue.push(Box::new(move |sm| {
            let journal = journals.as_ref().map(|all| all.of(sm));
            let manager = Manager::new(management, gpu.clone(), sm == 0);
            Box::new(manager.noting(journal).telling(log.clone()))
        }));
        if self.allocation != Allocation::Static {
            hooks.issue.push(Box::new(move |_| {
                let flags = FlagCache::new(management.flag_entries);
                Box::new(Decoded::new(management, flags_gpu.clone(), flags))
            }));
        }
    }
}

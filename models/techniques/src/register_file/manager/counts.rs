//! What a managed register file counts.

use warpwatt_activity::Activity;

use super::super::{Allocation, Domain, wear};
use super::Manager;

/// Counts besides those of the file.
#[derive(Default)]
pub(super) struct Counts {
    pub table_reads: u64,
    pub table_writes: u64,
    pub entries: u64,
    pub most_entries: u64,
    pub metadata: u64,
    pub issued: u64,
    pub static_metadata: u64,
    pub static_instructions: u64,
    pub exempt: u64,
    pub full: u64,
}

/// What adds up over time.
pub(super) fn report(manager: &Manager, activity: &mut Activity) {
    let (usage, counts) = (manager.file.usage(), &manager.counts);
    if let Allocation::Renamed(_) = manager.management.allocation {
        activity.add("renaming_table.read", counts.table_reads);
        activity.add("renaming_table.write", counts.table_writes);
        activity.add("register_select.read", usage.takes);
        activity.add("register_availability.write", usage.takes + usage.releases);
        activity.add("metadata_instructions", counts.metadata);
        activity.add("renamed_instructions", counts.issued);
        activity.add("registers_waited_for", counts.full);
        if let Some(hold) = &manager.hold {
            hold.report(usage.takes + usage.releases, activity);
        }
    }
    let (powered, wakes) = match manager.management.gating {
        Some(Domain::Register) => (usage.register_cycles, usage.takes),
        _ => (usage.subarray_cycles, usage.subarray_wakes),
    };
    activity.add("register_domain_cycles", powered);
    activity.add("register_domain_wakes", wakes);
    activity.add("registers_cycles", usage.register_cycles);
    activity.add("registers_reserved_cycles", manager.frames.cycles());
    wear::report(manager.file.accesses(), activity);
}

/// What does not.
pub(super) fn report_levels(manager: &Manager, activity: &mut Activity) {
    let counts = &manager.counts;
    if let Allocation::Renamed(_) = manager.management.allocation {
        activity.add("renaming_most_entries", counts.most_entries);
        if manager.first {
            activity.add("metadata_static", counts.static_metadata);
            activity.add("instructions_static", counts.static_instructions);
            activity.add("registers_exempt", counts.exempt);
        }
    }
    let domains = manager.management.domains(&manager.gpu);
    activity.add("register_domains", u64::from(domains));
    activity.add("registers_most", manager.file.usage().most);
    activity.add("registers_reserved_most", manager.frames.most());
    let registers = manager.file.accesses().len();
    activity.add("wear_registers", registers as u64);
}

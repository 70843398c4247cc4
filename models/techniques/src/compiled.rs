//! What the compiler here tells of a program, and machine code does not.

use warpwatt_gpu::Hooks;
use warpwatt_gpu::trace::Release;

/// Refuses launches of machine code: their traces have no such facts, and the technique would find nothing to save.
pub(crate) fn needs_facts(hooks: &mut Hooks, facts: &'static str) {
    hooks.conditions.push(Box::new(move |trace| {
        // Whatever is read is read for the last time somewhere: a trace that never says so comes from no compiler of ours.
        let reads = trace.code.iter().any(|inst| !inst.sources.is_empty());
        let releases = trace.code.iter().map(|inst| &inst.release);
        let tells =
            |it: &Release| !it.sources.is_empty() || !it.meeting.is_empty();
        match reads && !releases.into_iter().any(tells) {
            true => Err(format!(
                "it is machine code, whose trace tells no {facts}: the technique has nothing to work with"
            )),
            false => Ok(()),
        }
    }));
}

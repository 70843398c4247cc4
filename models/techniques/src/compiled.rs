//! What the compiler here tells of a program, and machine code does not.

use warpwatt_gpu::Hooks;

/// Refuses launches of machine code: their traces have no such facts, and the technique would find nothing to save.
pub(crate) fn needs_facts(hooks: &mut Hooks, facts: &'static str) {
    hooks.conditions.push(Box::new(move |trace| {
        // Where the compiler looked, a strand begins at the first instruction.
        match trace.code.iter().any(|inst| inst.marks.begins) {
            true => Ok(()),
            false => Err(format!(
                "it is machine code, whose trace tells no {facts}: the technique has nothing to work with"
            )),
        }
    }));
}

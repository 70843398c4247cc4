//! Instructions that a hook has executed again.

use super::units::{UnitTimes, modulo};
use super::{Attached, Sm, Tally, World};
use crate::program::{Port, Program};
use crate::{Chosen, IssueHook};

/// Which of the hooks it is.
pub(super) fn find(hooks: &mut [Box<dyn IssueHook>]) -> Option<usize> {
    hooks
        .iter_mut()
        .position(|hook| hook.reexecutor().is_some())
}

impl Sm {
    /// Whether the chosen warp may issue its oldest instruction, as far as others need its unit for another execution.
    pub(super) fn repeats_before(&mut self, warp: u32, now: u64, world: &mut World<'_>) -> bool {
        let mut of_plain = None;
        let Some(step) = self.warps[warp as usize].oldest_step(&mut of_plain) else {
            return true;
        };
        let chosen = Chosen {
            cycle: now,
            warp: warp as u8,
            port: world.program.insts[step.inst as usize].port,
            step,
        };
        let hook = self
            .reexecutor
            .map(|hook| world.attached.issue[hook].reexecutor());
        let admits = hook.flatten().is_none_or(|it| it.admits(&chosen));
        self.repeat(world.program, world.attached, now);
        admits
    }

    /// The launch is over but for what is still to be executed again; when that is done.
    pub(super) fn repeats_last(
        &mut self,
        program: &Program,
        attached: &mut Attached,
        now: u64,
    ) -> u64 {
        let hook = self
            .reexecutor
            .map(|hook| attached.issue[hook].reexecutor());
        let end = hook.flatten().map_or(now, |it| it.ends(now));
        self.repeat(program, attached, now);
        end
    }

    /// Sends to the units what is to be executed again.
    fn repeat(&mut self, program: &Program, attached: &mut Attached, now: u64) {
        let Some(hook) = self.reexecutor else {
            return;
        };
        while let Some(again) = attached.issue[hook].reexecutor().and_then(|it| it.next()) {
            let inst = &program.insts[again.inst as usize];
            Tally::again(inst, u64::from(again.lanes), &mut self.counts);
            match inst.port {
                Port::Barrier => {}
                Port::Ldst => self.form_again(again.from, inst.interval),
                port => {
                    let scheduler = modulo(u32::from(again.warp), self.schedulers.len() as u32);
                    let times = UnitTimes {
                        interval: inst.interval,
                        latency: inst.latency,
                    };
                    self.units
                        .execute_again(scheduler, port, times, again.from, now);
                }
            }
        }
    }
}

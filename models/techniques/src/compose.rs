//! Which techniques go together, and what they are together.

use std::sync::Arc;

use warpwatt_circuit::CircuitError;
use warpwatt_gpu::trace::LaunchShape;
use warpwatt_gpu::{GpuSpec, Hooks, Run};
use warpwatt_reliability::{Journals, ProtectionFactory, Structure as Storage, Whole, all_of};
use warpwatt_structures::chip::added as added_to;

use crate::recovery::Recovery;
use crate::registers_over_time::RegistersOverTime;
use crate::{ALL, Circuits, Fit, LaneCheck, Metric, Structure, Technique};

/// Two techniques that cannot be in one configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} cannot be combined: {reason}")]
pub struct Refusal {
    /// The earlier one.
    pub first: String,
    /// The later one.
    pub second: String,
    /// Their places in the list that was refused.
    pub places: [usize; 2],
    /// Why not.
    pub reason: String,
}

/// Techniques that work together in one GPU; none at all is the plain GPU.
///
/// The order in which they are given does not matter: they are applied in the order of the registry, in which each sees what those before it decided about an
/// instruction. So a register that uniform vectors keep out of the vector register file is none that register virtualization would have to find a place for.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    members: Vec<Arc<dyn Technique>>,
}

impl Stack {
    /// Attaches all of them, telling of registers over time; says whether one manages any.
    pub fn attach_over_time(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        log: &RegistersOverTime,
    ) -> bool {
        let mut managed = false;
        for member in &self.members {
            managed |= member.attach_over_time(gpu, hooks, log);
        }
        managed
    }

    /// How its techniques find that a lane computes wrongly, if one does.
    pub fn lane_check(&self, gpu: &GpuSpec) -> Option<LaneCheck> {
        self.members
            .iter()
            .find_map(|member| member.lane_check(gpu))
    }

    /// How one of them corrects a flip in a structure, if one does.
    pub fn recovery(&self, gpu: &GpuSpec, structure: Storage) -> Option<Recovery> {
        let mut members = self.members.iter();
        members.find_map(|member| member.recovery(gpu, structure))
    }

    /// What stands between the members in a label.
    pub const JOIN: &str = " + ";

    /// The techniques together.
    ///
    /// # Errors
    /// Every pair that does not go together.
    pub fn new(mut members: Vec<Arc<dyn Technique>>) -> Result<Self, Vec<Refusal>> {
        let refusals = refusals(&members);
        if !refusals.is_empty() {
            return Err(refusals);
        }
        members.sort_by_key(|member| place_in_registry(member.name()));
        Ok(Self { members })
    }

    /// The members in the order in which they are applied.
    pub fn members(&self) -> &[Arc<dyn Technique>] {
        &self.members
    }

    /// The labels of the members: `filter_cache + uniform_vector(design=srf, mode=intra)`. Equal labels mean equal stacks.
    pub fn label(&self) -> String {
        let labels: Vec<String> = self.members.iter().map(|member| member.label()).collect();
        labels.join(Self::JOIN)
    }

    /// [`Technique::reshape`] of all.
    pub fn reshape(&self, gpu: &mut GpuSpec) {
        for member in &self.members {
            member.reshape(gpu);
        }
    }

    /// [`Technique::fit`] of all.
    ///
    /// # Errors
    /// If a circuit cannot be built.
    pub fn fit(&self, gpu: &mut GpuSpec, circuits: &dyn Circuits) -> Result<Fit, CircuitError> {
        let mut together = Fit::default();
        for member in &self.members {
            let fit = member.fit(gpu, circuits)?;
            together.paths.extend(fit.paths);
            together.notes.extend(fit.notes);
            together.supply = fit.supply.or(together.supply);
        }
        Ok(together)
    }

    /// [`Technique::attach`] of all.
    pub fn attach(&self, gpu: &GpuSpec, hooks: &mut Hooks) {
        for member in &self.members {
            member.attach(gpu, hooks);
        }
    }

    /// [`Technique::decides`] of all, but of those that only watch. Without techniques that decide it is empty.
    pub fn decides(&self) -> String {
        let decisions = self.members.iter().map(|member| member.decides());
        let decisions: Vec<String> = decisions.filter(|it| !it.is_empty()).collect();
        decisions.join(Self::JOIN)
    }

    /// [`Technique::attach`] of all; gives the [names](Technique::attached) of what is attached, hooks at the issue first, and whether each belongs to one that
    /// only watches.
    pub(crate) fn attach_named(&self, gpu: &GpuSpec, hooks: &mut Hooks) -> Vec<(String, bool)> {
        let (mut issue, mut fetch) = (Vec::new(), Vec::new());
        for member in &self.members {
            member.attach(gpu, hooks);
            let added = [
                hooks.issue.len() - issue.len(),
                hooks.fetch_observers.len() - fetch.len(),
            ];
            let mut names = member.attached();
            if names.len() != added[0] + added[1] {
                let numbers = 0..added[0] + added[1];
                let label = member.label();
                names = numbers.map(|number| format!("{label} {number}")).collect();
            }
            let watches = member.decides().is_empty();
            let mut names = names.into_iter().map(|name| (name, watches));
            issue.extend(names.by_ref().take(added[0]));
            fetch.extend(names);
        }
        issue.append(&mut fetch);
        issue
    }

    /// [`Technique::attach_protecting`] of all.
    pub fn attach_protecting(
        &self,
        gpu: &GpuSpec,
        hooks: &mut Hooks,
        journals: &Journals,
    ) -> ProtectionFactory {
        let members = self.members.iter();
        all_of(
            members
                .filter_map(|member| member.attach_protecting(gpu, hooks, journals))
                .collect(),
        )
    }

    /// [`Technique::storage`] of all.
    pub fn storage(&self, gpu: &GpuSpec) -> Vec<(Storage, u64)> {
        let members = self.members.iter();
        members.flat_map(|member| member.storage(gpu)).collect()
    }

    /// The least of their [`Technique::thread_registers`].
    pub fn thread_registers(&self, gpu: &GpuSpec, launch: &LaunchShape) -> Option<u32> {
        let limits = self.members.iter();
        limits
            .filter_map(|member| member.thread_registers(gpu, launch))
            .min()
    }

    /// Whether one of them [needs values](Technique::needs_values).
    pub fn needs_values(&self) -> bool {
        self.members.iter().any(|member| member.needs_values())
    }

    /// Whether all that they count [adds up](Technique::adds_up).
    pub fn adds_up(&self) -> bool {
        self.members.iter().all(|member| member.adds_up())
    }

    /// Puts the structures of the members beside those of the plain GPU, and all of them right.
    pub fn build(&self, gpu: &GpuSpec, structures: &mut Vec<Structure>) {
        for member in &self.members {
            let added = member.structures(gpu).into_iter();
            structures.extend(added.map(|structure| added_to(gpu, structure)));
        }
        for member in &self.members {
            let around = member.around(gpu, structures);
            structures.extend(around);
        }
        for member in &self.members {
            member.alter(gpu, structures);
        }
    }

    /// [`Technique::shared_codes`] of all.
    pub fn shared_codes(&self) -> Vec<Whole> {
        let members = self.members.iter();
        members.flat_map(|member| member.shared_codes()).collect()
    }

    /// [`Technique::metrics`] of all.
    pub fn metrics(&self, run: &Run) -> Vec<Metric> {
        let metrics = self.members.iter().map(|member| member.metrics(run));
        metrics.flatten().collect()
    }
}

fn place_in_registry(name: &str) -> usize {
    let known = ALL.iter().position(|definition| definition.name == name);
    known.unwrap_or(ALL.len())
}

fn refusals(members: &[Arc<dyn Technique>]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (later, second) in members.iter().enumerate() {
        for (earlier, first) in members[..later].iter().enumerate() {
            if let Some(reason) = conflict(first.as_ref(), second.as_ref()) {
                refusals.push(Refusal {
                    first: first.label(),
                    second: second.label(),
                    places: [earlier, later],
                    reason,
                });
            }
        }
    }
    refusals
}

fn conflict(first: &dyn Technique, second: &dyn Technique) -> Option<String> {
    if first.name() == second.name() {
        return Some("a technique can be in a configuration only once".to_owned());
    }
    let shared = first
        .claims()
        .iter()
        .find(|claim| second.claims().contains(claim))?;
    Some(format!("both want {}", shared.describe()))
}

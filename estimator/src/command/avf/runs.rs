//! The runs that a question takes: one of the plain GPU, and one for each technique and each way in which it fits the nodes' clocks.

use std::sync::Arc;

use rayon::prelude::*;
use warpwatt_circuit::{OperatingPoint, Profile};
use warpwatt_gpu::{Control, GpuSpec};
use warpwatt_reliability::{Liveness, Shape, Structure, Whole};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::RunOptions;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{TechError, Technology};
use warpwatt_techniques::Stack;

use super::AvfArguments;
use super::measured::Measured;
use crate::cache::TraceCache;
use crate::diag::{Diag, Sink, Sources};
use crate::outcome::BASELINE;
use crate::pricing::NodeCircuits;
use crate::reliability::{Guarded, Rate, follow, needs, shape};
use crate::run::execute::{first_mismatch, trace, untimed};
use crate::run::kernel::LoadedKernel;
use crate::run::registers::{Limits, limited, limits};
use crate::study::{Configuration, DEFAULT_KELVIN};

/// A node: its raw rate, and its circuits, which techniques must fit into a clock period.
pub struct Node {
    rate: Rate,
    circuits: NodeCircuits,
}

impl Node {
    /// That of a technology, whose name goes with it.
    ///
    /// # Errors
    /// There is no rate for it.
    pub fn new(name: &str, technology: Technology) -> Result<Self, TechError> {
        let rate = Rate::of(name, technology.feature)?;
        let point = OperatingPoint {
            temperature: Temperature::from_k(DEFAULT_KELVIN),
            vdd: None,
        };
        Ok(Self {
            rate,
            circuits: NodeCircuits::new(technology, point, Profile::Silicon),
        })
    }
}

/// A GPU with techniques, or without.
pub struct Run {
    label: String,
    stack: Stack,
    /// As techniques have reshaped it and made it fit the clock.
    pub spec: GpuSpec,
    /// Of the nodes at which it is like that.
    rates: Vec<Rate>,
}

impl Run {
    /// The storage that is followed.
    pub fn shape(&self) -> Shape {
        shape(&self.spec, &self.stack)
    }
}

/// The runs of each configuration, the plain GPU first. What cannot be built is left in `sink`.
pub fn plan(
    plain: &GpuSpec,
    configurations: Vec<Configuration>,
    nodes: Vec<Node>,
    sink: &mut Sink,
) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for Configuration { label, stack, .. } in configurations {
        let first = runs.len();
        for Node { rate, circuits } in &nodes {
            let mut spec = plain.clone();
            stack.reshape(&mut spec);
            if let Err(error) = stack.fit(&mut spec, circuits) {
                let message = format!("`{label}` cannot be built at {}: {error}", rate.node);
                sink.push(Diag::error("avf::fit", message));
                return None;
            }
            match runs[first..].iter_mut().find(|run| run.spec == spec) {
                Some(run) => run.rates.push(rate.clone()),
                None => runs.push(Run {
                    label: label.clone(),
                    stack: stack.clone(),
                    spec,
                    rates: vec![rate.clone()],
                }),
            }
        }
    }
    Some(runs)
}

/// What all runs share.
pub struct Measuring<'m> {
    pub arguments: &'m AvfArguments,
    pub kernel: &'m LoadedKernel,
    pub cache: Option<&'m TraceCache>,
    pub plain: &'m GpuSpec,
    pub codes: &'m [Whole],
    pub structures: &'m [Structure],
}

/// A program that was executed: on how many registers, its traces, and what they need.
struct Executed {
    key: (Limits, u32),
    traces: Vec<KernelTrace>,
    needs: Vec<Arc<Liveness>>,
}

impl Measuring<'_> {
    /// Executes what has to be and measures all runs, in their order.
    ///
    /// # Errors
    /// The kernel stops, computes something wrong, or cannot be timed.
    pub fn all(&self, runs: Vec<Run>, sources: &Sources) -> Result<Vec<Measured>, Diag> {
        let values = runs.iter().any(|run| run.stack.needs_values());
        let mut programs: Vec<Executed> = Vec::new();
        let mut of = Vec::with_capacity(runs.len());
        for run in &runs {
            let key = (
                limits(self.kernel, &run.stack, self.plain).0,
                run.spec.sm.warp_width,
            );
            let known = programs.iter().position(|program| program.key == key);
            of.push(known.unwrap_or(programs.len()));
            if known.is_none() {
                programs.push(self.execute(key, values, sources)?);
            }
        }
        let found = runs.into_par_iter().zip(of);
        found
            .map(|(run, program)| self.follow(run, &programs[program]))
            .collect()
    }

    fn execute(
        &self,
        key: (Limits, u32),
        values: bool,
        sources: &Sources,
    ) -> Result<Executed, Diag> {
        let options = RunOptions {
            warp_width: key.1,
            limit: self.arguments.limit,
            listed: 1,
            values,
            ..RunOptions::default()
        };
        let fewer = (!key.0.is_empty()).then(|| limited(self.kernel, &key.0));
        let kernel = fewer.as_ref().unwrap_or(self.kernel);
        let traced = trace(kernel, options, sources, self.cache)?;
        if let Some(mismatch) = first_mismatch(&traced.run) {
            let message = format!("`{}` computes a wrong result: {mismatch}", kernel.name.name);
            let help = "`warpwatt kernel` shows more; what a faulty kernel needs says nothing";
            return Err(Diag::error("avf::mismatch", message).help(help));
        }
        let traces = traced.run.into_traces();
        Ok(Executed {
            key,
            needs: needs(&traces),
            traces,
        })
    }

    fn follow(&self, run: Run, program: &Executed) -> Result<Measured, Diag> {
        let guarded = Guarded {
            techniques: Some(&run.stack),
            codes: self.codes,
        };
        let control = Control {
            cycle_limit: self.arguments.cycle_limit,
            watcher: None,
        };
        let traces = (&program.traces[..], program.needs.clone());
        let (_, launches) = follow(&run.spec, traces, guarded, control)
            .map_err(|error| untimed("avf::timing", &error))?;
        let shape = run.shape();
        let shown = self.structures.iter().copied();
        Ok(Measured {
            technique: (run.label != BASELINE).then_some(run.label),
            structures: shown.filter(|it| shape.measures(*it)).collect(),
            shape,
            rates: run.rates,
            launches,
        })
    }
}

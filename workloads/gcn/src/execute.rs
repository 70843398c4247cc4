//! Code that is ready to run, and what launches of it must be like.

use std::sync::Arc;

use warpwatt_simt::trace::{KernelTrace, LaunchShape, RegisterKind, StaticInst, Store};

use crate::error::{Cause, ExecError, Fault};
use crate::group::GroupFault;
use crate::launch::Launch;
use crate::object::{Kernel, Object};
use crate::program::Program;
use crate::statics::static_instructions;
use crate::wave::{LANES, VECTORS};

/// An object whose code is decoded, ready to run any number of times.
#[derive(Clone, Debug)]
pub struct Code {
    object: Object,
    program: Program,
    statics: Arc<[StaticInst]>,
    /// Vector registers that it can reach, from the first one on.
    vectors: usize,
}

/// Work-items of a work-group at the most.
const MOST_ITEMS: u64 = 1024;

/// Local data share of a work-group at the most: twice what the hardware has.
const MOST_SHARE: u64 = 128 << 10;

/// Scratch memory of a work-group at the most.
const MOST_SCRATCH: u64 = 1 << 30;

impl Code {
    /// Decodes an object's code.
    pub fn new(object: Object) -> Self {
        let program = Program::new(&object);
        let statics: Arc<[StaticInst]> = static_instructions(&program).into();
        let vectors = vectors_reached(&program, &statics);
        Self {
            object,
            program,
            statics,
            vectors,
        }
    }

    /// The object.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The code as text, an instruction a line; the lines that faults and traces name.
    pub fn listing(&self) -> String {
        let lines = self.program.code.iter().map(|placed| match placed.inst {
            Ok(inst) => format!("{inst}\n"),
            Err(refused) => format!("; {refused}\n"),
        });
        lines.collect()
    }

    /// Whether an instruction accesses two places of the local data share at once, of which traces tell the first.
    pub fn accesses_pairs(&self) -> bool {
        let mut code = self
            .program
            .code
            .iter()
            .filter_map(|placed| placed.inst.ok());
        code.any(|inst| inst.op.is_pair())
    }

    pub(crate) fn vectors(&self) -> usize {
        self.vectors
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn statics(&self) -> &[StaticInst] {
        &self.statics
    }

    pub(crate) fn kernel(&self, name: &str) -> Result<&Kernel, ExecError> {
        self.object
            .kernel(name)
            .ok_or_else(|| ExecError::UnknownKernel {
                name: name.to_owned(),
                known: self
                    .object
                    .kernels
                    .iter()
                    .map(|kernel| kernel.name.clone())
                    .collect(),
            })
    }

    pub(crate) fn entry(&self, kernel: &Kernel) -> Result<u32, ExecError> {
        let address = crate::object::IMAGE_BASE + kernel.entry;
        self.program.find(address).ok_or_else(|| ExecError::Launch {
            kernel: kernel.name.clone(),
            message: format!("no instruction begins at its entry, {:#x}", kernel.entry),
        })
    }

    /// An empty trace of a launch.
    pub(crate) fn trace(
        &self,
        kernel: &Kernel,
        launch: &Launch<'_>,
        share_bytes: u32,
        store: &Store,
    ) -> KernelTrace {
        let shape = LaunchShape {
            grid: launch.grid,
            block: launch.block,
            warp_width: LANES as u32,
            shared_bytes: share_bytes,
            registers: kernel.descriptor.vector_registers(),
        };
        let (name, code) = (kernel.name.clone(), self.statics.clone());
        KernelTrace::kept_in(store.clone(), name, code, shape)
    }

    pub(crate) fn fault(
        &self,
        kernel: &Kernel,
        group: [u32; 3],
        limit: u64,
        fault: GroupFault,
    ) -> ExecError {
        let placed = self.program.code.get(fault.at as usize);
        let text = match placed.map(|placed| placed.inst) {
            Some(Ok(inst)) => inst.to_string(),
            _ => "no instruction".to_owned(),
        };
        let cause = match fault.fault.cause {
            Cause::Limit(_) => Cause::Limit(limit),
            cause => cause,
        };
        ExecError::Fault(Box::new(Fault {
            kernel: kernel.name.clone(),
            address: placed.map_or(0, |placed| u64::from(placed.offset)),
            line: fault.at + 1,
            text,
            group,
            wavefront: fault.wave as u32,
            lane: fault.fault.lane,
            cause,
        }))
    }
}

/// Vector registers that code can reach, from the first one on: all of them if it adds M0 to their numbers. Dispatchers write three.
fn vectors_reached(program: &Program, statics: &[StaticInst]) -> usize {
    let mut code = program.code.iter().filter_map(|placed| placed.inst.ok());
    if code.any(|inst| inst.op.is_relative()) {
        return VECTORS;
    }
    let named = statics
        .iter()
        .flat_map(|inst| inst.sources.iter().chain(&inst.destinations));
    let words = named.filter(|register| register.kind == RegisterKind::Word);
    let last = words.map(|register| usize::from(register.number) + 1).max();
    last.unwrap_or(0).clamp(3, VECTORS)
}

/// Why a launch fits neither kernel nor machine.
pub(crate) fn fits(kernel: &Kernel, launch: &Launch<'_>) -> Result<(), String> {
    let product = |extents: [u32; 3]| extents.map(u128::from).into_iter().product::<u128>();
    let (items, groups) = (product(launch.block), product(launch.grid));
    if items == 0 || groups == 0 {
        return Err("grid and block need at least one in each direction".to_owned());
    }
    if items > u128::from(MOST_ITEMS) {
        return Err(format!(
            "a work-group of {items} work-items is too large: at most {MOST_ITEMS}"
        ));
    }
    if let Some(required) = kernel
        .required_group
        .filter(|required| *required != launch.block)
    {
        let [x, y, z] = required;
        return Err(format!(
            "it was compiled for work-groups of {x} x {y} x {z} work-items"
        ));
    }
    if groups > u128::from(u64::MAX) {
        return Err("the grid has too many work-groups".to_owned());
    }
    let share = u64::from(kernel.descriptor.lds_bytes) + u64::from(launch.dynamic_share);
    if share > MOST_SHARE {
        return Err(format!(
            "{share} bytes of local data share are too many: at most {MOST_SHARE}"
        ));
    }
    let scratch = items as u64 * u64::from(kernel.descriptor.scratch_bytes);
    if scratch > MOST_SCRATCH {
        return Err(format!(
            "{scratch} bytes of scratch a work-group are too many: at most {MOST_SCRATCH}"
        ));
    }
    if launch.arguments.len() < kernel.argument_bytes as usize {
        return Err(format!(
            "{} bytes of arguments were given; it takes {}",
            launch.arguments.len(),
            kernel.argument_bytes
        ));
    }
    Ok(())
}

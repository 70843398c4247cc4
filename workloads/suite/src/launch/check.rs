//! A case against the module that it launches.

use std::collections::BTreeSet;

use warpwatt_ptx::program::Param;
use warpwatt_ptx::{Entry, Module, TooFewRegisters};
use warpwatt_simt::DeviceMemory;
use warpwatt_simt::trace::LaunchShape;

use super::names::unknown_entry;
use super::problem::nearest;
use super::{
    Access, Argument, Buffer, Case, ElementType, Files, Form, Home, KernelLaunch, Prepared,
    Problem, Role, Variables,
};

impl Case {
    /// Checks every launch against its entry and fills the buffers.
    ///
    /// # Errors
    /// All problems: unknown entries, arguments that do not match an entry's parameters, files that are missing or have the
    /// wrong size.
    pub fn prepare(&self, module: &Module, files: Files<'_>) -> Result<Prepared, Vec<Problem>> {
        let mut problems = self.check(module);
        match self.fill(files) {
            Ok(prepared) if problems.is_empty() => Ok(prepared),
            Ok(_) => Err(problems),
            Err(more) => {
                problems.extend(more);
                problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
                Err(problems)
            }
        }
    }

    /// What is wrong with the case's launches, given the module.
    pub fn check(&self, module: &Module) -> Vec<Problem> {
        let mut problems = Vec::new();
        for launch in self.launches() {
            match module.entry(launch.kernel.get_ref()) {
                Some(entry) => self.check_launch(launch, entry, module, &mut problems),
                None => problems.push(unknown_entry(launch, module)),
            }
        }
        problems.extend(self.room_objection(module));
        for argument in &self.arguments {
            problems.extend(variable_objection(argument, module));
            problems.extend(field_objections(argument, module));
        }
        for reference in self
            .textures
            .iter()
            .filter_map(|texture| texture.reference.as_ref())
        {
            let names: Vec<_> = module
                .textures
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            if !names.contains(&reference.get_ref().as_str()) {
                let message = format!("the PTX has no texture reference `{}`", reference.get_ref());
                let problem = Problem::new(reference.span(), message);
                problems.push(problem.help(nearest(reference.get_ref(), &names)));
            }
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        problems.dedup();
        problems
    }

    /// Buffers that addresses of 32 bits do not reach.
    fn room_objection(&self, module: &Module) -> Option<Problem> {
        let sizes = self
            .arguments
            .iter()
            .filter_map(|argument| match &argument.role {
                Role::Buffer(buffer) if matches!(buffer.home, Home::Memory) => {
                    Some(buffer_bytes(argument, buffer))
                }
                _ => None,
            });
        if !module.narrow || DeviceMemory::fits_narrow(sizes) {
            return None;
        }
        let name = self.name.get_ref();
        let message = format!(
            "the buffers of case `{name}` take {} MiB, more than addresses of 32 bits reach",
            self.buffer_bytes() >> 20
        );
        let help = "1024 MiB at most; or compile for addresses of 64 bits (`-m64`)";
        Some(Problem::new(self.name.span(), message).help(help))
    }

    /// What launches take of an SM, by entry: a row for each launch, or for each size of its CTAs where a loop changes that.
    pub fn launch_shapes(&self, module: &Module, warp_width: u32) -> Vec<(String, LaunchShape)> {
        /// Blocks and bytes of dynamic shared memory.
        type Sizes = BTreeSet<([u32; 3], u32)>;
        let mut launches: Vec<(&KernelLaunch, Sizes)> = Vec::new();
        self.for_each_launch(|launch, _, block, shared| {
            let mut known = launches.iter_mut();
            match known.find(|(known, _)| std::ptr::eq(*known, launch)) {
                Some((_, sizes)) => drop(sizes.insert((block, shared))),
                None => launches.push((launch, BTreeSet::from([(block, shared)]))),
            }
        });
        let mut shapes = Vec::new();
        for (launch, sizes) in launches {
            let Some(entry) = module.entry(launch.kernel.get_ref()) else {
                continue;
            };
            shapes.extend(sizes.into_iter().map(|(block, shared)| {
                let shape = LaunchShape {
                    grid: [1; 3],
                    block,
                    warp_width,
                    shared_bytes: entry.shared_bytes + shared,
                    registers: entry.registers,
                };
                (entry.name.clone(), shape)
            }));
        }
        shapes
    }

    /// Gives the entries that the case launches no more registers than it says; `limit` is used if it is given.
    ///
    /// # Errors
    /// The limit and the lowest one that all of these entries can keep, if that is higher.
    pub fn limit_registers(
        &self,
        module: &mut Module,
        limit: Option<u32>,
    ) -> Result<(), Vec<TooFewRegisters>> {
        let own = self.registers.as_ref().map(|limit| *limit.get_ref());
        let Some(limit) = limit.or(own) else {
            return Ok(());
        };
        let launched: BTreeSet<&str> = self
            .launches()
            .into_iter()
            .map(|launch| launch.kernel.get_ref().as_str())
            .collect();
        let mut refused = Vec::new();
        for entry in &mut module.entries {
            if entry.registers > limit && launched.contains(entry.name.as_str()) {
                match entry.with_registers(limit) {
                    Ok(limited) => *entry = limited,
                    Err(error) => refused.push(error),
                }
            }
        }
        match refused.is_empty() {
            true => Ok(()),
            false => Err(refused),
        }
    }

    fn check_launch(
        &self,
        launch: &KernelLaunch,
        entry: &Entry,
        module: &Module,
        problems: &mut Vec<Problem>,
    ) {
        let (given, wanted) = (launch.arguments.len(), entry.params.len());
        if given != wanted {
            let message = format!(
                "`{}` takes {wanted} argument(s), but {given} are passed",
                entry.name
            );
            let problem = Problem::new(launch.kernel.span(), message);
            problems.push(problem.help(format!("its parameters are ({})", parameters(entry))));
            return;
        }
        problems.extend(cluster_objection(launch, entry));
        let arguments = launch.arguments.iter().map(|index| &self.arguments[*index]);
        for (position, (argument, param)) in arguments.zip(&entry.params).enumerate() {
            if let Some(objection) = objection(argument, param, module) {
                let name = argument.name.get_ref();
                let message = format!(
                    "`{name}` cannot be parameter {position} of `{}`: {objection}",
                    entry.name
                );
                problems.push(Problem::new(argument.name.span(), message));
            }
        }
    }
}

/// Clusters other than those that the PTX requires, or none of theirs.
fn cluster_objection(launch: &KernelLaunch, entry: &Entry) -> Option<Problem> {
    let required = entry.cluster?;
    let extents = |shape: &[Form; 3]| shape.each_ref().map(|it| it.integer(Variables::NONE));
    let given = launch.cluster.as_ref().map(extents)?;
    let differs = given
        .iter()
        .zip(required)
        .any(|(given, required)| matches!(given, Ok(given) if *given != i64::from(required)));
    differs.then(|| {
        let [x, y, z] = required;
        let message = format!(
            "`{}` requires clusters of {x} x {y} x {z} CTAs (`.reqnctapercluster`)",
            entry.name
        );
        Problem::new(launch.kernel.span(), message).help("leave `cluster` out")
    })
}

fn parameters(entry: &Entry) -> String {
    let types: Vec<_> = entry
        .params
        .iter()
        .map(|param| format!(".{}", param.element))
        .collect();
    types.join(", ")
}

/// Why an argument cannot be the variable that it says it is.
fn variable_objection(argument: &Argument, module: &Module) -> Option<Problem> {
    let Role::Buffer(buffer) = &argument.role else {
        return None;
    };
    let Home::Variable(name) = &buffer.home else {
        return None;
    };
    let Some(variable) = module.variable(name.get_ref()) else {
        let names = module.variables.iter().map(|known| known.name.as_str());
        let names: Vec<_> = names.collect();
        let message = format!("the PTX has no variable `{}`", name.get_ref());
        let problem = Problem::new(name.span(), message);
        return Some(problem.help(nearest(name.get_ref(), &names)));
    };
    let bytes = buffer_bytes(argument, buffer);
    if bytes > variable.bytes {
        let (called, has) = (name.get_ref(), variable.bytes);
        let message = format!("`{called}` has {has} bytes, but is given {bytes}");
        return Some(Problem::new(name.span(), message));
    }
    if variable.constant && buffer.access != Access::In {
        let message = format!("`{}` is constant: no kernel writes it", name.get_ref());
        let problem = Problem::new(name.span(), message);
        return Some(problem.help("its kind is \"in\""));
    }
    None
}

fn buffer_bytes(argument: &Argument, buffer: &Buffer) -> u64 {
    buffer.count * argument.element.bytes() as u64
}

/// Why an argument cannot be passed for a parameter.
fn objection(argument: &Argument, param: &Param, module: &Module) -> Option<String> {
    let wanted = format!("that is .{} of {} bytes", param.element, param.bytes);
    let param_is_float = param.element.starts_with('f');
    let width = module.address_bytes();
    let address = || {
        (param.bytes != width || param_is_float)
            .then(|| format!("{wanted}, but the address of a buffer takes {width} as an integer"))
    };
    match &argument.role {
        Role::Buffer(buffer) => match &buffer.home {
            Home::Variable(_) => Some("it is a variable of the PTX, which is not passed".into()),
            Home::Parameter => {
                let bytes = buffer_bytes(argument, buffer);
                (bytes != u64::from(param.bytes))
                    .then(|| format!("{wanted}, but the structure has {bytes}"))
            }
            Home::Memory => address(),
        },
        Role::Pointer(_) => address(),
        Role::Scalar(_) if !fits(argument.element, param, param_is_float) => Some(format!(
            "{wanted}, but the scalar is {}",
            argument.element.name()
        )),
        Role::Scalar(_) => None,
    }
}

/// Fields that lie in each other, or partly outside of the bytes that hold them.
fn field_objections(argument: &Argument, module: &Module) -> Vec<Problem> {
    let Role::Buffer(buffer) = &argument.role else {
        return Vec::new();
    };
    let (all, width) = (
        buffer_bytes(argument, buffer),
        u64::from(module.address_bytes()),
    );
    let name = argument.name.get_ref();
    let problem = |message| Problem::new(argument.name.span(), message);
    let mut fields: Vec<(u64, u64)> = buffer
        .fields
        .iter()
        .map(|field| (field.offset, field.bytes(width)))
        .collect();
    fields.sort_unstable();
    let outside = fields.iter().filter(|(offset, bytes)| offset + bytes > all);
    let outside = outside.map(|(offset, bytes)| {
        problem(format!(
            "a field of {bytes} bytes at offset {offset} does not fit into the {all} bytes of `{name}`"
        ))
    });
    let crossing = fields
        .windows(2)
        .filter(|pair| pair[0].0 + pair[0].1 > pair[1].0);
    let crossing = crossing.map(|pair| {
        let ((first, bytes), (second, _)) = (pair[0], pair[1]);
        problem(format!(
            "the fields at offsets {first} and {second} of `{name}` overlap: the first has {bytes} bytes"
        ))
    });
    outside.chain(crossing).collect()
}

/// Untyped parameters take anything of their size, typed ones a scalar of their kind.
fn fits(element: ElementType, param: &Param, param_is_float: bool) -> bool {
    let untyped = param.element.starts_with('b');
    element.bytes() == param.bytes as usize && (untyped || element.is_float() == param_is_float)
}

//! A case against the module that it launches.

use std::collections::BTreeSet;

use warpwatt_ptx::program::Param;
use warpwatt_ptx::{Entry, Module, TooFewRegisters};
use warpwatt_simt::trace::LaunchShape;

use super::problem::nearest;
use super::{
    Access, Argument, Buffer, Case, ElementType, Files, Home, KernelLaunch, Linear, Prepared,
    Problem, Role,
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
        for launch in self.steps.iter().flat_map(|step| &step.launches) {
            match module.entry(launch.kernel.get_ref()) {
                Some(entry) => self.check_launch(launch, entry, &mut problems),
                None => problems.push(unknown_entry(launch, module)),
            }
        }
        for argument in &self.arguments {
            problems.extend(variable_objection(argument, module));
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

    /// What launches take of an SM, by entry: a row for each launch, or for each size of its CTAs where a loop changes that.
    pub fn launch_shapes(&self, module: &Module, warp_width: u32) -> Vec<(String, LaunchShape)> {
        let mut shapes = Vec::new();
        for step in &self.steps {
            for launch in &step.launches {
                let Some(entry) = module.entry(launch.kernel.get_ref()) else {
                    continue;
                };
                let blocks = step.repeat.values().map(|variable| {
                    let extent = |extent: &Linear| extent.at(variable) as u32;
                    launch.block.each_ref().map(extent)
                });
                let blocks: BTreeSet<[u32; 3]> = blocks.collect();
                shapes.extend(blocks.into_iter().map(|block| {
                    let shape = LaunchShape {
                        grid: [1; 3],
                        block,
                        warp_width,
                        shared_bytes: entry.shared_bytes + launch.dynamic_shared,
                        registers: entry.registers,
                    };
                    (entry.name.clone(), shape)
                }));
            }
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
        let launches = self.steps.iter().flat_map(|step| &step.launches);
        let launched: BTreeSet<&str> = launches
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

    fn check_launch(&self, launch: &KernelLaunch, entry: &Entry, problems: &mut Vec<Problem>) {
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
        let arguments = launch.arguments.iter().map(|index| &self.arguments[*index]);
        for (position, (argument, param)) in arguments.zip(&entry.params).enumerate() {
            if let Some(objection) = objection(argument, param) {
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

fn unknown_entry(launch: &KernelLaunch, module: &Module) -> Problem {
    let kernel = launch.kernel.get_ref();
    let names: Vec<_> = module
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    Problem::new(
        launch.kernel.span(),
        format!("the PTX has no entry `{kernel}`"),
    )
    .help(nearest(kernel, &names))
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
fn objection(argument: &Argument, param: &Param) -> Option<String> {
    let wanted = format!("that is .{} of {} bytes", param.element, param.bytes);
    let param_is_float = param.element.starts_with('f');
    match &argument.role {
        Role::Buffer(buffer) => match &buffer.home {
            Home::Variable(_) => Some("it is a variable of the PTX, which is not passed".into()),
            Home::Parameter => {
                let bytes = buffer_bytes(argument, buffer);
                (bytes != u64::from(param.bytes))
                    .then(|| format!("{wanted}, but the structure has {bytes}"))
            }
            Home::Memory => (param.bytes != 8 || param_is_float)
                .then(|| format!("{wanted}, but the address of a buffer takes 8 as an integer")),
        },
        Role::Scalar(_) if !fits(argument.element, param, param_is_float) => Some(format!(
            "{wanted}, but the scalar is {}",
            argument.element.name()
        )),
        _ => None,
    }
}

/// Untyped parameters take anything of their size, typed ones a scalar of their kind.
fn fits(element: ElementType, param: &Param, param_is_float: bool) -> bool {
    let untyped = param.element.starts_with('b');
    element.bytes() == param.bytes as usize && (untyped || element.is_float() == param_is_float)
}

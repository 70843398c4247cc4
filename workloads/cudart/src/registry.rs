//! What a program registers: fat binaries, and kernels and variables in them by the addresses of their shadows on the host.

use std::collections::BTreeMap;

use warpwatt_ptx::link::link;
use warpwatt_ptx::{Lower, Module, load_behind};

use crate::channel::say;
use crate::error::{Code, Outcome};
use crate::fatbin;
use crate::foreign::Out;
use crate::memory::Memory;
use crate::protocol::Setup;

/// A translation unit: a fat binary, read when something of it is first needed.
#[derive(Debug)]
pub struct Unit {
    image: Image,
    state: State,
    /// Managed variables: names, and where the program wants their addresses.
    managed: Vec<(String, u64)>,
}

/// What a unit's PTX is read from.
#[derive(Debug)]
pub enum Image {
    /// A fat binary; several of modules that are compiled apart (`-rdc=true`).
    Containers(Vec<&'static [u8]>),
    /// PTX itself.
    Text(String),
}

#[derive(Debug)]
enum State {
    Unread,
    Read(Box<Module>, String),
    Failed(Code),
}

/// A kernel: its unit and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The unit's handle.
    pub unit: u64,
    /// The entry.
    pub name: String,
}

/// A variable: its unit and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    unit: u64,
    name: String,
}

/// Where a variable's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Their address in this process.
    pub host: *mut u8,
    /// Their address for kernels; none of constants.
    pub device: Option<u64>,
    /// How many.
    pub bytes: u64,
}

/// All that is registered.
#[derive(Debug, Default)]
pub struct Registry {
    units: BTreeMap<u64, Unit>,
    /// By the address of the function on the host, or a handle that was made up.
    kernels: BTreeMap<u64, Kernel>,
    /// By the address of the shadow on the host.
    variables: BTreeMap<u64, Variable>,
    made_up: u64,
}

impl Registry {
    /// A number that is no address and was not given before.
    pub fn handle(&mut self) -> u64 {
        self.made_up += 16;
        0x1000 + self.made_up
    }

    /// Adds a unit; its handle.
    pub fn add(&mut self, image: Image) -> u64 {
        let handle = self.handle();
        let unit = Unit {
            image,
            state: State::Unread,
            managed: Vec::new(),
        };
        self.units.insert(handle, unit);
        handle
    }

    /// Forgets a unit with its kernels and variables.
    pub fn remove(&mut self, unit: u64) {
        self.units.remove(&unit);
        self.kernels.retain(|_, kernel| kernel.unit != unit);
        self.variables.retain(|_, variable| variable.unit != unit);
    }

    /// Adds a kernel under the address of its host function.
    pub fn add_kernel(&mut self, host: u64, unit: u64, name: String) {
        self.kernels.insert(host, Kernel { unit, name });
    }

    /// Adds a variable under the address of its shadow; a managed one with where the program wants its address.
    pub fn add_variable(&mut self, host: u64, unit: u64, name: String, managed: Option<u64>) {
        if let (Some(wanted), Some(of)) = (managed, self.units.get_mut(&unit)) {
            of.managed.push((name.clone(), wanted));
        }
        self.variables.insert(host, Variable { unit, name });
    }

    /// The kernel of a host function or of a handle.
    ///
    /// # Errors
    /// There is none.
    pub fn kernel(&self, handle: u64) -> Outcome<Kernel> {
        let found = self.kernels.get(&handle).cloned();
        found.ok_or(Code::INVALID_FUNCTION)
    }

    /// The handle of a unit's kernel of that name, made up if there is none yet.
    ///
    /// # Errors
    /// The unit has no such kernel.
    pub fn kernel_named(&mut self, unit: u64, name: &str) -> Outcome<u64> {
        let known = self
            .kernels
            .iter()
            .find(|(_, kernel)| kernel.unit == unit && kernel.name == name);
        if let Some((&handle, _)) = known {
            return Ok(handle);
        }
        let module = self.read(unit)?;
        if module.entry(name).is_none() {
            return Err(Code::SYMBOL_NOT_FOUND);
        }
        let handle = self.handle();
        self.add_kernel(handle, unit, name.to_owned());
        Ok(handle)
    }

    /// A unit's module, which must have been [loaded](Self::load).
    ///
    /// # Errors
    /// It was not, or cannot be.
    pub fn read(&self, unit: u64) -> Outcome<&Module> {
        match self.units.get(&unit).map(|unit| &unit.state) {
            Some(State::Read(module, _)) => Ok(module),
            Some(State::Failed(code)) => Err(*code),
            _ => Err(Code::INVALID_HANDLE),
        }
    }

    /// A unit's module and the PTX that it was read from, if it was read.
    pub fn module(&self, unit: u64) -> Option<(&Module, &str)> {
        match &self.units.get(&unit)?.state {
            State::Read(module, text) => Some((module, text)),
            _ => None,
        }
    }

    /// The compute capability that a unit's PTX was compiled for, which may be more than the device's: 80 for `.target sm_80`.
    pub fn target(&self, unit: u64) -> Option<u32> {
        let (_, text) = self.module(unit)?;
        let (_, target) = text.split_once(".target sm_")?;
        let digits = target.find(|c: char| !c.is_ascii_digit());
        target[..digits.unwrap_or(target.len())].parse().ok()
    }

    /// Reads a unit's PTX if that was not done yet, and places its variables.
    ///
    /// # Errors
    /// It has none, or it cannot be read; that is told once.
    pub fn load(&mut self, handle: u64, memory: &mut Memory, setup: &Setup) -> Outcome {
        let unit = self.units.get_mut(&handle).ok_or(Code::INVALID_HANDLE)?;
        match &unit.state {
            State::Read(..) => return Ok(()),
            State::Failed(code) => return Err(*code),
            State::Unread => {}
        }
        let loaded = unit.load(memory, setup);
        unit.state = match loaded {
            Ok((module, text)) => State::Read(Box::new(module), text),
            Err(code) => State::Failed(code),
        };
        loaded_code(&unit.state)
    }

    /// Loads every unit with managed variables, so that the host finds them.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_managed(&mut self, memory: &mut Memory, setup: &Setup) -> Outcome {
        let units = self.units.iter();
        let managed = units.filter(|(_, unit)| !unit.managed.is_empty());
        let managed: Vec<u64> = managed.map(|(&handle, _)| handle).collect();
        managed
            .into_iter()
            .try_for_each(|unit| self.load(unit, memory, setup))
    }

    /// The unit of a variable.
    ///
    /// # Errors
    /// There is no such variable.
    pub fn unit_of(&self, variable: u64) -> Outcome<u64> {
        let found = self.variables.get(&variable);
        found.map(|found| found.unit).ok_or(Code::INVALID_SYMBOL)
    }

    /// Where a variable's bytes are; its unit must have been loaded.
    ///
    /// # Errors
    /// There is no such variable.
    pub fn variable(&mut self, host: u64, memory: &mut Memory) -> Outcome<Place> {
        let Variable { unit, name } = self.variables.get(&host).ok_or(Code::INVALID_SYMBOL)?;
        let (unit, name) = (*unit, name.clone());
        self.variable_named(unit, &name, memory)
    }

    /// The same of a unit's variable of that name.
    ///
    /// # Errors
    /// The unit has none of that name.
    pub fn variable_named(&mut self, unit: u64, name: &str, memory: &mut Memory) -> Outcome<Place> {
        let unit = self.units.get_mut(&unit).ok_or(Code::INVALID_HANDLE)?;
        let State::Read(module, _) = &mut unit.state else {
            return Err(Code::INVALID_HANDLE);
        };
        let variable = module.variable(name).ok_or(Code::INVALID_SYMBOL)?.clone();
        if variable.constant {
            let start = variable.offset as usize;
            return Ok(Place {
                host: module.constants[start..].as_mut_ptr(),
                device: None,
                bytes: variable.bytes,
            });
        }
        let address = module.globals_base() + variable.offset;
        Ok(Place {
            host: memory.place(address, variable.bytes)?,
            device: Some(address),
            bytes: variable.bytes,
        })
    }
}

fn loaded_code(state: &State) -> Outcome {
    match state {
        State::Failed(code) => Err(*code),
        _ => Ok(()),
    }
}

impl Unit {
    fn load(&self, memory: &mut Memory, setup: &Setup) -> Outcome<(Module, String)> {
        let text = match &self.image {
            Image::Text(text) => text.clone(),
            Image::Containers(all) => {
                let texts = fatbin::all_ptx(all, setup.device.capability);
                let texts = texts.map_err(|problem| {
                    say(&problem.to_string());
                    match problem {
                        fatbin::Problem::NoPtx => Code::NO_IMAGE,
                        _ => Code::INVALID_IMAGE,
                    }
                });
                link(&texts?)
            }
        };
        let lower = Lower::ALL.into_iter().find(|it| it.name() == setup.lower);
        let shift = memory.next_shift();
        let module = load_behind(&text, lower.unwrap_or_default(), shift);
        let module = module.map_err(|errors| {
            for error in errors.iter().take(3) {
                let line = text[..error.span.start.min(text.len())]
                    .matches('\n')
                    .count()
                    + 1;
                say(&format!("PTX line {line}: {}", error.message));
            }
            Code::INVALID_PTX
        })?;
        memory.attach(&module, !self.managed.is_empty())?;
        for (name, wanted) in &self.managed {
            if let Some(variable) = module.variable(name) {
                Out::at_address(*wanted).put_if(module.globals_base() + variable.offset);
            }
        }
        Ok((module, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b32 counter = 5;\n.const .align 4 .b32 scale = 7;\n\
        .visible .entry none()\n{\n ret;\n}\n";

    fn registry() -> (Registry, u64) {
        let mut registry = Registry::default();
        let unit = registry.add(Image::Text(PTX.to_owned()));
        registry.add_kernel(0x77, unit, "none".to_owned());
        registry.add_variable(0x88, unit, "counter".to_owned(), None);
        registry.add_variable(0x99, unit, "scale".to_owned(), None);
        (registry, unit)
    }

    #[test]
    fn units_are_read_when_they_are_needed() {
        let (mut registry, unit) = registry();
        let mut memory = Memory::new(1 << 20, true);
        assert_eq!(registry.read(unit).err(), Some(Code::INVALID_HANDLE));
        registry.load(unit, &mut memory, &Setup::default()).unwrap();
        assert_eq!(registry.target(unit), Some(80));
        assert_eq!(registry.kernel(0x77).unwrap().name, "none");
        assert_eq!(registry.kernel(0x78), Err(Code::INVALID_FUNCTION));
        assert_eq!(registry.kernel_named(unit, "none"), Ok(0x77));
        assert_eq!(
            registry.kernel_named(unit, "other"),
            Err(Code::SYMBOL_NOT_FOUND)
        );
    }

    #[test]
    fn variables_of_two_units_are_apart() {
        let (mut registry, unit) = registry();
        let second = registry.add(Image::Text(PTX.to_owned()));
        let mut memory = Memory::new(1 << 20, true);
        for unit in [unit, second] {
            registry.load(unit, &mut memory, &Setup::default()).unwrap();
        }
        let of = |unit, registry: &mut Registry, memory: &mut Memory| {
            registry.variable_named(unit, "counter", memory).unwrap()
        };
        let first = of(unit, &mut registry, &mut memory);
        assert_ne!(first.device, of(second, &mut registry, &mut memory).device);
        let scale = registry.variable(0x99, &mut memory).unwrap();
        assert_eq!((scale.device, scale.bytes), (None, 4));
        registry.remove(unit);
        assert_eq!(
            registry.variable(0x88, &mut memory),
            Err(Code::INVALID_SYMBOL)
        );
    }

    #[test]
    fn modules_that_are_compiled_apart_are_one_unit() {
        let uses = ".extern .global .align 4 .b32 counter;\n.visible .entry user()\n{\n .reg .b32 %r<2>;\n ld.global.u32 %r1, [counter];\n ret;\n}\n";
        let defines = PTX.replace(".global", ".visible .global");
        let (head, _) = PTX.split_once(".global").unwrap();
        let runtime = ".visible .func __cudaCDP2Free() { ret; }\n";
        let texts = [format!("{head}{uses}"), defines, format!("{head}{runtime}")];
        let containers = texts.map(|text| &*Vec::leak(fatbin::plain(80, &text)));
        let mut registry = Registry::default();
        let unit = registry.add(Image::Containers(containers.to_vec()));
        registry
            .load(unit, &mut Memory::new(1 << 20, true), &Setup::default())
            .unwrap();
        let (module, text) = registry.module(unit).unwrap();
        assert!(!text.contains("cudaCDP2"), "{text}");
        for name in ["user", "none"] {
            assert!(module.entry(name).unwrap().unsupported.is_empty());
        }
    }

    #[test]
    fn text_that_is_no_ptx_is_refused_each_time() {
        let mut registry = Registry::default();
        let unit = registry.add(Image::Text("nonsense".to_owned()));
        let mut memory = Memory::new(1 << 20, true);
        for _ in 0..2 {
            let found = registry.load(unit, &mut memory, &Setup::default());
            assert_eq!(found, Err(Code::INVALID_PTX));
        }
    }
}

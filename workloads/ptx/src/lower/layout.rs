//! Placing variables in memory and computing their initial contents.

use rustc_hash::FxHashMap;

use crate::ast::{Initializer, Module, Operand, Variable};
use crate::error::{PtxError, Span};
use crate::program::{ENTRIES_BASE, FUNCTION_STEP, FUNCTIONS_BASE, ModuleVariable};
use crate::types::{Space, Type};

/// No space may hold more: beyond any device memory that a kernel file would initialise.
const MAX_BYTES: u64 = 1 << 30;

/// A placed variable: its space and its address there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub space: Space,
    pub address: u64,
    /// The address is an offset in a function's frame.
    pub framed: bool,
}

impl Symbol {
    /// Its address in the generic space.
    pub fn generic(self) -> u64 {
        self.space.window_base() + self.address
    }
}

/// A space that grows as variables are placed in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    pub bytes: u64,
}

impl Region {
    /// Places `bytes` at the next multiple of `align`; the offset.
    pub fn place(&mut self, bytes: u64, align: u64) -> u64 {
        let offset = self.bytes.next_multiple_of(align);
        self.bytes = offset + bytes;
        offset
    }
}

/// Size of an element, vectors included.
fn element_bytes(variable: &Variable<'_>) -> Result<u64, PtxError> {
    let element = variable.element.text;
    let bytes = match element {
        "b128" => 16,
        "texref" | "samplerref" | "surfref" => 8,
        _ => Type::of(element).map_or(0, |element| u64::from(element.bytes())),
    };
    if bytes == 0 {
        return Err(PtxError::new(
            variable.element.span.clone(),
            format!("variables of type `.{element}` are not supported"),
        ));
    }
    Ok(bytes * u64::from(variable.vector))
}

/// Size and alignment of a variable.
pub(super) fn extent(variable: &Variable<'_>) -> Result<(u64, u64), PtxError> {
    let element = element_bytes(variable)?;
    let counted = variable.extents.iter().try_fold(element, |bytes, extent| {
        bytes.checked_mul(extent.unwrap_or(match &variable.initializer {
            Some(Initializer::List(values, _)) => values.len() as u64,
            _ => 0,
        }))
    });
    let bytes = counted.filter(|&bytes| bytes <= MAX_BYTES).ok_or_else(|| {
        PtxError::new(
            variable.name.span.clone(),
            format!("`{}` is larger than 1 GiB", variable.name.text),
        )
    })?;
    let align = variable.align.unwrap_or(element).max(1);
    if !align.is_power_of_two() || align > 4096 {
        return Err(PtxError::new(
            variable.name.span.clone(),
            format!("an alignment of {align} bytes is not possible"),
        )
        .with_help("alignments are powers of two up to 4096"));
    }
    Ok((bytes, align))
}

fn unknown_symbol(span: &Span) -> PtxError {
    PtxError::new(
        span.clone(),
        "an initial value may only name a variable or a function of this module",
    )
}

/// Module-scope variables with storage of their own: `.global` and `.const`.
#[derive(Default)]
pub(super) struct Images<'s> {
    pub symbols: FxHashMap<&'s str, Symbol>,
    pub globals: Vec<u8>,
    /// Address of the first of `globals`.
    pub globals_base: u64,
    pub constants: Vec<u8>,
    /// Texture and surface references by name, with their addresses.
    pub textures: Vec<(String, u64)>,
    /// All of them that are no references to textures or surfaces.
    pub variables: Vec<ModuleVariable>,
}

impl<'s> Images<'s> {
    /// Places all variables, then fills them in (an initial value may be the address of a later variable).
    pub fn of(module: &Module<'s>, globals_base: u64, errors: &mut Vec<PtxError>) -> Self {
        let mut images = Self {
            globals_base,
            ..Self::default()
        };
        let variables = &module.variables;
        images.place_functions(module);
        let mut regions = [Region::default(); 2];
        for variable in variables {
            let space = match variable.space.text {
                "global" | "tex" => Space::Global,
                "const" => Space::Const,
                _ => continue,
            };
            let region = &mut regions[usize::from(space == Space::Const)];
            match extent(variable) {
                Ok((bytes, align)) => {
                    let offset = region.place(bytes, align);
                    let base = if space == Space::Global {
                        globals_base
                    } else {
                        0
                    };
                    let address = base + offset;
                    let is_image = matches!(variable.element.text, "texref" | "surfref");
                    if is_image || variable.space.text == "tex" {
                        images
                            .textures
                            .push((variable.name.text.to_owned(), address));
                    } else {
                        images.variables.push(ModuleVariable {
                            name: variable.name.text.to_owned(),
                            constant: space == Space::Const,
                            offset,
                            bytes,
                        });
                    }
                    images.symbols.insert(
                        variable.name.text,
                        Symbol {
                            space,
                            address,
                            framed: false,
                        },
                    );
                }
                Err(error) => errors.push(error),
            }
        }
        let limits = [(0, MAX_BYTES, "1 GiB"), (1, Space::WINDOW, "16 MiB")];
        for (region, limit, text) in limits {
            if regions[region].bytes > limit {
                let message = format!("the module's variables take more than {text}");
                errors.push(PtxError::new(0..0, message));
                return images;
            }
        }
        images.globals = vec![0; regions[0].bytes as usize];
        images.constants = vec![0; regions[1].bytes as usize];
        for variable in variables {
            if let Err(error) = images.fill(variable) {
                errors.push(error);
            }
        }
        images
    }

    /// Gives every device function and every entry an address.
    fn place_functions(&mut self, module: &Module<'s>) {
        let all = module.functions.iter();
        let (entries, functions): (Vec<_>, Vec<_>) = all.partition(|function| function.is_entry);
        let entries = entries.into_iter().filter(|entry| entry.body.is_some());
        let functions = functions.into_iter().zip(0u64..);
        let functions = functions.map(|(function, number)| (function, FUNCTIONS_BASE, number));
        let entries = entries.zip(0u64..);
        let entries = entries.map(|(entry, number)| (entry, ENTRIES_BASE, number));
        for (function, base, number) in functions.chain(entries) {
            let symbol = Symbol {
                space: Space::Global,
                address: base + number * FUNCTION_STEP,
                framed: false,
            };
            self.symbols.entry(function.name.text).or_insert(symbol);
        }
    }

    fn fill(&mut self, variable: &Variable<'s>) -> Result<(), PtxError> {
        let (Some(initializer), Some(&symbol)) =
            (&variable.initializer, self.symbols.get(variable.name.text))
        else {
            return Ok(());
        };
        let element = Type::of(variable.element.text).ok_or_else(|| {
            PtxError::new(
                variable.element.span.clone(),
                "initial values of this type are not supported",
            )
        })?;
        let (bytes, _) = extent(variable)?;
        let mut contents = Vec::new();
        self.flatten(initializer, element, &mut contents)?;
        if contents.len() as u64 > bytes {
            return Err(PtxError::new(
                variable.name.span.clone(),
                format!(
                    "`{}` holds {bytes} bytes and is given {}",
                    variable.name.text,
                    contents.len()
                ),
            ));
        }
        let (image, start) = match symbol.space {
            Space::Global => (&mut self.globals, symbol.address - self.globals_base),
            _ => (&mut self.constants, symbol.address),
        };
        let start = start as usize;
        image[start..start + contents.len()].copy_from_slice(&contents);
        Ok(())
    }

    fn flatten(
        &self,
        initializer: &Initializer<'s>,
        element: Type,
        into: &mut Vec<u8>,
    ) -> Result<(), PtxError> {
        match initializer {
            Initializer::List(values, _) => {
                for value in values {
                    self.flatten(value, element, into)?;
                }
                Ok(())
            }
            Initializer::Value(operand) => {
                let bits = self.initial_bits(operand, element)?;
                into.extend_from_slice(&bits.to_le_bytes()[..element.bytes() as usize]);
                Ok(())
            }
        }
    }

    fn initial_bits(&self, operand: &Operand<'s>, element: Type) -> Result<u64, PtxError> {
        match operand {
            Operand::Integer(value, _) => Ok(match element {
                Type::F32 => u64::from((*value as i64 as f32).to_bits()),
                Type::F64 => (*value as i64 as f64).to_bits(),
                _ => *value,
            }),
            Operand::Single(bits, _) => Ok(u64::from(*bits)),
            Operand::Double(value, _) if element == Type::F32 => {
                Ok(u64::from((*value as f32).to_bits()))
            }
            Operand::Double(value, _) => Ok(value.to_bits()),
            Operand::Name(name, None) => {
                let symbol = self.symbols.get(name.text);
                let address = symbol.map(|symbol| symbol.generic());
                address.ok_or_else(|| unknown_symbol(&name.span))
            }
            Operand::Address(address) => {
                let base = address.base.as_ref();
                let symbol = base.and_then(|name| self.symbols.get(name.text));
                symbol
                    .map(|symbol| symbol.generic().wrapping_add_signed(address.offset))
                    .ok_or_else(|| unknown_symbol(&address.span))
            }
            other => Err(PtxError::new(other.span(), "this is not an initial value")),
        }
    }
}

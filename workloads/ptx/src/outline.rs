//! What a host must know of a module's entries to launch them, as far as the PTX tells: parameters, what they point at, memory, limits.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Block, Function, Instruction, Module, Operand, Statement};
use crate::error::{Lines, PtxError};
use crate::lower::lower;
use crate::machine::Lower;
use crate::parse::parse;
use crate::program::{self, ModuleVariable, Param};

/// A module as a host sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Bytes of an address.
    pub address_bytes: u32,
    /// Its entries, in file order.
    pub entries: Vec<EntryOutline>,
}

/// An entry as a host sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryOutline {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// What addresses in parameters are used for, by place.
    pub pointers: BTreeMap<Place, Pointed>,
    /// Threads of a CTA, where the PTX says so.
    pub block: Option<Block>,
    /// CTAs of a cluster, where the PTX says so.
    pub cluster: Option<[u32; 3]>,
    /// Static shared memory in bytes.
    pub shared_bytes: u32,
    /// Whether it names shared memory whose size the launch says.
    pub dynamic_shared: bool,
    /// Variables of the module that it names, which a host may fill.
    pub variables: Vec<ModuleVariable>,
}

/// Where an address stands: the parameter's index, and the offset within it.
pub type Place = (usize, u32);

/// What lies where an address points, as loads and stores tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointed {
    /// Type of the elements, of the first load or store that was found: `f32`.
    pub element: Option<String>,
    /// Something is read there.
    pub read: bool,
    /// Something is written there.
    pub written: bool,
}

/// Reads a module and says what a host must know of it.
///
/// # Errors
/// Those of [`load`](crate::load).
pub fn outline(source: &str) -> Result<Outline, Vec<PtxError>> {
    let tree = parse(source)?;
    let module = lower(&tree, &Lines::new(source), (Lower::Ptx, 0))?;
    let entries = module.entries.iter().filter_map(|entry| {
        let mut functions = tree.functions.iter();
        let function = functions.find(|function| function.name.text == entry.name)?;
        Some(entry_outline(&tree, &module, entry, function))
    });
    Ok(Outline {
        address_bytes: module.address_bytes(),
        entries: entries.collect(),
    })
}

fn entry_outline(
    tree: &Module<'_>,
    module: &program::Module,
    entry: &program::Entry,
    function: &Function<'_>,
) -> EntryOutline {
    let mut code = Code::default();
    code.collect(function.body.as_deref().unwrap_or_default());
    let named = code.names();
    let is_dynamic = |variable: &&crate::ast::Variable<'_>| {
        variable.is_extern && variable.space.text == "shared"
    };
    let mut variables = tree.variables.iter().chain(code.variables.iter().copied());
    let dynamic = variables.any(|it| is_dynamic(&it) && named.contains(it.name.text));
    let variables = module.variables.iter();
    let variables = variables.filter(|variable| named.contains(variable.name.as_str()));
    EntryOutline {
        name: entry.name.clone(),
        params: entry.params.clone(),
        pointers: code.pointers(&entry.params),
        block: function.block,
        cluster: entry.cluster,
        shared_bytes: entry.shared_bytes,
        dynamic_shared: dynamic,
        variables: variables.cloned().collect(),
    }
}

/// The instructions of an entry, those of nested scopes among them.
#[derive(Default)]
struct Code<'t, 's> {
    instructions: Vec<&'t Instruction<'s>>,
    variables: Vec<&'t crate::ast::Variable<'s>>,
}

/// By register, the places whose value may be in it.
type Origins<'t> = BTreeMap<&'t str, BTreeSet<Place>>;

impl<'t, 's> Code<'t, 's> {
    fn collect(&mut self, statements: &'t [Statement<'s>]) {
        for statement in statements {
            match statement {
                Statement::Instruction(instruction) => self.instructions.push(instruction),
                Statement::Block(inner) => self.collect(inner),
                Statement::Variable(variable) => self.variables.push(variable),
                _ => {}
            }
        }
    }

    /// Everything that an operand names.
    fn names(&self) -> BTreeSet<&'t str> {
        let mut names = BTreeSet::new();
        for operand in self.instructions.iter().flat_map(|it| &it.operands) {
            gather(operand, &mut |name| {
                names.insert(name);
            });
        }
        names
    }

    /// What the addresses in `params` are used for. An address is followed through moves, conversions and sums; what a loaded value points at, it does not tell.
    fn pointers(&self, params: &[Param]) -> BTreeMap<Place, Pointed> {
        let origins = self.origins(params);
        let mut pointers: BTreeMap<Place, Pointed> = BTreeMap::new();
        for instruction in &self.instructions {
            let opcode = instruction.opcode.text;
            let space = |name: &str| instruction.modifiers.iter().any(|it| it.text == name);
            if space("param") {
                continue;
            }
            let converted = instruction.operands.get(1).and_then(register);
            if opcode == "cvta"
                && let Some(places) = converted.and_then(|name| origins.get(name))
            {
                for place in places {
                    pointers.entry(*place).or_default();
                }
            }
            let (read, written) = match opcode {
                "ld" | "ldu" => (true, false),
                "st" => (false, true),
                "red" | "atom" => (true, true),
                // Its first address is that in shared memory, or that which is written.
                "cp" => (true, false),
                _ => continue,
            };
            let addresses = instruction
                .operands
                .iter()
                .filter_map(|operand| match operand {
                    Operand::Address(address) => address.base.as_ref(),
                    _ => None,
                });
            for place in addresses
                .filter_map(|base| origins.get(base.text))
                .flatten()
            {
                let pointed = pointers.entry(*place).or_default();
                pointed.read |= read;
                pointed.written |= written;
                if pointed.element.is_none() {
                    pointed.element = instruction.modifiers.iter().rev().find_map(|modifier| {
                        let text = modifier.text;
                        let typed = text.starts_with(['b', 'u', 's', 'f']);
                        let sized = text[1..].chars().all(|c| c.is_ascii_digit());
                        (typed && sized && text.len() > 1).then(|| text.to_owned())
                    });
                }
            }
        }
        pointers
    }

    /// Follows parameters through registers until nothing more is found.
    fn origins(&self, params: &[Param]) -> Origins<'t> {
        let mut origins = Origins::new();
        loop {
            let mut grown = false;
            for instruction in &self.instructions {
                let Some(target) = instruction.operands.first() else {
                    continue;
                };
                let found = self.sources(instruction, params, &origins);
                for (register, places) in found_registers(target).into_iter().zip(found) {
                    let known = origins.entry(register).or_default();
                    let before = known.len();
                    known.extend(places);
                    grown |= known.len() > before;
                }
            }
            if !grown {
                return origins;
            }
        }
    }

    /// The places whose values an instruction puts into its results, for each result.
    fn sources(
        &self,
        instruction: &Instruction<'_>,
        params: &[Param],
        origins: &Origins<'t>,
    ) -> Vec<BTreeSet<Place>> {
        let of = |operands: &[Operand<'_>]| -> BTreeSet<Place> {
            let registers = operands.iter().filter_map(register);
            let known = registers.filter_map(|name| origins.get(name));
            known.flatten().copied().collect()
        };
        let operands = &instruction.operands;
        match instruction.opcode.text {
            "ld" if instruction.modifiers.iter().any(|it| it.text == "param") => {
                loaded(instruction, params)
            }
            "mov" | "cvta" | "cvt" => vec![of(&operands[1..])],
            "add" | "sub" => vec![of(&operands[1..])],
            "mad" => vec![of(operands.get(3..).unwrap_or_default())],
            "selp" => vec![of(operands.get(1..3).unwrap_or_default())],
            _ => Vec::new(),
        }
    }
}

/// The places that a load of a parameter reads, for each result.
fn loaded(instruction: &Instruction<'_>, params: &[Param]) -> Vec<BTreeSet<Place>> {
    let Some(Operand::Address(address)) = instruction.operands.get(1) else {
        return Vec::new();
    };
    let base = address.base.as_ref().map(|base| base.text);
    let Some(index) = params
        .iter()
        .position(|param| Some(param.name.as_str()) == base)
    else {
        return Vec::new();
    };
    let bits = instruction.modifiers.last().map_or("", |it| it.text);
    let bytes = bits
        .get(1..)
        .and_then(|bits| bits.parse::<u32>().ok())
        .unwrap_or(0)
        / 8;
    let first = u32::try_from(address.offset).unwrap_or(0);
    let wide = instruction
        .operands
        .first()
        .map_or(0, |it| found_registers(it).len());
    (0..wide as u32)
        .map(|at| BTreeSet::from([(index, first + at * bytes)]))
        .collect()
}

/// The registers of a result.
fn found_registers<'t>(operand: &'t Operand<'_>) -> Vec<&'t str> {
    match operand {
        Operand::Vector(operands, _) => operands.iter().filter_map(register).collect(),
        other => register(other).into_iter().collect(),
    }
}

fn register<'t>(operand: &'t Operand<'_>) -> Option<&'t str> {
    match operand {
        Operand::Name(name, None) => Some(name.text),
        _ => None,
    }
}

/// Tells `found` of every name in an operand.
fn gather<'t>(operand: &'t Operand<'_>, found: &mut impl FnMut(&'t str)) {
    match operand {
        Operand::Name(name, _) | Operand::Offset(name, ..) => found(name.text),
        Operand::Address(address) => address.base.iter().for_each(|base| found(base.text)),
        Operand::Vector(operands, _) | Operand::List(operands, _) => {
            operands.iter().for_each(|operand| gather(operand, found));
        }
        Operand::Pair(first, second) => {
            gather(first, found);
            gather(second, found);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = ".version 8.0 .target sm_70 .address_size 64
.const .align 4 .b8 taps[16];
.global .align 4 .u32 unused;
.extern .shared .align 16 .b8 more[];
.visible .entry k(.param .u64 a, .param .align 8 .b8 s[24], .param .u64 n, .param .f32 x, .param .u64 sums) .reqntid 32, 4 {
    .reg .b32 %r<9>; .reg .b64 %d<12>; .reg .f32 %f<4>; .shared .align 4 .b8 tile[512];
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [s+8]; ld.param.u64 %d3, [n]; ld.param.f32 %f1, [x]; ld.param.u64 %d4, [sums];
    cvta.to.global.u64 %d5, %d1; shl.b64 %d6, %d3, 2; add.s64 %d7, %d5, %d6;
    ld.global.nc.v2.f32 {%f2, %f3}, [%d7+8]; cvta.to.global.u64 %d8, %d2; add.s64 %d9, %d8, %d6; st.global.f32 [%d9], %f2;
    { .reg .b64 inner; mov.u64 inner, %d4; atom.global.add.u32 %r1, [inner], 1; }
    ld.const.f32 %f1, [taps+4]; st.shared.f32 [more], %f1; st.shared.f32 [tile], %f1; ret;
}
.visible .entry plain(.param .u32 n) { ret; }
";

    #[test]
    fn what_parameters_point_at() {
        let outline = outline(SOURCE).unwrap();
        assert_eq!(outline.address_bytes, 8);
        let [k, plain] = &outline.entries[..] else {
            panic!("two entries");
        };
        let pointed = |element: &str, read, written| Pointed {
            element: Some(element.to_owned()),
            read,
            written,
        };
        let wanted = BTreeMap::from([
            ((0, 0), pointed("f32", true, false)),
            ((1, 8), pointed("f32", false, true)),
            ((4, 0), pointed("u32", true, true)),
        ]);
        assert_eq!(k.pointers, wanted);
        let block = k.block.unwrap();
        assert_eq!((block.extents, block.exact), ([32, 4, 1], true));
        assert_eq!((k.shared_bytes, k.dynamic_shared), (512, true));
        let named: Vec<&str> = k.variables.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(named, ["taps"]);
        assert_eq!((plain.pointers.len(), plain.dynamic_shared), (0, false));
    }
}

//! Lowering of one entry.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::call::{Callee, Shape};
use super::extensions;
use super::half;
use super::layout::{Images, Region, Symbol, extent};
use super::modifiers::Modifiers;
use super::slots::Slots;
use super::video;
use crate::allocate::MAX_REGISTERS;
use crate::ast::{Function, Instruction, Module, Name, Operand, Statement, Variable};
use crate::cfg::{Blocks, set_reconvergence};
use crate::error::{Lines, PtxError};
use crate::machine::{self, Lower};
use crate::program::{Entry, Guard, Inst, Op, Operands, Param, Slot, SlotKind, Source};
use crate::types::Space;

/// Result of lowering one thing.
pub(super) type Lowered<T> = Result<T, PtxError>;

/// Targets that the indirect branches of an entry, and of the functions that it calls, may have together.
pub(super) const MAX_TARGETS: usize = 1 << 20;

/// Shared memory that a system keeps for itself and its libraries: its size, and the special registers that tell where it begins, ends and is divided.
/// CUDA's cooperative groups use what lies behind the last of them (288 bytes, `details/memory.h`).
const RESERVED_BYTES: u64 = 1024;
const RESERVED: &str = "%reserved_smem_offset_";
const RESERVED_OFFSETS: [(&str, u64); 4] = [
    ("%reserved_smem_offset_begin", 0),
    ("%reserved_smem_offset_end", RESERVED_BYTES),
    ("%reserved_smem_offset_0", 0),
    ("%reserved_smem_offset_1", RESERVED_BYTES / 2),
];
const RESERVED_SIZE: &str = "%reserved_smem_offset_cap";

/// Words of the sets of registers that are kept for every basic block while registers are allocated.
const MAX_SETS: u64 = 1 << 24;

/// What lowering knows while it walks an entry's body.
pub(super) struct Lowering<'m, 's> {
    pub slots: Slots<'s>,
    pub code: Vec<Inst>,
    /// The instruction being lowered.
    pub guard: Option<Guard>,
    pub line: u32,
    /// The carry flag, once an instruction uses it.
    pub carry: Option<Slot>,
    /// The entry or function being lowered.
    pub body: Body<'s>,
    /// Shared variables, of the entry and of the functions that it reaches.
    shared: FxHashMap<&'s str, Symbol>,
    /// Device functions that were called so far.
    pub callees: Vec<Callee<'m, 's>>,
    /// Their numbers by name.
    pub numbers: FxHashMap<&'s str, usize>,
    pub module: &'m Module<'s>,
    pub names: &'m Names<'m, 's>,
    images: &'m Images<'s>,
    lines: &'m Lines,
    pub errors: Vec<PtxError>,
    /// Targets that indirect branches may still have.
    pub targets_left: usize,
    /// Instructions that there may be.
    pub room: usize,
}

/// A module and what is known of all of it.
pub(super) struct Known<'m, 's> {
    pub module: &'m Module<'s>,
    pub names: &'m Names<'m, 's>,
    pub images: &'m Images<'s>,
    pub lines: &'m Lines,
}

/// What names of a module stand for.
#[derive(Default)]
pub(super) struct Names<'m, 's> {
    /// Device functions, those with a body before declarations.
    pub functions: FxHashMap<&'s str, &'m Function<'s>>,
}

impl<'m, 's> Names<'m, 's> {
    pub fn of(module: &'m Module<'s>) -> Self {
        let mut names = Self::default();
        for function in module
            .functions
            .iter()
            .filter(|function| !function.is_entry)
        {
            let known = names
                .functions
                .entry(function.name.text)
                .or_insert(function);
            if known.body.is_none() {
                *known = function;
            }
        }
        names
    }

    /// The function of a name that has a body.
    pub fn defined(&self, name: &str) -> Option<&'m Function<'s>> {
        let function = self.functions.get(name).copied();
        function.filter(|function| function.body.is_some())
    }
}

/// What belongs to one entry or function.
#[derive(Default)]
pub(super) struct Body<'s> {
    /// Its variables and parameters.
    pub symbols: FxHashMap<&'s str, Symbol>,
    /// Labels, by the braces that they stand in.
    pub labels: FxHashMap<(usize, &'s str), u32>,
    /// Branches whose target was not yet seen.
    pub jumps: Vec<Jump<'s>>,
    /// For all braces those around them; the outermost are around themselves.
    pub around: Vec<usize>,
    /// The braces that are being lowered.
    pub braces: usize,
    /// Targets of indexed branches and of indirect calls.
    pub targets: FxHashMap<&'s str, Vec<Name<'s>>>,
    /// Sizes and alignments of the results and parameters of prototypes.
    pub prototypes: FxHashMap<&'s str, Shape>,
    /// Its frame in local memory.
    pub frame: Region,
    /// It is a device function, so that its frame lies anywhere.
    pub is_function: bool,
}

/// A branch, what it names and the braces that it stands in.
pub(super) struct Jump<'s> {
    at: usize,
    names: Vec<Name<'s>>,
    braces: usize,
}

impl Body<'_> {
    /// The label of a name that can be seen from inside some braces: the nearest on the way out.
    fn label(&self, name: &str, mut braces: usize) -> Option<u32> {
        loop {
            let found = self.labels.get(&(braces, name));
            let outer = self.around.get(braces).copied().unwrap_or(braces);
            if found.is_some() || outer == braces {
                return found.copied();
            }
            braces = outer;
        }
    }
}

pub(super) fn lower<'s>(
    function: &Function<'s>,
    body: &[Statement<'s>],
    known: &Known<'_, 's>,
    (room, lowered): (usize, Lower),
) -> Result<Entry, Vec<PtxError>> {
    let mut lowering = Lowering::new(known);
    lowering.room = room;
    let module = known.module;
    let params = lowering
        .params(&function.params)
        .map_err(|error| vec![error])?;
    let shared = lowering.shared(body, &module.variables, false);
    lowering.body(body, Op::Exit);
    let local_bytes = lowering.body.frame.bytes as u32;
    let functions = lowering.called(usize::MAX);
    let mut entry = Entry {
        name: function.name.text.to_owned(),
        params,
        code: lowering.code,
        words: lowering.slots.words,
        doubles: lowering.slots.doubles,
        predicates: lowering.slots.predicates,
        shared_bytes: shared as u32,
        local_bytes,
        cluster: function
            .cluster
            .map(|extents| extents.map(|extent| u32::try_from(extent).unwrap_or(u32::MAX))),
        functions,
        unsupported: lowering.errors,
        ..Entry::default()
    };
    let words = entry.words.iter().filter(|&s| *s == Source::Register);
    let doubles = entry.doubles.iter().filter(|&s| *s == Source::Register);
    entry.virtual_registers = (words.count() + 2 * doubles.count()) as u32;
    entry.virtual_predicates = entry.predicates;
    if !entry.unsupported.is_empty() {
        return Ok(entry);
    }
    let blocks = Blocks::of(&entry.code).starts.len() as u64;
    if blocks * u64::from(entry.virtual_registers).div_ceil(64) > MAX_SETS {
        let message = format!(
            "{blocks} basic blocks with {} registers are too many for allocation",
            entry.virtual_registers
        );
        let refused = PtxError::new(function.name.span.clone(), message);
        entry.unsupported.push(refused);
        return Ok(entry);
    }
    machine::lower(&mut entry, lowered);
    set_reconvergence(&mut entry.code);
    let limit = function
        .max_registers
        .and_then(|limit| limit.try_into().ok());
    let limit = MAX_REGISTERS.min(limit.unwrap_or(MAX_REGISTERS));
    // What needs more is launched in smaller CTAs or not at all.
    let fitting = limit.min(of_largest_block(function));
    match entry
        .with_registers(fitting)
        .or_else(|_| entry.with_registers(limit))
    {
        Ok(allocated) => Ok(allocated),
        Err(error) => {
            let refused = PtxError::new(function.name.span.clone(), error.to_string());
            entry.unsupported.push(refused);
            Ok(entry)
        }
    }
}

/// Registers that a thread may have so that a CTA of as many threads as an entry names fits an SM: of 65,536 (CUDA programming guide, compute capability 3.0 and
/// later), in eights.
fn of_largest_block(function: &Function<'_>) -> u32 {
    let Some(block) = function.block else {
        return MAX_REGISTERS;
    };
    let threads = block.extents.iter().copied().fold(1, u64::saturating_mul);
    let lanes = threads.clamp(1, 65_536).next_multiple_of(32);
    (65_536 / lanes) as u32 / 8 * 8
}

/// What in a device function that no entry calls is not supported; what it calls is looked at apart.
pub(super) fn check<'s>(function: &Function<'s>, known: &Known<'_, 's>) -> Vec<PtxError> {
    let mut lowering = Lowering::new(known);
    let module = known.module;
    let body = function.body.as_deref().unwrap_or_default();
    lowering.shared(body, &module.variables, true);
    match lowering.callee(&function.name) {
        Ok(_) => drop(lowering.called(1)),
        Err(error) => lowering.errors.push(error),
    }
    lowering.errors
}

impl<'m, 's> Lowering<'m, 's> {
    fn new(known: &Known<'m, 's>) -> Self {
        Self {
            slots: Slots::default(),
            code: Vec::new(),
            guard: None,
            line: 0,
            carry: None,
            body: Body::default(),
            shared: FxHashMap::default(),
            callees: Vec::new(),
            numbers: FxHashMap::default(),
            module: known.module,
            names: known.names,
            images: known.images,
            lines: known.lines,
            errors: Vec::new(),
            targets_left: MAX_TARGETS,
            room: usize::MAX,
        }
    }
}

impl<'s> Lowering<'_, 's> {
    fn params(&mut self, params: &[Variable<'s>]) -> Lowered<Vec<Param>> {
        let mut region = Region::default();
        let mut placed = Vec::new();
        for param in params {
            let (bytes, align) = extent(param)?;
            let offset = region.place(bytes, align);
            if region.bytes > 32 * 1024 {
                return Err(PtxError::new(
                    param.name.span.clone(),
                    "parameters take more than 32 KiB",
                ));
            }
            let symbol = Symbol {
                space: Space::Param,
                address: offset,
                framed: false,
            };
            self.body.symbols.insert(param.name.text, symbol);
            placed.push(Param {
                name: param.name.text.to_owned(),
                element: param.element.text.to_owned(),
                offset: offset as u32,
                bytes: bytes as u32,
            });
        }
        Ok(placed)
    }

    /// Places the shared variables that the entry or a function that it reaches names (or, `alone`, only the body); dynamic shared memory begins behind them.
    /// What the system reserves lies there, too, if anything asks for it. Returns the static bytes.
    fn shared(&mut self, body: &[Statement<'s>], globals: &[Variable<'s>], alone: bool) -> u64 {
        let mut named = BTreeSet::new();
        let mut declared: Vec<&Variable<'s>> = globals.iter().collect();
        survey(body, &mut named, &mut declared);
        let mut waiting: Vec<&'s str> = match alone {
            true => Vec::new(),
            false => named.iter().copied().collect(),
        };
        let mut reached = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            let Some(function) = self
                .names
                .functions
                .get(name)
                .filter(|_| reached.insert(name))
            else {
                continue;
            };
            let mut inner = BTreeSet::new();
            survey(
                function.body.as_deref().unwrap_or_default(),
                &mut inner,
                &mut declared,
            );
            waiting.extend(inner.difference(&named));
            named.append(&mut inner);
        }
        let shared = |variable: &&&Variable<'s>| {
            variable.space.text == "shared" && named.contains(variable.name.text)
        };
        let mut region = Region::default();
        let mut dynamic = Vec::new();
        for variable in declared.iter().filter(shared) {
            match extent(variable) {
                Ok((0, align)) if variable.is_extern => dynamic.push((variable.name.text, align)),
                Ok((bytes, align)) => {
                    let address = region.place(bytes, align);
                    self.insert_shared(variable.name.text, address);
                }
                Err(error) => self.errors.push(error),
            }
            if region.bytes > Space::WINDOW {
                let span = variable.name.span.clone();
                self.errors.push(PtxError::new(
                    span,
                    "shared variables take more than 16 MiB",
                ));
                region.bytes = 0;
            }
        }
        if named.iter().any(|name| name.starts_with(RESERVED)) {
            let begin = region.place(RESERVED_BYTES, 128);
            for (name, offset) in RESERVED_OFFSETS {
                self.insert_shared(name, begin + offset);
            }
            self.insert_shared(RESERVED_SIZE, RESERVED_BYTES);
        }
        let align = dynamic.iter().map(|&(_, align)| align).max().unwrap_or(1);
        let bytes = region.bytes.next_multiple_of(align);
        for (name, _) in dynamic {
            self.insert_shared(name, bytes);
        }
        bytes
    }

    fn insert_shared(&mut self, name: &'s str, address: u64) {
        let symbol = Symbol {
            space: Space::Shared,
            address,
            framed: false,
        };
        self.shared.insert(name, symbol);
    }

    /// Places a variable in the frame of the function being lowered.
    pub fn place(&mut self, variable: &Variable<'s>, space: Space) -> Lowered<()> {
        let (bytes, align) = extent(variable)?;
        let address = self.body.frame.place(bytes, align);
        if self.body.frame.bytes > 512 * 1024 {
            return Err(PtxError::new(
                variable.name.span.clone(),
                "local variables take more than 512 KiB a thread",
            ));
        }
        let symbol = Symbol {
            space,
            address,
            framed: true,
        };
        self.body.symbols.insert(variable.name.text, symbol);
        Ok(())
    }

    /// Lowers statements to their end, where `last` stands if they run off it.
    pub fn body(&mut self, statements: &[Statement<'s>], last: Op) {
        self.block(statements);
        self.end(statements, last);
        self.resolve_jumps();
    }

    /// A variable or parameter by name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        let maps = [&self.body.symbols, &self.shared, &self.images.symbols];
        maps.into_iter().find_map(|map| map.get(name)).copied()
    }

    fn block(&mut self, statements: &[Statement<'s>]) {
        self.slots.open();
        let outer = self.body.braces;
        self.body.braces = self.body.around.len();
        self.body.around.push(outer);
        for statement in statements {
            if let Err(error) = self.statement(statement) {
                self.errors.push(error);
            }
        }
        self.body.braces = outer;
        self.slots.close();
    }

    fn statement(&mut self, statement: &Statement<'s>) -> Lowered<()> {
        match statement {
            Statement::Block(statements) => {
                self.block(statements);
                Ok(())
            }
            Statement::Label(name) => {
                let at = self.code.len() as u32;
                let place = (self.body.braces, name.text);
                if self.body.labels.insert(place, at).is_some() {
                    let message = format!("label `{}` stands in two places", name.text);
                    return Err(PtxError::new(name.span.clone(), message));
                }
                Ok(())
            }
            Statement::Targets(name, targets) => {
                self.body.targets.insert(name.text, targets.clone());
                Ok(())
            }
            Statement::Prototype(prototype) => self.prototype(prototype),
            Statement::Variable(variable) => self.variable(variable),
            Statement::Instruction(instruction) => self.guarded(instruction),
        }
    }

    fn variable(&mut self, variable: &Variable<'s>) -> Lowered<()> {
        match variable.space.text {
            "reg" => self.slots.declare(variable),
            "local" => self.place(variable, Space::Local),
            // Arguments and results of calls.
            "param" => self.place(variable, Space::Param),
            "shared" => Ok(()),
            space => Err(PtxError::new(
                variable.space.span.clone(),
                format!("`.{space}` variables inside a function are not supported"),
            )),
        }
    }

    fn guarded(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        self.line = self.lines.line(instruction.span.start);
        self.guard = match &instruction.guard {
            None => None,
            Some(guard) => {
                let slot = self.slots.register(guard.register.text);
                let predicate = slot.filter(|slot| slot.kind == SlotKind::Predicate);
                let predicate = predicate.ok_or_else(|| {
                    PtxError::new(
                        guard.register.span.clone(),
                        format!("`{}` is not a predicate register", guard.register.text),
                    )
                    .with_help("declare it with `.reg .pred`")
                })?;
                Some(Guard {
                    predicate,
                    negated: guard.negated,
                })
            }
        };
        self.instruction(instruction)?;
        if self.slots.overflowed() {
            return Err(PtxError::new(
                instruction.span.clone(),
                "the kernel uses more than 60,000 registers of one width",
            ));
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        match instruction.opcode.text {
            "min" | "max" if has(instruction, "xorsign") => self.extreme_of_magnitudes(instruction),
            "min" | "max" if instruction.operands.len() == 4 => self.extreme_of_three(instruction),
            "add" | "sub" | "mul" | "fma" if has(instruction, "f32x2") => {
                self.pairs_of_singles(instruction)
            }
            "cvt" if has(instruction, "pack") => self.convert_packed(instruction),
            "cvt" if extensions::is_small(instruction) => self.convert_small(instruction),
            "add" | "sub" | "mul" | "fma" | "min" | "max" | "abs" | "neg" | "ex2" | "tanh"
            | "setp" | "set" | "cvt"
                if half::concerns(instruction) =>
            {
                self.half(instruction)
            }
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "min" | "max" | "abs"
            | "neg" | "mul24" | "mad24" | "sad" | "dp4a" | "dp2a" => self.arithmetic(instruction),
            "addc" | "subc" | "madc" => self.with_carry(instruction),
            "and" | "or" | "xor" | "not" | "shl" | "shr" | "shf" | "lop3" | "prmt" | "bfe"
            | "bfi" | "bmsk" | "popc" | "clz" | "brev" | "bfind" => self.logic(instruction),
            "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "copysign"
            | "testp" => self.function(instruction),
            "setp" | "set" | "selp" | "slct" => self.selection(instruction),
            "cvt" => self.convert(instruction),
            "mov" | "cvta" | "isspacep" => self.moves(instruction),
            "st" | "red" if has(instruction, "async") => self.told_to_barrier(instruction),
            "ld" | "ldu" | "st" | "prefetch" | "prefetchu" => self.memory(instruction),
            "atom" | "red" => self.atomic(instruction, Modifiers::new(instruction)),
            "shfl" | "vote" | "match" | "activemask" | "redux" | "elect" => self.lanes(instruction),
            opcode if video::concerns(opcode) => self.video(instruction),
            "wmma" | "mma" | "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix(instruction),
            "tex" | "tld4" => self.texture(instruction),
            "suld" | "sust" | "sured" => self.surface(instruction),
            "txq" | "suq" => self.image_query(instruction),
            "call" => self.call(instruction),
            "bra" | "brx" | "ret" | "exit" | "trap" | "bar" | "barrier" | "membar" | "fence" => {
                self.control(instruction)
            }
            "cp" => self.copy_async(instruction),
            "mbarrier" => self.memory_barrier(instruction),
            "wgmma" => self.warpgroup(instruction),
            "tcgen05" => self.tensor_memory(instruction),
            "tensormap" => self.tensor_map(instruction),
            "applypriority" | "discard" | "pmevent" | "brkpt" | "setmaxnreg" | "griddepcontrol"
            | "nanosleep" | "createpolicy" | "fns" | "szext" | "cnot" | "mapa" | "getctarank" => {
                self.extension(instruction)
            }
            opcode => Err(PtxError::new(
                instruction.opcode.span.clone(),
                format!("the instruction `{opcode}` is not supported"),
            )),
        }
    }

    /// Appends an instruction.
    pub fn emit(&mut self, op: Op, dst: Operands<4>, src: Operands<8>) {
        self.code.push(Inst {
            op,
            guard: self.guard,
            dst,
            src,
            line: self.line,
        });
    }

    fn end(&mut self, body: &[Statement<'s>], last: Op) {
        let closed = self.code.last().is_some_and(|inst| {
            let leaves = matches!(inst.op, Op::Exit | Op::Return | Op::Branch { .. });
            inst.guard.is_none() && leaves
        });
        let ends_in_label = matches!(body.last(), Some(Statement::Label(_)));
        if !closed || ends_in_label || body.is_empty() {
            self.guard = None;
            self.emit(last, Operands::default(), Operands::default());
        }
    }

    /// The instruction that comes next is a branch to these labels, which are looked for when all of them are known.
    pub fn jump(&mut self, names: Vec<Name<'s>>) {
        self.body.jumps.push(Jump {
            at: self.code.len(),
            names,
            braces: self.body.braces,
        });
    }

    fn resolve_jumps(&mut self) {
        for Jump { at, names, braces } in std::mem::take(&mut self.body.jumps) {
            let mut found = Vec::new();
            for name in &names {
                match self.body.label(name.text, braces) {
                    Some(label) => found.push(label),
                    None => {
                        let message = format!("there is no label `{}` in this function", name.text);
                        let help = "labels inside braces are seen from inside them only";
                        let error = PtxError::new(name.span.clone(), message).with_help(help);
                        self.errors.push(error);
                    }
                }
            }
            match &mut self.code[at].op {
                Op::Branch { target, .. } if found.len() == 1 => *target = found[0],
                Op::BranchIndexed { targets, .. } => *targets = found.into(),
                _ => {}
            }
        }
    }
}

/// Whether the instruction has a modifier.
fn has(instruction: &Instruction<'_>, modifier: &str) -> bool {
    let mut names = instruction.modifiers.iter();
    names.any(|name| name.text == modifier)
}

/// Collects every name that instructions use, and every variable declared in the body.
fn survey<'a, 's>(
    statements: &'a [Statement<'s>],
    named: &mut BTreeSet<&'s str>,
    declared: &mut Vec<&'a Variable<'s>>,
) {
    for statement in statements {
        match statement {
            Statement::Block(statements) => survey(statements, named, declared),
            Statement::Variable(variable) if variable.space.text == "shared" => {
                declared.push(variable);
            }
            Statement::Targets(_, targets) => named.extend(targets.iter().map(|name| name.text)),
            Statement::Instruction(instruction) => {
                for operand in &instruction.operands {
                    names(operand, named);
                }
            }
            _ => {}
        }
    }
}

fn names<'s>(operand: &Operand<'s>, named: &mut BTreeSet<&'s str>) {
    match operand {
        Operand::Name(name, None)
            if !name.text.starts_with('%') || name.text.starts_with(RESERVED) =>
        {
            named.insert(name.text);
        }
        Operand::Offset(name, ..) => {
            named.insert(name.text);
        }
        Operand::Address(address) => {
            named.extend(address.base.iter().map(|name| name.text));
        }
        Operand::Vector(all, _) | Operand::List(all, _) => {
            all.iter().for_each(|operand| names(operand, named));
        }
        Operand::Negative(operand) => names(operand, named),
        Operand::Pair(first, second) => {
            names(first, named);
            names(second, named);
        }
        _ => {}
    }
}

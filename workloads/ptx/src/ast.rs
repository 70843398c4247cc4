//! The syntax tree of a PTX module. Every node borrows its text from the source and knows its span.

use crate::error::Span;

/// A piece of text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name<'s> {
    /// The text.
    pub text: &'s str,
    /// Where it stands.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module<'s> {
    /// `.version`, as written.
    pub version: Option<Name<'s>>,
    /// `.target`'s first name, such as `sm_80`.
    pub target: Option<Name<'s>>,
    /// `.address_size`: 32 or 64 (the default of modern compilers).
    pub address_size: Option<u64>,
    /// Module-scope variables.
    pub variables: Vec<Variable<'s>>,
    /// Entries and device functions, in file order.
    pub functions: Vec<Function<'s>>,
}

/// `.entry` or `.func`.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'s> {
    /// Whether a host can launch it.
    pub is_entry: bool,
    /// Its name.
    pub name: Name<'s>,
    /// Return parameters (device functions only).
    pub returns: Vec<Variable<'s>>,
    /// Parameters.
    pub params: Vec<Variable<'s>>,
    /// `.maxnreg`: the most registers a thread may have.
    pub max_registers: Option<u64>,
    /// `.reqntid` or `.maxntid`: threads of a CTA.
    pub block: Option<Block>,
    /// `.reqnctapercluster`: CTAs of a cluster in x, y, z.
    pub cluster: Option<[u64; 3]>,
    /// Statements; `None` for a declaration.
    pub body: Option<Vec<Statement<'s>>>,
}

/// What an entry says of the threads of its CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// In x, y, z; what is not said is 1.
    pub extents: [u64; 3],
    /// Whether they are that many, or at most so many.
    pub exact: bool,
}

/// A variable, a parameter or a register declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'s> {
    /// `reg`, `param`, `shared`, `global`, `const`, `local`.
    pub space: Name<'s>,
    /// Element type, without its dot: `f32`.
    pub element: Name<'s>,
    /// `2` or `4` for `.v2` and `.v4`, else 1.
    pub vector: u8,
    /// `.align`, in bytes.
    pub align: Option<u64>,
    /// The variable's name.
    pub name: Name<'s>,
    /// `%r<10>` declares ten registers `%r0` to `%r9`.
    pub parameterized: Option<u64>,
    /// Array extents, outermost first; an empty extent is `None`.
    pub extents: Vec<Option<u64>>,
    /// Initial contents.
    pub initializer: Option<Initializer<'s>>,
    /// `.extern`: storage is given at launch (dynamic shared memory).
    pub is_extern: bool,
}

/// Initial contents of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer<'s> {
    /// One value.
    Value(Operand<'s>),
    /// `{ a, b, { c, d } }`.
    List(Vec<Initializer<'s>>, Span),
}

/// A statement of a function's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'s> {
    /// `$L__BB0_2:`
    Label(Name<'s>),
    /// A register or variable declaration.
    Variable(Variable<'s>),
    /// An instruction.
    Instruction(Instruction<'s>),
    /// `{ ... }`: a scope of its own.
    Block(Vec<Statement<'s>>),
    /// `name: .branchtargets a, b;`, the targets of an indexed branch; `name: .calltargets f, g;`, those of an indirect call.
    Targets(Name<'s>, Vec<Name<'s>>),
    /// `name: .callprototype (results) _ (parameters);`, what an indirect call calls.
    Prototype(Prototype<'s>),
}

/// The shape of functions that an indirect call may reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype<'s> {
    /// Its label.
    pub name: Name<'s>,
    /// Return parameters.
    pub returns: Vec<Variable<'s>>,
    /// Parameters.
    pub params: Vec<Variable<'s>>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'s> {
    /// `@%p1` or `@!%p1`.
    pub guard: Option<Guard<'s>>,
    /// The opcode without modifiers: `ld`.
    pub opcode: Name<'s>,
    /// Modifiers without dots: `global`, `f32`.
    pub modifiers: Vec<Name<'s>>,
    /// Operands in order.
    pub operands: Vec<Operand<'s>>,
    /// The whole instruction.
    pub span: Span,
}

/// A guard predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard<'s> {
    /// `@!`.
    pub negated: bool,
    /// The predicate register.
    pub register: Name<'s>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'s> {
    /// A register, label, symbol or special register, with a component if one is named (`%tid.x`).
    Name(Name<'s>, Option<Name<'s>>),
    /// `!%p1`
    Not(Name<'s>),
    /// `symbol+8`.
    Offset(Name<'s>, i64, Span),
    /// `-%r1`, of video instructions.
    Negative(Box<Operand<'s>>),
    /// An integer, sign applied, as 64 bits.
    Integer(u64, Span),
    /// `0f...`, as bits.
    Single(u32, Span),
    /// `0d...` or a decimal fraction.
    Double(f64, Span),
    /// `{a, b}`.
    Vector(Vec<Operand<'s>>, Span),
    /// `[base+offset]`.
    Address(Address<'s>),
    /// `a|b`.
    Pair(Box<Operand<'s>>, Box<Operand<'s>>),
    /// `(a, b)`, the lists of a call.
    List(Vec<Operand<'s>>, Span),
}

/// `[base+offset]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address<'s> {
    /// A register or a symbol; `None` for an absolute address.
    pub base: Option<Name<'s>>,
    /// Bytes added to the base.
    pub offset: i64,
    /// The brackets and what is between them.
    pub span: Span,
}

impl Operand<'_> {
    /// Where the operand stands.
    pub fn span(&self) -> Span {
        match self {
            Operand::Name(name, None) | Operand::Not(name) => name.span.clone(),
            Operand::Name(name, Some(component)) => name.span.start..component.span.end,
            Operand::Integer(_, span)
            | Operand::Offset(_, _, span)
            | Operand::Single(_, span)
            | Operand::Double(_, span)
            | Operand::Vector(_, span)
            | Operand::List(_, span) => span.clone(),
            Operand::Address(address) => address.span.clone(),
            Operand::Negative(operand) => operand.span(),
            Operand::Pair(first, second) => first.span().start..second.span().end,
        }
    }
}

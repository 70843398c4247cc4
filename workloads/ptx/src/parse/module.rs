//! Module scope: directives, variables, functions (PTX ISA 8.x, chapters 4, 5 and 11).

use super::{MAX_DEPTH, Parsed, Parser, TokenKind};
use crate::ast::{Block, Function, Initializer, Module, Name, Operand, Statement, Variable};
use crate::error::PtxError;

const SPACES: [&str; 7] = ["reg", "param", "shared", "global", "const", "local", "tex"];
const LINKING: [&str; 4] = ["visible", "extern", "weak", "common"];

/// What entries say of registers, of CTAs and of clusters.
type PerformanceDirectives = (Option<u64>, Option<Block>, Option<[u64; 3]>);

/// Extents in x, y, z; what is not said is 1.
fn extents(numbers: &[u64]) -> [u64; 3] {
    std::array::from_fn(|axis| numbers.get(axis).copied().unwrap_or(1))
}

impl<'s> Parser<'s> {
    pub(super) fn module(&mut self) -> Module<'s> {
        let mut module = Module::default();
        while !self.at_end() {
            if let Err(error) = self.item(&mut module) {
                self.recover(error);
                if self.at('}') {
                    self.advance();
                }
            }
        }
        module
    }

    fn item(&mut self, module: &mut Module<'s>) -> Parsed<()> {
        if self.eat(';') {
            return Ok(());
        }
        match self.peek_dotted() {
            Some("version") => {
                self.advance();
                module.version = Some(self.version()?);
            }
            Some("target") => {
                self.advance();
                module.target = Some(self.word("a target such as `sm_80` after `.target`")?);
                while self.eat(',') {
                    self.word("a target option")?;
                }
            }
            Some("address_size") => {
                self.advance();
                module.address_size = Some(self.address_size()?);
            }
            Some("file") => self.file()?,
            Some("section") => {
                self.advance();
                while !self.at('{') && !self.at_end() {
                    self.advance();
                }
                self.skip_braces();
            }
            Some("loc" | "alias" | "pragma") => self.skip_directive(),
            _ => return self.declaration(module),
        }
        Ok(())
    }

    fn version(&mut self) -> Parsed<Name<'s>> {
        let span = self.span();
        match self.peek() {
            TokenKind::Decimal(_) | TokenKind::Integer(_) => {
                let text = self.text();
                self.advance();
                Ok(Name { text, span })
            }
            _ => Err(self.unexpected("a version such as `8.0` after `.version`")),
        }
    }

    fn address_size(&mut self) -> Parsed<u64> {
        let span = self.span();
        match self.integer("32 or 64 after `.address_size`")? {
            size @ (32 | 64) => Ok(size),
            size => Err(
                PtxError::new(span, format!("an address size of {size} does not exist"))
                    .with_help("`.address_size` is 32 or 64"),
            ),
        }
    }

    /// `.file 1 "name" [, stamp, size]`: no semicolon ends it.
    fn file(&mut self) -> Parsed<()> {
        self.advance();
        self.integer("a number after `.file`")?;
        if self.peek() == TokenKind::Text {
            self.advance();
        }
        while self.eat(',') {
            self.advance();
        }
        Ok(())
    }

    /// Skips a directive that bears no meaning for execution. `.loc` ends without a semicolon, at the next line's token.
    pub(super) fn skip_directive(&mut self) {
        let is_loc = self.peek_dotted() == Some("loc");
        self.advance();
        if !is_loc {
            while !self.at_end() && !self.eat(';') {
                self.advance();
            }
            return;
        }
        self.skip_integers();
        while self.eat(',') {
            match self.text() {
                "function_name" => {
                    self.advance();
                    self.advance();
                    if self.eat('+') {
                        self.advance();
                    }
                }
                _ => {
                    self.advance();
                    self.skip_integers();
                }
            }
        }
    }

    fn skip_integers(&mut self) {
        while matches!(self.peek(), TokenKind::Integer(_)) {
            self.advance();
        }
    }

    fn declaration(&mut self, module: &mut Module<'s>) -> Parsed<()> {
        let mut is_extern = false;
        while let Some(linking) = self.peek_dotted().filter(|text| LINKING.contains(text)) {
            is_extern |= linking == "extern";
            self.advance();
        }
        match self.peek_dotted() {
            Some("entry") => {
                self.advance();
                let function = self.function(true)?;
                module.functions.push(function);
            }
            Some("func") => {
                self.advance();
                let function = self.function(false)?;
                module.functions.push(function);
            }
            Some(space) if SPACES.contains(&space) => {
                self.variables(is_extern, &mut module.variables)?;
            }
            _ => return Err(self.unexpected("a directive such as `.entry`, `.func` or `.global`")),
        }
        Ok(())
    }

    fn function(&mut self, is_entry: bool) -> Parsed<Function<'s>> {
        while self.eat_dotted("noreturn") {}
        let returns = if !is_entry && self.at('(') {
            self.params()?
        } else {
            Vec::new()
        };
        let name = self.word("the function's name")?;
        let params = if self.at('(') {
            self.params()?
        } else {
            Vec::new()
        };
        let (max_registers, block, cluster) = self.performance_directives();
        let body = if self.eat(';') {
            None
        } else {
            self.expect('{', "to begin the function's body")?;
            Some(self.block())
        };
        Ok(Function {
            is_entry,
            name,
            returns,
            params,
            max_registers,
            block,
            cluster,
            body,
        })
    }

    /// `.maxntid 256, 1, 1`, `.minnctapersm 2`, `.noreturn` and their kin, of which `.maxnreg` and the threads of a CTA bind allocation.
    fn performance_directives(&mut self) -> PerformanceDirectives {
        let (mut max_registers, mut block, mut cluster) = (None, None, None);
        while self.peek() == TokenKind::Dotted {
            let directive = self.peek_dotted();
            self.advance();
            let mut numbers = Vec::new();
            while matches!(self.peek(), TokenKind::Integer(_) | TokenKind::Text) || self.at(',') {
                if let TokenKind::Integer(value) = self.peek() {
                    numbers.push(value);
                }
                self.advance();
            }
            match (directive, &numbers[..]) {
                (Some("maxnreg"), [value, ..]) => max_registers = Some(*value),
                (Some(name @ ("maxntid" | "reqntid")), [_, ..]) => {
                    let exact = name == "reqntid";
                    let extents = extents(&numbers);
                    block = Some(Block { extents, exact });
                }
                (Some("reqnctapercluster"), [_, ..]) => cluster = Some(extents(&numbers)),
                _ => {}
            }
        }
        (max_registers, block, cluster)
    }

    pub(super) fn params(&mut self) -> Parsed<Vec<Variable<'s>>> {
        let mut params = Vec::new();
        self.expect('(', "to begin the parameters")?;
        if self.eat(')') {
            return Ok(params);
        }
        loop {
            params.push(self.variable(false)?);
            if !self.eat(',') {
                break;
            }
        }
        self.expect(')', "or `,` after a parameter")?;
        Ok(params)
    }

    /// One declaration statement; several names may share a type.
    pub(super) fn variables(
        &mut self,
        is_extern: bool,
        into: &mut Vec<Variable<'s>>,
    ) -> Parsed<()> {
        let first = self.variable(is_extern)?;
        let mut more = Vec::new();
        while self.eat(',') {
            let mut next = Variable {
                extents: Vec::new(),
                parameterized: None,
                initializer: None,
                ..first.clone()
            };
            self.declarator(&mut next)?;
            more.push(next);
        }
        into.push(first);
        into.extend(more);
        self.expect(';', "after the declaration")?;
        Ok(())
    }

    fn variable(&mut self, is_extern: bool) -> Parsed<Variable<'s>> {
        let space = self.dotted("a state space such as `.reg` or `.global`")?;
        let mut align = None;
        let mut vector = 1;
        let element = loop {
            let modifier = self.dotted("a type such as `.b32`")?;
            match modifier.text {
                "align" => align = Some(self.integer("an alignment in bytes after `.align`")?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "attribute" => self.attribute()?,
                "ptr" => self.pointer_attributes()?,
                _ => break modifier,
            }
        };
        if self.peek_dotted() == Some("ptr") {
            self.advance();
            self.pointer_attributes()?;
        }
        let placeholder = Name {
            text: "",
            span: self.span(),
        };
        let mut variable = Variable {
            space,
            element,
            vector,
            align,
            name: placeholder,
            parameterized: None,
            extents: Vec::new(),
            initializer: None,
            is_extern,
        };
        self.declarator(&mut variable)?;
        Ok(variable)
    }

    /// `.attribute(.managed)`.
    fn attribute(&mut self) -> Parsed<()> {
        self.expect('(', "after `.attribute`")?;
        while !self.at(')') && !self.at_end() {
            self.advance();
        }
        self.expect(')', "after the attribute")?;
        Ok(())
    }

    /// `.ptr .global .align 16`: what a parameter points to.
    fn pointer_attributes(&mut self) -> Parsed<()> {
        while let Some(text) = self.peek_dotted() {
            self.advance();
            if text == "align" {
                self.integer("an alignment in bytes after `.align`")?;
            }
        }
        Ok(())
    }

    /// Name, register count, extents, initial contents.
    fn declarator(&mut self, variable: &mut Variable<'s>) -> Parsed<()> {
        variable.name = self.word("a name")?;
        if self.eat('<') {
            variable.parameterized = Some(self.integer("the number of registers")?);
            self.expect('>', "after the number of registers")?;
        }
        while self.eat('[') {
            let extent = match self.peek() {
                TokenKind::Integer(value) => {
                    self.advance();
                    Some(value)
                }
                _ => None,
            };
            self.expect(']', "after the array's extent")?;
            variable.extents.push(extent);
        }
        if self.eat('=') {
            variable.initializer = Some(self.initializer()?);
        }
        Ok(())
    }

    fn initializer(&mut self) -> Parsed<Initializer<'s>> {
        if !self.at('{') {
            return Ok(Initializer::Value(self.initial_value()?));
        }
        if self.depth >= MAX_DEPTH {
            return Err(PtxError::new(
                self.span(),
                format!("initial values nest deeper than {MAX_DEPTH}"),
            ));
        }
        self.depth += 1;
        let list = self.initializer_list();
        self.depth -= 1;
        list
    }

    fn initializer_list(&mut self) -> Parsed<Initializer<'s>> {
        let start = self.advance().start;
        let mut values = Vec::new();
        while !self.at('}') && !self.at_end() {
            values.push(self.initializer()?);
            if !self.eat(',') {
                break;
            }
        }
        let end = self.expect('}', "or `,` after an initial value")?.end;
        Ok(Initializer::List(values, start..end))
    }

    /// A number, a symbol, `generic(symbol)` or `symbol+offset`.
    fn initial_value(&mut self) -> Parsed<Operand<'s>> {
        let start = self.span().start;
        let value = self.operand()?;
        let Operand::Name(name, None) = &value else {
            return Ok(value);
        };
        let is_generic = name.text == "generic" && self.eat('(');
        let symbol = if is_generic {
            self.word("a symbol")?
        } else {
            name.clone()
        };
        if is_generic {
            self.expect(')', "after the symbol")?;
        }
        let offset = if self.eat('+') {
            self.integer("an offset in bytes")? as i64
        } else {
            0
        };
        Ok(Operand::Address(crate::ast::Address {
            base: Some(symbol),
            offset,
            span: start..self.last_end(),
        }))
    }

    /// The statements up to the closing brace, which is read.
    pub(super) fn block(&mut self) -> Vec<Statement<'s>> {
        let mut statements = Vec::new();
        self.depth += 1;
        while !self.at('}') && !self.at_end() {
            if let Err(error) = self.statement(&mut statements) {
                self.recover(error);
            }
        }
        self.depth -= 1;
        if let Err(error) = self.expect('}', "to end the block") {
            self.errors.push(error);
        }
        statements
    }
}

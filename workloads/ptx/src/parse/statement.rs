//! Statements of a function's body.

use super::{MAX_DEPTH, Parsed, Parser, TokenKind};
use crate::ast::{Guard, Instruction, Name, Prototype, Statement};
use crate::error::PtxError;

impl<'s> Parser<'s> {
    pub(super) fn statement(&mut self, into: &mut Vec<Statement<'s>>) -> Parsed<()> {
        match self.peek() {
            TokenKind::Punct(';') => {
                self.advance();
            }
            TokenKind::Punct('{') => {
                if self.depth >= MAX_DEPTH {
                    let span = self.span();
                    self.skip_braces();
                    return Err(PtxError::new(
                        span,
                        format!("scopes nest deeper than {MAX_DEPTH}"),
                    ));
                }
                self.advance();
                let block = self.block();
                into.push(Statement::Block(block));
            }
            TokenKind::Dotted => self.body_directive(into)?,
            TokenKind::Word if self.peek_second() == TokenKind::Punct(':') => {
                let label = self.word("a label")?;
                self.advance();
                match self.peek_dotted() {
                    Some("branchtargets" | "calltargets") => {
                        self.advance();
                        let targets = self.names()?;
                        into.push(Statement::Targets(label, targets));
                    }
                    Some("callprototype") => {
                        self.advance();
                        let prototype = self.prototype(label)?;
                        into.push(Statement::Prototype(prototype));
                    }
                    _ => into.push(Statement::Label(label)),
                }
            }
            TokenKind::Word | TokenKind::Punct('@') => {
                let instruction = self.instruction()?;
                into.push(Statement::Instruction(instruction));
            }
            _ => return Err(self.unexpected("an instruction, a label or a declaration")),
        }
        Ok(())
    }

    fn body_directive(&mut self, into: &mut Vec<Statement<'s>>) -> Parsed<()> {
        match self.peek_dotted() {
            Some("loc" | "pragma" | "file") => self.skip_directive(),
            Some("section") => {
                while !self.at('{') && !self.at_end() {
                    self.advance();
                }
                self.skip_braces();
            }
            _ => {
                let is_extern = self.eat_dotted("extern");
                let mut variables = Vec::new();
                self.variables(is_extern, &mut variables)?;
                into.extend(variables.into_iter().map(Statement::Variable));
            }
        }
        Ok(())
    }

    /// `(.param .b32 _) _ (.param .b64 _, .param .b32 _);`, with or without results.
    fn prototype(&mut self, name: Name<'s>) -> Parsed<Prototype<'s>> {
        let returns = if self.at('(') {
            self.params()?
        } else {
            Vec::new()
        };
        self.word("`_` for the function's name")?;
        let params = if self.at('(') {
            self.params()?
        } else {
            Vec::new()
        };
        while !self.at_end() && !self.eat(';') {
            self.advance();
        }
        Ok(Prototype {
            name,
            returns,
            params,
        })
    }

    fn names(&mut self) -> Parsed<Vec<Name<'s>>> {
        let mut names = Vec::new();
        loop {
            names.push(self.word("a label")?);
            if !self.eat(',') {
                break;
            }
        }
        self.expect(';', "after the labels")?;
        Ok(names)
    }

    fn instruction(&mut self) -> Parsed<Instruction<'s>> {
        let start = self.span().start;
        let guard = if self.eat('@') {
            let negated = self.eat('!');
            let register = self.word("a predicate register after `@`")?;
            Some(Guard { negated, register })
        } else {
            None
        };
        let opcode = self.word("an opcode")?;
        let mut modifiers = Vec::new();
        while self.peek() == TokenKind::Dotted && self.span().start == self.last_end() {
            modifiers.push(self.dotted("a modifier")?);
        }
        let mut operands = Vec::new();
        while !self.at(';') {
            operands.push(self.operand()?);
            if !self.eat(',') {
                break;
            }
        }
        let end = self.last_end();
        if !self.at(';') {
            return Err(self
                .unexpected("`;` or `,` after an operand")
                .with_help("an instruction ends with `;`"));
        }
        self.advance();
        Ok(Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            span: start..end,
        })
    }
}

//! Recursive-descent parser: source text to syntax tree. It reads any opcode; what opcodes mean is the business of lowering.

mod lexer;
mod module;
mod operand;
mod statement;

use crate::ast::{Module, Name};
use crate::error::{PtxError, Span};
use lexer::{Token, TokenKind, tokens};

/// Scopes may nest this deep: far beyond any compiler's output, far below what a stack holds.
const MAX_DEPTH: u32 = 64;

/// After so many errors nobody reads on: the rest of the file is not looked at.
const MAX_ERRORS: usize = 100;

/// Reads a module.
///
/// # Errors
/// Every syntax error of the file, in order, up to a hundred; after each the parser goes on behind the next `;` or `}`.
pub fn parse(source: &str) -> Result<Module<'_>, Vec<PtxError>> {
    let (tokens, errors) = tokens(source);
    let mut parser = Parser {
        source,
        tokens,
        next: 0,
        errors,
        depth: 0,
    };
    let module = parser.module();
    if parser.errors.is_empty() {
        Ok(module)
    } else {
        parser.errors.sort_by_key(|error| error.span.start);
        parser.errors.truncate(MAX_ERRORS);
        Err(parser.errors)
    }
}

/// A parsing step: the error is recorded by whoever can go on.
type Parsed<T> = Result<T, PtxError>;

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    next: usize,
    errors: Vec<PtxError>,
    depth: u32,
}

impl<'s> Parser<'s> {
    fn peek(&self) -> TokenKind {
        self.tokens[self.next].kind
    }

    fn peek_second(&self) -> TokenKind {
        self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.next].span.clone()
    }

    fn text(&self) -> &'s str {
        &self.source[self.span()]
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
        span
    }

    /// The end of what was read last.
    fn last_end(&self) -> usize {
        self.tokens[self.next.saturating_sub(1)].span.end
    }

    fn at_end(&self) -> bool {
        self.peek() == TokenKind::End
    }

    fn at(&self, punct: char) -> bool {
        self.peek() == TokenKind::Punct(punct)
    }

    fn eat(&mut self, punct: char) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punct: char, after: &str) -> Parsed<Span> {
        if self.at(punct) {
            Ok(self.advance())
        } else {
            Err(self.unexpected(&format!("`{punct}` {after}")))
        }
    }

    fn unexpected(&self, wanted: &str) -> PtxError {
        let found = match self.peek() {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text()),
        };
        PtxError::new(self.span(), format!("expected {wanted}, found {found}"))
    }

    /// A dotted name's text without the dot, if one is next.
    fn peek_dotted(&self) -> Option<&'s str> {
        (self.peek() == TokenKind::Dotted).then(|| &self.text()[1..])
    }

    fn eat_dotted(&mut self, name: &str) -> bool {
        let found = self.peek_dotted() == Some(name);
        if found {
            self.advance();
        }
        found
    }

    fn dotted(&mut self, wanted: &str) -> Parsed<Name<'s>> {
        match self.peek_dotted() {
            Some(text) => {
                let span = self.advance();
                Ok(Name { text, span })
            }
            None => Err(self.unexpected(wanted)),
        }
    }

    fn word(&mut self, wanted: &str) -> Parsed<Name<'s>> {
        if self.peek() != TokenKind::Word {
            return Err(self.unexpected(wanted));
        }
        let text = self.text();
        let span = self.advance();
        Ok(Name { text, span })
    }

    fn integer(&mut self, wanted: &str) -> Parsed<u64> {
        match self.peek() {
            TokenKind::Integer(value) => {
                self.advance();
                Ok(value)
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    /// Records an error and goes on behind the next `;`, or before a `}`.
    fn recover(&mut self, error: PtxError) {
        self.errors.push(error);
        if self.errors.len() >= MAX_ERRORS {
            self.next = self.tokens.len() - 1;
        }
        loop {
            match self.peek() {
                TokenKind::End | TokenKind::Punct('}') => return,
                TokenKind::Punct(';') => {
                    self.advance();
                    return;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Skips a balanced `{ ... }`.
    fn skip_braces(&mut self) {
        let mut depth = 0u32;
        while !self.at_end() {
            if self.at('{') {
                depth += 1;
            } else if self.at('}') {
                depth = depth.saturating_sub(1);
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;

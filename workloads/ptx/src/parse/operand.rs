//! Operands (PTX ISA 8.x, chapter 6).

use super::{MAX_DEPTH, Parsed, Parser, TokenKind};
use crate::ast::{Address, Name, Operand};
use crate::error::{PtxError, Span};

impl<'s> Parser<'s> {
    pub(super) fn operand(&mut self) -> Parsed<Operand<'s>> {
        let first = self.single_operand()?;
        if self.eat('|') {
            let second = self.single_operand()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single_operand(&mut self) -> Parsed<Operand<'s>> {
        match self.peek() {
            TokenKind::Word => self.name_operand(),
            TokenKind::Punct('!') => {
                self.advance();
                Ok(Operand::Not(self.word("a predicate register after `!`")?))
            }
            TokenKind::Punct('-') if self.peek_second() == TokenKind::Word => {
                self.advance();
                Ok(Operand::Negative(Box::new(self.name_operand()?)))
            }
            TokenKind::Punct('{') => self
                .operands('}')
                .map(|(all, span)| Operand::Vector(all, span)),
            TokenKind::Punct('(') => self
                .operands(')')
                .map(|(all, span)| Operand::List(all, span)),
            TokenKind::Punct('[') => self.address(),
            _ => self.number(),
        }
    }

    fn name_operand(&mut self) -> Parsed<Operand<'s>> {
        let name = self.word("an operand")?;
        let touches = self.span().start == self.last_end();
        let component = match self.peek() {
            TokenKind::Dotted if touches => Some(self.dotted("a component")?),
            TokenKind::Punct('+' | '-') => return self.offset(name),
            _ => None,
        };
        Ok(Operand::Name(name, component))
    }

    /// What stands behind a symbol: `+8`, `-8`, `+-8`.
    fn offset(&mut self, name: Name<'s>) -> Parsed<Operand<'s>> {
        let offset = self.distance()?;
        let span = name.span.start..self.last_end();
        Ok(Operand::Offset(name, offset, span))
    }

    /// A number of bytes with its sign.
    fn distance(&mut self) -> Parsed<i64> {
        self.eat('+');
        let negative = self.eat('-');
        let value = self.integer("an offset in bytes")? as i64;
        Ok(if negative {
            value.wrapping_neg()
        } else {
            value
        })
    }

    fn operands(&mut self, close: char) -> Parsed<(Vec<Operand<'s>>, Span)> {
        if self.depth >= MAX_DEPTH {
            return Err(PtxError::new(
                self.span(),
                format!("operands nest deeper than {MAX_DEPTH}"),
            ));
        }
        self.depth += 1;
        let operands = self.operand_list(close);
        self.depth -= 1;
        operands
    }

    fn operand_list(&mut self, close: char) -> Parsed<(Vec<Operand<'s>>, Span)> {
        let start = self.advance().start;
        let mut operands = Vec::new();
        while !self.at(close) {
            operands.push(self.operand()?);
            if !self.eat(',') {
                break;
            }
        }
        let end = self.expect(close, "or `,` after an operand")?.end;
        Ok((operands, start..end))
    }

    /// A literal with an optional sign; compilers write no constant expressions beyond that.
    fn number(&mut self) -> Parsed<Operand<'s>> {
        let start = self.span().start;
        let negative = self.eat('-');
        let kind = self.peek();
        let operand = |span| match kind {
            TokenKind::Integer(value) if negative => {
                Some(Operand::Integer(value.wrapping_neg(), span))
            }
            TokenKind::Integer(value) => Some(Operand::Integer(value, span)),
            TokenKind::Single(bits) => {
                Some(Operand::Single(bits ^ (u32::from(negative) << 31), span))
            }
            TokenKind::Double(bits) => {
                let value = f64::from_bits(bits ^ (u64::from(negative) << 63));
                Some(Operand::Double(value, span))
            }
            TokenKind::Decimal(value) => {
                Some(Operand::Double(if negative { -value } else { value }, span))
            }
            _ => None,
        };
        match operand(start..self.span().end) {
            Some(operand) => {
                self.advance();
                Ok(operand)
            }
            None => Err(self.unexpected("an operand")),
        }
    }

    /// `[base]`, `[base+8]`, `[base+-8]`, `[64]`.
    fn address(&mut self) -> Parsed<Operand<'s>> {
        let start = self.advance().start;
        let base = match self.peek() {
            TokenKind::Word => Some(self.word("an address")?),
            _ => None,
        };
        let offset = match base.is_some() && !self.at('+') && !self.at('-') {
            true => 0,
            false => self.distance()?,
        };
        if self.at(',') {
            return self.texture_address(base, start);
        }
        let end = self.expect(']', "after an address")?.end;
        Ok(Operand::Address(Address {
            base,
            offset,
            span: start..end,
        }))
    }

    /// `[texture, {x, y}]`: kept as a list of the texture and its coordinates.
    fn texture_address(&mut self, base: Option<Name<'s>>, start: usize) -> Parsed<Operand<'s>> {
        let mut parts: Vec<_> = base
            .into_iter()
            .map(|name| Operand::Name(name, None))
            .collect();
        while self.eat(',') {
            parts.push(self.operand()?);
        }
        let end = self.expect(']', "after the coordinates")?.end;
        Ok(Operand::List(parts, start..end))
    }
}

//! PTX tokens (PTX ISA 8.x, section 4.2 to 4.5).

use crate::error::{PtxError, Span};

/// What a token is; its text is the source at its span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// An identifier or opcode, `%` and `$` included.
    Word,
    /// A dot and the name behind it: `.reg`, `.f32`, `.shared::cta`.
    Dotted,
    /// An integer literal, as its 64 bits.
    Integer(u64),
    /// `0f3F800000`.
    Single(u32),
    /// `0d3FF0000000000000`.
    Double(u64),
    /// `1.5`, `2e-3`.
    Decimal(f64),
    /// `"text"`.
    Text,
    /// Any of `{}()[]<>;:,=+-!|@*/%&^~?`.
    Punct(char),
    /// The end of the source.
    End,
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

/// Splits a source into tokens; what cannot be a token is reported and left out.
pub fn tokens(source: &str) -> (Vec<Token>, Vec<PtxError>) {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::with_capacity(source.len() / 4);
    let mut errors = Vec::new();
    loop {
        match lexer.next_token() {
            Ok(token) => {
                let end = token.kind == TokenKind::End;
                tokens.push(token);
                if end {
                    return (tokens, errors);
                }
            }
            Err(error) if errors.len() < super::MAX_ERRORS => errors.push(error),
            Err(_) => {}
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        *self.source.as_bytes().get(self.at + ahead).unwrap_or(&0)
    }

    fn next_token(&mut self) -> Result<Token, PtxError> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = match self.byte(0) {
            0 if start >= self.source.len() => TokenKind::End,
            b'.' if in_word(self.byte(1)) => self.dotted(),
            b'"' => self.text()?,
            b'%' if in_word(self.byte(1)) => self.word(),
            byte if byte.is_ascii_digit() => self.number()?,
            byte if in_word(byte) => self.word(),
            byte if b"{}()[]<>;:,=+-!|@*/%&^~?".contains(&byte) => {
                self.at += 1;
                TokenKind::Punct(char::from(byte))
            }
            _ => return Err(self.unknown()),
        };
        Ok(Token {
            kind,
            span: start..self.at,
        })
    }

    fn unknown(&mut self) -> PtxError {
        let start = self.at;
        let unknown = self.source[start..].chars().next().unwrap_or('?');
        self.at += unknown.len_utf8();
        PtxError::new(start..self.at, format!("{unknown:?} has no meaning in PTX"))
    }

    fn skip_blanks(&mut self) -> Result<(), PtxError> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (b' ' | b'\t' | b'\r' | b'\n', _) => self.at += 1,
                (b'/', b'/') => {
                    let rest = &self.source[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                (b'/', b'*') => {
                    let rest = &self.source[self.at + 2..];
                    let Some(length) = rest.find("*/") else {
                        let span = self.at..self.at + 2;
                        self.at = self.source.len();
                        return Err(PtxError::new(span, "this comment never ends")
                            .with_help("close it with `*/`"));
                    };
                    self.at += length + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn word(&mut self) -> TokenKind {
        self.at += 1;
        while in_word(self.byte(0)) {
            self.at += 1;
        }
        TokenKind::Word
    }

    fn dotted(&mut self) -> TokenKind {
        self.at += 1;
        loop {
            if in_word(self.byte(0)) {
                self.at += 1;
            } else if self.byte(0) == b':' && self.byte(1) == b':' && in_word(self.byte(2)) {
                self.at += 2;
            } else {
                return TokenKind::Dotted;
            }
        }
    }

    fn text(&mut self) -> Result<TokenKind, PtxError> {
        let start = self.at;
        let rest = &self.source[start + 1..];
        match rest.find(['"', '\n']) {
            Some(length) if rest.as_bytes()[length] == b'"' => {
                self.at += length + 2;
                Ok(TokenKind::Text)
            }
            other => {
                self.at += 1 + other.unwrap_or(rest.len());
                Err(PtxError::new(
                    start..self.at,
                    "this text has no closing quote",
                ))
            }
        }
    }

    fn number(&mut self) -> Result<TokenKind, PtxError> {
        let start = self.at;
        while in_word(self.byte(0)) {
            self.at += 1;
        }
        let fraction = self.byte(0) == b'.' && self.byte(1).is_ascii_digit();
        let text = &self.source[start..self.at];
        if fraction || is_exponent(text) {
            return self.decimal(start, fraction);
        }
        literal(text).ok_or_else(|| {
            PtxError::new(start..self.at, format!("`{text}` is not a number"))
                .with_help("write 12, 0x1F, 017, 0b101, 0f3F800000 or 0d3FF0000000000000")
        })
    }

    fn decimal(&mut self, start: usize, fraction: bool) -> Result<TokenKind, PtxError> {
        if fraction {
            self.at += 1;
            while in_word(self.byte(0)) {
                self.at += 1;
            }
        }
        let signed_exponent = self.source[start..self.at].ends_with(['e', 'E'])
            && matches!(self.byte(0), b'+' | b'-');
        if signed_exponent {
            self.at += 1;
            while self.byte(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        let text = &self.source[start..self.at];
        text.parse()
            .map(TokenKind::Decimal)
            .map_err(|_| PtxError::new(start..self.at, format!("`{text}` is not a number")))
    }
}

/// `2e`, `2e10`: decimal digits and an exponent mark, which hexadecimal numbers cannot be mistaken for.
fn is_exponent(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.starts_with(['e', 'E']) && !text.starts_with("0x") && !text.starts_with("0X")
}

fn literal(text: &str) -> Option<TokenKind> {
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0f") {
        let bits = (hex.len() == 8).then(|| u32::from_str_radix(hex, 16).ok());
        return bits.flatten().map(TokenKind::Single);
    }
    if let Some(hex) = lower.strip_prefix("0d") {
        let bits = (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok());
        return bits.flatten().map(TokenKind::Double);
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let value = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8)
    } else {
        digits.parse()
    };
    value.ok().map(TokenKind::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<TokenKind> {
        let (tokens, errors) = tokens(source);
        assert_eq!(errors, []);
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers_in_every_form() {
        use TokenKind::*;
        assert_eq!(
            kinds("12 0x1F 017 0b101 7U 0f3F800000 0d3FF0000000000000 1.5 2e3 1.5e-3"),
            [
                Integer(12),
                Integer(31),
                Integer(15),
                Integer(5),
                Integer(7),
                Single(0x3f80_0000),
                Double(0x3ff0_0000_0000_0000),
                Decimal(1.5),
                Decimal(2000.0),
                Decimal(0.0015),
                End
            ]
        );
    }

    #[test]
    fn modifiers_may_start_with_a_digit_or_hold_colons() {
        use TokenKind::*;
        assert_eq!(
            kinds("tex.2d.v4 ld.shared::cta.u32"),
            [Word, Dotted, Dotted, Word, Dotted, Dotted, End]
        );
    }

    #[test]
    fn comments_are_blanks_and_bad_characters_are_reported_where_they_are() {
        let (found, errors) = tokens("a /* b */ // c\n \u{e9} d /* e");
        assert_eq!(found.len(), 3);
        assert_eq!(errors.len(), 2);
        assert_eq!(errors[0].span, 16..18);
        assert!(errors[1].message.contains("never ends"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_lexed_without_panic(text in ".*") {
            let (found, _) = tokens(&text);
            assert_eq!(found.last().map(|token| token.kind), Some(TokenKind::End));
        }
    }
}

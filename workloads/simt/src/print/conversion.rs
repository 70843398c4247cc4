//! A conversion of a format, `%-8.3f`, and how it shows integers (ISO C, "The fprintf function").

/// How an argument is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conversion {
    pub left: bool,
    plus: bool,
    blank: bool,
    alternative: bool,
    zero: bool,
    pub width: usize,
    /// The width is an argument.
    pub width_follows: bool,
    pub precision: Option<usize>,
    /// So is the precision.
    pub precision_follows: bool,
    pub length: Length,
    /// Its letter.
    pub kind: u8,
}

/// Of an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Length {
    Char,
    Short,
    #[default]
    Int,
    Long,
}

const KINDS: &[u8] = b"%diouxXcspfFeEgGaA";

impl Conversion {
    /// What stands behind `%`, and the rest of the format; none if that is no conversion.
    pub fn read(mut rest: &[u8]) -> Option<(Self, &[u8])> {
        let mut read = Self::default();
        while let Some((flag, behind)) = rest.split_first() {
            match flag {
                b'-' => read.left = true,
                b'+' => read.plus = true,
                b' ' => read.blank = true,
                b'#' => read.alternative = true,
                b'0' => read.zero = true,
                _ => break,
            }
            rest = behind;
        }
        match number(&mut rest) {
            Some(width) => read.width = width,
            None => read.width_follows = true,
        }
        if let Some(behind) = rest.strip_prefix(b".") {
            rest = behind;
            match number(&mut rest) {
                Some(precision) => read.precision = Some(precision),
                None => read.precision_follows = true,
            }
        }
        const LENGTHS: [(&[u8], Length); 8] = [
            (b"hh", Length::Char),
            (b"h", Length::Short),
            (b"ll", Length::Long),
            (b"l", Length::Long),
            (b"z", Length::Long),
            (b"j", Length::Long),
            (b"t", Length::Long),
            (b"L", Length::Long),
        ];
        let length = LENGTHS.iter().find(|(text, _)| rest.starts_with(text));
        if let Some((text, length)) = length {
            read.length = *length;
            rest = &rest[text.len()..];
        }
        let (kind, rest) = rest.split_first()?;
        read.kind = *kind;
        KINDS.contains(kind).then_some((read, rest))
    }

    /// With blanks up to the width.
    pub fn padded(&self, text: Vec<u8>) -> Vec<u8> {
        let blanks = vec![b' '; self.width.saturating_sub(text.len())];
        match self.left {
            true => [text, blanks].concat(),
            false => [blanks, text].concat(),
        }
    }

    /// A sign or prefix and digits, with zeros between them where they are asked for.
    fn joined(&self, prefix: &str, digits: &str, zeros: bool) -> Vec<u8> {
        let used = prefix.len() + digits.len();
        let zeros = match zeros && !self.left {
            true => "0".repeat(self.width.saturating_sub(used)),
            false => String::new(),
        };
        self.padded(format!("{prefix}{zeros}{digits}").into_bytes())
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.blank) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Digits of an integer, as many as the precision says at least.
    fn digits(&self, digits: String, is_zero: bool) -> String {
        match self.precision {
            Some(0) if is_zero => String::new(),
            Some(least) => format!("{digits:0>least$}"),
            None => digits,
        }
    }

    /// `%d`.
    pub fn signed(&self, bits: u64) -> Vec<u8> {
        let value = match self.length {
            Length::Char => i64::from(bits as i8),
            Length::Short => i64::from(bits as i16),
            Length::Int => i64::from(bits as i32),
            Length::Long => bits as i64,
        };
        let digits = self.digits(value.unsigned_abs().to_string(), value == 0);
        let zeros = self.zero && self.precision.is_none();
        self.joined(self.sign(value < 0), &digits, zeros)
    }

    /// `%u`, `%o`, `%x`, `%X`.
    pub fn unsigned(&self, bits: u64) -> Vec<u8> {
        let value = match self.length {
            Length::Char => bits & 0xff,
            Length::Short => bits & 0xffff,
            Length::Int => bits & 0xffff_ffff,
            Length::Long => bits,
        };
        let digits = match self.kind {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        let mut digits = self.digits(digits, value == 0);
        let prefix = match (self.alternative, self.kind) {
            (true, b'x') if value != 0 => "0x",
            (true, b'X') if value != 0 => "0X",
            _ => "",
        };
        if self.alternative && self.kind == b'o' && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        let zeros = self.zero && self.precision.is_none();
        self.joined(prefix, &digits, zeros)
    }

    /// `%p`, as the C library of Linux shows it.
    pub fn pointer(&self, address: u64) -> Vec<u8> {
        match address {
            0 => self.padded(b"(nil)".to_vec()),
            address => self.padded(format!("{address:#x}").into_bytes()),
        }
    }

    /// `%f`, `%e`, `%g`, `%a` and their upper-case brothers.
    pub fn float(&self, value: f64) -> Vec<u8> {
        let upper = self.kind.is_ascii_uppercase();
        let sign = self.sign(value.is_sign_negative());
        let (prefix, mut digits, zeros) = super::float::shown(
            value.abs(),
            self.kind.to_ascii_lowercase(),
            self.precision,
            self.alternative,
        );
        let mut prefix = format!("{sign}{prefix}");
        if upper {
            prefix = prefix.to_ascii_uppercase();
            digits = digits.to_ascii_uppercase();
        }
        self.joined(&prefix, &digits, self.zero && zeros)
    }
}

/// A number, zero if there is none; none if an argument says it.
fn number(rest: &mut &[u8]) -> Option<usize> {
    if let Some(behind) = rest.strip_prefix(b"*") {
        *rest = behind;
        return None;
    }
    let mut value = 0_usize;
    while let Some((digit @ b'0'..=b'9', behind)) = rest.split_first() {
        value = value
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'));
        *rest = behind;
    }
    Some(value)
}

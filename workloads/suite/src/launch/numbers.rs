//! Numbers as text: one or several a line, with commas, semicolons or spaces between them; a line of names first, and comments behind `#`.

use super::ElementType;

/// What is wrong, and what to do about it.
type Objection = (String, Option<String>);

/// The elements of a text, which must be as many as the buffer has.
pub(super) fn read(file: &[u8], element: ElementType, count: u64) -> Result<Vec<u8>, Objection> {
    let Ok(text) = std::str::from_utf8(file) else {
        return Err(("it is no text".to_owned(), None));
    };
    let mut elements = Vec::with_capacity(count as usize * element.bytes());
    let (mut found, mut first) = (0u64, true);
    for (line, text) in text.lines().enumerate() {
        let text = text.split('#').next().unwrap_or_default();
        let separates = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
        let words: Vec<&str> = text
            .split(separates)
            .filter(|word| !word.is_empty())
            .collect();
        if words.is_empty() {
            continue;
        }
        let head = std::mem::take(&mut first);
        if head
            && words
                .iter()
                .all(|word| bits(word, element).is_none() && !is_numeric(word))
        {
            continue;
        }
        for word in words {
            let Some(bits) = bits(word, element) else {
                let message = format!("line {}: `{word}` is no {}", line + 1, element.name());
                return Err((message, None));
            };
            found += 1;
            if found <= count {
                element.push(&mut elements, bits);
            }
        }
    }
    match found == count {
        true => Ok(elements),
        false => {
            let message = format!("it has {found} numbers, but the buffer has {count} elements");
            Err((message, None))
        }
    }
}

/// Whether a word is meant as a number, of whatever type.
fn is_numeric(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
}

fn bits(word: &str, element: ElementType) -> Option<u64> {
    let Some((low, high)) = element.integer_range() else {
        return match element {
            // Rounded once.
            ElementType::F32 => word
                .parse()
                .ok()
                .map(|value: f32| u64::from(value.to_bits())),
            _ => word.parse().ok().map(|value| element.bits_of_float(value)),
        };
    };
    let integer = match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => word.parse().ok()?,
    };
    (low..=high)
        .contains(&integer)
        .then(|| element.bits_of_integer(integer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_lists_and_comments() {
        let read = |text: &str| read(text.as_bytes(), ElementType::I16, 4);
        let wanted = Ok(vec![1, 0, 254, 255, 3, 0, 16, 0]);
        assert_eq!(read("1,-2,3,0x10\n"), wanted);
        assert_eq!(read("a, b\n1; -2\n\n3\t16 # the last\n"), wanted);
        assert_eq!(read("# nothing\n1 -2\r\n3 16"), wanted);
        let floats = super::read(b"x\n0.1\ninf\nNaN\n-2e3", ElementType::F32, 4).unwrap();
        assert_eq!(floats[..4], 0.1f32.to_le_bytes());
        assert_eq!(floats[12..], (-2000.0f32).to_le_bytes());
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let said = |text: &str| read(text.as_bytes(), ElementType::I16, 2).unwrap_err().0;
        assert_eq!(said("1\n2.5"), "line 2: `2.5` is no i16");
        assert_eq!(said("1\ntwo"), "line 2: `two` is no i16");
        assert_eq!(said("70000 1"), "line 1: `70000` is no i16");
        assert_eq!(
            said("1 2 3"),
            "it has 3 numbers, but the buffer has 2 elements"
        );
        assert_eq!(said(""), "it has 0 numbers, but the buffer has 2 elements");
        assert!(read(&[0xff, 0xfe], ElementType::I8, 1).is_err());
    }
}

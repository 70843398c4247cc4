//! NumPy's `.npy` files (NumPy Enhancement Proposal 1): a head that says type and shape, then the elements.

use super::ElementType;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Heads are no longer than this, here and in what NumPy reads without being told to trust it.
pub(super) const LONGEST_HEAD: u64 = 10_000;

/// What is wrong, and what to do about it.
type Objection = (String, Option<String>);

fn objection<T>(message: impl Into<String>, help: &str) -> Result<T, Objection> {
    Err((message.into(), (!help.is_empty()).then(|| help.to_owned())))
}

/// The elements of a file, which must be of the buffer's type and as many as it has.
pub(super) fn read(file: &[u8], element: ElementType, count: u64) -> Result<Vec<u8>, Objection> {
    let Some((head, elements)) = split(file) else {
        return objection("it is no `.npy` file", "write it with `numpy.save`");
    };
    let (Some(descr), Some(order), Some(shape)) = (
        value(head, "descr"),
        value(head, "fortran_order"),
        value(head, "shape"),
    ) else {
        return objection(
            "its head does not say `descr`, `fortran_order` and `shape`",
            "write it with `numpy.save`",
        );
    };
    let descr = descr.trim_matches(['\'', '"']);
    let swapped = check_type(descr, element)?;
    let Some(shape) = extents(shape) else {
        return objection(format!("its shape `{shape}` cannot be read"), "");
    };
    if order != "False" && shape.iter().filter(|extent| **extent > 1).count() > 1 {
        let help = "save `numpy.ascontiguousarray(...)` of it";
        return objection("its columns lie one behind the other, not its rows", help);
    }
    let found = shape
        .iter()
        .try_fold(1u64, |all, extent| all.checked_mul(*extent));
    if found != Some(count) {
        let found = found.map_or_else(|| "too many".to_owned(), |found| found.to_string());
        let message = format!("it has {found} elements, but the buffer has {count}");
        return objection(message, "");
    }
    let bytes = count * element.bytes() as u64;
    if elements.len() as u64 != bytes {
        let message = format!("it holds {} bytes of elements, not {bytes}", elements.len());
        return objection(message, "was it written to its end?");
    }
    let mut elements = elements.to_vec();
    if swapped {
        elements
            .chunks_exact_mut(element.bytes())
            .for_each(<[u8]>::reverse);
    }
    Ok(elements)
}

/// Head and elements.
fn split(file: &[u8]) -> Option<(&str, &[u8])> {
    let rest = file.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<2>()?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return None,
    };
    let (head, elements) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(head).ok()?, elements))
}

/// The text of a value in the head, which is a Python dictionary.
fn value<'h>(head: &'h str, key: &str) -> Option<&'h str> {
    let (_, after) = head.split_once(&format!("'{key}':"))?;
    let after = after.trim_start();
    let end = match after.chars().next()? {
        '(' => after.find(')')? + 1,
        '[' => after.find(']')? + 1,
        quote @ ('\'' | '"') => after[1..].find(quote)? + 2,
        _ => after.find([',', '}'])?,
    };
    Some(after[..end].trim_end())
}

/// The extents of `(3, 4)`, `(3,)` or `()`.
fn extents(shape: &str) -> Option<Vec<u64>> {
    let inner = shape.strip_prefix('(')?.strip_suffix(')')?;
    let parts = inner
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}

/// Letter and bytes of a type, as NumPy writes them. What NumPy does not know it keeps as bytes without a meaning.
fn letters(element: ElementType) -> &'static [&'static str] {
    match element {
        ElementType::I8 => &["i1", "b1"],
        ElementType::U8 => &["u1", "b1"],
        ElementType::I16 => &["i2"],
        ElementType::U16 => &["u2"],
        ElementType::I32 => &["i4"],
        ElementType::U32 => &["u4"],
        ElementType::I64 => &["i8"],
        ElementType::U64 => &["u8"],
        ElementType::F16 => &["f2"],
        ElementType::F32 => &["f4"],
        ElementType::F64 => &["f8"],
        ElementType::BF16 => &["V2", "u2"],
        ElementType::E4M3 | ElementType::E5M2 => &["V1", "u1", "f1"],
    }
}

/// Whether the type of a file is that of the buffer; true if its bytes are in the other order.
fn check_type(descr: &str, element: ElementType) -> Result<bool, Objection> {
    let (order, kind) = descr.split_at_checked(1).unwrap_or(("", descr));
    let known = letters(element);
    if known.contains(&kind) && ["<", ">", "|", "="].contains(&order) {
        return Ok(order == ">" && element.bytes() > 1);
    }
    let wanted = known[0];
    let message = format!(
        "its elements are `{descr}`, but the buffer is of {}",
        element.name()
    );
    let help = match element {
        ElementType::BF16 | ElementType::E4M3 | ElementType::E5M2 => {
            "convert it with `ml_dtypes` before it is saved".to_owned()
        }
        _ => format!("save `array.astype(\"<{wanted}\")`, or give the buffer that type"),
    };
    Err((message, Some(help)))
}

/// What stands in an `.npy` file before `count` elements in one row.
pub fn header(element: ElementType, count: u64) -> Vec<u8> {
    let order = if element.bytes() == 1 { '|' } else { '<' };
    let kind = letters(element)[0];
    let mut text =
        format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({count},), }}");
    let before = MAGIC.len() + 4;
    // Elements begin at a multiple of 64 bytes, behind the line's end.
    while !(before + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut head = MAGIC.to_vec();
    head.extend([1, 0]);
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.into_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
        let head =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((head.len() as u16).to_le_bytes());
        file.extend(head.into_bytes());
        file.extend(elements);
        file
    }

    #[test]
    fn what_is_written_is_read() {
        for (_, element) in ElementType::ALL {
            let elements: Vec<u8> = (0..3 * element.bytes() as u8).collect();
            let mut file = header(element, 3);
            assert!(file.len().is_multiple_of(64));
            file.extend(&elements);
            assert_eq!(read(&file, element, 3), Ok(elements), "{element:?}");
        }
    }

    #[test]
    fn shapes_and_orders_of_bytes() {
        let of = |file: &[u8]| read(file, ElementType::I16, 2);
        assert_eq!(
            of(&file("<i2", "False", "(2, 1)", &[1, 0, 2, 0])),
            Ok(vec![1, 0, 2, 0])
        );
        assert_eq!(
            of(&file(">i2", "False", "(2,)", &[0, 1, 0, 2])),
            Ok(vec![1, 0, 2, 0])
        );
        assert_eq!(
            of(&file("<i2", "True", "(2,)", &[1, 0, 2, 0])),
            Ok(vec![1, 0, 2, 0])
        );
        let scalar = file("<f4", "False", "()", &1.0f32.to_le_bytes());
        assert_eq!(
            read(&scalar, ElementType::F32, 1),
            Ok(1.0f32.to_le_bytes().to_vec())
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let said = |file: &[u8]| read(file, ElementType::F32, 4).unwrap_err().0;
        assert!(said(b"nothing").contains("is no `.npy` file"));
        assert_eq!(
            said(&file("<f8", "False", "(4,)", &[0; 32])),
            "its elements are `<f8`, but the buffer is of f32"
        );
        assert!(said(&file("<f4", "True", "(2, 2)", &[0; 16])).contains("columns"));
        assert!(said(&file("<f4", "False", "(5,)", &[0; 20])).contains("5 elements"));
        assert!(said(&file("<f4", "False", "(4,)", &[0; 15])).contains("15 bytes"));
        assert!(said(&file("<f4", "False", "(4", &[0; 16])).contains("does not say"));
    }
}

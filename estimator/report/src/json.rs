//! JSON for readers: indented, and zero without a sign.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::goal::quantity::unsigned_zero;

/// A document as text, with an end of line.
///
/// # Errors
/// Something in it has no form in JSON.
pub fn document(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(
        &mut text,
        Readable::default(),
    ))?;
    text.push(b'\n');
    // The serialiser writes UTF-8.
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// The usual indentation, with numbers for readers.
#[derive(Default)]
struct Readable<'a>(PrettyFormatter<'a>);

/// Hands what is about structure to the usual formatter.
macro_rules! as_usual {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })*
    };
}

impl Formatter for Readable<'_> {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        self.0.write_f64(writer, unsigned_zero(value))
    }

    as_usual! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_as_usual_but_for_the_sign_of_zero() {
        let value = json!({ "a": [1, -2.5, "x", []], "b": { "c": null, "d": 1e-30 }, "e": {} });
        let usual = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(document(&value).unwrap(), usual + "\n");
        assert_eq!(
            document(&[-0.0, 0.0, -1e-300]).unwrap(),
            "[\n  0.0,\n  0.0,\n  -1e-300\n]\n"
        );
    }
}

//! A launch file with what the PTX tells, to be filled in.

use std::fmt::Write as _;

use warpwatt_ptx::outline::{EntryOutline, Pointed};
use warpwatt_ptx::program::Param;

use super::form::MISSING;
use super::names::base_name;

/// The text of a launch file for an entry of the PTX file called `ptx`; what the PTX does not tell is `"TODO"`, which the reader asks for.
pub fn begin(entry: &EntryOutline, ptx: &str, address_bytes: u32) -> String {
    let begun = Begun {
        entry,
        address_bytes,
    };
    let mut text = begun.head(ptx);
    for (index, param) in entry.params.iter().enumerate() {
        text += &begun.argument(index, param);
    }
    text += &begun.variables();
    text
}

struct Begun<'e> {
    entry: &'e EntryOutline,
    address_bytes: u32,
}

impl Begun<'_> {
    fn head(&self, ptx: &str) -> String {
        let entry = self.entry;
        let mut text = format!(
            "name = {}\n\n[build]\nptx = {}\n\n",
            quoted(&base_name(&entry.name)),
            quoted(ptx)
        );
        text += "# Numbers that expressions below may name, such as n = 1024.\n[constants]\n\n";
        let _ = writeln!(text, "[default]\nkernel = {}", quoted(&entry.name));
        if let Some(full) = super::demangled(&entry.name) {
            let _ = writeln!(text, "# {}", full.replace(char::is_control, " "));
        }
        let _ = writeln!(text, "grid = [\"{MISSING}\", 1, 1]");
        let _ = match entry.block {
            Some(block) => {
                let said = match block.exact {
                    true => "the PTX wants just this (.reqntid)",
                    false => "the PTX allows this at most (.maxntid)",
                };
                let [x, y, z] = block.extents;
                writeln!(text, "block = [{x}, {y}, {z}]  # {said}")
            }
            None => writeln!(text, "block = [\"{MISSING}\", 1, 1]"),
        };
        if entry.shared_bytes > 0 {
            let bytes = entry.shared_bytes;
            let _ = writeln!(
                text,
                "# {bytes} bytes of static shared memory, which need not be said."
            );
        }
        if entry.dynamic_shared {
            let _ = writeln!(text, "dynamic_shared = \"{MISSING}\"  # bytes");
        }
        text
    }

    fn argument(&self, index: usize, param: &Param) -> String {
        let name = self.name(index);
        let within: Vec<(u32, &Pointed)> = self
            .entry
            .pointers
            .range((index, 0)..(index + 1, 0))
            .map(|(&(_, offset), pointed)| (offset, pointed))
            .collect();
        if param.bytes > 8 || !is_scalar(param) {
            return self.structure(&name, param, &within);
        }
        match within.first() {
            Some((0, pointed)) if param.bytes == self.address_bytes => buffer(&name, pointed),
            _ => {
                let element = element_type(&param.element);
                format!(
                    "\n[[default.arg]]\nname = \"{name}\"\nkind = \"scalar\"\ntype = \"{element}\"\nvalue = \"{MISSING}\"\n"
                )
            }
        }
    }

    /// A structure by value, and the buffers that it points into.
    fn structure(&self, name: &str, param: &Param, within: &[(u32, &Pointed)]) -> String {
        let mut text = format!(
            "\n# A structure of {} bytes; a number in it is {{ offset, type, value }}.\n[[default.arg]]\nname = \"{name}\"\nkind = \"struct\"\ncount = {}\nfields = [\n",
            param.bytes, param.bytes
        );
        for (offset, _) in within {
            let _ = writeln!(
                text,
                "  {{ offset = {offset}, buffer = \"{name}_{offset}\" }},"
            );
        }
        text += "]\n";
        for (offset, pointed) in within {
            text += &buffer(&format!("{name}_{offset}"), pointed);
        }
        text
    }

    /// The parameter's own name where a person gave it one, else its number.
    fn name(&self, index: usize) -> String {
        let given = &self.entry.params[index].name;
        let made = given.starts_with(&format!("{}_param_", self.entry.name));
        let plain = given.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let unique = self
            .entry
            .params
            .iter()
            .filter(|it| it.name == *given)
            .count()
            == 1;
        match plain && unique && !made {
            true => given.clone(),
            false => format!("p{index}"),
        }
    }

    /// Variables of the module, which need no argument.
    fn variables(&self) -> String {
        let mut text = String::new();
        for variable in &self.entry.variables {
            let (space, kind) = match variable.constant {
                true => ("const", "in"),
                false => ("global", "inout"),
            };
            let (name, bytes) = (variable.name.escape_default(), variable.bytes);
            let _ = write!(
                text,
                "\n# The PTX has the .{space} variable `{name}` of {bytes} bytes. If the host fills it:\n# [[default.arg]]\n# name = \"{name}\"\n# kind = \"{kind}\"\n# type = \"u8\"\n# count = {bytes}\n# file = \"{name}.bin\"\n# variable = \"{name}\"\n"
            );
        }
        text
    }
}

/// A buffer whose size only the host knows.
fn buffer(name: &str, pointed: &Pointed) -> String {
    let (kind, contents) = match (pointed.read, pointed.written) {
        (true, false) => (
            "in",
            "init = \"TODO\"  # or file = \"...\" (.npy, .csv, bytes)",
        ),
        (false, true) => ("out", "# file = \"...\"  # what it must hold afterwards"),
        _ => (
            "inout",
            "init = \"TODO\"  # or file = \"...\"; expect_file is what it must hold afterwards",
        ),
    };
    let element = pointed.element.as_deref().map_or("u8", element_type);
    format!(
        "\n[[default.arg]]\nname = \"{name}\"\nkind = \"{kind}\"\ntype = \"{element}\"\ncount = \"{MISSING}\"\n{contents}\n"
    )
}

/// Structures are arrays of bytes in PTX.
fn is_scalar(param: &Param) -> bool {
    let bits = param
        .element
        .get(1..)
        .and_then(|bits| bits.parse::<u32>().ok());
    bits == Some(8 * param.bytes)
}

/// The type of launch files for one of PTX.
fn element_type(ptx: &str) -> &'static str {
    match ptx {
        "s8" => "i8",
        "b8" | "u8" => "u8",
        "s16" => "i16",
        "f16" => "f16",
        "b16" | "u16" => "u16",
        "s64" => "i64",
        "b64" | "u64" => "u64",
        "f32" => "f32",
        "f64" => "f64",
        "s32" => "i32",
        _ => "u32",
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

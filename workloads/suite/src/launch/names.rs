//! Kernels by the names that people give them.

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, Symbol};
use warpwatt_ptx::Module;

use super::problem::nearest;
use super::{Action, Case, KernelLaunch, Problem, Step};

/// Demangled names are no longer than this; a mangled one of a few bytes may stand for far more.
const LONGEST: usize = 1 << 14;
/// Candidates that a message lists.
const LISTED: usize = 8;

/// A C++ name as people write it, `void copy<float>(float*, int)`; nothing if `name` is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    demangled_with(name, &DemangleOptions::new())
}

/// A name for a cell of a table: a C++ one without parameters, and without the arguments of its template where they make it long.
pub fn readable(name: &str) -> String {
    /// Characters of a cell.
    const CELL: usize = 60;
    let bare = DemangleOptions::new().no_params().no_return_type();
    let Some(full) = demangled_with(name, &bare) else {
        return name.to_owned();
    };
    match full.find('<') {
        Some(arguments) if full.len() > CELL => format!("{}<...>", &full[..arguments]),
        _ => full,
    }
}

fn demangled_with(name: &str, options: &DemangleOptions) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = Symbol::new(name).ok()?;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, options).ok()?;
    Some(text.0)
}

/// The name of a kernel without namespaces, template arguments and parameters.
pub(super) fn base_name(name: &str) -> String {
    let bare = DemangleOptions::new().no_params().no_return_type();
    let full = demangled_with(name, &bare).unwrap_or_else(|| name.to_owned());
    let plain = full.split('<').next().unwrap_or(&full);
    plain.rsplit("::").next().unwrap_or(plain).to_owned()
}

/// Those of `entries` that a text means: see [`Case::resolve_kernels`].
pub fn matching_entries<'n>(name: &str, entries: &[&'n str]) -> Vec<&'n str> {
    if let Some(own) = entries.iter().find(|entry| **entry == name) {
        return vec![own];
    }
    let bare = DemangleOptions::new().no_params().no_return_type();
    // People write `f<int,float>`, the demangler `f<int, float>`.
    let packed = |text: &str| text.replace(' ', "");
    let names: Vec<(&str, [String; 2])> = entries
        .iter()
        .map(|mangled| {
            let of = |options| packed(&demangled_with(mangled, options).unwrap_or_default());
            (*mangled, [of(&DemangleOptions::new()), of(&bare)])
        })
        .collect();
    let such = |such: &dyn Fn(&str) -> bool| -> Vec<&'n str> {
        let such = names
            .iter()
            .filter(|(mangled, forms)| such(mangled) || forms.iter().any(|form| such(form)));
        such.map(|(mangled, _)| *mangled).collect()
    };
    let name = packed(name);
    let whole = such(&|form| form == name);
    match whole.is_empty() {
        true => such(&|form| form.contains(&name)),
        false => whole,
    }
}

/// Text up to [`LONGEST`].
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The entries that `name` means: the one of that name; or else those that have it as C++ name, with parameters or without; or else those in whose name or
/// C++ name it stands.
fn candidates<'m>(name: &str, module: &'m Module) -> Vec<&'m str> {
    let names = module.entries.iter().map(|entry| entry.name.as_str());
    matching_entries(name, &names.collect::<Vec<_>>())
}

impl Case {
    /// Puts the entries' own names where launches name them by a part or by their C++ names. Names that mean no entry or several are left to
    /// [`check`](Self::check).
    pub fn resolve_kernels(&mut self, module: &Module) {
        fn resolve(step: &mut Step, module: &Module) {
            for action in &mut step.body {
                match action {
                    Action::Launch(launch) => {
                        if let [only] = candidates(launch.kernel.get_ref(), module)[..] {
                            *launch.kernel.get_mut() = only.to_owned();
                        }
                    }
                    Action::Step(step) => resolve(step, module),
                    Action::Set(_) | Action::Copy(_) => {}
                }
            }
        }
        for step in &mut self.steps {
            resolve(step, module);
        }
    }
}

/// What is wrong with the name of a kernel that was not found.
pub(super) fn unknown_entry(launch: &KernelLaunch, module: &Module) -> Problem {
    let name = launch.kernel.get_ref();
    let found = candidates(name, module);
    if found.len() < 2 {
        let names = module.entries.iter().map(|entry| entry.name.as_str());
        let names: Vec<_> = names.take(LISTED * LISTED).collect();
        let message = format!("the PTX has no entry `{name}`");
        return Problem::new(launch.kernel.span(), message).help(nearest(name, &names));
    }
    let message = format!("`{name}` means {} entries of the PTX", found.len());
    let listed = found
        .iter()
        .take(LISTED)
        .map(|found| match demangled(found) {
            Some(text) => format!("`{found}` ({text})"),
            None => format!("`{found}`"),
        });
    let listed: Vec<String> = listed.collect();
    let more = match found.len() - listed.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let help = format!(
        "write one of them, or more of its name: {}{more}",
        listed.join(", ")
    );
    Problem::new(launch.kernel.span(), message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY_FLOAT: &str = "_Z4copyIfEvPT_i";
    const COPY_INT: &str = "_Z4copyIiEvPT_i";

    fn module() -> Module {
        let names = [COPY_FLOAT, COPY_INT, "_ZN2ns4scanEPKf", "copy_rows", "copy"];
        let entries = names.iter().map(|name| warpwatt_ptx::Entry {
            name: (*name).to_owned(),
            ..Default::default()
        });
        Module {
            entries: entries.collect(),
            ..Module::default()
        }
    }

    #[test]
    fn names_fit_a_cell() {
        assert_eq!(readable("_Z4copyIfEvPT_PKS0_i"), "copy<float>");
        assert_eq!(readable("vector_add"), "vector_add");
        let long = "_Z4copyI".to_owned() + &"f".repeat(40) + "EvPT_PKS0_i";
        assert_eq!(readable(&long), "copy<...>");
    }

    #[test]
    fn names_mean_entries() {
        let module = module();
        let of = |name| candidates(name, &module);
        assert_eq!(of("copy"), ["copy"], "its own name comes first");
        assert_eq!(of("copy<float>"), [COPY_FLOAT]);
        assert_eq!(of("void copy<int>(int*, int)"), [COPY_INT]);
        assert_eq!(of("ns::scan"), ["_ZN2ns4scanEPKf"]);
        assert_eq!(of("scan"), ["_ZN2ns4scanEPKf"]);
        assert_eq!(of("copy<"), [COPY_FLOAT, COPY_INT]);
        assert_eq!(of("nothing"), [""; 0]);
    }

    /// A name of a few bytes that stands for more text than a machine has.
    #[test]
    fn a_name_that_explodes_is_left_as_it_is() {
        let mut name = "_Z1fI1aE".to_owned();
        name.push_str(&"1gIS_S_E".repeat(60));
        let _ = demangled(&name);
        let pairs: String = (0..40).map(|at| format!("St4pairIS{at}_S{at}_E")).collect();
        assert!(demangled(&format!("_Z1f{pairs}")).is_none_or(|text| text.len() <= LONGEST));
        assert_eq!(demangled("_Zwhat"), None);
        assert_eq!(demangled("plain"), None);
    }
}

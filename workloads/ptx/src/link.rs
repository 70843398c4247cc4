//! Modules that are compiled apart, as one: what a device linker does, on the text.
//!
//! A name with `.visible` is one for all modules, one with `.weak` or `.common` is the first that there is, one with `.extern` is that of another module, and one
//! with none of them is the module's own (PTX ISA 8.x, section 5.5 and chapter 11.6, "Linking Directives").

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Directives that end with their line.
const LINES: [&str; 4] = [".version", ".target", ".address_size", ".file"];

/// Who knows a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linkage {
    Visible,
    /// `.weak` and `.common`.
    Weak,
    Extern,
    Own,
}

/// A statement outside of functions.
#[derive(Clone, Copy, Debug)]
struct Statement<'s> {
    text: &'s str,
    /// Its first word.
    first: &'s str,
    /// What it declares or defines.
    name: Option<&'s str>,
    linkage: Linkage,
    /// It is an entry, whose name the host knows.
    is_entry: bool,
    /// It has a body, or is a variable that is not another module's.
    defines: bool,
}

/// One module of several: the text of a single one is left as it is.
pub fn link(texts: &[String]) -> String {
    if let [only] = texts {
        return only.clone();
    }
    let modules: Vec<Vec<Statement<'_>>> = texts.iter().map(|text| statements(text)).collect();
    let exported = exported(&modules);
    let mut linked = heading(&modules);
    let mut declared: BTreeSet<&str> = BTreeSet::new();
    for (number, module) in modules.iter().enumerate() {
        let renamed = renamed(number, &modules);
        for statement in module {
            if keeps(statement, number, &exported, &mut declared) {
                write(&mut linked, statement.text, number, &renamed);
            }
        }
    }
    linked
}

/// Names of functions that a text defines and others may call.
pub fn functions(text: &str) -> Vec<&str> {
    let defined = statements(text).into_iter();
    let defined = defined.filter(|it| it.defines && it.text.contains(".func"));
    defined.filter_map(|it| it.name).collect()
}

/// The module that each name for all modules is defined in: the first one, but one with `.visible` before those with `.weak`.
fn exported<'s>(modules: &[Vec<Statement<'s>>]) -> BTreeMap<&'s str, usize> {
    let mut exported = BTreeMap::new();
    for wanted in [Linkage::Visible, Linkage::Weak] {
        for (number, module) in modules.iter().enumerate() {
            let defined = module
                .iter()
                .filter(|it| it.defines && it.linkage == wanted);
            for name in defined.filter_map(|it| it.name) {
                exported.entry(name).or_insert(number);
            }
        }
    }
    exported
}

/// The newest version and the newest target of all modules.
fn heading(modules: &[Vec<Statement<'_>>]) -> String {
    let mut heading = String::new();
    for directive in [".version", ".target", ".address_size"] {
        let all = modules.iter().flatten().filter(|it| it.first == directive);
        let number = |it: &&Statement<'_>| {
            let digits = |c: char| c.is_ascii_digit() || c == '.';
            let from = it.text[directive.len()..].trim_start_matches(|c: char| !c.is_ascii_digit());
            let end = from.find(|c| !digits(c)).unwrap_or(from.len());
            let (whole, part) = from[..end].split_once('.').unwrap_or((&from[..end], ""));
            (
                whole.parse::<u32>().unwrap_or(0),
                part.parse::<u32>().unwrap_or(0),
            )
        };
        if let Some(newest) = all.max_by_key(number) {
            let _ = writeln!(heading, "{}", newest.text);
        }
    }
    heading
}

/// New names of what is a module's own and has a name that another module has too.
fn renamed<'s>(number: usize, modules: &[Vec<Statement<'s>>]) -> BTreeMap<&'s str, String> {
    let others = modules.iter().enumerate().filter(|(at, _)| *at != number);
    let others: BTreeSet<&str> = others
        .flat_map(|(_, module)| module.iter().filter_map(|it| it.name))
        .collect();
    let own = modules[number].iter();
    let own = own.filter(|it| it.linkage == Linkage::Own && !it.is_entry);
    let clash = own.filter_map(|it| it.name.filter(|name| others.contains(name)));
    clash
        .map(|name| (name, format!("{name}$module{number}")))
        .collect()
}

fn keeps<'s>(
    statement: &Statement<'s>,
    number: usize,
    exported: &BTreeMap<&'s str, usize>,
    declared: &mut BTreeSet<&'s str>,
) -> bool {
    if LINES[..3].contains(&statement.first) {
        return false;
    }
    // Places in sources are numbered by module; those of the first one are kept.
    let places = statement.first == ".file" || statement.first == ".section";
    let Some(name) = statement.name.filter(|_| !places) else {
        return !places || number == 0;
    };
    match (statement.linkage, exported.get(name)) {
        (Linkage::Own | Linkage::Visible, _) => true,
        (Linkage::Weak, Some(&first)) => first == number,
        (Linkage::Extern, Some(_)) => false,
        (Linkage::Weak | Linkage::Extern, None) => declared.insert(name),
    }
}

/// Writes a statement with its new names.
fn write(linked: &mut String, text: &str, number: usize, renamed: &BTreeMap<&str, String>) {
    let is_place = |line: &str| line.split_whitespace().next() == Some(".loc");
    let places = |line: &&str| number == 0 || !is_place(line);
    for line in text.lines().filter(places) {
        let mut rest = line;
        while let Some(token) = token(rest) {
            let word = &rest[..token];
            linked.push_str(renamed.get(word).map_or(word, String::as_str));
            rest = &rest[token..];
        }
        linked.push('\n');
    }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

/// Bytes of the token that a text begins with: a word with what may be in names, a string, a comment, or a single character.
fn token(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    let to = |end: Option<usize>, more: usize| Some(end.map_or(text.len(), |at| at + more));
    if text.starts_with("//") {
        return to(text.find('\n'), 0);
    }
    if text.starts_with("/*") {
        return to(text.find("*/"), 2);
    }
    if first == b'"' {
        return to(text[1..].find('"'), 2);
    }
    if first == b'.' || in_name(first) {
        let end = bytes[1..].iter().position(|&byte| !in_name(byte));
        return to(end, 1);
    }
    text.chars().next().map(char::len_utf8)
}

/// The statements outside of functions.
fn statements(text: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(length) = token(rest) {
        let word = &rest[..length];
        if word.trim().is_empty() || word.starts_with("//") || word.starts_with("/*") {
            rest = &rest[length..];
            continue;
        }
        let end = match LINES.contains(&word) {
            true => rest.find('\n').unwrap_or(rest.len()),
            false => end_of(rest),
        };
        found.push(statement(&rest[..end]));
        rest = &rest[end..];
    }
    found
}

/// Where the statement ends that a text begins with: behind `;`, or behind the body of a function.
fn end_of(text: &str) -> usize {
    let (mut at, mut depth, mut initialised) = (0, 0_usize, false);
    while let Some(length) = token(&text[at..]) {
        let word = &text[at..at + length];
        at += length;
        match word {
            "(" | "{" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !initialised {
                    return at;
                }
            }
            "=" if depth == 0 => initialised = true,
            ";" if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn statement(text: &str) -> Statement<'_> {
    let (mut at, mut depth) = (0, 0_usize);
    let (mut first, mut name, mut body) = ("", None, false);
    let (mut linkage, mut is_function, mut is_entry) = (Linkage::Own, false, false);
    while let Some(length) = token(&text[at..]) {
        let word = &text[at..at + length];
        at += length;
        if first.is_empty() {
            first = word;
        }
        match word {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "{" | "=" if depth == 0 => {
                body = word == "{";
                break;
            }
            _ if depth > 0 => {}
            ".visible" => linkage = Linkage::Visible,
            ".weak" | ".common" => linkage = Linkage::Weak,
            ".extern" => linkage = Linkage::Extern,
            ".func" => is_function = true,
            ".entry" => is_entry = true,
            _ => {
                let begins = |byte: u8| in_name(byte) && !byte.is_ascii_digit();
                if name.is_none() && word.bytes().next().is_some_and(begins) {
                    name = Some(word);
                }
            }
        }
    }
    let code = is_function || is_entry;
    Statement {
        text,
        first,
        name,
        linkage,
        is_entry,
        defines: if code {
            body
        } else {
            linkage != Linkage::Extern
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";
    const FIRST: &str = "
        .extern .func (.param .b32 r) helper (.param .b32 a);
        .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
        .extern .global .align 4 .b8 table[16];
        .extern .const .align 4 .u32 scale;
        .visible .global .align 8 .u64 pick = helper;
        .global .align 1 .b8 $str[2] = {97, 0}; // {
        .weak .func (.param .b32 r) both (.param .b32 a) { ret; }
        .visible .entry first(.param .u64 p) {
            .reg .b32 %r<4>; .reg .b64 %rd<4>; mov.u64 %rd1, $str; ld.global.u32 %r1, [table+4]; ld.const.u32 %r2, [scale];
            { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r; call.uni (r), helper, (a); ld.param.b32 %r3, [r]; }
            st.global.u32 [%rd1], %r3; ret; }";
    const SECOND: &str = "
        .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
        .visible .global .align 4 .b8 table[16] = {1, 2, 3};
        .visible .const .align 4 .u32 scale = 2;
        .global .align 1 .b8 $str[3] = {98, 98, 0};
        .extern .global .u64 pick;
        .weak .func (.param .b32 r) both (.param .b32 a) { ret; }
        .visible .func (.param .b32 r) helper (.param .b32 a) {
            .local .align 8 .b8 depot[8]; .reg .b64 %rd<2>; mov.u64 %rd1, $str;
            .loc 1 2 3
            mov.u64 %rd1, depot; ret; }
        .visible .entry second() {
            .local .align 8 .b8 depot2[8]; .reg .b64 %rd<2>; mov.u64 %rd1, depot2; ret; }";

    #[test]
    fn names_are_those_of_the_module_that_defines_them() {
        let linked = link(&[format!("{HEAD}{FIRST}"), format!("{HEAD}{SECOND}")]);
        let module = load(&linked).unwrap_or_else(|errors| panic!("{errors:#?}\n{linked}"));
        for name in ["first", "second"] {
            let entry = module.entry(name).unwrap();
            assert!(entry.unsupported.is_empty(), "{:#?}", entry.unsupported);
        }
        let variables: Vec<&str> = module.variables.iter().map(|it| it.name.as_str()).collect();
        for name in ["table", "scale", "pick", "$str$module0", "$str$module1"] {
            let count = variables.iter().filter(|it| **it == name).count();
            assert_eq!(count, 1, "{name} in {variables:?}");
        }
        assert_eq!(linked.matches("both (").count(), 1);
        assert_eq!(linked.matches(".version").count(), 1);
        assert_eq!(functions(&format!("{HEAD}{SECOND}")), ["both", "helper"]);
    }

    #[test]
    fn a_single_module_is_left_as_it_is_and_the_newest_target_wins() {
        let only = format!("{HEAD}{SECOND}");
        assert_eq!(link(std::slice::from_ref(&only)), only);
        let newer = HEAD.replace("8.0", "8.10").replace("sm_80", "sm_90a");
        let linked = link(&[HEAD.replace("8.0", "8.9"), newer]);
        assert!(
            linked.starts_with(".version 8.10\n.target sm_90a\n.address_size 64\n"),
            "{linked}"
        );
    }

    #[test]
    fn a_name_that_nobody_defines_is_told() {
        let linked = link(&[format!("{HEAD}{FIRST}"), HEAD.to_owned()]);
        let module = load(&linked);
        let told = match module {
            Ok(module) => format!("{:?}", module.entries[0].unsupported),
            Err(errors) => format!("{errors:?}"),
        };
        assert!(told.contains("helper"), "{told}");
    }

    proptest::proptest! {
        #[test]
        fn noise_is_survived(noise in "[.a-z(){}=;\"/* \n$0-9]{0,200}") {
            let _ = link(&[noise.clone(), noise]);
        }
    }
}

//! What a kernel's instructions take: by opcode, and by line of the source.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::bar;
use crate::goal::quantity::readable;
use crate::report::kernel_page::Line;
use crate::run::by_instruction::{ByInstruction, Spent};

/// Rows that are shown; the others are added up.
const SHOWN: usize = 20;

/// What the dynamic energy is parted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Opcodes of the PTX
    Opcodes,
    /// Lines of the source where the PTX says which (`.loc`), else lines of the PTX
    Lines,
}

/// Count and dynamic energy.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    dynamic_j: f64,
}

/// The dynamic energy of a run by opcode and by line.
pub struct Instructions {
    opcodes: Vec<(String, Sum)>,
    lines: Vec<((String, u32), Sum)>,
    rest: BTreeMap<String, f64>,
}

impl Instructions {
    /// Of a program in the text `ptx` of the file `name`.
    pub fn of((name, ptx): (&str, &str), parts: &ByInstruction) -> Self {
        let text = Text::of(name, ptx);
        let mut opcodes: BTreeMap<String, Sum> = BTreeMap::new();
        let mut lines: BTreeMap<(String, u32), Sum> = BTreeMap::new();
        for spent in &parts.spent {
            for sum in [
                opcodes.entry(text.opcode(spent)).or_default(),
                lines.entry(text.place(spent.line)).or_default(),
            ] {
                sum.count += spent.count;
                sum.dynamic_j += spent.dynamic_j;
            }
        }
        Self {
            opcodes: ordered(opcodes),
            lines: ordered(lines),
            rest: parts.rest.clone(),
        }
    }

    /// The keys that they add to the document of a kernel.
    pub fn value(&self) -> Map<String, Value> {
        let opcodes = self.opcodes.iter().map(
            |(name, sum)| json!({ "name": name, "count": sum.count, "dynamic_j": sum.dynamic_j }),
        );
        let lines = self.lines.iter().map(|((file, line), sum)| {
            json!({ "file": file, "line": line, "count": sum.count, "dynamic_j": sum.dynamic_j })
        });
        let mut keys = Map::new();
        keys.insert("opcodes".to_owned(), opcodes.collect());
        keys.insert("lines".to_owned(), lines.collect());
        keys.insert("of_no_instruction".to_owned(), json!(self.rest));
        keys
    }

    /// Lines of text.
    pub fn text(&self, by: Parts) -> String {
        let rows: Vec<(String, Sum)> = match by {
            Parts::Opcodes => self.opcodes.clone(),
            Parts::Lines => {
                let lines = self.lines.iter();
                lines
                    .map(|((file, line), sum)| (format!("{file}:{line}"), *sum))
                    .collect()
            }
        };
        let what = match by {
            Parts::Opcodes => "opcode",
            Parts::Lines => "line",
        };
        let all: f64 = rows.iter().map(|(_, sum)| sum.dynamic_j).sum();
        let mut text = format!("  dynamic energy by {what}\n");
        let mut row = |name: &str, sum: Sum| {
            let share = sum.dynamic_j / all.max(f64::MIN_POSITIVE);
            let bar = bar(share);
            let _ = writeln!(
                text,
                "    {name:<26}{:>12} issues{:>12} {:>6.1}% {bar}",
                sum.count,
                readable(sum.dynamic_j, "J"),
                100.0 * share
            );
        };
        for (name, sum) in rows.iter().take(SHOWN) {
            row(name, *sum);
        }
        let others = rows.iter().skip(SHOWN).map(|(_, sum)| sum);
        let others = others.fold(Sum::default(), |all, sum| Sum {
            count: all.count + sum.count,
            dynamic_j: all.dynamic_j + sum.dynamic_j,
        });
        if others.count > 0 {
            row("all others", others);
        }
        if !self.rest.is_empty() {
            let parts = self.rest.iter();
            let parts = parts.map(|(name, joules)| format!("{name} {}", readable(*joules, "J")));
            let parts: Vec<String> = parts.collect();
            let _ = writeln!(text, "  of no instruction: {}", parts.join(", "));
        }
        text
    }
}

/// The program in the text `ptx` of the file `name`, with what each line took.
pub fn listing((name, ptx): (&str, &str), parts: &ByInstruction) -> Vec<Line> {
    let text = Text::of(name, ptx);
    let mut sums = vec![Sum::default(); text.lines.len()];
    for spent in &parts.spent {
        if let Some(sum) = sums.get_mut(spent.line.wrapping_sub(1) as usize) {
            sum.count += spent.count;
            sum.dynamic_j += spent.dynamic_j;
        }
    }
    let lines = (1..).zip(&text.lines).zip(sums);
    let lines = lines.map(|((number, line), sum)| Line {
        number,
        text: (*line).to_owned(),
        source: text
            .said(number)
            .map(|(file, line)| format!("{file}:{line}")),
        issues: sum.count,
        dynamic_j: sum.dynamic_j,
    });
    lines.collect()
}

/// The dearest first; equal ones by name.
fn ordered<K: Ord>(sums: BTreeMap<K, Sum>) -> Vec<(K, Sum)> {
    let mut all: Vec<(K, Sum)> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.dynamic_j.total_cmp(&a.1.dynamic_j).then(a.0.cmp(&b.0)));
    all
}

/// What is to be known of a PTX text: the opcodes of each line, and the line of the source that it comes from.
struct Text<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
    /// By line of the PTX, from 0: number of the file and line in it.
    sources: Vec<Option<(u32, u32)>>,
    files: BTreeMap<u32, String>,
}

impl<'t> Text<'t> {
    fn of(name: &'t str, ptx: &'t str) -> Self {
        let lines: Vec<&str> = ptx.lines().collect();
        let mut files = BTreeMap::new();
        let mut sources = Vec::with_capacity(lines.len());
        let mut here = None;
        for line in &lines {
            let mut words = line.split_whitespace();
            match words.next() {
                Some(".loc") => {
                    let mut number = || words.next().and_then(|word| word.parse().ok());
                    here = number().zip(number());
                }
                Some(".file") => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    let name = line.split('"').nth(1);
                    files.extend(number.zip(name.map(str::to_owned)));
                }
                // What a line comes from is said anew in every function.
                Some(".entry" | ".func" | ".visible" | ".weak") => here = None,
                _ => {}
            }
            sources.push(here);
        }
        Self {
            name,
            lines,
            sources,
            files,
        }
    }

    /// The file and the line that a line of the PTX comes from: its own, if it does not say so.
    fn place(&self, line: u32) -> (String, u32) {
        match self.said(line) {
            Some((file, line)) => (file.to_owned(), line),
            None => (self.name.to_owned(), line),
        }
    }

    /// The file and the line of the source that a line of the PTX says that it comes from.
    fn said(&self, line: u32) -> Option<(&str, u32)> {
        let said = self.sources.get(line.wrapping_sub(1) as usize);
        let (file, line) = said.copied().flatten()?;
        Some((self.files.get(&file)?, line))
    }

    fn opcode(&self, spent: &Spent) -> String {
        let line = self.lines.get(spent.line.wrapping_sub(1) as usize);
        let statements = line.map_or("", |line| line.split("//").next().unwrap_or(""));
        let opcodes: Vec<&str> = statements.split(';').filter_map(opcode).collect();
        let found = opcodes.get(spent.place).or(opcodes.last());
        found.copied().unwrap_or("?").to_owned()
    }
}

/// The opcode of a statement, without its label and its guard.
fn opcode(statement: &str) -> Option<&str> {
    let behind_label = match statement.split_once(':') {
        Some((label, rest))
            if !label.contains(['.', '[', '"']) || label.trim().starts_with('$') =>
        {
            rest
        }
        _ => statement,
    };
    let mut words = behind_label
        .split([' ', '\t', '{', '}'])
        .filter(|word| !word.is_empty());
    let first = words.next()?;
    match first.starts_with('@') {
        true => words.next(),
        false => Some(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_stand_behind_labels_and_guards() {
        for (statement, expected) in [
            ("  add.s32 %r1, %r2, %r3", Some("add.s32")),
            ("$L__BB0_2: @!%p1 bra $L__BB0_3", Some("bra")),
            ("{ mov.b32 %r1, 0", Some("mov.b32")),
            ("ret", Some("ret")),
            ("  ", None),
        ] {
            assert_eq!(opcode(statement), expected, "{statement}");
        }
    }

    #[test]
    fn lines_are_the_source_s_where_the_ptx_says_so() {
        let ptx = ".entry k()\n{\n.loc 1 7 3\nadd.s32 a, b, c; ret;\n}\n.entry l()\nret;\n.file 1 \"k.cu\"\n";
        let text = Text::of("k.ptx", ptx);
        assert_eq!(text.place(4), ("k.cu".to_owned(), 7));
        assert_eq!(text.place(7), ("k.ptx".to_owned(), 7));
        let spent = |place| Spent {
            line: 4,
            place,
            count: 1,
            dynamic_j: 0.0,
        };
        assert_eq!(text.opcode(&spent(0)), "add.s32");
        assert_eq!(text.opcode(&spent(1)), "ret");
    }
}

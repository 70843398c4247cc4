//! Which forms of instructions are supported: `forms.txt` against the lowering, and the table in the docs.

use std::fmt::Write as _;

use warpwatt_ptx::load;

const FORMS: &str = include_str!("forms.txt");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ptx.md");
const BEGIN: &str =
    "<!-- forms: written by `WARPWATT_BLESS=1 cargo test -p warpwatt-ptx --test forms` -->\n";
const END: &str = "<!-- end of forms -->\n";

/// A line of the file: whether its forms are supported, opcode and modifiers, operands.
struct Line {
    supported: bool,
    form: String,
    operands: String,
}

impl Line {
    fn of(line: &str) -> Option<Self> {
        let (mark, text) = line.split_at_checked(2)?;
        let supported = match mark {
            "+ " => true,
            "- " => false,
            _ => return None,
        };
        // A guard belongs to the form.
        let skipped = if text.starts_with('@') {
            text.find(' ')? + 1
        } else {
            0
        };
        let end = text[skipped..]
            .find(' ')
            .map_or(text.len(), |at| at + skipped);
        Some(Self {
            supported,
            form: text[..end].to_owned(),
            operands: text[end..].to_owned(),
        })
    }

    /// Every form of the line with its operands.
    fn instructions(&self) -> Vec<String> {
        expanded(&self.form)
            .into_iter()
            .flat_map(|form| {
                // Of special registers the operand has alternatives.
                let operands = match self.operands.contains("%{") {
                    true => expanded(&self.operands),
                    false => vec![self.operands.clone()],
                };
                operands
                    .into_iter()
                    .map(move |operands| format!("{form}{}", fitting(&form, &operands)))
            })
            .collect()
    }
}

/// Alternatives in braces, one text each.
fn expanded(text: &str) -> Vec<String> {
    let Some(begin) = text.find('{') else {
        return vec![text.to_owned()];
    };
    let end = begin + text[begin..].find('}').expect("braces are closed");
    let rest = expanded(&text[end + 1..]);
    text[begin + 1..end]
        .split(',')
        .flat_map(|choice| {
            rest.iter()
                .map(move |rest| format!("{}{choice}{rest}", &text[..begin]))
        })
        .collect()
}

/// The operands with vectors of as many elements as the form has.
fn fitting(form: &str, operands: &str) -> String {
    let opcode = form.split('.').next().unwrap_or_default();
    let has = |modifier: &str| form.split('.').any(|name| name == modifier);
    let elements = match (has("v4"), has("v2")) {
        (true, _) => 4,
        (_, true) => 2,
        _ => 1,
    };
    let coordinates = match () {
        () if has("1d") => 1,
        () if has("2d") || has("a1d") => 2,
        () => 4,
    };
    match opcode {
        "ldu" => shortened(operands, 0, elements),
        "suld" => {
            let loaded = shortened(operands, 0, elements);
            shortened(&loaded, loaded.find('[').unwrap_or(0), coordinates)
        }
        "tex" | "tld4" | "sust" | "sured" => {
            shortened(operands, operands.find('[').unwrap_or(0), coordinates)
        }
        _ => operands.to_owned(),
    }
}

/// The first vector behind an offset with its first elements only; one alone needs no braces.
fn shortened(operands: &str, offset: usize, elements: usize) -> String {
    // A single register in front of the vector stays.
    let first = operands[offset.min(operands.len())..].trim_start_matches(['[', ' ']);
    if offset == 0 && !first.starts_with('{') {
        return operands.to_owned();
    }
    let found = |mark| {
        operands[offset.min(operands.len())..]
            .find(mark)
            .map(|at| at + offset)
    };
    let Some((begin, end)) = found('{').zip(found('}')) else {
        return operands.to_owned();
    };
    let kept: Vec<_> = operands[begin + 1..end].split(',').take(elements).collect();
    let list = match kept[..] {
        [one] => one.to_owned(),
        _ => format!("{{{}}}", kept.join(",")),
    };
    format!("{}{list}{}", &operands[..begin], &operands[end + 1..])
}

fn module(instruction: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.func function() {{ ret; }}\n.visible .entry k()\n{{
        .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<9>;
        T: .branchtargets L, M;\nL:\n{instruction};\nM:\nret;\n}}\n"
    )
}

/// Whether the instruction loads, and if not why.
fn objection(instruction: &str) -> Option<String> {
    let source =
        module(&instruction.replace("%q", "%Q")).replace(" .reg .b128 %q<9>;", " .reg .b64 %Q<9>;");
    match load(&source) {
        Err(errors) => Some(errors[0].message.clone()),
        Ok(module) => module.entries[0]
            .unsupported
            .first()
            .map(|error| error.message.clone()),
    }
}

#[test]
fn every_form_is_supported_or_refused_as_the_table_says() {
    let mut wrong = String::new();
    let mut count = 0;
    for line in FORMS.lines().filter_map(Line::of) {
        for instruction in line.instructions() {
            count += 1;
            match (line.supported, objection(&instruction)) {
                (true, Some(why)) => writeln!(wrong, "{instruction}: {why}").unwrap(),
                (false, None) => writeln!(wrong, "{instruction}: is supported").unwrap(),
                _ => {}
            }
        }
    }
    assert!(count > 2000, "only {count} forms");
    assert_eq!(wrong, "");
}

/// The table: chapter by chapter, the supported and the refused forms.
fn table() -> String {
    let mut text = String::from("| chapter | supported | refused |\n| --- | --- | --- |\n");
    let mut chapter: Option<(&str, Vec<String>, Vec<String>)> = None;
    let mut finish = |chapter: Option<(&str, Vec<String>, Vec<String>)>| {
        if let Some((name, supported, refused)) = chapter {
            writeln!(
                text,
                "| {name} | {} | {} |",
                supported.join(" "),
                refused.join(" ")
            )
            .unwrap();
        }
    };
    for line in FORMS.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            finish(chapter.replace((name, Vec::new(), Vec::new())));
        }
        let (Some(line), Some((_, supported, refused))) = (Line::of(line), &mut chapter) else {
            continue;
        };
        let list = if line.supported { supported } else { refused };
        let operands = match line.operands.contains("%{") {
            true => &line.operands[..],
            false => "",
        };
        let form = format!("`{}{operands}`", line.form);
        if !list.contains(&form) {
            list.push(form);
        }
    }
    finish(chapter);
    text
}

#[test]
fn the_table_in_the_docs_is_current() {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let begin = page.find(BEGIN).expect("the page has the table's begin") + BEGIN.len();
    let end = page.find(END).expect("the page has the table's end");
    let current = format!("{}{}{}", &page[..begin], table(), &page[end..]);
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        std::fs::write(PAGE, &current).expect("the page can be written");
    }
    assert!(
        page == current || std::env::var_os("WARPWATT_BLESS").is_some(),
        "docs/ptx.md is not current: WARPWATT_BLESS=1 cargo test -p warpwatt-ptx --test forms"
    );
}

//! The cookbook: every command of `docs/cookbook.md` prints what the page says.
//!
//! A block ```` ```toml NAME ```` is a file; a block ```` ```console ```` is a command after `$` and its standard output. A line `...` stands for any lines. With
//! `WARPWATT_BLESS=1` outputs without such a line are written into the page.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Scratch, command, stderr, stdout, words};

/// What stands for any lines.
const ANY: &str = "...";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cookbook.md")
}

/// A fenced block: what follows the fence, its lines, and where these stand in the page.
struct Block {
    info: String,
    lines: Vec<String>,
    first: usize,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Block {
                    info: info.to_owned(),
                    lines: Vec::new(),
                    first: number + 1,
                });
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    blocks
}

/// What the command after `$ warpwatt ` prints in `here`, narrow enough for a page.
fn printed(line: &str, here: &Path) -> Vec<String> {
    let line = line
        .strip_prefix("$ warpwatt ")
        .unwrap_or_else(|| panic!("no command: {line}"));
    let output = command(here).args(words(line)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}\n{}", stderr(&output));
    stdout(&output)
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Whether the page's lines are the printed ones; `...` is any number of lines.
fn fits(page: &[String], printed: &[String]) -> bool {
    match page.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == ANY => {
            (0..=printed.len()).any(|skip| fits(rest, &printed[skip..]))
        }
        Some((line, rest)) => printed.first() == Some(line) && fits(rest, &printed[1..]),
    }
}

#[test]
fn every_answer_is_what_the_command_prints() {
    let text = fs::read_to_string(page()).unwrap();
    let bless = std::env::var_os("WARPWATT_BLESS").is_some();
    let scratch = Scratch::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut commands = 0;
    // From the last block to the first, so that places in the page stay; files are written before any command.
    let blocks = blocks(&text);
    for block in &blocks {
        if let Some(name) = block
            .info
            .strip_prefix("toml ")
            .or(block.info.strip_prefix("csv "))
        {
            scratch.write(name, &(block.lines.join("\n") + "\n"));
        }
    }
    let mut wrong = Vec::new();
    let consoles: Vec<(&Block, Vec<String>)> = blocks
        .iter()
        .filter(|block| block.info == "console")
        .map(|block| (block, printed(&block.lines[0], &scratch.path(""))))
        .collect();
    for (block, printed) in consoles.into_iter().rev() {
        commands += 1;
        let answer = &block.lines[1..];
        if bless && !answer.iter().any(|line| line == ANY) {
            let place = block.first + 1..block.first + block.lines.len();
            lines.splice(place, printed);
        } else if !fits(answer, &printed) {
            wrong.push(format!("{}\n{}", block.lines[0], printed.join("\n")));
        }
    }
    if bless {
        fs::write(page(), lines.join("\n") + "\n").unwrap();
    }
    assert!(commands >= 10, "only {commands} commands");
    assert!(
        wrong.is_empty(),
        "docs/cookbook.md should say:\n\n{}",
        wrong.join("\n\n")
    );
}

/// A name of a question's own: the test of the harness itself.
#[test]
fn a_page_fits_what_was_printed_or_does_not() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let printed = lines("a\nb\nc\nd");
    assert!(fits(&lines("a\nb\nc\nd"), &printed));
    assert!(fits(&lines("a\n...\nd"), &printed) && fits(&lines("...\nc\n..."), &printed));
    assert!(!fits(&lines("a\n...\ne"), &printed) && !fits(&lines("a\nb\nc"), &printed));
    assert_eq!(words("-t \"a(b=1) + c\" x"), ["-t", "a(b=1) + c", "x"]);
}

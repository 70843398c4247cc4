//! Texts of findings stay short, whatever stands in a file.

use std::ops::Range;

/// Characters of a quotation, and of a line of a file, that are shown.
pub const MOST_QUOTED: usize = 200;

/// Characters of a quotation's end that are shown where its middle is left out.
const LAST: usize = 40;

/// Bytes of a whole sentence or remedy: room for a list of all names of a kind, or of what every warp waits for.
const MOST_TEXT: usize = 64_000;

/// `text` with long quotations cut in their middle, and without what would change a terminal or the order in which text is read.
pub fn sentence(text: String) -> String {
    let text = match text.contains(acts) {
        true => text.chars().map(harmless).collect(),
        false => text,
    };
    if text.len() <= MOST_QUOTED {
        return text;
    }
    // What stands between every other pair of backticks is quoted. Without a second one the rest is.
    let mut pieces: Vec<String> = text
        .split('`')
        .enumerate()
        .map(|(place, piece)| match place % 2 {
            1 => middle_out(piece),
            _ => piece.to_owned(),
        })
        .collect();
    for piece in &mut pieces {
        if piece.len() > MOST_TEXT {
            *piece = middle_out(piece);
        }
    }
    let mut text = pieces.join("`");
    if text.len() > MOST_TEXT {
        text.truncate(super::floor_boundary(&text, MOST_TEXT));
        text.push('…');
    }
    text
}

/// Whether a character is no text, but does something to it.
fn acts(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}

fn harmless(c: char) -> char {
    if acts(c) {
        char::REPLACEMENT_CHARACTER
    } else {
        c
    }
}

fn middle_out(quoted: &str) -> String {
    // More characters than bytes there cannot be.
    if quoted.len() <= MOST_QUOTED {
        return quoted.to_owned();
    }
    let count = quoted.chars().count();
    if count <= MOST_QUOTED {
        return quoted.to_owned();
    }
    let note = format!("… ({count} characters) …");
    let first: String = quoted
        .chars()
        .take(MOST_QUOTED - LAST - note.chars().count())
        .collect();
    let last = quoted.char_indices().rev().nth(LAST - 1);
    let last = last.map_or("", |(at, _)| &quoted[at..]);
    format!("{first}{note}{last}")
}

/// The line of `text` in which `at` lies, without its end.
pub fn line(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    start..end
}

/// As much of `line` as is shown where `marked` in it is to be seen: all of it, or a part that begins shortly before.
pub fn window(text: &str, line: Range<usize>, marked: usize) -> Range<usize> {
    /// Bytes before the mark.
    const BEFORE: usize = 60;
    if line.len() <= MOST_QUOTED {
        return line;
    }
    let near = super::floor_boundary(text, marked.saturating_sub(BEFORE));
    let start = match marked - line.start {
        0..=BEFORE => line.start,
        _ => near.max(line.start),
    };
    let end = super::floor_boundary(text, (start + MOST_QUOTED).min(line.end));
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_quotations_are_cut_and_everything_else_is_as_it_was() {
        let long = "x".repeat(100_000);
        let text = sentence(format!("a study has no key `{long}`; choose `a`"));
        assert!(text.chars().count() < 250, "{text}");
        assert!(text.starts_with("a study has no key `xxx") && text.ends_with("xxx`; choose `a`"));
        assert!(text.contains("(100000 characters)"), "{text}");
        let list = format!("choose one of {}", ["`name`"; 300].join(", "));
        assert_eq!(sentence(list.clone()), list);
        assert!(sentence(long).chars().count() <= MOST_QUOTED);
        assert!(sentence("ä".repeat(100_000)).chars().count() <= MOST_QUOTED);
        assert!(sentence(["word"; 100_000].join("`")).len() <= MOST_TEXT + 3);
    }

    #[test]
    fn nothing_that_is_told_acts_on_a_terminal() {
        let text = sentence("a\u{1b}[2J\u{202e}b\r\tc\nd".to_owned());
        assert_eq!(text, "a\u{fffd}[2J\u{fffd}b\u{fffd}\tc\nd");
    }

    #[test]
    fn a_window_holds_its_mark() {
        let text = "é".repeat(1_000);
        for marked in [0, 2, 100, 998, 1_998] {
            let window = window(&text, 0..text.len(), marked);
            assert!(window.start <= marked && marked <= window.end, "{window:?}");
            assert!(text.get(window.clone()).is_some() && window.len() <= MOST_QUOTED);
        }
        assert_eq!(line("ab\ncd\n", 3), 3..5);
        assert_eq!(line("ab\ncd\n", 6), 6..6);
    }
}

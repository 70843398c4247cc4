//! Text without what commands a terminal: names of kernels, titles and paths come from files that anybody may have written.

use std::borrow::Cow;

/// `text` with every character that a terminal obeys rather than shows written as JSON writes it (`\u001b`), so that a document stays one.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push(&mut shown, character);
    }
    Cow::Owned(shown)
}

/// As [`visible`], but for styles, which are our own.
pub fn styled(text: &str) -> Cow<'_, str> {
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = style(rest);
        match length {
            0 => push(&mut shown, character),
            _ => shown.push_str(&rest[..length]),
        }
        rest = &rest[length.max(character.len_utf8())..];
    }
    Cow::Owned(shown)
}

fn push(shown: &mut String, character: char) {
    if commands(character) {
        shown.push_str(&format!("\\u{:04x}", u32::from(character)));
    } else {
        shown.push(character);
    }
}

/// Control characters but for ends of lines and tabs, and those that turn the direction of what follows, so that it reads as something else.
fn commands(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    turns || character.is_control() && !matches!(character, '\n' | '\t')
}

/// Bytes of the style that `text` begins with; none if it begins with something else. Only weight, underline and colours that show are styles: names in
/// a message may hold some too, and can hide nothing with them.
fn style(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let Some((codes, _)) = codes.split_once('m') else {
        return 0;
    };
    let shows = |code: &str| {
        let code: Result<u8, _> = code.parse();
        matches!(code, Ok(0 | 1 | 4 | 31..=37 | 91..=97))
    };
    match codes.split(';').all(shows) {
        true => "\u{1b}[m".len() + codes.len(),
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_terminal_are_shown_and_not_obeyed() {
        assert!(matches!(visible("ä\tb\n"), Cow::Borrowed(_)));
        assert_eq!(visible("\u{1b}[2Jx\u{7}"), "\\u001b[2Jx\\u0007");
        assert_eq!(visible("a\rb\u{9b}1mc\u{7f}"), "a\\u000db\\u009b1mc\\u007f");
        assert_eq!(visible("a\u{202e}b"), "a\\u202eb");
    }

    #[test]
    fn a_document_stays_the_document_it_is() {
        let value = serde_json::json!({ "name\u{9b}": "\u{1b}[31m\u{202e}\u{7f}" });
        let text = value.to_string();
        let read: serde_json::Value = serde_json::from_str(&visible(&text)).unwrap();
        assert_eq!(read, value);
        assert!(!visible(&text).contains(commands));
    }

    #[test]
    fn styles_of_our_own_stay() {
        let text =
            "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: a\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[8mb\u{1b}[";
        let shown = "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: a\\u001b]0;title\\u0007\\u001b[2J\\u001b[8mb\\u001b[";
        assert_eq!(styled(text), shown);
    }
}

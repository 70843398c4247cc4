//! What people read: columns of texts, and paragraphs.

/// A column: its heading in lines, what it means, and its cells, one a comparison of the block.
pub struct Column {
    /// The lines of the heading, unit last.
    pub heading: Vec<String>,
    /// What the figures are.
    pub meaning: String,
    /// The figures.
    pub cells: Vec<String>,
}

/// A text in lines of at most `width` characters as far as words allow.
pub fn paragraph(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push('\n');
            used = 0;
        }
        if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines.push('\n');
    lines
}

//! Colours of the page on which text stands.

use super::STYLE;

/// The relative luminance of `#rrggbb` (WCAG 2.2).
fn luminance(colour: &str) -> f64 {
    let channel = |from: usize| {
        let value = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            libm::pow((value + 0.055) / 1.055, 2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

/// The value of a colour in a part of the style sheet.
fn colour(part: &str, name: &str) -> f64 {
    let found = part.split(&format!("--{name}: #")).nth(1);
    let digits: String = found
        .unwrap_or_else(|| panic!("no {name}"))
        .chars()
        .take_while(char::is_ascii_hexdigit)
        .collect();
    let doubled = |digit: char| [digit, digit];
    luminance(&match digits.len() {
        3 => format!("#{}", digits.chars().flat_map(doubled).collect::<String>()),
        _ => format!("#{digits}"),
    })
}

/// Text on shades of power density has a contrast of 4.5 (WCAG 2.2, level AA), and each shade is farther from the page than the one before: in the light, in
/// the dark and in print.
#[test]
fn text_on_shades_can_be_read() {
    let mut parts = STYLE.split(":root {").skip(1);
    let parts: [&str; 3] = std::array::from_fn(|_| parts.next().unwrap());
    for part in parts {
        let ink = colour(part, "ink");
        let contrast = |shade: f64| (ink.max(shade) + 0.05) / (ink.min(shade) + 0.05);
        let shades =
            [0, 1, 2, 3, 4, 5, 6].map(|shade| contrast(colour(part, &format!("d{shade}"))));
        assert!(shades.is_sorted_by(|a, b| a > b), "{shades:?}");
        assert!(shades[6] >= 4.5, "{shades:?}");
    }
}

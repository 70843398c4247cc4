//! The shades of what is more or less: classes `d0` to `d6` of the page.

use super::svg::Canvas;

/// How many there are.
pub const SHADES: usize = 7;
/// Width and height of a shade in a legend.
pub const SWATCH: [f64; 2] = [40.0, 10.0];

/// The shade of a part of the most.
pub fn of(share: f64) -> usize {
    ((share * SHADES as f64) as usize).min(SHADES - 1)
}

/// All of them from (`left`, `y`) on, with what each is.
pub fn legend(canvas: &mut Canvas, [left, y]: [f64; 2], words: impl Fn(usize) -> String) {
    let [width, height] = SWATCH;
    for shade in 0..SHADES {
        let at = left + width * shade as f64;
        let class = format!("tile d{shade}");
        canvas.rect(&class, [at, y, width, height], &words(shade));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn shares_have_even_shades_and_the_whole_the_last() {
        let shades = [0.0, 0.142, 0.143, 0.5, 0.99, 1.0].map(super::of);
        assert_eq!(shades, [0, 0, 1, 3, 6, 6]);
    }
}

//! Small multiples: panels of one size, side by side in lines.

use super::WIDTH;

/// Where panels stand.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Where the first line begins.
    pub top: f64,
    /// Panels beside each other.
    pub across: usize,
    /// Height of a panel.
    pub height: f64,
}

impl Grid {
    /// Width of a panel.
    pub fn width(&self) -> f64 {
        WIDTH / self.across as f64
    }

    /// The upper left corner of a panel.
    pub fn corner(&self, number: usize) -> [f64; 2] {
        [
            self.width() * (number % self.across) as f64,
            self.top + self.height * (number / self.across) as f64,
        ]
    }

    /// The size of a picture with so many panels.
    pub fn size(&self, panels: usize) -> [f64; 2] {
        let lines = panels.div_ceil(self.across);
        [WIDTH, self.top + self.height * lines as f64]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_go_to_the_right_and_then_down() {
        let grid = Grid {
            top: 10.0,
            across: 2,
            height: 50.0,
        };
        assert_eq!(grid.corner(0), [0.0, 10.0]);
        assert_eq!(grid.corner(1), [WIDTH / 2.0, 10.0]);
        assert_eq!(grid.corner(2), [0.0, 60.0]);
        assert_eq!(grid.size(3), [WIDTH, 110.0]);
    }
}

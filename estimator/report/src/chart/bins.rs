//! Windows of time, brought to as many as a picture can show.

/// Edges of what is shown of windows that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins<'s> {
    spans: &'s [(f64, f64)],
    /// One more than there are bins.
    pub edges: Vec<f64>,
}

impl<'s> Bins<'s> {
    /// The windows themselves, or `most` of equal length where they are more.
    pub fn of(spans: &'s [(f64, f64)], most: usize) -> Self {
        if spans.len() > most {
            return Self::even(spans, most);
        }
        let begin = spans.iter().take(1).map(|span| span.0);
        let edges = begin.chain(spans.iter().map(|span| span.1));
        Self {
            spans,
            edges: edges.collect(),
        }
    }

    /// As many of equal length as there are windows, `most` at most.
    pub fn even(spans: &'s [(f64, f64)], most: usize) -> Self {
        let begin = spans.first().map_or(0.0, |span| span.0);
        let end = spans.last().map_or(begin, |span| span.1);
        let count = spans.len().min(most);
        let edge = |number: usize| begin + (end - begin) * number as f64 / count.max(1) as f64;
        Self {
            spans,
            edges: (0..=count).map(edge).collect(),
        }
    }

    /// From the first edge to the last.
    pub fn seconds(&self) -> f64 {
        self.edges.last().unwrap_or(&0.0) - self.edges.first().unwrap_or(&0.0)
    }

    /// Mean and largest of values that the bins have.
    pub fn mean_and_most(&self, values: &[f64]) -> (f64, f64) {
        let spent = values.iter().zip(self.edges.windows(2));
        let spent: f64 = spent.map(|(value, edge)| value * (edge[1] - edge[0])).sum();
        let most = values.iter().copied().fold(0.0, f64::max);
        (spent / self.seconds().max(f64::MIN_POSITIVE), most)
    }

    /// Means over each bin of something that has a value in each window.
    pub fn means(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut window = 0;
        let bins = self.edges.windows(2).map(|edge| {
            let (from, to) = (edge[0], edge[1]);
            while self.spans.get(window).is_some_and(|span| span.1 <= from) {
                window += 1;
            }
            let inside = self.spans.iter().enumerate().skip(window);
            let inside = inside.take_while(|(_, span)| span.0 < to);
            let sum: f64 = inside
                .map(|(number, span)| value(number) * (span.1.min(to) - span.0.max(from)))
                .sum();
            if to > from { sum / (to - from) } else { 0.0 }
        });
        bins.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn few_windows_are_their_own_bins() {
        let spans = [(0.0, 1.0), (1.0, 4.0)];
        let bins = Bins::of(&spans, 2);
        assert_eq!(bins.edges, [0.0, 1.0, 4.0]);
        assert_eq!(bins.means(|window| [2.0, 3.0][window]), [2.0, 3.0]);
        assert_eq!(Bins::of(&[], 4).means(|_| 1.0), [0.0; 0]);
    }

    #[test]
    fn a_bin_is_the_mean_over_its_time() {
        let spans = [(0.0, 1.0), (1.0, 4.0), (4.0, 6.0)];
        let bins = Bins::even(&spans, 2);
        assert_eq!(bins.edges, [0.0, 3.0, 6.0]);
        let means = bins.means(|window| [6.0, 3.0, 9.0][window]);
        assert_relative_eq!(means[0], 4.0, max_relative = 1e-12);
        assert_relative_eq!(means[1], 7.0, max_relative = 1e-12);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_on_the_way(windows in prop::collection::vec((0.1..3.0f64, 0.0..5.0f64), 1..60), most in 1..40usize) {
            let mut at = 0.0;
            let spans: Vec<(f64, f64)> = windows.iter().map(|(length, _)| { let from = at; at += length; (from, at) }).collect();
            let bins = Bins::of(&spans, most);
            let means = bins.means(|window| windows[window].1);
            let shown: f64 = means.iter().zip(bins.edges.windows(2)).map(|(mean, edge)| mean * (edge[1] - edge[0])).sum();
            let had: f64 = windows.iter().map(|(length, value)| length * value).sum();
            prop_assert!((shown - had).abs() < 1e-9 * had.max(1.0));
            prop_assert!(means.len() <= most.max(1));
        }
    }
}

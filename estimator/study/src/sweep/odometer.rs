//! Counting through axes.

/// Every choice of one place from each of `counts` axes, the last fastest.
pub fn odometer(counts: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let total: usize = counts.iter().product();
    let counts = counts.to_vec();
    (0..total).map(move |number| {
        let mut rest = number;
        let mut choice: Vec<usize> = counts
            .iter()
            .rev()
            .map(|count| {
                let place = rest % count;
                rest /= count;
                place
            })
            .collect();
        choice.reverse();
        choice
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_count_like_an_odometer() {
        let all: Vec<Vec<usize>> = odometer(&[2, 3]).collect();
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(
            odometer(&[]).count(),
            1,
            "no axis is one choice: the plain one"
        );
    }
}

//! A part of a study, for one of several machines.

use std::str::FromStr;

use super::plan::Plan;

/// The `index`th of `of` parts, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

/// More parts than anyone has machines for.
const MOST_PARTS: usize = 10_000;

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, of)| {
            let (index, of) = (index.trim().parse().ok()?, of.trim().parse().ok()?);
            (1 <= index && index <= of && of <= MOST_PARTS).then_some((index, of))
        });
        let (index, of) = numbers.ok_or_else(|| {
            format!("write a part and their number, `2/3`: from 1 to {MOST_PARTS} parts")
        })?;
        Ok(Shard { index, of })
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Shard {
    /// Which points of the plan belong to this part.
    ///
    /// Parts are stretches of the points' order, about equally many points each. Kernels stay whole if there are as many as parts, so that none is executed
    /// or timed twice; else GPUs of a kernel do; else technologies. The plain GPU always stays with what is compared with it.
    pub fn of(self, plan: &Plan) -> Vec<bool> {
        let units = |depth: usize| {
            let points = plan.points.iter();
            let mut units: Vec<usize> = Vec::new();
            let mut last = None;
            for point in points {
                let unit = &point.combination[..depth];
                match units.last_mut() {
                    Some(count) if last == Some(unit) => *count += 1,
                    _ => units.push(1),
                }
                last = Some(unit);
            }
            units
        };
        let enough = [1, 2, 3]
            .into_iter()
            .map(units)
            .find(|units| units.len() >= self.of);
        let units = enough.unwrap_or_else(|| units(3));
        self.among(&units)
    }

    /// As [`Shard::of`], for stretches of so many points that stay whole.
    fn among(self, units: &[usize]) -> Vec<bool> {
        let total: usize = units.iter().sum();
        let mut before = 0;
        let mut mine = Vec::with_capacity(total);
        for &points in units {
            // A unit belongs to the part that its middle lies in.
            let part = (2 * before + points) * self.of / (2 * total).max(1);
            mine.extend(std::iter::repeat_n(part + 1 == self.index, points));
            before += points;
        }
        mine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_written_as_a_fraction() {
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "3", "a/b", "1/0", "1/100000"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_share_the_points_and_keep_units_whole() {
        let units = [4, 4, 1, 7, 4, 4, 2, 6];
        for of in 1..12 {
            let parts: Vec<Vec<bool>> = (1..=of)
                .map(|index| Shard { index, of }.among(&units))
                .collect();
            for point in 0..32 {
                let holders = parts.iter().filter(|part| part[point]).count();
                assert_eq!(holders, 1, "point {point} of {of} parts");
            }
            let mut first = 0;
            for unit in units {
                for part in &parts {
                    let held = part[first..first + unit]
                        .iter()
                        .filter(|held| **held)
                        .count();
                    assert!(held == 0 || held == unit, "{of} parts");
                }
                first += unit;
            }
        }
    }

    #[test]
    fn equal_units_make_equal_parts() {
        for index in 1..=4 {
            let part = Shard { index, of: 4 }.among(&[3; 20]);
            assert_eq!(part.iter().filter(|held| **held).count(), 15);
        }
    }
}

//! What of a run goes into a timeline, so that the file stays small.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What of a run is shown, and how fine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The SMs.
    pub sms: SmSet,
    /// The cycles.
    pub cycles: Cycles,
    /// Stretches of fewer cycles are shown together; at least 1.
    pub detail: u64,
    /// Events from which on nothing more is begun.
    pub events: u64,
}

impl Extent {
    /// Cycles between two values of a counter; stretches that are shown together begin within one such interval.
    pub fn interval(&self) -> u64 {
        64 * self.detail
    }

    /// What of the cycles from `from` to before `to` is shown; nothing of it if the first is not less than the second.
    pub fn clip(&self, from: u64, to: u64) -> (u64, u64) {
        (from.max(self.cycles.from), to.min(self.cycles.to))
    }
}

/// Numbers of SMs: `0-3,7`, or `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmSet(Vec<RangeInclusive<u16>>);

impl SmSet {
    /// Whether SM number `sm` is one of them.
    pub fn contains(&self, sm: u16) -> bool {
        self.0.iter().any(|range| range.contains(&sm))
    }

    /// Whether a GPU of `count` SMs has one of them.
    pub fn meets(&self, count: u32) -> bool {
        self.0.iter().any(|range| u32::from(*range.start()) < count)
    }
}

impl FromStr for SmSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(vec![0..=u16::MAX]));
        }
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.parse().ok()?..=last.parse().ok()?;
            (!range.is_empty()).then_some(range)
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges
            .map(Self)
            .ok_or_else(|| "write numbers of SMs such as `0-3,7`, or `all`".to_owned())
    }
}

impl fmt::Display for SmSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == [0..=u16::MAX] {
            return f.write_str("all");
        }
        for (place, range) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}-{}", range.start(), range.end())?;
        }
        Ok(())
    }
}

/// A window of cycles: `FROM..TO`, without its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Its first cycle.
    pub from: u64,
    /// The cycle after its last.
    pub to: u64,
}

impl Cycles {
    /// The whole run.
    pub const ALL: Self = Self {
        from: 0,
        to: u64::MAX,
    };
}

impl FromStr for Cycles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = |text: &str, default| match text {
            "" => Some(default),
            number => number.parse().ok(),
        };
        let window = text.split_once("..").and_then(|(from, to)| {
            Some(Self {
                from: read(from, 0)?,
                to: read(to, u64::MAX)?,
            })
        });
        window
            .filter(|window| window.from < window.to)
            .ok_or_else(|| {
                "write a first cycle and one behind the last, such as `1000..5000`, `1000..` or `..5000`"
                    .to_owned()
            })
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            u64::MAX => write!(f, "{}..", self.from),
            to => write!(f, "{}..{to}", self.from),
        }
    }
}

//! A range of numbers as an axis: `{ from = 0.6, to = 1.0, step = 0.05 }`, `{ from = 16, to = 1024, count = 7, scale = "log" }`, or without steps
//! where values are drawn.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::Scale;
use crate::reader::{Fault, Placed, Reader, known, positive, text};

/// A range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    from: f64,
    to: f64,
    /// Both ends are whole numbers, hence all values.
    whole: bool,
    logarithmic: bool,
}

/// What a range spans.
pub(super) enum Spanning {
    /// These values.
    Steps(Vec<f64>),
    /// All of it.
    All,
}

/// More values of one axis than anyone waits for.
const MOST_STEPS: usize = 100_000;

const KEYS: [&str; 5] = ["from", "to", "step", "count", "scale"];

/// Whether a table is a range and not a table of settings.
pub(crate) fn is_span(value: &DeValue<'_>) -> bool {
    value
        .as_table()
        .is_some_and(|table| table.contains_key("from") || table.contains_key("to"))
}

/// Reads a range; every fault of it is left with the reader.
pub(super) fn read<'d, T>(
    reader: &mut Reader<'_>,
    name: &str,
    value: &'d Spanned<DeValue<'d>>,
    parse: impl Fn(&'d DeValue<'d>) -> Result<T, Fault>,
    scale: &Scale<T>,
) -> Option<(Span, Spanning)> {
    let section = reader.as_section(name.to_owned(), value)?;
    reader.refuse_unknown(&section, &KEYS);
    let mut end = |key: &str| {
        if section.get(key).is_none() && key != "step" {
            reader.missing(&section, key, scale.example);
        }
        reader.one(&section, key, |value| {
            let number = parse(value).and_then(|parsed| {
                (scale.number)(&parsed)
                    .ok_or_else(|| Fault::wrong_type(&format!("`{key}`"), value, scale.example))
            })?;
            let whole = matches!(value, DeValue::Integer(_));
            Ok((number, whole))
        })
    };
    let (from, to, step) = (end("from"), end("to"), end("step"));
    let logarithmic = reader.one(&section, "scale", |value| {
        let name = text("`scale`", value, "scale = \"log\"")?;
        known("scale", "study::unknown_scale", &name, ["linear", "log"])
    });
    let count = reader.one(&section, "count", |value| {
        positive("`count`", value, "count = 9")
    });
    let (from, to) = (from?, to?);
    let span = Span {
        from: from.value.0,
        to: to.value.0,
        whole: from.value.1 && to.value.1 && step.as_ref().is_none_or(|step| step.value.1),
        logarithmic: logarithmic.is_some_and(|scale| scale.value == "log"),
    };
    if !span.is_sound(reader, &from, &to) {
        return None;
    }
    let unread = |key: &str, read: bool| section.get(key).is_some() && !read;
    if unread("step", step.is_some()) || unread("count", count.is_some()) {
        return None;
    }
    span.stepped(
        reader,
        step.map(|step| Placed::new(step.value.0, step.range)),
        count,
    )
    .map(|steps| (span, steps))
}

fn refusal(range: Range<usize>, message: impl Into<String>, help: &str) -> (Range<usize>, Fault) {
    let fault = Fault {
        code: "study::range",
        message: message.into(),
        label: String::new(),
        help: Some(help.to_owned()),
    };
    (range, fault)
}

impl Span {
    fn is_sound(
        &self,
        reader: &mut Reader<'_>,
        from: &Placed<(f64, bool)>,
        to: &Placed<(f64, bool)>,
    ) -> bool {
        let (range, fault) =
            if !(self.from.is_finite() && self.to.is_finite() && self.from < self.to) {
                refusal(
                    to.range.clone(),
                    "a range ends above where it starts",
                    "write the smaller number under `from`",
                )
            } else if self.logarithmic && self.from <= 0.0 {
                refusal(
                    from.range.clone(),
                    "a logarithmic range starts above zero",
                    "leave `scale` out, or start higher",
                )
            } else {
                return true;
            };
        reader.fault(range, fault);
        false
    }

    /// The values that `step` or `count` makes of it.
    fn stepped(
        &self,
        reader: &mut Reader<'_>,
        step: Option<Placed<f64>>,
        count: Option<Placed<u64>>,
    ) -> Option<Spanning> {
        let values = match (step, count) {
            (None, None) => return Some(Spanning::All),
            (Some(step), None) => self.by_steps(step),
            (None, Some(count)) => self.by_count(count),
            (Some(step), Some(_)) => Err(refusal(
                step.range,
                "`step` and `count` both say how many values a range has",
                "leave one of them out",
            )),
        };
        match values {
            Ok(values) => {
                let values = values.into_iter();
                let mut values: Vec<f64> = values
                    .map(|value| self.rounded(value, STEP_DIGITS))
                    .collect();
                values.dedup();
                Some(Spanning::Steps(values))
            }
            Err((range, fault)) => {
                reader.fault(range, fault);
                None
            }
        }
    }

    fn by_steps(&self, step: Placed<f64>) -> Result<Vec<f64>, (Range<usize>, Fault)> {
        let steps = (self.to - self.from) / step.value;
        let (message, help) = if self.logarithmic {
            (
                "a logarithmic range has no even step".to_owned(),
                "write `count` instead of `step`",
            )
        } else if !(step.value > 0.0 && steps.is_finite()) {
            (
                "a step is a number above zero".to_owned(),
                "write a smaller number than the range is wide",
            )
        } else if steps > MOST_STEPS as f64 {
            (
                format!("this makes more than {MOST_STEPS} values"),
                "take a larger step",
            )
        } else {
            // A billionth forgives the rounding of decimal fractions.
            let last = (steps + 1e-9) as usize;
            let at = |number| self.from + number as f64 * step.value;
            return Ok((0..=last).map(at).collect());
        };
        Err(refusal(step.range, message, help))
    }

    fn by_count(&self, count: Placed<u64>) -> Result<Vec<f64>, (Range<usize>, Fault)> {
        let wanted = usize::try_from(count.value).ok();
        let Some(wanted) = wanted.filter(|count| (2..=MOST_STEPS).contains(count)) else {
            let message = format!("a range has 2 to {MOST_STEPS} values");
            return Err(refusal(
                count.range,
                message,
                "write for example `count = 9`",
            ));
        };
        let share = |number| number as f64 / (wanted - 1) as f64;
        Ok((0..wanted)
            .map(|number| self.between(share(number)))
            .collect())
    }

    /// The value at a share of the way.
    fn between(&self, share: f64) -> f64 {
        if self.logarithmic {
            libm::exp(libm::log(self.from) + share * (libm::log(self.to) - libm::log(self.from)))
        } else {
            self.from + share * (self.to - self.from)
        }
    }

    /// The value that a number of [0, 1) draws. Every whole number of the range has its share.
    pub(super) fn drawn(&self, unit: f64) -> f64 {
        if self.whole {
            let wider = Span {
                to: self.to + 1.0,
                ..*self
            };
            wider.between(unit).floor().clamp(self.from, self.to)
        } else {
            self.rounded(self.between(unit), DRAWN_DIGITS)
                .clamp(self.from, self.to)
        }
    }

    /// Whether its values are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    fn rounded(&self, value: f64, digits: usize) -> f64 {
        if self.whole {
            libm::round(value)
        } else {
            format!("{value:.digits$e}").parse().unwrap_or(value)
        }
    }
}

/// Digits behind the first that a step has: fewer than rounding disturbs, so that 0.6 + 3 x 0.05 is 0.75.
const STEP_DIGITS: usize = 11;

/// Digits behind the first that a drawn value has, so that reports show what was run.
const DRAWN_DIGITS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span {
        from: 0.6,
        to: 1.0,
        whole: false,
        logarithmic: false,
    };

    #[test]
    fn whole_ranges_draw_each_whole_number_alike() {
        let span = Span {
            from: 3.0,
            to: 6.0,
            whole: true,
            logarithmic: false,
        };
        let mut counts = [0; 4];
        for number in 0..400 {
            counts[(span.drawn(f64::from(number) / 400.0) - 3.0) as usize] += 1;
        }
        assert_eq!(counts, [100; 4]);
    }

    #[test]
    fn logarithmic_ranges_have_even_ratios() {
        let span = Span {
            from: 1.0,
            to: 100.0,
            whole: false,
            logarithmic: true,
        };
        assert_eq!(span.rounded(span.between(0.5), STEP_DIGITS), 10.0);
    }

    #[test]
    fn drawn_values_have_few_digits_and_stay_inside() {
        assert_eq!(SPAN.drawn(1.0 / 3.0), 0.733_333);
        assert_eq!(SPAN.drawn(0.0), 0.6);
        assert!(SPAN.drawn(1.0 - 1e-16) <= 1.0);
    }
}

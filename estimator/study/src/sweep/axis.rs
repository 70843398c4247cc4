//! Reading an axis: a value, a list of them, or a range.

use std::fmt::Debug;

use toml::de::DeValue;
use toml::{Spanned, Value};

use super::span::{self, Spanning};
use crate::Axis;
use crate::axes::Noted;
use crate::reader::{Fault, Placed, Reader};

/// How values of a kind lie on a line.
pub struct Scale<T> {
    /// The number that stands for a value; `None` if the value is no number.
    pub number: fn(&T) -> Option<f64>,
    /// The value that a number stands for; whether it is one of whole numbers.
    pub value: fn(f64, bool) -> T,
    /// How a range of such values is written.
    pub example: &'static str,
}

/// Plain numbers.
pub const NUMBERS: Scale<Value> = Scale {
    number: |value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    },
    value: |number, whole| match whole {
        true => Value::Integer(number as i64),
        false => Value::Float(number),
    },
    example: "{ from = 512, to = 2048, step = 512 }",
};

impl Reader<'_> {
    /// The values of the axis `name`, which a study writes as `value`; `None` if nothing in it will do. `scale` is there if ranges make sense.
    pub(crate) fn values<'d, T: PartialEq + Debug>(
        &mut self,
        name: &str,
        value: &'d Spanned<DeValue<'d>>,
        parse: impl Fn(&'d DeValue<'d>) -> Result<T, Fault>,
        scale: Option<&Scale<T>>,
    ) -> Option<Axis<T>> {
        if let Some(scale) = scale.filter(|_| span::is_span(value.get_ref())) {
            return self.span(name, value, parse, scale);
        }
        let key = name.rsplit_once('.').map_or(name, |(_, key)| key);
        let values = self.axis_of(key, value, parse)?;
        let written = match value.get_ref() {
            DeValue::Array(items) => items.len(),
            _ => 1,
        };
        self.note(name, value.span(), Some(written), values.len());
        Some(values)
    }

    fn span<'d, T: PartialEq + Debug>(
        &mut self,
        name: &str,
        value: &'d Spanned<DeValue<'d>>,
        parse: impl Fn(&'d DeValue<'d>) -> Result<T, Fault>,
        scale: &Scale<T>,
    ) -> Option<Axis<T>> {
        let (span, spanned) = span::read(self, name, value, parse, scale)?;
        let range = value.span();
        let placed =
            |number: f64| Placed::new((scale.value)(number, span.is_whole()), range.clone());
        match spanned {
            Spanning::Steps(steps) => {
                self.note(name, value.span(), Some(steps.len()), steps.len());
                Some(steps.into_iter().map(placed).collect())
            }
            Spanning::All => {
                let Some(dimension) = self.sweep.dimension(name) else {
                    let fault = Fault {
                        code: "study::range",
                        message: format!(
                            "the range of `{name}` says nothing of its steps, and nothing is drawn from it"
                        ),
                        label: "`step` or `count`?".to_owned(),
                        help: Some(format!(
                            "write for example `{}`, or draw values with `sample` under `[sweep]`",
                            scale.example
                        )),
                    };
                    self.fault(value.span(), fault);
                    return None;
                };
                let drawn: Vec<f64> = self
                    .sweep
                    .column(dimension)
                    .into_iter()
                    .map(|unit| span.drawn(unit))
                    .collect();
                // A whole number may be drawn more than once: it is one value of the axis.
                let mut values: Vec<f64> = drawn.clone();
                values.sort_by(f64::total_cmp);
                values.dedup();
                let places = drawn
                    .iter()
                    .map(|number| values.partition_point(|value| value < number));
                self.sweep.axes.push(Noted {
                    name: name.to_owned(),
                    range: value.span(),
                    written: None,
                    places: Some(places.collect()),
                });
                Some(values.into_iter().map(placed).collect())
            }
        }
    }

    /// Notes an axis of listed values, and which of them are drawn.
    pub(crate) fn note(
        &mut self,
        name: &str,
        range: std::ops::Range<usize>,
        written: Option<usize>,
        count: usize,
    ) {
        let dimension = self.sweep.dimension(name).filter(|_| count > 1);
        let places = dimension.map(|dimension| {
            let column = self.sweep.column(dimension);
            column
                .into_iter()
                .map(|unit| ((unit * count as f64) as usize).min(count - 1))
                .collect()
        });
        self.sweep.axes.push(Noted {
            name: name.to_owned(),
            range,
            written,
            places,
        });
    }
}

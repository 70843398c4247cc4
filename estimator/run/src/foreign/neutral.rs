//! Our own CSV: a row a counter, `kernel,counter,value`.

use std::fmt::Write as _;

use warpwatt_activity::Activity;

use super::{CLOCK, Launch, Problem, records};

const HEADER: [&str; 3] = ["kernel", "counter", "value"];

/// The counts of a kernel, and its clock, as [`read`] takes them.
pub fn write(kernel: &str, clock_hz: f64, activity: &Activity) -> String {
    let mut text = format!("{}\n", HEADER.join(","));
    let kernel = quoted(kernel);
    let _ = writeln!(text, "{kernel},{CLOCK},{clock_hz}");
    for (name, count) in activity.iter() {
        let _ = writeln!(text, "{kernel},{name},{count}");
    }
    text
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

pub(super) fn read(text: &str) -> Result<Vec<Launch>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut launches: Vec<Launch> = Vec::new();
    let mut records = records(text, 0, &mut problems).into_iter();
    match records.next() {
        Some((_, header)) if header == HEADER => {}
        other => {
            let range = other.map_or(0..0, |(range, _)| range);
            let message = "the first line must be `kernel,counter,value`";
            let help = "files of other tools need a map, for example `map = \"ncu\"`";
            return Err(vec![Problem::new(range, message, help)]);
        }
    }
    for (range, fields) in records {
        let [kernel, counter, value] = &fields[..] else {
            let message = format!("this line has {} fields, not three", fields.len());
            problems.push(Problem::new(range, message, "write kernel,counter,value"));
            continue;
        };
        let value = match value.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => value,
            _ => {
                let message = format!("`{value}` is no count");
                let help = "write digits without units and separators, at least 0";
                problems.push(Problem::new(range, message, help));
                continue;
            }
        };
        let place = launches.iter().position(|launch| launch.kernel == *kernel);
        let place = place.unwrap_or_else(|| {
            launches.push(Launch {
                kernel: kernel.clone(),
                ..Launch::default()
            });
            launches.len() - 1
        });
        let twice = launches[place].values.insert(counter.clone(), value);
        if twice.is_some() {
            let message = format!("`{counter}` of `{kernel}` stands there twice");
            problems.push(Problem::new(range, message, "remove one of the lines"));
        }
    }
    if problems.is_empty() {
        Ok(launches)
    } else {
        Err(problems)
    }
}

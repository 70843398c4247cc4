//! Nsight Compute's CSV: `ncu --csv` has a row a metric of a launch, `ncu --csv --page raw` a row a launch and a column a metric, with the units in a row of
//! their own (Nsight Compute CLI documentation, "Output Pages"). Lines of the profiled program and of the profiler may stand before it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::number::{factor, number};
use super::{Launch, Problem, records};

pub(super) fn read(text: &str) -> Result<Vec<Launch>, Vec<Problem>> {
    let Some(start) = header(text) else {
        let message = "no line begins with the column `ID`";
        let help = "write the file with `ncu --csv`, or `ncu --import REPORT --csv --page raw`";
        return Err(vec![Problem::new(0..0, message, help)]);
    };
    let mut problems = Vec::new();
    let mut records = records(text, start, &mut problems);
    if records.is_empty() {
        return Err(problems);
    }
    let (place, columns) = records.remove(0);
    // What the profiler says at its end is no row.
    records.retain(|(_, fields)| fields.len() > 1);
    let column = |name: &str| columns.iter().position(|column| column == name);
    let found = match (column("Kernel Name"), column("Metric Name")) {
        (None, _) => {
            let message = "there is no column `Kernel Name`";
            problems.push(Problem::new(place, message, ""));
            Vec::new()
        }
        (Some(kernel), Some(metric)) => {
            let others = [column("Metric Unit"), column("Metric Value")];
            let [Some(unit), Some(value)] = others else {
                let message = "there are no columns `Metric Unit` and `Metric Value`";
                return Err(vec![Problem::new(place, message, "")]);
            };
            details(&records, [kernel, metric, unit, value], &mut problems)
        }
        (Some(kernel), None) => raw(&records, kernel, &columns, &mut problems),
    };
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(problems)
    }
}

/// Where the line of the columns begins.
fn header(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("\"ID\",") || line.starts_with("ID,") {
            return Some(start);
        }
        start += line.len();
    }
    None
}

type Record = (Range<usize>, Vec<String>);

/// A row a metric.
fn details(
    records: &[Record],
    [kernel, metric, unit, value]: [usize; 4],
    problems: &mut Vec<Problem>,
) -> Vec<Launch> {
    // Launches by their number, in the order of the file.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut launches: Vec<Launch> = Vec::new();
    for (range, fields) in records {
        let field = |place: usize| fields.get(place).map_or("", String::as_str);
        let place = *places.entry(field(0)).or_insert_with(|| {
            launches.push(Launch {
                kernel: field(kernel).to_owned(),
                ..Launch::default()
            });
            launches.len() - 1
        });
        // Rows of the rules that judge a launch have no metric.
        if field(metric).is_empty() {
            continue;
        }
        if let Some(number) = parsed(field(value), range, problems) {
            let number = number * factor(field(unit));
            // Sections repeat each other's figures.
            let values = &mut launches[place].values;
            values.entry(field(metric).to_owned()).or_insert(number);
        }
    }
    launches
}

/// A row a launch.
fn raw(
    records: &[Record],
    kernel: usize,
    columns: &[String],
    problems: &mut Vec<Problem>,
) -> Vec<Launch> {
    let mut launches = Vec::new();
    let mut units: &[String] = &[];
    for (range, fields) in records {
        // The units have no launch.
        if fields[0].is_empty() {
            units = fields;
            continue;
        }
        let mut launch = Launch {
            kernel: fields.get(kernel).cloned().unwrap_or_default(),
            ..Launch::default()
        };
        for (place, column) in columns.iter().enumerate() {
            // All metrics have a unit of the GPU and two underscores in their names; what has not is about the launch.
            let text = fields.get(place).filter(|_| column.contains("__"));
            let Some(number) = text.and_then(|text| parsed(text, range, problems)) else {
                continue;
            };
            let unit = units.get(place).map_or("", String::as_str);
            launch.values.insert(column.clone(), number * factor(unit));
        }
        launches.push(launch);
    }
    launches
}

fn parsed(text: &str, range: &Range<usize>, problems: &mut Vec<Problem>) -> Option<f64> {
    number(text).unwrap_or_else(|()| {
        let message = format!("`{text}` is no number with a point and commas between thousands");
        let help = "the profiler writes numbers as its locale has them: run it with `LC_ALL=C`";
        problems.push(Problem::new(range.clone(), message, help));
        None
    })
}

//! CSV of a row a kernel and a column a counter.

use super::{Launch, Problem, records};

/// The columns called `kernel` together name the kernel; the other columns are counters where they hold numbers.
pub(super) fn read(text: &str, kernel: &[String]) -> Result<Vec<Launch>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut records = records(text, 0, &mut problems).into_iter();
    let Some((place, columns)) = records.next() else {
        return Err(problems);
    };
    let mut named = Vec::new();
    for name in kernel {
        match columns.iter().position(|column| column == name) {
            Some(column) => named.push(column),
            None => {
                let message = format!("there is no column `{name}`, which names the kernel");
                let help = "is it the right file, and the right map?";
                problems.push(Problem::new(place.clone(), message, help));
            }
        }
    }
    let mut launches = Vec::new();
    for (range, fields) in records {
        if fields.len() != columns.len() {
            let message = format!(
                "this line has {} fields and the first one {}",
                fields.len(),
                columns.len()
            );
            problems.push(Problem::new(range, message, ""));
            continue;
        }
        let names: Vec<&str> = named
            .iter()
            .map(|&column| fields[column].as_str())
            .collect();
        let counted = columns.iter().zip(&fields).enumerate();
        let counted = counted.filter(|(place, _)| !named.contains(place));
        let values = counted.filter_map(|(_, (column, field))| {
            let value: f64 = field.parse().ok()?;
            value.is_finite().then(|| (column.clone(), value))
        });
        launches.push(Launch {
            kernel: names.join(" "),
            values: values.collect(),
        });
    }
    if problems.is_empty() {
        Ok(launches)
    } else {
        Err(problems)
    }
}

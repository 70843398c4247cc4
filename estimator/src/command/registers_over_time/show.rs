//! Registers over time as a table, as a picture and as lines of bars.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use warpwatt_run::live::Live;

use crate::command::files::write_one;
use crate::diag::{Diag, Rejection};
use crate::report::{InUse, registers_over_time};

/// Columns of the plot.
const COLUMNS: usize = 60;
/// Columns of a panel of the picture.
const STEPS: usize = 240;

/// A run as it is shown.
pub struct Shown {
    /// What runs.
    pub name: String,
    /// What manages registers.
    pub technique: String,
    /// The columns by which a table of several runs tells them apart.
    pub columns: Vec<(&'static str, String)>,
    /// The registers.
    pub live: Live,
}

/// Writes runs as the file's name says.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, runs: &[Shown]) -> Result<(), Rejection> {
    let is_picture = path.extension().is_some_and(|extension| extension == "svg");
    let contents = if is_picture {
        picture(runs)
    } else {
        table(runs)
    };
    write_one(path, contents.as_bytes())
}

fn picture(runs: &[Shown]) -> String {
    let panels = runs.iter().map(|run| {
        let live = &run.live;
        InUse {
            name: run.name.clone(),
            technique: run.technique.clone(),
            cycles: live.window * live.rows.len() as u64,
            of_reserved: live
                .columns(STEPS)
                .map(|rows| live.of_reserved(rows))
                .collect(),
            of_powered: live
                .columns(STEPS)
                .map(|rows| live.of_powered(rows))
                .collect(),
        }
    });
    let panels: Vec<InUse> = panels.collect();
    registers_over_time(&panels).map_or_else(String::new, |picture| picture.svg)
}

/// A row a window; means over its cycles, of all SMs together. A share of nothing is empty. Several runs stand one after the other.
fn table(runs: &[Shown]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let first = runs.iter().take(1);
    let keys = first.flat_map(|run| run.columns.iter().map(|(column, _)| *column));
    let columns = [
        "from_cycle",
        "to_cycle",
        "live",
        "reserved",
        "powered_subarrays",
        "live_of_reserved",
        "live_of_powered",
    ];
    let mut written = writer.write_record(keys.chain(columns));
    for run in runs {
        for row in 0..run.live.rows.len() {
            let key = run.columns.iter().map(|(_, value)| value.clone());
            let record = key.chain(figures(&run.live, row));
            written = written.and_then(|()| writer.write_record(record));
        }
    }
    // Writing to memory cannot fail.
    let bytes = written.ok().and_then(|()| writer.into_inner().ok());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

fn figures(live: &Live, number: usize) -> [String; 7] {
    let row = &live.rows[number];
    let from = number as u64 * live.window;
    let mean = |sum: u64| (sum as f64 / live.window as f64).to_string();
    let share = |share: Option<f64>| share.map_or(String::new(), |share| share.to_string());
    let of = number..number + 1;
    [
        from.to_string(),
        (from + live.window).to_string(),
        mean(row.held),
        mean(row.reserved),
        mean(row.powered),
        share(live.of_reserved(of.clone())),
        share(live.of_powered(of)),
    ]
}

/// Two lines of bars, from the first cycle to the last, an eighth of the whole a step.
pub fn plot(text: &mut String, live: &Live) {
    bars(text, live, "live of those reserved", |rows| {
        live.of_reserved(rows)
    });
    bars(text, live, "live in subarrays with power", |rows| {
        live.of_powered(rows)
    });
}

fn bars(text: &mut String, live: &Live, what: &str, of: impl Fn(Range<usize>) -> Option<f64>) {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bars = live.columns(COLUMNS).map(|rows| {
        let share = of(rows).unwrap_or(0.0);
        BARS[((8.0 * share).ceil() as usize).min(8)]
    });
    let bars: String = bars.collect();
    let windows = live.rows.len();
    let mean = of(0..windows).unwrap_or(0.0);
    let each = (0..windows).filter_map(|row| of(row..row + 1));
    let most = each.fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "    {what:<30}|{bars}| mean {:.1}%, most {:.1}%",
        100.0 * mean,
        100.0 * most
    );
}

/// Whether the file's name says what it is to hold.
///
/// # Errors
/// It does not.
pub fn named(path: &Path) -> Result<(), Diag> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if matches!(extension, Some("csv" | "svg")) {
        return Ok(());
    }
    let message = format!(
        "`--live {}` is neither a table nor a picture",
        path.display()
    );
    Err(Diag::error("kernel::live", message).help("name a file that ends with .csv or .svg"))
}

//! `[sampling]`: how sure a run is to be of which a part is timed.

use super::reader::{Fault, Reader, Section, text};

const EXAMPLE: &str = "error = \"2%\"";

/// An error in percent, for example `2%`, as a part of one.
///
/// # Errors
/// What may be written instead.
pub fn error_share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%');
    let number = number.and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.1..=50.0).contains(&percent) => Ok(percent / 100.0),
        Some(_) => Err("an error is from 0.1% to 50%".to_owned()),
        None => Err("an error is written in percent, for example 2%".to_owned()),
    }
}

/// The half-width of the 95 % interval of a run's cycles that comes of what is not timed of it, relative; nothing if all is to be timed. `peak` if power is looked at over windows.
pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>, peak: bool) -> Option<f64> {
    let section = reader.section(root, "sampling")?;
    reader.refuse_unknown(&section, &["error"]);
    if section.get("error").is_none() {
        reader.missing(&section, "error", EXAMPLE);
    }
    let error = reader.one(&section, "error", |value| {
        let text = text("`error`", value, EXAMPLE)?;
        error_share(&text).map_err(|label| Fault {
            code: "study::bad_sampling",
            message: format!("`error` cannot be `{text}`"),
            label,
            help: Some(format!("write for example `{EXAMPLE}`")),
        })
    });
    // What looks on all the time sees nothing of what is left out.
    let others = [
        ("peak_power", peak),
        ("reliability", root.get("reliability").is_some()),
        ("uncertainty", root.get("uncertainty").is_some()),
    ];
    for (other, _) in others.iter().filter(|(_, is_there)| *is_there) {
        reader.fault(
            section.range.clone(),
            Fault {
                code: "study::bad_sampling",
                message: format!("`[{other}]` needs runs that are timed whole"),
                label: "a part of long runs is timed".to_owned(),
                help: Some(format!("leave out `[sampling]` or `{other}`")),
            },
        );
    }
    error.map(|placed| placed.value)
}

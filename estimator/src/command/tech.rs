//! `warpwatt tech`: what a technology is made of, two side by side, and whether an own node file is right.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::Table;
use serde_json::json;
use warpwatt_techlib::{OwnNode, TechError, Technology};

use super::arguments::{TechAt, TechCommand};
use super::console::{Exit, out, out_json, reject};
use super::list::table;
use crate::diag::{Diag, Rejection};
use crate::technology::{Sheet, changes_json, changes_table, how, is_file, load, load_file};

/// Runs one of the sub-commands.
pub fn run(command: &TechCommand) -> Exit {
    let (result, json) = match command {
        TechCommand::Show { node, at, json } => (show(node, at, *json), *json),
        TechCommand::Compare {
            first,
            second,
            at,
            json,
        } => (compare([first, second], at, *json), *json),
        TechCommand::Check { file, json } => (check(file, *json), *json),
    };
    match result {
        Ok(()) => Exit::Done,
        Err(rejection) => reject(&rejection, json),
    }
}

fn show(node: &str, at: &TechAt, json: bool) -> Result<(), Rejection> {
    let own = is_file(node).then(|| load_file(Path::new(node)));
    let own = own.transpose()?;
    let technology = match &own {
        Some(own) => own.technology(at.flavour).map_err(refused)?,
        None => load(node, &at.library, at.flavour)?,
    };
    let sheet = sheet(&technology, at)?;
    if json {
        let mut document = sheet.json();
        if let Some(own) = &own {
            document["own"] = changes_json(own);
        }
        out_json(&document);
        return Ok(());
    }
    let mut text = heading(&sheet);
    if let Some(own) = &own {
        text += &changed(own);
    }
    let mut figures = Table::new();
    for line in &sheet.lines {
        figures.add_row([line.name, &line.text, &percent(line.uncertainty)]);
    }
    let _ = writeln!(text, "\n{}", table(figures, ["figure", "value", "sigma"]));
    let mut values = Table::new();
    for entry in technology.entries() {
        let (how, detail) = how(entry.pedigree.how);
        let how = detail.map_or(how.to_owned(), |detail| format!("{how}: {detail}"));
        values.add_row([
            &entry.name,
            &entry.text,
            &percent(entry.uncertainty),
            entry.cause.name(),
            entry.pedigree.source,
            &how,
        ]);
    }
    text += &table(
        values,
        ["value", "", "sigma", "common cause", "source", "how"],
    );
    for defect in &technology.defects {
        let _ = writeln!(
            text,
            "\nknown defect of the source: {}, {}: {}",
            defect.name,
            defect.at.join(", "),
            defect.note
        );
    }
    out(&text);
    Ok(())
}

fn compare(nodes: [&str; 2], at: &TechAt, json: bool) -> Result<(), Rejection> {
    let first = load(nodes[0], &at.library, at.flavour)?;
    let second = load(nodes[1], &at.library, at.flavour)?;
    let (one, other) = (sheet(&first, at)?, sheet(&second, at)?);
    let pairs = || one.lines.iter().zip(&other.lines);
    if json {
        let ratios: serde_json::Map<String, serde_json::Value> = pairs()
            .map(|(a, b)| (a.key.to_owned(), json!(ratio(a.si, b.si))))
            .collect();
        out_json(
            &json!({ "first": one.json(), "second": other.json(), "second_over_first": ratios }),
        );
        return Ok(());
    }
    let mut rows = Table::new();
    for (a, b) in pairs() {
        let ratio = ratio(a.si, b.si).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        rows.add_row([a.name, &a.text, &b.text, &ratio]);
    }
    let labels = [&first, &second]
        .map(|technology| format!("{} ({})", technology.label(), technology.library));
    let text = format!("{}{}\n", heading(&one), heading(&other));
    out(&(text + &table(rows, ["figure", &labels[0], &labels[1], "ratio"])));
    Ok(())
}

fn ratio(first: f64, second: f64) -> Option<f64> {
    (first != 0.0).then(|| second / first)
}

fn check(file: &Path, json: bool) -> Result<(), Rejection> {
    let node = load_file(file)?;
    if json {
        let mut document = changes_json(&node);
        document["file"] = json!(file.display().to_string());
        let flavours = node.flavours();
        document["flavours"] = flavours.iter().map(|flavour| flavour.name()).collect();
        out_json(&document);
    } else {
        out(&checked(file, &node));
    }
    Ok(())
}

fn checked(file: &Path, node: &OwnNode) -> String {
    let flavours: Vec<&str> = node
        .flavours()
        .iter()
        .map(|flavour| flavour.name())
        .collect();
    format!(
        "{}: fine. It extends {} and changes {} of its values. Flavours: {}.\n{}",
        file.display(),
        node.base(),
        node.overrides().len(),
        flavours.join(", "),
        changed(node)
    )
}

/// What a user's node changes, as a table; nothing if it changes nothing.
fn changed(node: &OwnNode) -> String {
    let changes = changes_table(node);
    if changes.is_empty() {
        return String::new();
    }
    let mut rows = Table::new();
    for change in changes {
        rows.add_row(change);
    }
    let heading = ["changed", node.base(), "here", "sigma", "source", "how"];
    format!("\n{}", table(rows, heading))
}

fn refused(error: TechError) -> Diag {
    Diag::error("tech::refused", error.to_string())
}

fn sheet<'t>(technology: &'t Technology, at: &TechAt) -> Result<Sheet<'t>, Rejection> {
    let refused = |error: TechError| Diag::error("tech::operating_point", error.to_string());
    Ok(Sheet::new(technology, at.vdd, at.temperature).map_err(refused)?)
}

fn heading(sheet: &Sheet<'_>) -> String {
    let technology = sheet.technology;
    let mut text = format!(
        "{} of {} at {} and {}\n",
        technology.label(),
        technology.library,
        sheet.at.vdd,
        sheet.at.temperature
    );
    if let Some(sketch) = &technology.sketch {
        let _ = writeln!(text, "  {sketch}");
    }
    if let Some(between) = &technology.interpolation {
        let _ = writeln!(
            text,
            "  {:.1} % of {:.0} nm and the rest of {:.0} nm: {}",
            100.0 * between.share_of_larger,
            between.larger.as_nm(),
            between.smaller.as_nm(),
            between.rule
        );
    }
    text
}

fn percent(uncertainty: f64) -> String {
    format!("{:.0} %", 100.0 * uncertainty)
}

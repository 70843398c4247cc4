//! Which point of a study is meant: by its number or by what it is.
//!
//! A selector is a number, that of the point's row in `points.csv` from 1 on, or `key=value` pairs with commas between them:
//! `kernel=hotspot,node=7nm,technique=filter_cache(entries=16)`. Pairs that do not matter may be left out; what is left must be one point. Keys are also the
//! columns of the tables, `gpu.sm.threads` and `technique.filter_cache.entries`, and, last, `configuration` as reports name it.

use crate::diag::{Diag, did_you_mean};
use crate::label::{self, Label, Parameter};
use crate::outcome::{BASELINE, Outcome, Point};

/// How many candidates a message lists.
const LISTED: usize = 8;

/// The number of the point, from 0 on, among `points`, that `selector` means.
///
/// # Errors
/// It means none or several of them, which are listed, or is no selector.
///
/// ```
/// # let points: Vec<warpwatt_pricing::outcome::Outcome> = Vec::new();
/// assert!(warpwatt_report::select::select("kernel=bfs,node=7nm", &points).is_err(), "there are no points");
/// ```
pub fn select(selector: &str, points: &[Outcome]) -> Result<usize, Diag> {
    let found = matching(selector, points)?;
    match found[..] {
        [one] => Ok(one),
        [] => Err(none(selector, points)),
        _ => Err(several(selector, points, &found)),
    }
}

/// The numbers of all points that `selector` fits.
///
/// # Errors
/// It is no selector.
pub fn matching(selector: &str, points: &[Outcome]) -> Result<Vec<usize>, Diag> {
    let selector = selector.trim();
    if let Ok(number) = selector.parse::<usize>() {
        return match number.checked_sub(1).filter(|place| *place < points.len()) {
            Some(place) => Ok(vec![place]),
            None => Err(
                Diag::error("point::number", format!("there is no point {number}")).help(format!(
                    "points are numbered from 1 to {}, in the order of points.csv",
                    points.len()
                )),
            ),
        };
    }
    let pairs = pairs(selector)?;
    for (key, _) in &pairs {
        known(key, points)?;
    }
    let fits = |point: &Point| {
        pairs.iter().all(|(key, value)| match *key {
            "technique" => label::fits(&point.technique, value),
            key => attribute(point, key)
                .is_some_and(|are| are.iter().any(|is| label::alike(is, value))),
        })
    };
    let numbers = points.iter().enumerate().filter(|(_, o)| fits(&o.point));
    Ok(numbers.map(|(number, _)| number).collect())
}

/// The selector's pairs. Commas within parentheses belong to a value.
fn pairs<'s>(selector: &'s str) -> Result<Vec<(&'s str, &'s str)>, Diag> {
    let (selector, configuration) = match selector.find(&format!("{CONFIGURATION}=")) {
        Some(at) => (&selector[..at], Some(&selector[at..])),
        None => (selector, None),
    };
    let mut depth = 0_i32;
    let parts = selector.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let pair = |part: &'s str| {
        let pair = part
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty());
        pair.map(|(key, value)| (key.trim(), value.trim())).ok_or_else(|| {
            Diag::error("point::selector", format!("`{part}` is no part of a point selector"))
                .help("a selector is a number, or key=value pairs: `kernel=hotspot,node=7nm,technique=baseline`")
        })
    };
    let parts = parts.filter(|part| configuration.is_none() || !part.trim().is_empty());
    parts.chain(configuration).map(pair).collect()
}

/// What a point is called in the respect of `key`; `None` if it has no such respect.
fn attribute(point: &Point, key: &str) -> Option<Vec<String>> {
    let technology = &point.technology;
    let one = |text: &str| Some(vec![text.to_owned()]);
    match key {
        "kernel" => {
            let mut names = vec![point.kernel.name.clone()];
            names.extend(point.kernel.paper.iter().cloned());
            Some(names)
        }
        "case" => one(&point.kernel.case),
        "gpu" | "preset" => one(&point.gpu),
        "library" => one(&technology.library),
        "node" => one(&technology.node),
        "flavour" => one(&technology.flavour),
        "profile" => one(&technology.profile),
        "temperature" | "temperature_k" => Some(vec![
            format!("{}", technology.temperature_k),
            format!("{} K", technology.temperature_k),
        ]),
        "vdd" | "vdd_v" => Some(vec![
            format!("{}", technology.vdd_v),
            format!("{} V", technology.vdd_v),
        ]),
        "configuration" => Some(vec![point.configuration()]),
        "technique" => one(&point.technique),
        _ => match (key.strip_prefix("gpu."), key.strip_prefix("technique.")) {
            // The names of the tables' columns.
            (Some(setting), _) => attribute(point, setting),
            (_, Some(parameter)) => said(point, parameter),
            _ if key.starts_with(label::STRUCTURE) => said(point, key),
            _ => point.axes.get(key).map(|value| vec![value.clone()]),
        },
    }
}

/// What the label of a point's techniques says of a parameter.
fn said(point: &Point, parameter: &str) -> Option<Vec<String>> {
    let parameter = Parameter::named(parameter);
    let value = Label::of(&point.technique).value(&parameter)?.to_owned();
    Some(vec![value])
}

/// What points can be told apart by.
const KEYS: [&str; 11] = [
    "kernel",
    "case",
    "gpu",
    "library",
    "node",
    "flavour",
    "profile",
    "temperature",
    "vdd",
    "technique",
    CONFIGURATION,
];

/// The key of a configuration as reports name it. Commas are among its words, so it comes last.
const CONFIGURATION: &str = "configuration";

fn known(key: &str, points: &[Outcome]) -> Result<(), Diag> {
    if points.iter().any(|o| attribute(&o.point, key).is_some()) || KEYS.contains(&key) {
        return Ok(());
    }
    let mut keys: Vec<&str> = KEYS.to_vec();
    for outcome in points {
        for axis in outcome.point.axes.keys() {
            if !keys.contains(&axis.as_str()) {
                keys.push(axis);
            }
        }
    }
    let near = did_you_mean(key, keys.iter().copied());
    Err(Diag::error("point::unknown_key", format!("points have no `{key}`")).help(near))
}

fn none(selector: &str, points: &[Outcome]) -> Diag {
    let help = if points.is_empty() {
        "the study has no points".to_owned()
    } else {
        let all: Vec<usize> = (0..points.len()).collect();
        format!("the points are:\n{}", listed(points, &all))
    };
    Diag::error("point::none", format!("no point is `{selector}`")).help(help)
}

fn several(selector: &str, points: &[Outcome], found: &[usize]) -> Diag {
    let message = format!("`{selector}` is {} points", found.len());
    Diag::error("point::several", message).help(format!(
        "name one by its number or by more of what it is:\n{}",
        listed(points, found)
    ))
}

fn listed(points: &[Outcome], numbers: &[usize]) -> String {
    let line = |number: &usize| format!("  {}: {}", number + 1, name(&points[*number].point));
    let mut lines: Vec<String> = numbers.iter().take(LISTED).map(line).collect();
    if numbers.len() > LISTED {
        lines.push(format!("  and {} more", numbers.len() - LISTED));
    }
    lines.join("\n")
}

/// A selector that means the point, as far as its names tell it from others.
pub fn name(point: &Point) -> String {
    let technology = &point.technology;
    let mut pairs = vec![
        ("kernel", point.kernel.name.clone()),
        ("case", point.kernel.case.clone()),
        ("gpu", point.gpu.to_string()),
    ];
    pairs.extend(
        point
            .axes
            .iter()
            .map(|(axis, value)| (axis.as_str(), value.clone())),
    );
    pairs.extend([
        ("node", technology.node.to_string()),
        ("flavour", technology.flavour.to_string()),
        ("profile", technology.profile.to_string()),
        ("temperature", format!("{} K", technology.temperature_k)),
        ("vdd", format!("{} V", technology.vdd_v)),
    ]);
    let technique = if point.is_baseline() {
        BASELINE
    } else {
        &point.technique
    };
    pairs.push(("technique", technique.to_owned()));
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn message(diag: &Diag) -> String {
        format!(
            "{}\n{}",
            diag.message,
            diag.help.clone().unwrap_or_default()
        )
    }

    #[test]
    fn a_point_is_its_number_or_what_it_is() {
        let points = sample::outcomes();
        assert_eq!(select("2", &points).ok(), Some(1));
        assert_eq!(
            select("kernel=bfs, technique=baseline", &points).ok(),
            Some(2)
        );
        assert_eq!(
            select("kernel=BFS,technique=filter_cache( entries = 32 )", &points).ok(),
            Some(3)
        );
        assert_eq!(
            select("kernel=MTM,technique=filter_cache", &points).ok(),
            Some(1)
        );
        assert_eq!(
            select(
                "kernel=bfs,technique.filter_cache.entries=32,gpu.node=32nm",
                &points
            )
            .ok(),
            Some(3)
        );
        let configuration = points[3].point.configuration();
        assert_eq!(
            select(
                &format!("kernel=bfs,configuration={configuration}"),
                &points
            )
            .ok(),
            Some(3)
        );
        for (number, outcome) in points.iter().enumerate() {
            assert_eq!(
                select(&name(&outcome.point), &points).ok(),
                Some(number),
                "every point has a selector"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_selector_is_said() {
        let points = sample::outcomes();
        let fault = |selector: &str| message(&select(selector, &points).unwrap_err());
        let all = [
            "7",
            "0",
            "kernel",
            "kernal=bfs",
            "kernel=bfs",
            "kernel=bfs,node=5nm",
        ]
        .map(fault);
        insta::assert_snapshot!(all.join("\n---\n"));
    }
}

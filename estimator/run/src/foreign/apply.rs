//! From launches and a map to the counts of each kernel.

use std::collections::{BTreeMap, BTreeSet};

use warpwatt_activity::Activity;
use warpwatt_techlib::quantity::Frequency;

use super::{Launch, Map, MapEntry};

/// What the clock is called in maps and files, beside the counters.
pub const CLOCK: &str = "clock_hz";
/// The counter without which there is no time.
const CYCLES: &str = "cycles";
/// More cycles than any kernel takes.
const MOST_CYCLES: u64 = 10_000_000_000_000;
/// More events than any kernel has; every whole number up to here has a float of its own.
const MOST_EVENTS: u64 = 1 << 53;
/// Clocks of GPUs, with room.
const CLOCKS: std::ops::RangeInclusive<f64> = 1e6..=1e11;

/// A kernel that was counted elsewhere: all its launches together.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKernel {
    /// Its name there.
    pub name: String,
    /// How many launches it stands for.
    pub launches: u64,
    /// Cycles of the SMs' clock.
    pub cycles: u64,
    /// The clock, if the file says it; else it is the GPU's.
    pub clock: Option<Frequency>,
    /// The counters that are fed. Only what is here was counted.
    pub activity: Activity,
    /// Counters that are no measurements, with what is assumed.
    pub estimates: BTreeMap<String, String>,
    /// Names of the tool that no counter of ours uses.
    pub unmapped: BTreeSet<String>,
}

/// Brings the launches of each kernel together, in the order of their first.
///
/// # Errors
/// For each kernel that has no counts, why.
pub fn counts(launches: &[Launch], map: &Map) -> Result<Vec<ForeignKernel>, Vec<String>> {
    let mut names: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, Vec<&Launch>> = BTreeMap::new();
    for launch in launches {
        let group = groups.entry(&launch.kernel).or_default();
        if group.is_empty() {
            names.push(&launch.kernel);
        }
        group.push(launch);
    }
    let (mut kernels, mut problems) = (Vec::new(), Vec::new());
    for name in names {
        match kernel(name, &groups[name], map) {
            Ok(kernel) => kernels.push(kernel),
            Err(problem) => problems.push(format!("`{name}`: {problem}")),
        }
    }
    if problems.is_empty() {
        Ok(kernels)
    } else {
        Err(problems)
    }
}

fn kernel(name: &str, launches: &[&Launch], map: &Map) -> Result<ForeignKernel, String> {
    let mut activity = Activity::new();
    let mut estimates = BTreeMap::new();
    let mut used = BTreeSet::new();
    for (counter, entries) in by_counter(map) {
        // A counter that only some launches have would be a part of itself.
        let chosen = launches.iter().map(|launch| chosen(&entries, launch));
        let Some(chosen) = chosen.collect::<Option<Vec<&MapEntry>>>() else {
            continue;
        };
        for (entry, launch) in chosen.iter().zip(launches) {
            used.extend(
                entry
                    .is
                    .names()
                    .into_iter()
                    .map(|(name, _)| name.to_owned()),
            );
            if counter == CLOCK {
                continue;
            }
            let count = entry.is.count(&|name| launch.values[name]);
            let count = count.map_err(|error| format!("`{counter}`: {error}"))?;
            let total = activity.get(counter).saturating_add(count);
            if total > MOST_EVENTS {
                return Err(format!("`{counter}` is {total}, more than a counter holds"));
            }
            activity.add(counter, count);
            if let Some(estimate) = &entry.estimate {
                estimates.insert(counter.to_owned(), estimate.to_string());
            }
        }
    }
    let cycles = activity.get(CYCLES);
    if cycles == 0 {
        return Err(missing_cycles(map));
    }
    if cycles > MOST_CYCLES {
        return Err(format!("{cycles} cycles are more than any kernel takes"));
    }
    let there = launches.iter().flat_map(|launch| launch.values.keys());
    let unmapped = there.filter(|name| !used.contains(*name)).cloned();
    Ok(ForeignKernel {
        name: name.to_owned(),
        launches: launches.len() as u64,
        cycles,
        clock: clock(launches, map, cycles)?,
        activity,
        estimates,
        unmapped: unmapped.collect(),
    })
}

fn missing_cycles(map: &Map) -> String {
    let entries = map.entries.iter();
    let from: Vec<&str> = entries
        .filter(|entry| entry.counter == CYCLES)
        .map(|entry| entry.is.text())
        .collect();
    format!(
        "there are no cycles, without which there is no time; they come from {}",
        if from.is_empty() {
            "nothing in this map".to_owned()
        } else {
            format!("`{}`", from.join("` or `"))
        }
    )
}

/// The entries of each counter, in the order of the map.
fn by_counter(map: &Map) -> BTreeMap<&str, Vec<&MapEntry>> {
    let mut groups: BTreeMap<&str, Vec<&MapEntry>> = BTreeMap::new();
    for entry in &map.entries {
        groups.entry(&entry.counter).or_default().push(entry);
    }
    groups
}

/// The first entry whose names a launch has.
fn chosen<'m>(entries: &[&'m MapEntry], launch: &Launch) -> Option<&'m MapEntry> {
    let has = |entry: &&&MapEntry| {
        let mut names = entry.is.names().into_iter();
        names.all(|(name, _)| launch.values.contains_key(name))
    };
    entries.iter().find(has).copied()
}

/// The clock under which all launches together take the time that they take one after the other.
fn clock(launches: &[&Launch], map: &Map, cycles: u64) -> Result<Option<Frequency>, String> {
    let groups = by_counter(map);
    let Some(entries) = groups.get(CLOCK) else {
        return Ok(None);
    };
    let mut clocks = Vec::new();
    for launch in launches {
        let Some(entry) = chosen(entries, launch) else {
            return Ok(None);
        };
        let clock = entry.is.value(&|name| launch.values[name]);
        let clock = clock.map_err(|error| format!("`{CLOCK}`: {error}"))?;
        if !CLOCKS.contains(&clock) {
            return Err(format!(
                "a clock of {clock} Hz; it lies between {:e} and {:e} Hz",
                CLOCKS.start(),
                CLOCKS.end()
            ));
        }
        clocks.push(clock);
    }
    let first = clocks.first().copied().unwrap_or_default();
    if clocks.iter().all(|clock| *clock == first) {
        return Ok(Some(Frequency::from_hz(first)));
    }
    let each = groups.get(CYCLES).map_or(&[][..], Vec::as_slice);
    let seconds = launches.iter().zip(&clocks).filter_map(|(launch, clock)| {
        let entry = chosen(each, launch)?;
        let cycles = entry.is.count(&|name| launch.values[name]).ok()?;
        Some(cycles as f64 / clock)
    });
    let seconds: f64 = seconds.sum();
    Ok(Some(Frequency::from_hz(cycles as f64 / seconds)))
}

//! `[thermal]`: how the GPU is cooled.

use std::ops::RangeInclusive;

use toml::de::DeValue;
use warpwatt_techlib::quantity::{Area, Figure, Power, Temperature, ThermalResistance};

use super::gpu::quantity;
use super::reader::{Fault, Reader, Section};
use crate::diag::Diag;
use crate::pricing::Cooling;

/// Keys of the section.
const KEYS: [&str; 4] = ["ambient", "sink", "die_area", "other_power"];

/// The cooling of a study that asks for temperatures.
pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<Cooling> {
    let section = reader.section(root, "thermal")?;
    reader.refuse_unknown(&section, &KEYS);
    let mut cooling = match Cooling::of_package() {
        Ok(cooling) => cooling,
        Err(error) => {
            reader
                .sink
                .push(Diag::error("techlib::defect", error.to_string()));
            return None;
        }
    };
    let ambient: Option<Temperature> =
        read_one(reader, &section, "ambient", "318 K", 200.0..=400.0);
    cooling.ambient = ambient.unwrap_or(cooling.ambient);
    let sink: Option<ThermalResistance> =
        read_one(reader, &section, "sink", "0.1 K/W", 1e-4..=100.0);
    cooling.sink = sink.unwrap_or(cooling.sink);
    cooling.die_area = read_one::<Area>(reader, &section, "die_area", "815 mm2", 1e-8..=0.1);
    let other: Option<Power> = read_one(reader, &section, "other_power", "50 W", 0.0..=1e5);
    cooling.other_power = other.unwrap_or(Power::ZERO);
    if cooling.other_power > Power::ZERO && cooling.die_area.is_none() {
        let fault = Fault {
            code: "study::missing_key",
            message: "`other_power` is made in the part of the die that is not priced, whose size is not known".to_owned(),
            label: String::new(),
            help: Some("add for example `die_area = \"815 mm2\"`".to_owned()),
        };
        reader.fault(section.range, fault);
    }
    Some(cooling)
}

fn read_one<T>(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    key: &str,
    example: &str,
    range: RangeInclusive<f64>,
) -> Option<T>
where
    T: Figure + std::str::FromStr,
    T::Err: std::fmt::Display,
{
    let read = |value: &DeValue<'_>| {
        let found: T = quantity(&format!("`{key}`"), value, example)?;
        if range.contains(&found.number()) {
            return Ok(found);
        }
        Err(Fault {
            code: "study::absurd_size",
            message: format!("`{key}` cannot be {}", found.readable()),
            label: format!(
                "between {:e} and {:e} {}",
                range.start(),
                range.end(),
                T::UNIT
            ),
            help: Some(format!("write for example `{key} = \"{example}\"`")),
        })
    };
    reader.one(section, key, read).map(|placed| placed.value)
}

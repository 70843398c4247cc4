//! The way of heat from a die to the air.

use serde::Deserialize;

use super::{checked, parse};
use crate::TechError;
use crate::quantity::{
    HeatCapacity, Length, Temperature, ThermalConductivity, ThermalResistance, VolumetricHeat,
};

const FILE: &str = "operations/package.toml";
const TEXT: &str = include_str!("../../data/operations/package.toml");

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// Document.
    pub source: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

/// A die under a heat spreader under a heat sink in moving air.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The silicon.
    pub die: Slab,
    /// Between die and spreader.
    pub interface: Slab,
    /// The heat spreader.
    pub spreader: Plate,
    /// The base of the heat sink.
    pub sink: Plate,
    /// From the sink's fins to the air.
    pub convection: Convection,
}

/// A layer of one material.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slab {
    /// How thick it is.
    pub thickness: Fact<Length>,
    /// How well it conducts.
    pub conductivity: Fact<ThermalConductivity>,
    /// How much heat it takes up.
    pub heat: Fact<VolumetricHeat>,
}

/// A square layer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plate {
    /// How long its sides are.
    pub side: Fact<Length>,
    /// What it is of.
    pub slab: Slab,
}

/// The last part of the way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convection {
    /// From the sink to the air.
    pub resistance: Fact<ThermalResistance>,
    /// Of fins and air.
    pub heat: Fact<HeatCapacity>,
    /// The air.
    pub ambient: Fact<Temperature>,
}

/// The package that is taken where a study names none of its own.
///
/// # Errors
///
/// If the data that come with the crate cannot be read.
pub fn package() -> Result<Package, TechError> {
    let package: Package = parse(FILE, TEXT)?;
    for slab in [
        &package.die,
        &package.interface,
        &package.spreader.slab,
        &package.sink.slab,
    ] {
        fact(&slab.thickness)?;
        fact(&slab.conductivity)?;
        fact(&slab.heat)?;
    }
    fact(&package.spreader.side)?;
    fact(&package.sink.side)?;
    fact(&package.convection.resistance)?;
    fact(&package.convection.heat)?;
    fact(&package.convection.ambient)?;
    Ok(package)
}

fn fact<T>(fact: &Fact<T>) -> Result<(), TechError> {
    checked(FILE, &fact.source, fact.uncertainty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_can_be_read_and_every_value_has_its_source() {
        let package = package().unwrap();
        assert!(package.sink.side.value > package.spreader.side.value);
        assert!(package.convection.resistance.source.contains("r_convec"));
    }
}

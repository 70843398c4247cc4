//! The core clock at another supply than the nominal one.

use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::{TechError, metrics};

use crate::pricing::NodeCircuits;

/// Sets the clocks that hang on the supply of `circuits`: the setting is that of the nominal supply, and a critical path is some number of gate delays (FO4), however long
/// one is. SMs and network are on that supply; DRAM has its own. Clocks are whole megahertz, rounded down.
///
/// # Errors
/// If the supply is outside the technology's laws.
pub fn follow_vdd(spec: &mut GpuSpec, circuits: &NodeCircuits) -> Result<(), TechError> {
    let technology = circuits.technology();
    let at = circuits.operating_point();
    let delay = |vdd| {
        Ok::<_, TechError>(metrics::fo4(
            technology,
            &technology.at(vdd, at.temperature)?,
        ))
    };
    let faster = delay(None)? / delay(at.vdd)?;
    // What is built is built for the nominal supply.
    if spec.chip.clock_mhz == 0 {
        spec.chip.clock_mhz = spec.sm.clock_mhz;
    }
    for clock in [&mut spec.sm.clock_mhz, &mut spec.noc.clock_mhz] {
        *clock = ((f64::from(*clock) * faster) as u32).max(1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_circuit::{OperatingPoint, Profile};
    use warpwatt_gpu::presets;
    use warpwatt_techlib::quantity::{Temperature, Voltage};
    use warpwatt_techlib::{Flavour, Library};

    fn clocks(vdd: Option<f64>) -> (u32, u32, u32) {
        let technology = Library::silicon()
            .unwrap()
            .node("7nm", Flavour::Hp)
            .unwrap();
        let at = OperatingPoint {
            temperature: Temperature::from_k(350.0),
            vdd: vdd.map(Voltage::from_v),
        };
        let circuits = NodeCircuits::new(technology, at, Profile::Silicon);
        let v100 = presets()
            .iter()
            .find(|preset| preset.name == "v100")
            .unwrap();
        let mut spec = GpuSpec::from_table(v100.table()).unwrap();
        follow_vdd(&mut spec, &circuits).unwrap();
        (spec.sm.clock_mhz, spec.noc.clock_mhz, spec.dram.clock_mhz)
    }

    #[test]
    fn the_nominal_supply_changes_nothing_and_dram_stays() {
        assert_eq!(clocks(None), (1132, 1132, 850));
        assert_eq!(clocks(Some(0.7)), (1132, 1132, 850));
        let slow = clocks(Some(0.5));
        assert!(
            slow.0 < 900 && slow.0 == slow.1 && slow.2 == 850,
            "{slow:?}"
        );
    }

    /// By the alpha-power law f goes as (V - Vt)^alpha / V: the figures of the node's own law.
    #[test]
    fn the_clock_goes_as_the_alpha_power_law() {
        let technology = Library::silicon()
            .unwrap()
            .node("7nm", Flavour::Hp)
            .unwrap();
        let law = &technology.device.drive;
        let speed = |v: f64| (v - law.threshold.value.si()).powf(law.alpha.value) / v;
        let expected = 1132.0 * speed(0.6) / speed(0.7);
        assert!((f64::from(clocks(Some(0.6)).0) - expected).abs() < 1.0);
    }
}

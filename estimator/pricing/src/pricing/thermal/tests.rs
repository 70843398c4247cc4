use std::collections::BTreeMap;

use warpwatt_activity::Activity;
use warpwatt_circuit::Profile;
use warpwatt_gpu::{GpuSpec, presets};
use warpwatt_structures::plain;
use warpwatt_techlib::quantity::{Frequency, Voltage};
use warpwatt_techlib::{Flavour, Library};
use warpwatt_techniques::{Structure, find};

use super::*;
use crate::outcome::{BASELINE, KernelName};
use crate::performance::Performance;
use crate::pricing::technology_name;

fn circuits(kelvin: f64, vdd: Option<f64>) -> NodeCircuits {
    let technology = Library::silicon()
        .unwrap()
        .node("16nm", Flavour::Hp)
        .unwrap();
    let at = OperatingPoint {
        temperature: Temperature::from_k(kelvin),
        vdd: vdd.map(Voltage::from_v),
    };
    NodeCircuits::new(technology, at, Profile::Silicon)
}

fn gpu() -> GpuSpec {
    let v100 = presets()
        .iter()
        .find(|preset| preset.name == "v100")
        .unwrap();
    GpuSpec::from_table(v100.table()).unwrap()
}

/// Everything of a V100, with gated registers.
fn structures() -> Vec<Structure> {
    let spec = gpu();
    let mut structures = plain::structures(&spec);
    structures.extend(plain::lanes(&spec));
    let gating = find("power_gating")
        .unwrap()
        .parse(&toml::Table::new())
        .unwrap();
    structures.extend(gating.structures(&spec));
    gating.alter(&spec, &mut structures);
    structures
}

fn counted(fetches: u64) -> Counted {
    let mut activity = Activity::new();
    activity.add("instruction_buffer.read", fetches);
    Counted {
        windows: None,
        samples: None,
        cycles: 1_000_000,
        clock: Frequency::from_mhz(1132.0),
        activity: activity.into(),
        performance: Performance::default().into(),
        metrics: Vec::new().into(),
        register_accesses: None,
        before: Default::default(),
        notes: Vec::new(),
    }
}

fn settled(circuits: &NodeCircuits, cooling: &Cooling) -> Outcome {
    let point = Point {
        kernel: KernelName {
            name: "k".to_owned(),
            case: "c".to_owned(),
            paper: Vec::new(),
        }
        .into(),
        gpu: "v100".into(),
        axes: BTreeMap::new().into(),
        technology: technology_name(circuits),
        technique: BASELINE.into(),
    };
    let costs = |circuits: &dyn Circuits| CostTable::of(&structures(), 80, circuits);
    price_settled(point, counted(1_000), costs, circuits, cooling).unwrap()
}

/// Leakage follows the transistors' in every circuit, so that a structure need not be designed anew at each temperature.
#[test]
fn circuits_leak_as_their_transistors_do() {
    let (cold, hot) = (circuits(330.0, None), circuits(390.0, None));
    let heated = Heated::new(&cold, Temperature::from_k(390.0)).unwrap();
    for structure in structures() {
        let (ours, direct) = (
            heated.cost(&structure.spec).unwrap(),
            hot.cost(&structure.spec).unwrap(),
        );
        let off = (ours.leakage / direct.leakage - 1.0).abs();
        assert!(off < 1e-9, "{}: {off}", structure.name);
        if direct.gate_leakage > Power::ZERO {
            assert!(
                (ours.gate_leakage / direct.gate_leakage - 1.0).abs() < 1e-9,
                "{}",
                structure.name
            );
        }
        assert!(
            (ours.area / direct.area - 1.0).abs() < 1e-12,
            "{}",
            structure.name
        );
        if let Some(gates) = &structure.gates {
            let of = |circuits: &dyn Circuits| {
                circuits.gated(&structure.spec, gates.granularity).unwrap()
            };
            let (ours, direct) = (of(&heated), of(&hot));
            // Sleep transistors are sized for the design temperature, whatever the circuits run at.
            let off = (ours.leakage / direct.leakage - 1.0).abs();
            assert!(off < 1e-6, "{} gated: {off}", structure.name);
            assert_eq!(ours.header_area, direct.header_area);
        }
    }
}

/// What is reported is what the circuits cost at the temperature that is reported.
#[test]
fn the_temperature_is_that_of_its_own_heat() {
    let cooling = Cooling::of_package().unwrap();
    let outcome = settled(&circuits(350.0, None), &cooling);
    let heat = outcome.heat.unwrap();
    assert_eq!(heat.state, HeatState::Settled);
    assert!(
        heat.ambient_k < heat.sink_k && heat.sink_k < heat.junction_k,
        "{heat:?}"
    );
    assert!(heat.loop_gain > 0.0 && heat.loop_gain < 1.0);
    // The same priced directly at that temperature.
    let direct = CostTable::of(&structures(), 80, &circuits(heat.junction_k, None)).unwrap();
    let watts = leakage_power(&direct, &counted(1_000)).si();
    assert!(
        (watts / outcome.leakage_power_w() - 1.0).abs() < 1e-3,
        "gated registers: as above"
    );
    // The sink is warmed by all of it through its own resistance; a little of the way lies in its base.
    let power = watts + outcome.dynamic_power_w();
    assert!(heat.sink_k - heat.ambient_k > 0.1 * power);
    assert!(heat.sink_k - heat.ambient_k < 0.15 * power);
}

#[test]
fn colder_air_leaks_less_and_the_studys_temperature_does_not_matter() {
    let mut cooling = Cooling::of_package().unwrap();
    let warm = settled(&circuits(350.0, None), &cooling);
    let same = settled(&circuits(380.0, None), &cooling);
    assert!((warm.heat.unwrap().junction_k - same.heat.unwrap().junction_k).abs() < 0.05);
    cooling.ambient = Temperature::from_k(300.0);
    let cold = settled(&circuits(350.0, None), &cooling);
    assert!(cold.totals.leakage_j < warm.totals.leakage_j);
}

#[test]
fn a_gpu_without_a_heat_sink_runs_away_and_says_so() {
    let mut cooling = Cooling::of_package().unwrap();
    cooling.sink = ThermalResistance::from_k_per_w(8.0);
    let outcome = settled(&circuits(350.0, None), &cooling);
    let heat = outcome.heat.unwrap();
    assert_ne!(heat.state, HeatState::Settled);
    let note = outcome
        .notes
        .iter()
        .find(|note| note.kind == NoteKind::Thermal)
        .unwrap();
    assert!(
        note.text.contains("priced at 350.0 K instead"),
        "{}",
        note.text
    );
    assert_eq!(outcome.leakage_power_w(), heat.study_leakage_w);
}

#[test]
fn the_rest_of_the_die_heats_what_is_priced() {
    let mut cooling = Cooling::of_package().unwrap();
    cooling.die_area = Some(Area::from_mm2(815.0));
    let alone = settled(&circuits(350.0, None), &cooling).heat.unwrap();
    cooling.other_power = Power::from_w(100.0);
    let beside = settled(&circuits(350.0, None), &cooling).heat.unwrap();
    assert!(beside.junction_k > alone.junction_k + 10.0 && beside.sink_k > alone.sink_k + 10.0);
    cooling.die_area = Some(Area::from_mm2(1.0));
    let network = cooling.network(Area::from_mm2(500.0));
    assert!(network.unwrap_err().to_string().contains("`die_area`"));
}

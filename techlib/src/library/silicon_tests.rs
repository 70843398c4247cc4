//! The library `silicon` against figures that it is not made from, and against physics.

use approx::assert_relative_eq;

use super::*;
use crate::quantity::{Temperature, Voltage};
use crate::{Kind, metrics};

const ROOM: Temperature = Temperature::from_k(300.0);

fn node(name: &str, flavour: Flavour) -> Technology {
    Library::silicon().unwrap().node(name, flavour).unwrap()
}

/// Every tabulated technology.
fn all() -> Vec<Technology> {
    let library = Library::silicon().unwrap();
    let each = |node| Flavour::ALL.map(|flavour| library.at(node, flavour));
    library.nodes().flat_map(each).flatten().collect()
}

#[test]
fn every_node_reads_with_its_flavours() {
    let library = Library::silicon().unwrap();
    assert_eq!(library.nodes().count(), 16);
    assert_eq!(
        all().len(),
        16 * 4 - 3,
        "180 nm lacks lstp and lop, 130 nm lop"
    );
    let missing = library
        .node("180nm", Flavour::Lstp)
        .unwrap_err()
        .to_string();
    assert_eq!(
        missing,
        "silicon has no lstp transistors at 180.0 nm; it has hp, sram"
    );
}

/// Fan-out-of-4 delays: Stillmaker and Baas (2017) for planar nodes, the liberty of ASAP7 for its four thresholds.
#[test]
fn inverters_are_as_fast_as_those_of_independent_sources() {
    let anchors = [
        ("90nm", Flavour::Hp, 25.6),
        ("65nm", Flavour::Hp, 19.2),
        ("45nm", Flavour::Hp, 12.5),
        ("32nm", Flavour::Hp, 10.6),
        ("20nm", Flavour::Hp, 9.5),
        ("7nm", Flavour::Hp, 13.42),
        ("7nm", Flavour::Lop, 15.72),
        ("7nm", Flavour::Lstp, 19.55),
        ("7nm", Flavour::Sram, 24.32),
    ];
    for (name, flavour, picoseconds) in anchors {
        let technology = node(name, flavour);
        let at = technology.at(None, ROOM).unwrap();
        let ours = metrics::fo4(&technology, &at).as_ps();
        let sigma = technology
            .device
            .i_on_n
            .uncertainty
            .hypot(technology.device.c_gate_ideal.uncertainty);
        let off = libm::log(ours / picoseconds).abs();
        assert!(
            off < sigma,
            "{name} {flavour}: {ours:.1} ps against {picoseconds} ps"
        );
    }
}

#[test]
fn leakage_rises_and_resistance_falls_with_the_supply_and_leakage_rises_with_temperature() {
    for technology in all() {
        let label = technology.label();
        let drive = &technology.device.drive;
        let (low, high) = (drive.low, drive.high);
        let supply = |step: u32| low + (high - low) * (f64::from(step) / 20.0);
        let points: Vec<_> = (0..=20)
            .map(|step| technology.at(Some(supply(step).min(high)), ROOM).unwrap())
            .collect();
        for pair in points.windows(2) {
            assert!(pair[1].r_n < pair[0].r_n, "{label} at {}", pair[1].vdd);
            assert!(pair[1].i_off > pair[0].i_off, "{label} at {}", pair[1].vdd);
            assert!(
                pair[1].i_gate > pair[0].i_gate,
                "{label} at {}",
                pair[1].vdd
            );
        }
        for kelvin in 300..400 {
            let at = |kelvin: u32| technology.at(None, Temperature::from_k(f64::from(kelvin)));
            assert!(
                at(kelvin + 1).unwrap().i_off > at(kelvin).unwrap().i_off,
                "{label}"
            );
        }
    }
}

#[test]
fn the_bounds_of_a_supply_can_be_asked_for_as_they_are_shown() {
    for technology in all() {
        let drive = &technology.device.drive;
        for bound in [drive.low, drive.high] {
            let shown: Voltage = bound.to_string().parse().unwrap();
            let at = technology.at(Some(shown), ROOM);
            assert!(at.is_ok(), "{} at {shown}: {at:?}", technology.label());
        }
    }
    let written: Voltage = "950mV".parse().unwrap();
    assert!(node("7nm", Flavour::Hp).at(Some(written), ROOM).is_ok());
}

#[test]
fn outside_its_ranges_the_law_is_refused_with_the_nearest_point_that_works() {
    let hp = node("7nm", Flavour::Hp);
    let low = hp.at(Some(Voltage::from_v(0.3)), ROOM).unwrap_err();
    assert_eq!(
        low.to_string(),
        "a supply of 300.0 mV is outside 500.0 mV to 950.0 mV, the range of this device; nearest that works: 500.0 mV"
    );
    assert!(hp.at(None, Temperature::from_k(450.0)).is_err());
    assert!(hp.at(None, Temperature::from_k(f64::NAN)).is_err());
    assert!(hp.at(Some(Voltage::from_v(f64::NAN)), ROOM).is_err());
}

#[test]
fn a_node_between_two_tables_is_mixed_in_the_logarithm_and_not_across_kinds() {
    let at_28 = node("28nm", Flavour::Hp);
    let share = libm::log(28.0 / 22.0) / libm::log(32.0 / 22.0);
    let mixed = at_28.interpolation.as_ref().unwrap();
    assert_relative_eq!(mixed.share_of_larger, share, max_relative = 1e-12);
    assert_relative_eq!(
        at_28.device.vdd.value.as_v(),
        0.9 * share + 0.85 * (1.0 - share),
        max_relative = 1e-12
    );
    let library = Library::silicon().unwrap();
    let across = library.node("18nm", Flavour::Hp).unwrap_err().to_string();
    assert!(across.contains("choose one of the two"), "{across}");
    assert!(library.node("1nm", Flavour::Hp).is_err());
}

#[test]
fn finfets_come_in_whole_fins_and_two_nanometres_is_a_sketch() {
    let seven = node("7nm", Flavour::Hp);
    assert_eq!(seven.layout.kind, Kind::Finfet);
    let pitch = seven.layout.fin.as_ref().unwrap().pitch.value;
    assert_eq!(seven.layout.buildable(Length::from_nm(1.0)), pitch);
    assert_eq!(seven.layout.buildable(pitch), pitch);
    assert_eq!(seven.layout.buildable(pitch * 1.01), pitch * 2.0);
    let width = Length::from_nm(61.7);
    assert_eq!(node("45nm", Flavour::Hp).layout.buildable(width), width);
    assert!(seven.sketch.is_none() && node("2nm", Flavour::Hp).sketch.is_some());
}

/// How far two figures are apart, in factors of e.
fn apart(ours: f64, theirs: f64) -> f64 {
    libm::log(ours / theirs).abs()
}

/// Cells that the library does not take its areas from (all but ASAP7's recalled from conference papers).
#[test]
fn memory_cells_are_as_large_as_other_foundries_make_them() {
    for (name, square_micrometres) in [
        ("90nm", 1.0),
        ("32nm", 0.171),
        ("22nm", 0.108),
        ("14nm", 0.0588),
        ("10nm", 0.0367),
        ("7nm", 0.02333),
        ("3nm", 0.01843),
    ] {
        let cell = node(name, Flavour::Hp).cell;
        let ours = (cell.width.value * cell.height.value).as_um2();
        let sigma = cell.width.uncertainty;
        assert!(
            apart(ours, square_micrometres) < 2.0 * sigma,
            "{name}: {ours}"
        );
    }
}

/// Simulated cells of ASAP7 (1:1:1, BSIM-CMG) and the one figure of a foundry, TSMC's N3 (49.8 uW a megabit, temperature not stated).
#[test]
fn memory_cells_leak_as_simulated_and_published_ones() {
    for (name, kelvin, picowatts) in [
        ("7nm", 298.15, 18.3),
        ("7nm", 328.15, 32.5),
        ("7nm", 358.15, 88.7),
        ("7nm", 398.15, 386.0),
        ("3nm", 300.0, 47.5),
    ] {
        let sram = node(name, Flavour::Sram);
        let ours = sram
            .cell_leakage(None, Temperature::from_k(kelvin))
            .unwrap()
            .as_pw();
        let sigma = sram.device.i_off_n.uncertainty();
        assert!(
            apart(ours, picowatts) < 1.5 * sigma,
            "{name} at {kelvin} K: {ours} pW"
        );
    }
}

/// Line resistances of process kits that the law is not fitted to; the two at 7 nm are a factor of four apart, and both lie within the library's error.
#[test]
fn wires_resist_as_those_of_process_kits() {
    let local = |name: &str| node(name, Flavour::Hp).wires.conservative.local;
    let semi = |name: &str| node(name, Flavour::Hp).wires.conservative.semi_global;
    for (what, layer, ohm_per_um) in [
        ("ASAP7 M2, 36 nm", local("7nm"), 29.7),
        ("Ciofi's model, 40 nm", local("7nm"), 128.7),
        ("ASAP7 M6, 64 nm", semi("7nm"), 11.9),
        ("Wu et al. 2020 My, 76 nm", semi("7nm"), 21.6),
        ("FreePDK3 M4, 48 nm", semi("3nm"), 69.5),
        ("FreePDK3 M1, 30 nm", local("5nm"), 355.3),
        ("Nangate45 metal2", local("45nm"), 3.7),
        ("Nangate45 metal4", semi("45nm"), 1.47),
    ] {
        let ours = layer.resistance.value.as_ohm_per_um();
        let sigma = layer.resistance.uncertainty;
        assert!(
            apart(ours, ohm_per_um) < 2.1 * sigma,
            "{what}: {ours} against {ohm_per_um}"
        );
    }
}

#[test]
fn leakage_grows_with_temperature_as_the_sources_have_it() {
    // PTM: 4.1 to 4.5 times from 300 K to 400 K for hp, 11 to 21 for lstp; ASAP7: 15, 26 and 32 for its three thresholds (the NMOS alone).
    for (name, flavour, least, most) in [
        ("45nm", Flavour::Hp, 3.5, 5.0),
        ("32nm", Flavour::Hp, 3.5, 5.0),
        ("22nm", Flavour::Hp, 3.5, 5.0),
        ("45nm", Flavour::Lstp, 10.0, 22.0),
        ("22nm", Flavour::Lstp, 10.0, 22.0),
        ("7nm", Flavour::Hp, 13.0, 25.0),
        ("7nm", Flavour::Lop, 23.0, 45.0),
        ("7nm", Flavour::Lstp, 28.0, 82.0),
    ] {
        let technology = node(name, flavour);
        let at = |kelvin| {
            technology
                .at(None, Temperature::from_k(kelvin))
                .unwrap()
                .i_off
        };
        let ratio = at(400.0) / at(300.0);
        assert!((least..most).contains(&ratio), "{name} {flavour}: {ratio}");
    }
}

/// The slips of CACTI's tables (docs/technology.md): nothing of them is left here.
#[test]
fn the_slips_of_the_old_tables_are_mended() {
    let off = |name: &str, flavour, kelvin| {
        let technology = node(name, flavour);
        technology
            .at(None, Temperature::from_k(kelvin))
            .unwrap()
            .i_off
            .as_a_per_um()
    };
    // 90 nm lop: ten times too much at 350 K to 370 K.
    assert!(off("90nm", Flavour::Lop, 360.0) < 1.2e-8);
    // 22 nm lstp fell at 360 K; 32 and 22 nm hp were flat to 340 K and then rose 32 times.
    assert!(off("22nm", Flavour::Lstp, 360.0) > off("22nm", Flavour::Lstp, 350.0));
    let early = off("32nm", Flavour::Hp, 340.0) / off("32nm", Flavour::Hp, 300.0);
    let late = off("32nm", Flavour::Hp, 400.0) / off("32nm", Flavour::Hp, 340.0);
    assert!(early > 1.5 && late < 3.0, "{early}, {late}");
    // 22 nm lop leaked more than hp at 360 K.
    assert!(off("22nm", Flavour::Lop, 360.0) < off("22nm", Flavour::Hp, 360.0));
    // 45 nm lop: gate leakage was another table's sub-threshold leakage, 3.2e-8 A/um.
    let lop = node("45nm", Flavour::Lop);
    let gate = |kelvin| lop.at(None, Temperature::from_k(kelvin)).unwrap().i_gate;
    assert!(gate(300.0).as_a_per_um() < 1e-8);
    assert_eq!(gate(300.0), gate(400.0));
    // 22 nm had no junction capacitance.
    assert!(
        node("22nm", Flavour::Hp)
            .device
            .c_junction
            .value
            .as_ff_per_um2()
            > 0.5
    );
}

/// A gap that is known: planar hp transistors leak ten times as much as FinFET ones of the fastest threshold that is published, and are faster for it, and
/// the parasitics of contacts, which FinFETs have and planar cells hardly, are measured for FinFETs alone.
#[test]
fn the_step_from_planar_to_finfet_is_a_step_back_in_speed() {
    let fo4 = |name: &str| {
        let technology = node(name, Flavour::Hp);
        metrics::fo4(&technology, &technology.at(None, ROOM).unwrap()).as_ps()
    };
    let step = fo4("16nm") / fo4("20nm");
    assert!(
        (2.0..2.8).contains(&step),
        "{step}: if this has closed, say so in docs/technology.md"
    );
    for pair in [
        ["180nm", "130nm"],
        ["130nm", "90nm"],
        ["90nm", "65nm"],
        ["65nm", "45nm"],
        ["45nm", "32nm"],
        ["32nm", "22nm"],
        ["5nm", "3nm"],
    ] {
        assert!(fo4(pair[0]) > fo4(pair[1]), "{pair:?}");
    }
}

#[test]
fn what_was_held_out_of_the_fits_is_met_as_well_as_what_was_fitted() {
    let table = include_str!("../../data/silicon/fits.csv");
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        let (fitted, held) = (number(3), number(4));
        assert!(held < 0.2 && held < 2.0 * fitted + 0.02, "{line}");
        rows += 1;
    }
    assert!(rows > 100, "{rows}");
}

#[test]
fn the_figures_that_the_book_quotes_are_these() {
    let book = include_str!("../../../docs/technology.md");
    let fo4 = |name: &str, flavour| {
        let technology = node(name, flavour);
        metrics::fo4(&technology, &technology.at(None, ROOM).unwrap()).as_ps()
    };
    let planar: Vec<String> = ["90nm", "65nm", "45nm", "32nm", "20nm"]
        .iter()
        .map(|name| format!("{:.1}", fo4(name, Flavour::Hp)))
        .collect();
    assert!(
        book.contains(&format!("| {} ps |", planar.join(", "))),
        "{planar:?}"
    );
    let seven = [Flavour::Hp, Flavour::Lop, Flavour::Lstp, Flavour::Sram]
        .map(|flavour| format!("{:.1}", fo4("7nm", flavour)));
    assert!(
        book.contains(&format!("| {} ps |", seven.join(", "))),
        "{seven:?}"
    );
    let step = fo4("16nm", Flavour::Hp) / fo4("20nm", Flavour::Hp);
    assert!(
        book.contains(&format!("{step:.1} times *slower*")),
        "{step}"
    );
    let own = book
        .split("```toml")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let mut nothing = |_: &str, written: &str| Err(written.to_owned());
    OwnNode::read("my.toml", own.unwrap(), &mut nothing).unwrap();
}

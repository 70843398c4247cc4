//! CACTI's slips that the silicon profile does not have: the same organisation under both profiles, one test each (docs/silicon-arrays.md has the main ones).

use warpwatt_techlib::quantity::{Energy, Length, Power, Temperature};
use warpwatt_techlib::{Flavour, Library};

use super::mat::Mat;
use super::{Array, Limits, Need, Shape, Shared, Side, Split};
use crate::gate::{self, Kind};
use crate::process::Process;
use crate::{OperatingPoint, Ports, Profile};

fn process(profile: Profile) -> Process {
    let technology = Library::itrs().unwrap().node("45nm", Flavour::Hp).unwrap();
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let settings = profile.settings();
    Process::design(&technology, &technology, at.temperature, &settings).unwrap()
}

fn need(sets: f64, bits: u64, ports: Ports) -> Need {
    Need {
        sets,
        side: Side::Data {
            ways: 1,
            line_bits: bits,
            out_bits: bits,
            fast: false,
        },
        ports,
        banks: 1,
        ecc: false,
    }
}

/// A split of `ndwl` by `ndbl` with one set on a wordline and no multiplexers.
fn split(ndwl: u32, ndbl: u32) -> Split {
    Split {
        ndwl,
        ndbl,
        nspd: 1.0,
        ndcm: 1,
        ndsam1: 1,
        ndsam2: if ndbl > 1 { 2 } else { 1 },
    }
}

fn array(profile: Profile, need: &Need, split: Split) -> Array {
    let process = process(profile);
    let shape = Shape::new(&process, need, split, Limits::Relaxed).unwrap();
    Array::new(&process, need, shape, &mut Shared::default())
}

fn pair(need: &Need, split: Split) -> (Array, Array) {
    (
        array(Profile::Cacti7, need, split),
        array(Profile::Silicon, need, split),
    )
}

const MANY: Ports = Ports {
    read_write: 3,
    ..Ports::NONE
};

#[test]
fn writes_are_multiplied_by_the_active_mats_once() {
    let need = need(128.0, 512, Ports::ONE);
    let written = |profile| {
        let process = process(profile);
        let shape = Shape::new(&process, &need, split(8, 2), Limits::Relaxed).unwrap();
        let mat = Mat::new(&process, &need, &shape, &mut Shared::default());
        (mat.bitline.write, shape.active_mats as f64)
    };
    let ((slip, active), (mended, _)) = (written(Profile::Cacti7), written(Profile::Silicon));
    assert!(active > 1.0);
    approx::assert_relative_eq!(slip / mended, active, epsilon = 1e-9);
}

#[test]
fn a_write_pays_the_tree_towards_the_cells_and_not_the_one_from_them() {
    let need = need(2048.0, 64, Ports::READ_AND_WRITE);
    let (slip, mended) = pair(&need, split(2, 8));
    // Both read alike but for the trees' wires; the slip takes the output tree for a write, whose buffers cost more than the input tree's NANDs.
    let trees = |array: &Array| {
        array.write - (array.read - array.parts.bitlines.energy - array.parts.sense.energy)
    };
    assert!(trees(&slip) > Energy::ZERO && trees(&mended) != trees(&slip));
}

#[test]
fn every_port_leaks_through_its_own_decoders_and_precharge() {
    let of = |profile, ports| array(profile, &need(128.0, 64, ports), split(2, 2)).parts;
    let ratio =
        |profile| of(profile, MANY).predecode.leakage / of(profile, Ports::ONE).predecode.leakage;
    // Three ports: three times the decoders, which drive wider rows. The slip counts one.
    assert!(ratio(Profile::Cacti7) < 1.5);
    assert!(ratio(Profile::Silicon) > 2.5);
    let precharge =
        |profile| of(profile, MANY).precharge.leakage / of(profile, Ports::ONE).precharge.leakage;
    assert!(precharge(Profile::Cacti7) < 1.5 && precharge(Profile::Silicon) > 2.5);
    let row = |profile| of(profile, MANY).row.leakage / of(profile, Ports::ONE).row.leakage;
    assert!(row(Profile::Cacti7) < 2.0 && row(Profile::Silicon) > 2.5);
}

#[test]
fn a_second_row_of_mats_leaves_the_wires_above_the_first_as_high_as_they_are() {
    let need = need(1024.0, 1024, Ports::ONE);
    // Sixteen mats side by side, in one row and in two: the data that each tree of a square brings down are a sixteenth or an eighth of all.
    let wires = |profile, ndbl| {
        let array = array(profile, &need, split(32, ndbl));
        let (shape, p) = (array.shape, process(profile));
        let mat = Mat::new(&p, &need, &shape, &mut Shared::default());
        (array.height - mat.height * f64::from(shape.mats_v)) / p.wire_outside.pitch
    };
    // In and out, and the line that selects the only way.
    let data = 2.0 * 1024.0 + 1.0;
    let (slip, mended) = (wires(Profile::Cacti7, 4), wires(Profile::Silicon, 4));
    approx::assert_relative_eq!(slip - mended, data * (8.0 - 1.0 / 8.0), epsilon = 1.0);
    assert!(mended < wires(Profile::Silicon, 2) * 1.2);
    assert!(slip > wires(Profile::Cacti7, 2) * 4.0);
}

#[test]
fn trees_between_mats_leak() {
    let (slip, mended) = pair(&need(2048.0, 64, Ports::ONE), split(2, 8));
    assert_eq!(
        slip.parts.tree_in.leakage + slip.parts.tree_out.leakage,
        Power::ZERO
    );
    assert!(mended.parts.tree_in.leakage > Power::ZERO);
    assert!(mended.parts.tree_out.leakage > Power::ZERO);
}

#[test]
fn every_stage_of_a_decoder_has_gate_leakage() {
    let (slip, mended) = pair(&need(128.0, 64, Ports::ONE), split(2, 2));
    assert!(mended.parts.row.gate_leakage > slip.parts.row.gate_leakage);
}

#[test]
fn rows_that_are_no_power_of_two_have_all_their_address_bits() {
    let shape = |profile| {
        Shape::new(
            &process(profile),
            &need(96.0, 64, Ports::ONE),
            split(2, 2),
            Limits::Relaxed,
        )
        .unwrap()
    };
    assert_eq!(shape(Profile::Cacti7).rows, 48);
    assert_eq!(
        (
            shape(Profile::Cacti7).row_bits,
            shape(Profile::Silicon).row_bits
        ),
        (5, 6)
    );
}

#[test]
fn predecoders_of_two_kinds_of_gates_count_both() {
    // 1,024 rows: blocks of five bits, of NAND2 and of NAND3 gates. The slip forgets the latter.
    let area = |profile| {
        let need = need(2048.0, 64, Ports::ONE);
        let process = process(profile);
        let shape = Shape::new(&process, &need, split(2, 2), Limits::Relaxed).unwrap();
        Mat::new(&process, &need, &shape, &mut Shared::default())
            .predecode
            .area
    };
    assert!(area(Profile::Silicon) > area(Profile::Cacti7));
}

#[test]
fn a_gate_has_one_state_with_all_transistors_off() {
    let leak = |profile| {
        let process = process(profile);
        let width = Length::from_nm(100.0);
        gate::leak(&process, Kind::Nand(2), width, width)
    };
    assert!(leak(Profile::Silicon) < leak(Profile::Cacti7));
}

#[test]
fn short_vertical_links_of_a_tree_have_small_repeaters() {
    // Eight mats in a column and one across: the slip sizes their repeaters by the width of the bank.
    let (slip, mended) = pair(&need(16384.0, 8, Ports::ONE), split(2, 16));
    assert!(slip.parts.tree_out.energy != mended.parts.tree_out.energy);
}

#[test]
fn subarrays_of_any_size_are_organisations() {
    let works = |profile, rows: f64| {
        let need = need(rows, 8, Ports::ONE);
        Shape::new(&process(profile), &need, split(1, 1), Limits::Strict).is_some()
    };
    for rows in [1.0, 3.0, 15.0, 16.0] {
        assert!(works(Profile::Silicon, rows), "{rows}");
    }
    assert!(!works(Profile::Cacti7, 15.0));
}

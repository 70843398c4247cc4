use approx::assert_relative_eq;

use super::*;
use crate::quantity::{CurrentPerLength, Temperature};

fn itrs() -> Library {
    Library::itrs().unwrap()
}

#[test]
fn every_table_reads_and_derives_the_published_resistance() {
    for node in itrs().nodes() {
        for flavour in Flavour::ITRS {
            let technology = itrs().at(node, flavour).unwrap();
            assert_eq!(technology.interpolation, None);
            assert_eq!(technology.device.i_off_n.rows().len(), 11);
        }
    }
    // The effective values that CACTI 7 prints for 32 nm hp and conservative wires.
    let hp = itrs().node("32nm", Flavour::Hp).unwrap();
    assert_relative_eq!(
        hp.device.r_n_on.value.as_ohm_um(),
        606.321,
        max_relative = 1e-5
    );
    assert_relative_eq!(
        hp.device.r_p_on.value.as_ohm_um(),
        1461.23,
        max_relative = 1e-5
    );
    let global = &hp.wires.conservative.global;
    assert_relative_eq!(
        global.resistance.value.as_ohm_per_um(),
        0.720044,
        max_relative = 1e-5
    );
    assert_relative_eq!(
        global.capacitance.value.as_ff_per_um(),
        0.267339,
        max_relative = 1e-5
    );
    assert_relative_eq!(hp.cell.height.value.as_um(), 0.4672, max_relative = 1e-9);
}

#[test]
fn a_node_in_between_is_interpolated_and_says_so() {
    let at_40 = itrs().node("40 nm", Flavour::Hp).unwrap();
    // The 0.96 V that papers of the 40 nm generation quote.
    assert_relative_eq!(at_40.device.vdd.value.as_v(), 0.9615, max_relative = 1e-4);
    let interpolation = at_40.interpolation.unwrap();
    assert_relative_eq!(
        interpolation.share_of_larger,
        8.0 / 13.0,
        max_relative = 1e-12
    );
    assert!(matches!(at_40.device.vdd.how, crate::How::Scaled { .. }));
    assert!(
        itrs()
            .node("28nm", Flavour::Lop)
            .unwrap()
            .interpolation
            .is_some()
    );
}

#[test]
fn outside_the_tables_is_refused_with_a_remedy() {
    let below = itrs().node("16nm", Flavour::Hp).unwrap_err().to_string();
    assert_eq!(
        below,
        "itrs has no node 16.00 nm: it covers 22.00 nm to 90.00 nm; choose one of 90nm, 65nm, 45nm, 32nm, 22nm or a node in between"
    );
    assert!(itrs().node("130nm", Flavour::Hp).is_err());
    assert!(itrs().node("thin", Flavour::Hp).is_err());
    let hp = itrs().node("32nm", Flavour::Hp).unwrap();
    let at = |kelvin: f64| hp.at(None, Temperature::from_k(kelvin));
    let hot = at(420.0).unwrap_err().to_string();
    assert!(hot.ends_with("nearest that works: 400.0 K"), "{hot}");
    assert!(at(299.0).is_err());
    assert!(at(f64::NAN).is_err());
}

#[test]
fn between_two_temperatures_leakage_is_geometric() {
    let hp = itrs().node("32nm", Flavour::Hp).unwrap();
    let middle = hp.at(None, Temperature::from_k(355.0)).unwrap();
    assert_relative_eq!(
        middle.i_off.si(),
        (2.69e-1_f64 * 5.32e-1).sqrt(),
        max_relative = 1e-9
    );
}

#[test]
fn a_number_without_a_source_is_refused() {
    let text = "node = \"32 nm\"\nvalid = \"here\"\ntable = []\n[[value]]\nname = \"hp.vdd\"\nvalue = \"0.9 V\"\nsource = \" \"\nhow = \"published\"\nuncertainty = 0.1\n";
    let blank = NodeFile::parse("x.toml", text).unwrap_err().to_string();
    assert_eq!(blank, "technology data x.toml: `hp.vdd` has no source");
    let missing = NodeFile::parse("x.toml", &text.replace("source = \" \"\n", ""))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("missing field `source`"), "{missing}");
    assert!(NodeFile::parse("x.toml", &text.replace("0.1", "0.0")).is_err());
}

#[test]
fn what_is_recalled_is_not_published() {
    let text = "node = \"32 nm\"\nvalid = \"here\"\ntable = []\n[[value]]\nname = \"hp.vdd\"\nvalue = \"0.9 V\"\nsource = \"Intel P1268, recalled\"\nhow = \"published\"\nuncertainty = 0.1\n";
    let refused = NodeFile::parse("x.toml", text).unwrap_err().to_string();
    assert_eq!(
        refused,
        "technology data x.toml: `hp.vdd` is `published`, but its source is recalled: write `{ assumed = \"why\" }`"
    );
    let assumed = text.replace("\"published\"", "{ assumed = \"no document at hand\" }");
    assert!(NodeFile::parse("x.toml", &assumed).is_ok());
}

#[test]
fn no_data_file_calls_published_what_is_recalled() {
    for library in [itrs(), Library::silicon().unwrap()] {
        for (_, path, text) in library.sources {
            NodeFile::parse(path, text).unwrap();
        }
    }
    assert!(crate::published::units().is_ok());
}

/// Falls in leakage as temperature rises, by table and temperature: a physical table has none.
fn falls() -> Vec<String> {
    let mut falls = Vec::new();
    for node in itrs().nodes() {
        for flavour in Flavour::ITRS {
            let technology = itrs().at(node, flavour).unwrap();
            for pair in technology.device.i_off_n.rows().windows(2) {
                if pair[1].1.value < pair[0].1.value {
                    falls.push(format!("{} {}", technology.label(), pair[1].0));
                }
            }
        }
    }
    falls
}

#[test]
fn leakage_rises_with_temperature_but_for_the_known_defects() {
    // Exactly these: one that vanishes or a new one is a change of the data.
    assert_eq!(falls(), ["90 nm lop 380.0 K", "22 nm lstp 360.0 K"]);
}

#[test]
fn the_known_defects_are_in_the_data() {
    let defective = |node: &str, flavour| itrs().node(node, flavour).unwrap().defects;
    assert_eq!(defective("90nm", Flavour::Lop)[0].name, "lop.i_off_n");
    assert_eq!(defective("22nm", Flavour::Lstp)[0].at, ["360 K"]);
    assert_eq!(defective("32nm", Flavour::Hp).len(), 1);
    assert!(defective("65nm", Flavour::Hp).is_empty());
    // Copied column: 45 nm lop gate leakage is 90 nm hp sub-threshold leakage.
    let lop = itrs().node("45nm", Flavour::Lop).unwrap();
    let hp = itrs().node("90nm", Flavour::Hp).unwrap();
    let column = |table: &crate::Leakage| -> Vec<CurrentPerLength> {
        table.rows().iter().map(|row| row.1.value).collect()
    };
    assert_eq!(column(&lop.device.i_gate_n), column(&hp.device.i_off_n));
}

/// CACTI 7 accepts 90.5 nm and computes it from the table of 90 nm; only what is measured in feature sizes differs.
#[test]
fn a_node_within_a_nanometre_of_a_table_takes_it() {
    let near = itrs().node("90.5nm", Flavour::Hp).unwrap();
    let table = itrs().node("90nm", Flavour::Hp).unwrap();
    assert_eq!(near.interpolation, None);
    assert_eq!(near.device, table.device);
    assert!(near.cell.width.value > table.cell.width.value);
    assert!(itrs().node("91nm", Flavour::Hp).is_err());
}

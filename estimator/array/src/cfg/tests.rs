//! CACTI's files.

use super::*;
use crate::diag::{Sink, render};
use proptest::prelude::*;
use warpwatt_circuit::{Access, Profile, Signalling, Spec};
use warpwatt_techlib::quantity::{Length, Temperature};

const MODEL: Model = Model {
    library: LibraryName::Itrs,
    profile: Profile::Cacti7,
};

fn asked(text: &str) -> Result<Query, String> {
    let mut sink = Sink::default();
    let source = sink.sources.add("cache.cfg", text);
    read(&mut sink, source, MODEL).ok_or_else(|| render(&sink, false))
}

/// In the form of the file that CACTI ships, with its kinds of lines.
const SHIPPED: &str = r#"# Cache size
//-size (bytes) 2048
-size (bytes) 131072

-Array Power Gating - "false"
-Power Gating Performance Loss 0.01
-block size (bytes) 64
-associativity 2
-read-write port 1
-exclusive read port 0
-UCA bank count 1
-technology (u) 0.090
-page size (bits) 8192 
-Data array cell type - "itrs-hp"
-Data array peripheral type - "itrs-hp"
-Tag array cell type - "itrs-hp"
-output/input bus width 512
-operating temperature (K) 360
-cache type "cache"
-tag size (b) "default"
//-tag size (b) 22
-access mode (normal, sequential, fast) - "sequential"
-design objective (weight delay, dynamic power, leakage power, cycle time, area) 0:0:0:100:0
-deviate (delay, dynamic power, leakage power, cycle time, area) 20:100000:100000:100000:100000
-NUCAdesign objective (weight delay, dynamic power, leakage power, cycle time, area) 100:100:0:0:100
-Optimize ED or ED^2 (ED, ED^2, NONE): "ED^2"
-Cache model (NUCA, UCA)  - "UCA"
-Wire signaling (fullswing, lowswing, default) - "Global_30"
-Wire inside mat - "semi-global"
-Interconnect projection - "conservative"
-Cache level (L2/L3) - "L3"
-Add ECC - "true"
-Print level (DETAILED, CONCISE) - "DETAILED"
-Force cache config - "false"
-Ndwl 1
-mem_density 4 Gb //Valid values 2^n Gb
-tflight_value
-bus_freq 800 MHz //As of current memory standards
"#;

#[test]
fn the_shipped_file_is_understood() {
    let query = asked(SHIPPED).unwrap();
    let Spec::Cache(cache) = &query.spec else {
        panic!("a cache: {:?}", query.spec);
    };
    assert_eq!((cache.sets, cache.ways, cache.line_bits), (1024, 2, 512));
    assert_eq!(
        (cache.access, cache.out_bits, cache.tag_bits),
        (Access::Sequential, None, None)
    );
    assert_eq!(query.node, Length::from_nm(90.0));
    assert_eq!(query.point.temperature, Temperature::from_k(360.0));
    assert!(query.settings.ecc);
    assert_eq!(query.settings.wires.signalling, Signalling::Global30);
    assert_eq!(query.settings.gating, None);
    assert!(
        query.notes.last().unwrap().starts_with("8 lines"),
        "{:?}",
        query.notes
    );
}

#[test]
fn quotation_marks_blanks_and_cases_do_not_matter() {
    let plain = "-SIZE (bytes) 4096\n-block  size (bytes) \"16\"\n-technology (u) 0.045 # comment\r\n-cache type ram\n-tag size (b) 22\n";
    let query = asked(plain).unwrap();
    assert!(matches!(&query.spec, Spec::Ram(ram) if ram.words == 256 && ram.bits == 128));
}

#[test]
fn a_switch_of_power_gating_gates() {
    let text = format!("{SHIPPED}-WL Power Gating - \"true\"\n-CL Power Gating - \"false\"\n");
    assert_eq!(
        asked(&text)
            .unwrap()
            .settings
            .gating
            .map(|gating| gating.loss),
        Some(0.01)
    );
}

#[test]
fn faults_come_with_their_lines_and_all_at_once() {
    let text = "-size (KB) 4\n-blok size (bytes) 16\n-technology (u) 45\nsize 4\n-access mode (x) - \"quick\"\n-Cache model - \"NUCA\"\n-associativity\n-frobnicate 1\n-operating temperature (K) -5\n";
    insta::assert_snapshot!(asked(text).unwrap_err());
}

#[test]
fn a_file_that_says_nothing_is_told_what_it_needs() {
    let text = asked("").unwrap_err();
    assert!(text.contains("-technology is missing"), "{text}");
    let text = asked("-technology (u) 0.045").unwrap_err();
    assert!(text.contains("-size is missing"), "{text}");
}

#[test]
fn tags_of_other_transistors_are_refused() {
    let text = SHIPPED.replace(
        "Tag array cell type - \"itrs-hp\"",
        "Tag array cell type - \"itrs-lop\"",
    );
    assert!(
        asked(&text)
            .unwrap_err()
            .contains("tags of lop beside data of hp")
    );
    let ram = text.replace("\"cache\"", "\"ram\"");
    assert!(asked(&ram).is_ok(), "a memory has no tags");
}

#[test]
fn the_last_of_two_lines_counts_and_is_told() {
    let mut sink = Sink::default();
    let source = sink
        .sources
        .add("cache.cfg", format!("{SHIPPED}-associativity 4\n"));
    let query = read(&mut sink, source, MODEL).unwrap();
    assert!(matches!(query.spec, Spec::Cache(cache) if cache.ways == 4));
    assert!(render(&sink, false).contains("is there twice"));
}

#[test]
fn keys_are_there_once() {
    for (place, key) in KEYS.iter().enumerate() {
        let again = KEYS[place + 1..]
            .iter()
            .any(|other| other.name.eq_ignore_ascii_case(key.name));
        assert!(!again, "{}", key.name);
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "(-?\\PC{0,30}\n){0,6}") {
        let _ = asked(&text);
    }

    #[test]
    fn no_value_is_too_odd(key in 0_usize..KEYS.len(), middle in "[-:(\" ]{0,4}", value in "\\PC{0,20}") {
        let _ = asked(&format!("{SHIPPED}-{}{middle}{value}\n", KEYS[key].name));
    }
}

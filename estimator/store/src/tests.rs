use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

mod faults;

use std::fs;

use super::*;
use crate::outcome::{BASELINE, KernelName, Point, Provenance, TechnologyName, Totals};

/// A directory of this test alone, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "warpwatt-store-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        Scratch(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn outcome(cycles: u64) -> Outcome {
    Outcome {
        charged: Default::default(),
        point: Point {
            kernel: KernelName {
                name: "k".into(),
                case: "small".into(),
                paper: vec![],
            }
            .into(),
            gpu: "g".into(),
            axes: BTreeMap::new().into(),
            technology: TechnologyName {
                library: "itrs".into(),
                node: "32nm".into(),
                flavour: "hp".into(),
                profile: "cacti65".into(),
                temperature_k: 350.0,
                vdd_v: 0.9,
                interpolation: None,
                provenance: Provenance::default(),
                sources: Default::default(),
            },
            technique: BASELINE.into(),
        },
        cycles,
        clock_hz: 1.3e9,
        time_s: cycles as f64 / 1.3e9,
        activity: Default::default(),
        performance: Default::default(),
        metrics: Default::default(),
        register_accesses: None,
        structures: vec![],
        totals: Totals::default(),
        notes: Default::default(),
        heat: None,
        peak: None,
        sampled: None,
    }
}

fn key(name: &str) -> PointKey {
    let mut key = [0; 32];
    key[..name.len()].copy_from_slice(name.as_bytes());
    PointKey(key)
}

fn manifest() -> Manifest {
    Manifest {
        title: "t".into(),
        paper: None,
        parameters: Vec::new(),
        study: "[study]\ntitle = \"t\"\n".into(),
        version: "0.1.0".into(),
        inputs: BTreeMap::from([("kernel k".to_owned(), "00".to_owned())]),
        budget: Some(Budget {
            area_overhead: Some(0.05),
            slowdown: None,
            limits: Vec::new(),
        }),
        pareto: Vec::new(),
        points: vec![key("a")],
        sampling: None,
        uncertainty: None,
    }
}

#[test]
fn what_was_put_is_there_after_reopening() {
    let scratch = Scratch::new();
    let store = Store::open(&scratch.0).unwrap();
    store.put(&key("a"), &outcome(7)).unwrap();
    store.close();
    let store = Store::open_existing(&scratch.0).unwrap();
    assert_eq!(store.get(&key("a")).unwrap(), Some(outcome(7)));
    assert_eq!(store.get(&key("b")).unwrap(), None);
    assert_eq!(store.len().unwrap(), 1);
}

/// Points of a run at many operating points have one form, and points of one operating point the same costs: each takes its figures, three names and a checksum.
/// Points are looked up in the order in which they lie, however they are asked for: backwards, far apart, twice, and with some that are not there.
#[test]
fn points_come_in_the_order_in_which_they_are_asked_for() {
    let scratch = Scratch::new();
    let store = Store::open(&scratch.0).unwrap();
    let name = |number: u64| key(&format!("point {number}"));
    for first in [0, 20, 40] {
        let points: Vec<(PointKey, Outcome)> = (first..first + 20)
            .map(|number| (name(number), outcome(number)))
            .collect();
        let points: Vec<(PointKey, &Outcome)> = points.iter().map(|(key, it)| (*key, it)).collect();
        store.put_all(&points).unwrap();
    }
    let asked = [7, 3, 59, 99, 3, 58, 21, 0, 30, 22, 100, 41];
    let keys = asked.map(name);
    let held = asked.map(|number| number < 60);
    assert_eq!(store.held(&keys).unwrap(), held);
    let there: Vec<u64> = asked.into_iter().filter(|number| *number < 60).collect();
    let keys: Vec<PointKey> = there.iter().map(|number| name(*number)).collect();
    let wanted: Vec<Outcome> = there.iter().map(|number| outcome(*number)).collect();
    assert_eq!(store.outcomes(&keys).unwrap(), wanted);
    let backwards: Vec<PointKey> = (0..60).rev().map(name).collect();
    let found = store.outcomes(&backwards).unwrap();
    assert!(found.into_iter().eq((0..60).rev().map(outcome)));
}

#[test]
fn what_points_have_in_common_is_kept_once() {
    use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata};

    let scratch = Scratch::new();
    let store = Store::open(&scratch.0).unwrap();
    for number in 0..50_u8 {
        let mut outcome = outcome(7);
        outcome.point.technology.temperature_k += f64::from(number);
        store.put(&key(&format!("{number:x}")), &outcome).unwrap();
    }
    store.put(&key("other"), &outcome(8)).unwrap();
    store.close();
    let database = redb::Database::open(scratch.0.join(FILE_NAME)).unwrap();
    let read = database.begin_read().unwrap();
    let common = read.open_table(COMMON).unwrap().len().unwrap();
    assert_eq!(common, 2 + 1 + 50, "forms of two runs, no notes, costs");
    let points = read.open_table(POINTS).unwrap();
    let figures = crate::outcome::Form::of(outcome(7)).figures;
    for point in points.iter().unwrap() {
        let bytes = point.unwrap().1.value().len();
        assert_eq!(bytes, seal::BYTES + 3 * 32 + 8 * figures.len());
    }
}

#[test]
fn the_same_points_in_the_same_order_are_the_same_bytes() {
    let write = || {
        let scratch = Scratch::new();
        let store = Store::open(&scratch.0).unwrap();
        for number in 0..50 {
            store
                .put(&key(&format!("{number:x}")), &outcome(number))
                .unwrap();
        }
        store.close();
        fs::read(scratch.0.join(FILE_NAME)).unwrap()
    };
    assert!(write() == write());
}

#[test]
fn a_store_that_nothing_was_put_into_leaves_no_trace() {
    let scratch = Scratch::new();
    Store::open(&scratch.0.join("deep").join("down"))
        .unwrap()
        .close();
    assert!(!scratch.0.exists());
}

#[test]
fn directories_that_were_there_stay() {
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    Store::open(&scratch.0).unwrap().close();
    assert!(scratch.0.is_dir() && !scratch.0.join(FILE_NAME).exists());
}

#[test]
fn a_second_process_is_refused() {
    let scratch = Scratch::new();
    let _store = Store::open(&scratch.0).unwrap();
    assert!(matches!(
        Store::open(&scratch.0),
        Err(StoreError::Locked { .. })
    ));
    assert!(matches!(
        Store::remove(&scratch.0),
        Err(StoreError::Locked { .. })
    ));
}

#[test]
fn other_formats_and_other_files_are_refused_and_can_be_removed() {
    let scratch = Scratch::new();
    let store = Store::open(&scratch.0).unwrap();
    store.put(&key("a"), &outcome(7)).unwrap();
    store
        .database
        .write(|write| {
            write.open_table(META)?.insert(FORMAT_KEY, "999")?;
            Ok(())
        })
        .unwrap();
    store.close();
    let error = Store::open(&scratch.0).unwrap_err();
    assert!(
        matches!(&error, StoreError::Format { found, .. } if found == "999"),
        "{error}"
    );
    Store::remove(&scratch.0).unwrap();

    fs::write(scratch.0.join(FILE_NAME), b"not a store").unwrap();
    let error = Store::open(&scratch.0).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(
        fs::read(scratch.0.join(FILE_NAME)).unwrap(),
        b"not a store",
        "the user's file is left alone"
    );
    Store::remove(&scratch.0).unwrap();
    assert!(Store::open(&scratch.0).is_ok());
}

#[test]
fn a_truncated_store_is_refused() {
    let scratch = Scratch::new();
    let store = Store::open(&scratch.0).unwrap();
    store.put(&key("a"), &outcome(7)).unwrap();
    store.close();
    let path = scratch.0.join(FILE_NAME);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..5000]).unwrap();
    let refused = Store::open(&scratch.0).and_then(|store| store.get(&key("a")));
    assert!(
        matches!(refused, Err(StoreError::Damaged { .. })),
        "{refused:?}"
    );
}

#[test]
fn the_manifest_comes_back() {
    let scratch = Scratch::new();
    let store = Store::open(&scratch.0).unwrap();
    let manifest = manifest();
    assert_eq!(store.manifest().unwrap(), None);
    store.put_manifest(&manifest).unwrap();
    assert_eq!(store.manifest().unwrap(), Some(manifest));
}

#[test]
fn a_bundle_is_read_as_it_was_written_or_not_at_all() {
    let points = vec![(key("one"), outcome(1)), (key("two"), outcome(2))];
    let bytes = bundle(points).unwrap();
    let read = unbundle(&bytes).unwrap();
    assert_eq!(read, [(key("one"), outcome(1)), (key("two"), outcome(2))]);
    assert_eq!(unbundle(&bundle(Vec::new()).unwrap()).unwrap(), []);
    for short in 0..bytes.len() {
        assert!(unbundle(&bytes[..short]).is_none(), "{short}");
    }
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 0x10;
        assert!(unbundle(&other).is_none(), "byte {at}");
    }
}

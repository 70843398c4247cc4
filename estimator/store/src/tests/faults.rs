//! Whatever a disk does: what was committed is there, and a figure is right or refused.

use std::fs;

use proptest::prelude::*;
use redb::ReadableTable;

use super::super::*;
use super::{Scratch, outcome};
use crate::faults::{Damage, Disk, Fault, PAGE, damages};

/// Points of a small study, in batches as a run writes them.
const COUNT: u64 = 60;
const BATCH: usize = 20;

fn study() -> Vec<(PointKey, Outcome)> {
    let points = (0..COUNT).map(|number| {
        // Keys lie anywhere, as hashes do.
        let key = digest::digest([&number.to_le_bytes()[..]]);
        (PointKey(key), outcome(1000 + number))
    });
    points.collect()
}

fn manifest(study: &[(PointKey, Outcome)]) -> Manifest {
    let points = study.iter().map(|(key, _)| *key).collect();
    Manifest {
        points,
        ..super::manifest()
    }
}

/// Runs what is missing of the study, as far as the disk allows; returns how many points were said to be written.
fn run(
    directory: &Path,
    disk: &Disk,
    study: &[(PointKey, Outcome)],
) -> (usize, Result<(), StoreError>) {
    let mut written = 0;
    let ran = (|| {
        let store = Store::open_through(directory, Some("t"), &|file| disk.file(file))?;
        let done = (|| {
            for batch in study.chunks(BATCH) {
                let keys: Vec<PointKey> = batch.iter().map(|(key, _)| *key).collect();
                let held = store.held(&keys)?;
                let missing = batch.iter().zip(held).filter(|(_, held)| !held);
                let missing: Vec<_> = missing.map(|((key, outcome), _)| (*key, outcome)).collect();
                store.put_all(&missing)?;
                written += batch.len();
            }
            store.put_manifest(&manifest(study))
        })();
        store.close();
        done
    })();
    (written, ran)
}

fn collected(directory: &Path) -> Result<Vec<Outcome>, StoreError> {
    let (manifest, store) = Store::open_finished(directory)?;
    store.collect(&manifest)
}

/// At every call that writes, a small run is stopped, or the call fails, or it writes half: what was said to be written is there, and running it again
/// finishes it.
#[test]
fn a_run_goes_on_after_a_fault_at_any_call() {
    let study = study();
    let outcomes: Vec<Outcome> = study.iter().map(|(_, outcome)| outcome.clone()).collect();
    let sound = Disk::sound();
    let scratch = Scratch::new();
    run(&scratch.0, &sound, &study).1.unwrap();
    assert!(sound.calls() > 20, "{} calls", sound.calls());
    for fault in [Fault::Stop, Fault::Error, Fault::Torn] {
        for call in 1..=sound.calls() {
            let scratch = Scratch::new();
            let (written, _) = run(&scratch.0, &Disk::failing(call, fault), &study);
            let case = format!("{fault:?} at call {call}, {written} points written");
            let store = Store::open_for(&scratch.0, "t").expect(&case);
            for (key, outcome) in &study[..written] {
                assert_eq!(
                    store.get(key).expect(&case).as_ref(),
                    Some(outcome),
                    "{case}"
                );
            }
            let len = store.len().unwrap() as usize;
            assert!(len >= written && len.is_multiple_of(BATCH), "{case}: {len}");
            store.close();
            run(&scratch.0, &Disk::sound(), &study).1.expect(&case);
            assert!(collected(&scratch.0).expect(&case) == outcomes, "{case}");
            let left = fs::read_dir(&scratch.0).unwrap().count();
            assert_eq!(left, 1, "{case}: what was left of making it is gone");
        }
    }
}

/// A finished store as a file, and its outcomes.
struct Finished {
    study: Vec<(PointKey, Outcome)>,
    outcomes: Vec<Outcome>,
    bytes: Vec<u8>,
}

impl Finished {
    fn new() -> Self {
        let study = study();
        let scratch = Scratch::new();
        run(&scratch.0, &Disk::sound(), &study).1.unwrap();
        Self {
            outcomes: study.iter().map(|(_, outcome)| outcome.clone()).collect(),
            study,
            bytes: fs::read(scratch.0.join(FILE_NAME)).unwrap(),
        }
    }

    /// Reads, goes on with and repairs the store that `damage` was done to; returns whether it was refused.
    fn survives(&self, damage: Damage) -> bool {
        let mut bytes = self.bytes.clone();
        if !damage.apply(&mut bytes) {
            return false;
        }
        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).unwrap();
        let path = scratch.0.join(FILE_NAME);
        fs::write(&path, &bytes).unwrap();
        let read = collected(&scratch.0);
        match &read {
            Ok(outcomes) => assert!(*outcomes == self.outcomes, "{damage:?}"),
            Err(error) => refused(error, damage),
        }
        assert!(
            fs::read(&path).unwrap() == bytes,
            "{damage:?}: reading changes nothing"
        );
        self.survives_merging(&scratch.0, damage);
        assert!(
            fs::read(&path).unwrap() == bytes,
            "{damage:?}: merging changes nothing"
        );
        let (_, ran) = run(&scratch.0, &Disk::sound(), &self.study);
        let refused_to_go_on = match &ran {
            Ok(()) => false,
            Err(error) => {
                refused(error, damage);
                assert!(
                    fs::read(&path).unwrap() == bytes,
                    "{damage:?}: it stays as it is"
                );
                true
            }
        };
        if refused_to_go_on && !matches!(ran, Err(StoreError::Format { .. })) {
            let repaired = repair(&scratch.0, &manifest(&self.study)).unwrap();
            assert!(matches!(repaired, Repaired::Kept(_)), "{damage:?}");
            run(&scratch.0, &Disk::sound(), &self.study).1.unwrap();
        }
        if !matches!(ran, Err(StoreError::Format { .. })) {
            assert!(
                collected(&scratch.0).unwrap() == self.outcomes,
                "{damage:?}"
            );
        }
        read.is_err() || refused_to_go_on
    }
}

impl Finished {
    /// A merge takes every point of the damaged store or nothing: a point under a key that is damaged is not missing.
    fn survives_merging(&self, part: &Path, damage: Damage) {
        let merged = Scratch::new();
        match merge(&merged.0, &[part.to_path_buf()], false) {
            Ok(done) => {
                assert_eq!(done.missing, 0, "{damage:?}");
                assert!(collected(&merged.0).unwrap() == self.outcomes, "{damage:?}");
            }
            Err(error) => {
                refused(&error, damage);
                assert!(!merged.0.exists(), "{damage:?}: nothing is written");
            }
        }
    }
}

fn refused(error: &StoreError, damage: Damage) {
    let code = error.diag().code;
    // A digit of the format's number makes a store of another version of it.
    let is_told = ["store::damaged", "store::format"].contains(&code);
    assert!(is_told, "{damage:?}: {error}");
}

#[test]
fn every_page_damaged_in_every_way_is_seen_or_does_not_matter() {
    let finished = Finished::new();
    let all = damages(&finished.bytes, 4);
    let refused = all.iter().filter(|damage| finished.survives(**damage));
    let refused = refused.count();
    let held = |damage: &&Damage| {
        let page = damage.page() * PAGE;
        finished.bytes[page..page + PAGE]
            .iter()
            .any(|byte| *byte != 0)
    };
    let held = all.iter().filter(held).count();
    assert!(refused > held / 4, "{refused} of {held}");
}

/// A digit within a value, which no decoder minds.
#[test]
fn another_digit_is_told_with_its_point() {
    let finished = Finished::new();
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    // The last figure of a point, wherever it stands: in the last commit or in one before.
    let parts = common::Met::default().parts(finished.study[7].1.clone());
    let value = point::encode(&parts.unwrap());
    let mut bytes = finished.bytes.clone();
    let places = bytes.windows(value.len()).enumerate();
    let places = places.filter(|(_, found)| *found == value);
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place + value.len() - 1] ^= 1;
    }
    fs::write(scratch.0.join(FILE_NAME), &bytes).unwrap();
    let error = collected(&scratch.0).map(|outcomes| outcomes.len());
    let said = error.unwrap_err().to_string();
    assert!(
        said.contains("damaged: not what was written: point ") && said.contains(" of 60"),
        "{said}"
    );
    let error = Store::open_for(&scratch.0, "t").unwrap_err();
    assert!(error.to_string().contains(" of 60"), "{error}");
    let repaired = repair(&scratch.0, &manifest(&finished.study)).unwrap();
    assert_eq!(repaired, Repaired::Kept(59));
    let again = repair(&scratch.0, &manifest(&finished.study)).unwrap();
    assert_eq!(again, Repaired::Sound);
}

/// A record under another's key, put there by something that knows the format of the file.
#[test]
#[expect(
    clippy::type_complexity,
    reason = "the table's type is the database's own"
)]
fn a_record_that_is_anothers_or_gone_is_told() {
    let finished = Finished::new();
    let tamper = |change: &dyn Fn(&mut redb::Table<'_, u64, &[u8]>)| {
        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).unwrap();
        let path = scratch.0.join(FILE_NAME);
        fs::write(&path, &finished.bytes).unwrap();
        let database = redb::Database::open(&path).unwrap();
        let write = database.begin_write().unwrap();
        change(&mut write.open_table(crate::POINTS).unwrap());
        write.commit().unwrap();
        drop(database);
        let error = collected(&scratch.0).unwrap_err().to_string();
        let repaired = repair(&scratch.0, &manifest(&finished.study)).unwrap();
        (error, repaired)
    };
    // Points are numbered as they came.
    let (one, other) = (3, 30);
    let (error, repaired) = tamper(&|points| {
        let value = points.get(one).unwrap().unwrap().value().to_vec();
        points.insert(other, value.as_slice()).unwrap();
    });
    assert!(
        error.ends_with("not what was written: point 31 of 60"),
        "{error}"
    );
    assert_eq!(repaired, Repaired::Kept(59));
    let (error, repaired) = tamper(&|points| {
        points.remove(one).unwrap();
        points.remove(other).unwrap();
    });
    assert!(
        error.ends_with("not what was written: point 4 of 60; point 31 of 60"),
        "{error}"
    );
    assert_eq!(repaired, Repaired::Kept(58));
}

/// What was reported is a witness against a store that holds something else, whole as it is.
#[test]
fn a_store_that_is_not_what_was_reported_is_told() {
    let finished = Finished::new();
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    fs::write(scratch.0.join(FILE_NAME), &finished.bytes).unwrap();
    let record = Record::of(&manifest(&finished.study), &finished.outcomes);
    fs::write(scratch.0.join(RECORD), record.text().unwrap()).unwrap();
    assert!(collected(&scratch.0).unwrap() == finished.outcomes);
    let store = Store::open(&scratch.0).unwrap();
    store.put(&finished.study[9].0, &outcome(7)).unwrap();
    store.close();
    let error = collected(&scratch.0).unwrap_err().to_string();
    assert!(error.ends_with("says otherwise: point 10 of 60"), "{error}");
    let repaired = repair(&scratch.0, &manifest(&finished.study)).unwrap();
    assert_eq!(repaired, Repaired::Kept(59));
}

#[test]
fn an_empty_file_is_begun_again() {
    let study = study();
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    fs::write(scratch.0.join(FILE_NAME), b"").unwrap();
    fs::write(scratch.0.join(".results.redb.part"), b"half of it").unwrap();
    run(&scratch.0, &Disk::sound(), &study).1.unwrap();
    assert_eq!(collected(&scratch.0).unwrap().len(), study.len());
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
fn a_store_without_a_point_is_anybodys() {
    let scratch = Scratch::new();
    let store = Store::open_for(&scratch.0, "killed before its first point").unwrap();
    drop(store);
    Store::open_for(&scratch.0, "t").unwrap().close();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Any bits of any one byte.
    #[test]
    fn another_byte_changes_nothing_or_is_refused(at in any::<prop::sample::Index>(), mask in 1..=u8::MAX) {
        let finished = FINISHED.with(Clone::clone);
        finished.survives(Damage::Flip { at: at.index(finished.bytes.len()), mask });
    }
}

thread_local! {
    static FINISHED: std::rc::Rc<Finished> = std::rc::Rc::new(Finished::new());
}

use std::sync::Arc;
use std::time::Duration;

use warpwatt_simt::trace::file::{FORMAT, MAGIC};
use warpwatt_simt::trace::{Flow, LaunchShape, StaticInst, Unit, WarpRecorder};
use warpwatt_suite::RunOptions;

use super::*;
use crate::diag::Sink;
use crate::kernel::{From, KernelRequest, LoadedKernel, load};

/// A directory of this test alone.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("warpwatt-cache-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        Scratch(path)
    }

    fn cache(&self, limit: u64) -> TraceCache {
        TraceCache::new(self.0.join("traces"), limit)
    }

    fn file(&self, key: u8) -> PathBuf {
        self.0
            .join("traces")
            .join(format!("{}.trace", hex(&[key; 32])))
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("traces")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One warp that takes `steps` steps.
fn trace(steps: u32) -> KernelTrace {
    let inst = StaticInst {
        flow: Some(Flow::Exit),
        line: 1,
        ..StaticInst::bare(Unit::Control)
    };
    let shape = LaunchShape {
        grid: [1; 3],
        block: [32, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 1,
    };
    let mut recorder = WarpRecorder::default();
    for _ in 0..steps {
        recorder.step(0, 1, 1);
    }
    let mut trace = KernelTrace::new("k", Arc::from([inst]), shape);
    trace.push_warp(&recorder).unwrap();
    trace
}

fn store(cache: &TraceCache, key: u8, steps: u32) {
    cache.store(&[key; 32], "k, case default", &[&trace(steps)]);
}

/// How many steps are kept under `key`.
fn steps(cache: &TraceCache, key: u8) -> Option<u64> {
    let launches = cache.load(&[key; 32])?;
    Some(launches.iter().map(|launch| launch.warp_instructions).sum())
}

#[test]
fn what_was_kept_is_found_by_its_key_alone() {
    let scratch = Scratch::new("found");
    let cache = scratch.cache(DEFAULT_LIMIT);
    assert_eq!(steps(&cache, 1), None);
    store(&cache, 1, 10);
    assert_eq!((steps(&cache, 1), steps(&cache, 2)), (Some(10), None));
    assert_eq!(steps(&scratch.cache(DEFAULT_LIMIT), 1), Some(10));
    assert_eq!(cache.notes(), [""; 0]);
}

#[test]
fn a_file_that_is_not_what_was_written_is_noticed_and_replaced() {
    let scratch = Scratch::new("damaged");
    store(&scratch.cache(DEFAULT_LIMIT), 1, 10);
    store(&scratch.cache(DEFAULT_LIMIT), 2, 20);
    let whole = fs::read(scratch.file(1)).unwrap();
    let mut flipped = whole.clone();
    flipped[60] ^= 1;
    let mut older = whole.clone();
    older[MAGIC.len()] = FORMAT as u8 - 1;
    let old = format!("has format {}", FORMAT - 1);
    for (bytes, word) in [
        (flipped, "damaged"),
        (whole[..whole.len() / 2].to_vec(), "damaged"),
        (Vec::new(), "no trace file"),
        (b"something else altogether".repeat(9), "no trace file"),
        (older, &old),
        (fs::read(scratch.file(2)).unwrap(), "another name"),
    ] {
        fs::write(scratch.file(1), bytes).unwrap();
        let cache = scratch.cache(DEFAULT_LIMIT);
        assert_eq!(steps(&cache, 1), None, "{word}");
        let notes = cache.notes();
        assert!(notes.len() == 1 && notes[0].contains(word), "{notes:?}");
        store(&cache, 1, 10);
        assert_eq!(fs::read(scratch.file(1)).unwrap(), whole);
    }
}

/// Sets when a file was last used, in seconds after some moment.
fn used(path: &Path, seconds: u64) {
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds);
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(moment).unwrap();
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let scratch = Scratch::new("evict");
    let large = scratch.cache(DEFAULT_LIMIT);
    for key in 1..=3 {
        store(&large, key, 10);
    }
    used(&scratch.file(1), 1);
    used(&scratch.file(2), 2);
    used(&scratch.file(3), 3);
    assert_eq!(steps(&large, 1), Some(10), "that is a use");
    let bytes = fs::metadata(scratch.file(1)).unwrap().len();
    let foreign = scratch.0.join("traces/notes.trace");
    fs::write(&foreign, vec![0; 10_000]).unwrap();
    let small = scratch.cache(3 * bytes);
    store(&small, 4, 10);
    assert!(foreign.exists(), "files of others are not touched");
    let kept = [1, 2, 3, 4].map(|key| steps(&large, key).is_some());
    assert_eq!(kept, [true, false, true, true]);
    store(&scratch.cache(bytes - 1), 5, 10);
    assert_eq!(steps(&large, 5), None, "larger than all that may be kept");
    assert_eq!(steps(&large, 1), Some(10), "and nothing went for it");
}

#[test]
fn files_that_nobody_finishes_go_after_an_hour() {
    let scratch = Scratch::new("parts");
    let cache = scratch.cache(DEFAULT_LIMIT);
    store(&cache, 1, 10);
    for name in ["77-0.part", "78-0.part"] {
        fs::write(scratch.0.join("traces").join(name), "half").unwrap();
    }
    used(&scratch.0.join("traces/77-0.part"), 0);
    store(&cache, 2, 10);
    let parts = scratch
        .names()
        .into_iter()
        .filter(|name| name.ends_with(PART));
    assert_eq!(parts.collect::<Vec<_>>(), ["78-0.part"]);
}

#[test]
fn a_cache_that_cannot_be_written_costs_no_more_than_a_note() {
    let scratch = Scratch::new("unwritable");
    fs::create_dir_all(&scratch.0).unwrap();
    fs::write(scratch.0.join("traces"), "a file").unwrap();
    let cache = scratch.cache(DEFAULT_LIMIT);
    store(&cache, 1, 10);
    store(&cache, 2, 10);
    assert_eq!(steps(&cache, 1), None);
    assert!(
        cache
            .notes()
            .iter()
            .any(|note| note.contains("cannot keep"))
    );
}

/// Eight writers, each with its own cache, as processes are; the limit makes them remove each other's files.
#[test]
fn writers_at_the_same_time_do_no_harm() {
    let scratch = Scratch::new("writers");
    store(&scratch.cache(DEFAULT_LIMIT), 0, 100);
    let bytes = fs::metadata(scratch.file(0)).unwrap().len();
    for limit in [DEFAULT_LIMIT, 2 * bytes] {
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let cache = scratch.cache(limit);
                scope.spawn(move || {
                    for round in 0..30 {
                        let key = (writer + round) % 4;
                        store(&cache, key, 100 + u32::from(key));
                        let found = steps(&cache, key);
                        assert!(found.is_none_or(|found| found == 100 + u64::from(key)));
                    }
                    assert_eq!(cache.notes(), [""; 0]);
                });
            }
        });
    }
    let names = scratch.names();
    assert!(
        names.iter().all(|name| name.ends_with(".trace")),
        "{names:?}"
    );
    assert!((1..=2).contains(&names.len()), "{names:?}");
}

fn loaded(name: &str, change: impl FnOnce(&mut LoadedKernel)) -> LoadedKernel {
    let request = KernelRequest {
        from: From::Suite(warpwatt_suite::kernel(name).unwrap()),
        build: warpwatt_suite::Build::default(),
        lower: warpwatt_ptx::Lower::default(),
        ptx: None,
        case: None,
        registers: None,
    };
    let mut kernel = load(&mut Sink::default(), &request, None).unwrap();
    change(&mut kernel);
    kernel
}

#[test]
fn whatever_decides_an_execution_changes_its_key() {
    let options = RunOptions::default();
    let same = |_: &mut LoadedKernel| ();
    let base = key(&loaded("vector_add", same), options);
    assert_eq!(key(&loaded("vector_add", same), options), base);
    let listed = RunOptions {
        listed: 1,
        ..options
    };
    assert_eq!(key(&loaded("vector_add", same), listed), base);
    let width = RunOptions {
        warp_width: 64,
        ..options
    };
    let limit = RunOptions {
        limit: 5,
        ..options
    };
    let expectation = loaded("vector_add", |kernel| {
        let c = kernel.prepared.buffer_mut("c").unwrap();
        c.expected.as_mut().unwrap()[0] ^= 1;
    });
    let lowering = loaded("vector_add", |kernel| {
        kernel.module.entries[0].registers += 1
    });
    let others = [
        key(&loaded("vector_add", same), width),
        key(&loaded("vector_add", same), limit),
        key(&loaded("reduction", same), options),
        key(&expectation, options),
        key(&lowering, options),
    ];
    assert!(others.iter().all(|other| *other != base));
}

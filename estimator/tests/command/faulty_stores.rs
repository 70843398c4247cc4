//! What commands say of result stores that they cannot use: every message whole, and the stores left as they were.

use std::fs;

use insta::assert_snapshot;
use warpwatt::diag::Sink;
use warpwatt::run::{resolve_text, run_all};
use warpwatt::store::Store;
use warpwatt_circuit::{SelectSpec, Spec};

use crate::common::{Scratch, stderr, warpwatt};
use crate::faults::refusals;

/// Command lines, each about a store that is wrong in one way.
const WRONG: &str = "\
run study.toml --quiet --out taken/results
run study.toml --quiet --out notes
run study.toml --quiet --out later
run study.toml --quiet --out open
run renamed.toml --quiet --out short
run renamed.toml --quiet --out part --shard 2/2
run renamed.toml --dry-run --out short
optimize renamed.toml --quiet --minimise energy_j --out bare
report open
report part
merge out part other
merge out part changed
merge part part other --fresh
explain grown --metric area_m2 --point 1
explain short --metric energy_j --point 1
explain bare --metric energy_j --point 1
explain odd --metric energy_j --point 1
sensitivity odd --metric area_m2 --point 1 --samples 40
";

const STUDY: &str = r#"
[study]
title = "Stores"
[gpu]
preset = "tesla-16sm"
node = ["32nm", "40nm"]
[workloads]
kernels = ["vector_add"]
"#;

fn run(scratch: &Scratch, arguments: &[&str]) {
    let output = warpwatt(&scratch.path(""), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// A store of the study that `change` has been at.
fn changed(scratch: &Scratch, out: &str, change: impl FnOnce(&Store)) {
    run(scratch, &["run", "study.toml", "--quiet", "--out", out]);
    let store = Store::open(&scratch.path(out)).unwrap();
    change(&store);
    store.close();
    // What it says of the points would tell that they were changed.
    fs::remove_file(scratch.path(out).join("manifest.json")).unwrap();
}

/// The first of two parts of a study, in `out`.
fn part(scratch: &Scratch, study: &str, out: &str) {
    run(
        scratch,
        &["run", study, "--quiet", "--shard", "1/2", "--out", out],
    );
}

fn parts(scratch: &Scratch) {
    let other = STUDY.replace("\"40nm\"", "\"45nm\"");
    scratch.write("other.toml", &other);
    scratch.write("renamed.toml", &STUDY.replace("Stores", "Other stores"));
    part(scratch, "study.toml", "part");
    part(scratch, "other.toml", "other");
    part(scratch, "study.toml", "changed");
    let store = Store::open(&scratch.path("changed")).unwrap();
    let key = store.part().unwrap().unwrap().points[0];
    let mut outcome = store.get(&key).unwrap().unwrap();
    outcome.cycles += 1;
    store.put(&key, &outcome).unwrap();
    store.close();
}

/// Stores that were finished, and are not what this version would have written.
fn others(scratch: &Scratch) {
    changed(scratch, "grown", |store| {
        let key = store.manifest().unwrap().unwrap().points[0];
        let mut outcome = store.get(&key).unwrap().unwrap();
        outcome.totals.area_m2 *= 2.0;
        store.put(&key, &outcome).unwrap();
    });
    changed(scratch, "short", |store| {
        let mut recipes = store.recipes().unwrap().unwrap();
        recipes.points.pop();
        store.put_recipes(&recipes).unwrap();
    });
    changed(scratch, "odd", |store| {
        let mut recipes = store.recipes().unwrap().unwrap();
        recipes.gpus[0].parts[0].spec = Spec::Select(SelectSpec { inputs: 0 });
        store.put_recipes(&recipes).unwrap();
    });
    // As versions before wrote them: outcomes and the study, and nothing of what they were priced from.
    let mut sink = Sink::default();
    let resolved = resolve_text("study.toml", STUDY, "".as_ref(), &mut sink).unwrap();
    let outcomes = run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap();
    let whole = Store::open_existing(&scratch.path("short")).unwrap();
    let manifest = whole.manifest().unwrap().unwrap();
    drop(whole);
    let store = Store::open(&scratch.path("bare")).unwrap();
    let points: Vec<_> = manifest.points.iter().copied().zip(&outcomes).collect();
    store.put_all(&points).unwrap();
    store.put_manifest(&manifest).unwrap();
    store.close();
}

fn store_of_format(scratch: &Scratch, out: &str, format: &str) {
    fs::create_dir(scratch.path(out)).unwrap();
    let database = redb::Database::create(scratch.path(out).join("results.redb")).unwrap();
    let write = database.begin_write().unwrap();
    let meta: redb::TableDefinition<'_, &str, &str> = redb::TableDefinition::new("meta");
    let insert = |format| {
        write
            .open_table(meta)
            .unwrap()
            .insert("format", format)
            .map(drop)
    };
    insert(format).unwrap();
    write.commit().unwrap();
}

#[test]
fn stores_are_told_what_is_wrong_with_them() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    scratch.write("taken", "a file");
    fs::create_dir(scratch.path("notes")).unwrap();
    scratch.write("notes/results.redb", "my notes");
    store_of_format(&scratch, "later", "999");
    let open = Store::open(&scratch.path("open")).unwrap();
    parts(&scratch);
    others(&scratch);
    let stores = [
        "notes", "later", "part", "other", "changed", "grown", "short", "bare", "odd",
    ];
    let bytes = || stores.map(|out| fs::read(scratch.path(out).join("results.redb")).unwrap());
    let before = bytes();
    let said = refusals(&scratch, WRONG);
    assert!(bytes() == before, "the stores are left as they were");
    // The points of a store are named by hashes of what they are made of, which a version changes.
    let key = Store::open_existing(&scratch.path("part")).unwrap();
    let key = key.part().unwrap().unwrap().points[0].to_string();
    let said = said.replace(&key, "KEY");
    assert_snapshot!(said);
    assert!(!scratch.path("out").exists());
    drop(open);
}

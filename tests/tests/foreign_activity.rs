//! Counts that another tool made, priced: round trips, real formats, and what the documentation says.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use warpwatt::diag::{Sink, render};
use warpwatt::foreign::write_neutral;
use warpwatt::outcome::{NoteKind, Outcome};
use warpwatt::run::{resolve_text, run_all};

/// A folder of files, and what a study there comes to; what was said while it was read.
fn priced(files: &[(&str, &str)], study: &str) -> (Result<Vec<Outcome>, ()>, String) {
    let folder = folder(files);
    let mut sink = Sink::default();
    let resolved = resolve_text("study.toml", study, &folder, &mut sink);
    let said = render(&sink, false).replace(&format!("{}/", folder.display()), "");
    let outcomes = resolved
        .ok_or(())
        .map(|resolved| run_all(&resolved, &sink.sources, Some(2), |_| ()).expect("it runs"));
    fs::remove_dir_all(folder).unwrap();
    (outcomes, said)
}

fn folder(files: &[(&str, &str)]) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "foreign-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn study(kernels: &str, rest: &str) -> String {
    format!(
        "[study]\ntitle = \"x\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = [\"32nm\", \"7nm\"]\n[workloads]\nkernels = [{kernels}]\n{rest}"
    )
}

/// Two kernels of the suite, counted here and written out, are priced the same from the file to the last bit.
#[test]
fn our_own_counts_come_back_with_the_same_energy() {
    let (ours, _) = priced(&[], &study("\"vector_add\", \"reduction\"", ""));
    let ours = ours.unwrap();
    let files: Vec<(String, String)> = [0, 2]
        .iter()
        .map(|place| {
            let outcome: &Outcome = &ours[*place];
            let name = &outcome.point.kernel.name;
            let text = write_neutral(name, outcome.clock_hz, &outcome.activity);
            (format!("{name}.csv"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let kernels: Vec<String> = files
        .iter()
        .map(|(name, _)| format!("{{ activity = {{ file = \"{name}\" }} }}"))
        .collect();
    let (back, said) = priced(&files, &study(&kernels.join(", "), ""));
    assert_eq!(said.trim(), "", "nothing is missing and nothing left over");
    let back = back.unwrap();
    assert_eq!(back.len(), 4);
    for (ours, back) in ours.iter().zip(&back) {
        assert_eq!(back.point.kernel.name, ours.point.kernel.name);
        assert_eq!((back.cycles, back.clock_hz), (ours.cycles, ours.clock_hz));
        assert_eq!(back.time_s, ours.time_s);
        assert_eq!(back.activity, ours.activity);
        assert_eq!(back.structures, ours.structures);
        assert_eq!(back.totals, ours.totals);
        assert_eq!(back.performance.ipc, ours.performance.ipc);
        assert_eq!(back.performance.rates, ours.performance.rates);
        assert_eq!(back.performance.utilisation, ours.performance.utilisation);
        assert_eq!(
            back.performance.occupancy.achieved,
            ours.performance.occupancy.achieved
        );
    }
}

const NCU: &str = r#"==PROF== Connected to process 4711 (/home/user/app)
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","sm__cycles_elapsed.avg.per_second","sm__cycles_elapsed.max","sm__icc_requests.sum","smsp__inst_executed.sum","smsp__sass_thread_inst_executed_op_fadd_pred_on.sum","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","smsp__sass_thread_inst_executed_op_fmul_pred_on.sum","smsp__sass_thread_inst_executed_op_integer_pred_on.sum","smsp__thread_inst_executed.sum"
"","","","","","","","","","","","Mbyte","usecond","cycle/nsecond","cycle","cycle","inst","inst","inst","inst","inst","inst"
"0","1","app","host","saxpy(int, float, float *, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","7.0","8.39","14.21","1.23","17,473","163,840","589,824","0","1,048,576","0","5,242,880","18,874,368"
"1","1","app","host","saxpy(int, float, float *, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","7.0","8.39","14.18","1.23","17,441","163,840","589,824","0","1,048,576","0","5,242,880","18,874,368"
"#;

#[test]
fn counts_of_nsight_compute_are_priced_and_what_is_absent_is_said() {
    let kernels = "{ activity = { file = \"ncu.csv\", map = \"ncu\" } }";
    let rest = "[[technique]]\nname = \"filter_cache\"\n[[structure]]\nname = \"extra\"\narray = { words = 64, bits = 32, ports = \"1r1w\" }\nread = \"0.5 * warp_instructions\"\nbaseline = true\n";
    let (outcomes, said) = priced(&[("ncu.csv", NCU)], &study(kernels, rest));
    insta::assert_snapshot!(said);
    let outcomes = outcomes.unwrap();
    assert_eq!(
        outcomes.len(),
        2,
        "the plain GPU at two nodes, nothing with the technique"
    );
    let outcome = &outcomes[0];
    assert_eq!(outcome.cycles, 17_473 + 17_441);
    assert_eq!(outcome.clock_hz, 1.23e9);
    let counted =
        |structure: &str, action: &str| outcome.structure(structure).unwrap().count(action);
    assert_eq!(counted("instruction_buffer", "read"), 2 * 589_824);
    assert_eq!(counted("icache.data", "read"), 2 * 163_840);
    assert_eq!(counted("fp32_mul", "read"), 2 * 1_048_576);
    assert_eq!(counted("extra", "read"), 589_824);
    assert_eq!(outcome.structure("sfu").unwrap().dynamic_j, 0.0);
    let notes: Vec<&str> = outcome
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::Foreign)
        .map(|note| &*note.text)
        .collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("Nsight Compute), 2 launches")),
        "{notes:?}"
    );
    assert!(
        notes
            .iter()
            .any(|note| note.contains("`int_add.read` is an estimate")),
        "{notes:?}"
    );
    assert!(
        notes
            .iter()
            .any(|note| note.contains("no dynamic energy, of:") && note.contains("sfu.read")),
        "{notes:?}"
    );
    assert_eq!(outcome.performance.rates.l1_hit_rate, None);
    assert!(
        outcome
            .performance
            .utilisation
            .values()
            .all(Option::is_none)
    );
}

#[test]
fn what_cannot_be_priced_is_refused_with_its_place() {
    let files = [
        ("ncu.csv", &*NCU.replace("17,473", "17.473,5")),
        (
            "mine.csv",
            "kernel,counter,value\na,cycles,10\na,cycles,11\n",
        ),
        ("idle.csv", "kernel,counter,value\na,warp_instructions,10\n"),
        (
            "good.csv",
            "kernel,counter,value\na,cycles,10\na,warp_instrs,4\n",
        ),
    ];
    let kernels = r#"
    { activity = { file = "ncu.csv", map = "ncu" } },
    { activity = { file = "mine.csv" } },
    { activity = { file = "idle.csv" } },
    { activity = { file = "good.csv", kernel = "b" } },
    { activity = { file = "good.csv", map = "ncuu" } },
    { activity = { file = "nowhere.csv", map = "my.toml" } },
    { activity = { map = "ncu", files = "x" }, case = "y" },
    { activity = { file = "good.csv" } },
"#;
    let (outcomes, said) = priced(&files, &study(kernels, ""));
    assert!(outcomes.is_err());
    insta::assert_snapshot!(said);
}

/// Energy and time of a file with other content are other points.
#[test]
fn a_map_of_one_s_own_feeds_what_no_other_does() {
    let map = "title = \"my simulator\"\nformat = \"table\"\nkernel = [\"app\"]\n[[counter]]\nname = \"cycles\"\nis = \"ticks / 2\"\nsource = \"its manual: two ticks a cycle\"\n[[counter]]\nname = \"register_words_read\"\nis = \"32 * `RF reads`\"\nsource = \"its manual: warp-wide reads\"\nestimate = \"all lanes execute\"\n";
    let table = "app,ticks,RF reads\nbfs,2000,512\nnw,4000,1024\n";
    let kernels = "{ activity = { file = \"table.csv\", map = \"my.toml\", kernel = [\"nw\"] } }";
    let files = [("my.toml", map), ("table.csv", table)];
    let (outcomes, said) = priced(&files, &study(kernels, ""));
    let outcomes = outcomes.unwrap();
    assert!(
        said.contains("counts::missing") && !said.contains("counts::unmapped"),
        "{said}"
    );
    assert_eq!((outcomes.len(), outcomes[0].cycles), (2, 2000));
    // Words of 1024 bits: those of all lanes at once.
    let file = outcomes[0].structure("register_file").unwrap();
    assert_eq!(file.count("read"), 1024);
    assert_eq!(outcomes[0].clock_hz, 1.3e9, "the GPU's own");
}

/// The example of the page and its table.
#[test]
fn the_example_of_the_page_is_what_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/foreign-activity.md");
    let page = fs::read_to_string(&path).unwrap();
    let block = |start: &str| {
        let text = page.split(start).nth(1).expect(start);
        text.split("```").next().unwrap().to_owned()
    };
    let (study, counts) = (block("```toml\n"), block("```csv\n"));
    let (outcomes, _) = priced(&[("counters.csv", &counts)], &study);
    let mut table = String::new();
    for outcome in outcomes.unwrap() {
        writeln!(
            table,
            "| {} | {:.3} us | {:.1} nJ | {:.1} nJ |",
            outcome.point.kernel.name,
            1e6 * outcome.time_s,
            1e9 * outcome.totals.dynamic_j,
            1e9 * outcome.totals.leakage_j
        )
        .unwrap();
    }
    let begin = "| --- | --- | --- | --- |\n";
    let from = page
        .find("<!-- example:")
        .expect("the page has its example");
    let start = from + page[from..].find(begin).unwrap() + begin.len();
    let stop = page.find("\n<!-- end of example -->").unwrap();
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let new = format!("{}{table}{}", &page[..start], &page[stop..]);
        fs::write(&path, new).unwrap();
    } else {
        assert_eq!(&page[start..stop], table);
    }
}

//! The compiler on a smaller register file: programs that compute the same, traces of their own, as many CTAs on an SM as before.

use std::path::Path;

use warpwatt::diag::{Sink, render};
use warpwatt::outcome::{NoteKind, Outcome};
use warpwatt::run::{resolve_text, run_all};

/// The points of two kernels, whose results are compared with their references whenever they are executed; `what` are techniques.
fn outcomes(what: &str) -> Vec<Outcome> {
    let text = format!(
        "[study]\ntitle = \"t\"\n[gpu]\npreset = \"fermi-16sm\"\nnode = \"40nm\"\nlibrary = \"itrs\"\nprofile = \"cacti65\"\n\
         [workloads]\nkernels = [\"hotspot\", \"vector_add\", \"matrix_mul\"]\n{what}\n[output]\ndirectory = \"r\"\nformats = [\"csv\"]\n"
    );
    let mut sink = Sink::default();
    let Some(resolved) = resolve_text("study.toml", &text, Path::new(""), &mut sink) else {
        panic!("{}", render(&sink, false));
    };
    run_all(&resolved, &sink.sources, Some(2), |_| ()).expect("it runs")
}

fn technique(size: u32) -> String {
    format!("[[technique]]\nname = \"compiler_spill\"\nregister_file_kb = {size}")
}

fn point<'o>(outcomes: &'o [Outcome], kernel: &str, technique: &str) -> &'o Outcome {
    let found = outcomes.iter().find(|outcome| {
        outcome.point.kernel.name == kernel && outcome.point.technique.starts_with(technique)
    });
    found.unwrap_or_else(|| panic!("{kernel}, {technique}"))
}

#[test]
fn what_does_not_fit_goes_to_local_memory_and_costs_time() {
    let points = outcomes(&technique(64));
    let n = |outcome: &Outcome, counter: &str| outcome.activity.get(counter);
    for kernel in ["hotspot", "vector_add", "matrix_mul"] {
        let [plain, spilled] =
            ["baseline", "compiler_spill"].map(|name| point(&points, kernel, name));
        let moved = n(spilled, "local_loads") + n(spilled, "local_stores");
        assert_eq!(moved > 0, kernel != "vector_add", "{kernel}: {moved}");
        // Loads and stores come in, but literals that had registers become operands.
        let instructions = [plain, spilled].map(|outcome| n(outcome, "warp_instructions"));
        assert_ne!(
            instructions[0], instructions[1],
            "{kernel}: a program of its own"
        );
        assert_eq!(
            n(spilled, "memory_accesses"),
            n(plain, "memory_accesses") + moved,
            "{kernel}"
        );
        assert!(n(spilled, "ctas") == n(plain, "ctas"));
        let leakage = |outcome: &Outcome| {
            let file = outcome.structure("register_file").unwrap();
            file.total_leakage_w()
        };
        assert!(leakage(spilled) < 0.7 * leakage(plain));
        assert!(moved == 0 || spilled.cycles > plain.cycles, "{kernel}");
    }
}

/// With the whole file nothing changes; with renaming on top of less of it, both work.
#[test]
fn a_whole_file_changes_nothing_and_renaming_goes_on_top_of_half_of_it() {
    let stacked = "[[technique]]\nstack = [{ name = \"compiler_spill\", register_file_kb = 64 }, { name = \"register_virtualization\" }]";
    let points = outcomes(&format!("{}\n{stacked}", technique(128)));
    for kernel in ["hotspot", "matrix_mul"] {
        let [plain, whole] = ["baseline", "compiler_spill(register_file_kb=128)"]
            .map(|name| point(&points, kernel, name));
        assert_eq!(whole.cycles, plain.cycles);
        let both = point(&points, kernel, "compiler_spill(register_file_kb=64) + ");
        let n = |counter: &str| both.activity.get(counter);
        assert!(n("local_loads") > 0 && n("register_select.read") > 0);
        assert!(n("registers_most") <= n("wear_registers"));
        assert_eq!(n("wear_registers"), 16 * 512);
    }
}

/// A sixteenth of the file is too little for all three, a half for none.
#[test]
fn a_program_that_cannot_keep_the_limit_says_so() {
    let points = outcomes(&format!("{}\n{}", technique(8), technique(64)));
    for outcome in &points {
        let mut notes = outcome.notes.iter();
        let noted = notes.any(|note| note.kind == NoteKind::Registers);
        let small = &*outcome.point.technique == "compiler_spill(register_file_kb=8)";
        assert_eq!(noted, small, "{:?}: {:?}", outcome.point, outcome.notes);
    }
}

//! Launch files of kernels whose CTAs form clusters.

use std::path::Path;

use warpwatt_ptx::load;
use warpwatt_suite::launch::Files;
use warpwatt_suite::{LaunchFile, Problem, RunOptions, run_case};

/// The rank of the CTA after the own one in its cluster, read from that CTA's shared memory.
const PTX: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry next(.param .u64 out) {
    .shared .b32 own; .reg .b32 %r<9>; .reg .b64 %d<3>;
    mov.u32 %r1, %cluster_ctarank; st.shared.u32 [own], %r1; barrier.cluster.arrive; barrier.cluster.wait;
    add.u32 %r2, %r1, 1; mov.u32 %r3, %cluster_nctarank; rem.u32 %r2, %r2, %r3; mov.u32 %r4, own;
    mapa.shared::cluster.u32 %r5, %r4, %r2; ld.shared::cluster.u32 %r6, [%r5]; barrier.cluster.arrive; barrier.cluster.wait;
    ld.param.u64 %d1, [out]; mov.u32 %r7, %ctaid.x; mul.wide.u32 %d2, %r7, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r6; ret;
}
";

fn run(source: &str, launch: &str) -> Result<Vec<u8>, String> {
    let told = |found: Vec<Problem>| {
        let all: Vec<String> = found.into_iter().map(|it| it.message).collect();
        all.join("; ")
    };
    let text = format!(
        "name = \"next\"\n[constants]\nm = 4\n[case]\nkernel = \"next\"\nblock = 1\n{launch}
[[case.arg]]\nname = \"out\"\nkind = \"out\"\ntype = \"i32\"\ncount = 8\n"
    );
    let module = load(source).unwrap();
    let file = LaunchFile::parse(&text).map_err(told)?;
    let prepared = file.cases[0]
        .prepare(&module, Files::Directory(Path::new(".")))
        .map_err(told)?;
    let run = run_case(&module, &file.cases[0], &prepared, RunOptions::default());
    let run = run.map_err(|error| error.to_string())?;
    let bytes = run.buffers[0].bytes.iter().step_by(4);
    Ok(bytes.copied().collect())
}

#[test]
fn a_case_says_how_many_ctas_a_cluster_has() {
    let of = |launch: &str| run(PTX, launch).unwrap();
    assert_eq!(of("grid = 8\ncluster = \"m\""), [1, 2, 3, 0, 1, 2, 3, 0]);
    assert_eq!(of("grid = 8\ncluster = [2]"), [1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(of("grid = 8"), [0; 8]);
    let required = PTX.replace("out) {", "out) .reqnctapercluster 2, 1, 1 {");
    assert_eq!(
        run(&required, "grid = 8").unwrap(),
        [1, 0, 1, 0, 1, 0, 1, 0]
    );
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    for (launch, wanted) in [
        (
            "grid = 8\ncluster = 3",
            "an extent of 8 CTAs is no multiple of clusters of 3",
        ),
        (
            "grid = 8\ncluster = 32",
            "an extent must be from 1 to 16, not 32",
        ),
        (
            "grid = [8, 8]\ncluster = [8, 4]",
            "a cluster of 32 CTAs is too large",
        ),
    ] {
        assert_eq!(run(PTX, launch).unwrap_err(), wanted);
    }
    let required = PTX.replace("out) {", "out) .reqnctapercluster 2, 1, 1 {");
    let told = run(&required, "grid = 8\ncluster = 4").unwrap_err();
    assert_eq!(
        told,
        "`next` requires clusters of 2 x 1 x 1 CTAs (`.reqnctapercluster`)"
    );
}

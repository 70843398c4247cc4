//! Flips under techniques that correct them: every flip is put down to something, codes leave nothing silent, and a correction is work that is counted.

use warpwatt::diag::Sink;
use warpwatt::inject::campaign;
use warpwatt::inject::protected::{Drawn, Protected};
use warpwatt::study::{Asked, Configuration};
use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::inject::Target;

use crate::fault_injection::Case;

const SAMPLES: u64 = 1500;

/// What comes of flips in a structure while a kernel runs with a technique, with `look` at the run.
fn drawn(
    kernel: &str,
    target: Target,
    technique: &str,
    look: impl Fn(&Protected<'_>, &Drawn),
) -> [u64; 3] {
    let mut case = Case::suite(kernel, None);
    case.spec = GpuSpec::preset("softerror-28sm").unwrap();
    let golden = case.golden();
    let mut sink = Sink::default();
    let asked = Asked::read(&[technique.to_owned()], &[], &mut sink);
    let mut asked = asked.configurations(&mut sink).expect("a technique");
    let Configuration { stack, .. } = asked.pop().expect("the technique");
    let protected = Protected::new(&golden, &case.spec, &stack).expect("it is timed");
    let drawn = protected.draw(target, SAMPLES, 1).expect("it is timed");
    look(&protected, &drawn);
    let left = campaign(&golden, &drawn.left, &[], 2, |_, _| true).expect("it runs");
    assert_eq!(left.total() + drawn.detected + drawn.corrected(), SAMPLES);
    assert_eq!(drawn.miscorrected, 0, "single flips");
    [left.silent(), drawn.detected, drawn.corrected()]
}

/// The plain GPU's timing with each of them, so that the same flips are drawn: a code on every slot corrects all that parity detects, and SAWP those whose check
/// bits are in its table.
#[test]
fn codes_of_the_instruction_buffer_share_out_the_same_flips() {
    let of = |technique: &str| drawn("walsh", Target::InstructionBuffer, technique, |_, _| ());
    let [silent, detected, corrected] = of("ecc(structure=instruction_buffer, code=sec)");
    assert_eq!((silent, detected), (0, 0));
    assert!(corrected > 20, "{corrected}");
    let parity = of("ecc(structure=instruction_buffer, code=parity)");
    assert_eq!(parity, [0, corrected, 0]);
    let [silent, detected, shared] = of("sawp");
    assert_eq!((silent, detected + shared), (0, corrected));
    assert!(shared > corrected / 2);
}

#[test]
fn codes_of_registers_and_shared_memory_leave_nothing_silent() {
    for (kernel, target, technique) in [
        ("scan", Target::RegisterFile, "ecc"),
        ("scan", Target::SharedMemory, "ecc(structure=shared_memory)"),
    ] {
        let [silent, detected, corrected] = drawn(kernel, target, technique, |_, _| ());
        assert_eq!((silent, detected), (0, 0), "{technique}");
        assert!(corrected > 0, "{technique}");
    }
    let [silent, _, corrected] = drawn("matmul_tiled", Target::RegisterFile, "sharp", |_, _| ());
    assert!(
        silent > 0 && corrected > 0,
        "those whose warps wait for memory"
    );
}

/// One correction in a run: the corrector works once, and the instruction is taken from the buffer again.
#[test]
fn a_correction_is_counted_once() {
    drawn(
        "walsh",
        Target::InstructionBuffer,
        "sawp",
        |protected, drawn| {
            let corrected = protected.corrections(Target::InstructionBuffer, drawn);
            let corrected = corrected.expect("runs are timed");
            assert!(corrected.len() > 3);
            for one in &corrected {
                let more =
                    |name: &str| one.run.activity.get(name) - protected.run.activity.get(name);
                assert_eq!(more("sawp.corrector.read"), 1);
                assert_eq!(more("instruction_buffer.read"), 1);
                assert_eq!(more("warp_instructions"), 0);
            }
        },
    );
    drawn("scan", Target::RegisterFile, "ecc", |protected, drawn| {
        let corrected = protected.corrections(Target::RegisterFile, drawn);
        for one in &corrected.expect("runs are timed") {
            let more = |name: &str| one.run.activity.get(name) - protected.run.activity.get(name);
            assert_eq!(more("ecc.corrector.read"), 1);
            // A register of 64 bits is two words.
            assert!((1..=2).contains(&more("register_file.write")));
            assert!(
                (1..=6).contains(&more("register_file.read")),
                "operands again"
            );
        }
    });
}

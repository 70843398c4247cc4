//! The soft-error paper (SAWP and SHARP) against two studies' points.
//!
//! What the paper calls a reduction of AVF is ours of bits in use: a share of the time that instructions wait in the buffer, or that registers hold what is
//! still read.

mod rows;

use rows::{Part, ROUND_ROBIN, Rows};

use super::rows::{mean, metric, most};
use super::{Check, Tolerance};
use crate::outcome::{BASELINE, Outcome};
use crate::papers::SoftErrorPaper;

/// Averages over the benchmarks: another compiler, other inputs, another pipeline. Beyond it the page says why.
const AVERAGE: Tolerance = Tolerance::Relative(1.0 / 3.0);
/// Power over that without protection.
const POWER: Tolerance = Tolerance::Absolute(0.05);

const CODE_OF_SLOTS: &str = "ecc(structure=instruction_buffer, code=sec)";
const CODE_OF_REGISTERS: &str = "ecc";
const SAWP: &str = "sawp";
const SAWP_FREE: &str = "sawp(compare_reads=false)";
const FULL_SIZE: &str = "sawp(variant=full_size)";
const MIN: &str = "sawp(variant=min)";
const SHARP: &str = "sharp";
const RTRP: &str = "register_to_register_protection";

/// Figures 3, 6, 9, 10 and 11: the points of `soft_error.toml` and of `soft_error_schedulers.toml`.
pub fn soft_error_study(outcomes: &[Outcome]) -> Vec<Check> {
    let (paper, rows) = (SoftErrorPaper::load(), Rows::of(outcomes));
    let mut checks = similarity(&paper, &rows);
    checks.extend(coverage_of_instructions(&paper, &rows));
    checks.extend(power_of_buffer(&paper, &rows));
    checks.extend(registers(&paper, &rows));
    checks.extend(power_of_registers(&paper, &rows));
    checks
}

fn check(place: &str, what: &str, (published, ours): (f64, f64), tolerance: Tolerance) -> Check {
    Check::new((place, what.to_owned(), ""), published, ours, tolerance)
}

/// Figure 3: how many different instructions the buffer holds.
fn similarity(paper: &SoftErrorPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = &paper.similarity;
    let two = &said.two_instructions;
    let mut checks = Vec::new();
    for (policy, published) in [
        (ROUND_ROBIN, two.round_robin),
        ("two_level", two.two_level),
        ("first_ready", two.first_ready),
        ("fair", two.fair),
    ] {
        let ours = mean(&rows.metric(SAWP, policy, "sawp.unique.two"));
        let what = format!("time with two different instructions, {policy}, mean");
        checks.push(check("Figure 3", &what, (published, ours), AVERAGE));
    }
    let largest = most(&rows.metric(SAWP, ROUND_ROBIN, "sawp.unique.most"));
    let eleven = mean(&rows.metric(SAWP, ROUND_ROBIN, "sawp.unique.up_to_eleven"));
    let walsh = rows.get("FWT", SAWP, ROUND_ROBIN);
    let same = walsh.map_or(f64::NAN, |it| metric(it, "sawp.unique.one"));
    checks.extend([
        check(
            "Figure 3",
            "most different instructions at once",
            (said.most_instructions, largest),
            AVERAGE,
        ),
        check(
            "Figure 3",
            "time with eleven different instructions at most, mean",
            (said.eleven_cover, eleven),
            Tolerance::Absolute(0.01),
        ),
        check(
            "section 5.1",
            "FWT: time with all instructions the same",
            (said.all_the_same_in_fwt, same),
            AVERAGE,
        ),
    ]);
    checks
}

/// Figures 9 (a) and 10 (a).
fn coverage_of_instructions(paper: &SoftErrorPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = &paper.sawp;
    let coverage = |technique, policy| rows.metric(technique, policy, "sawp.coverage");
    let own = coverage(SAWP, ROUND_ROBIN);
    let average = |technique, policy| mean(&coverage(technique, policy));
    let row = |place, what, published, ours| check(place, what, (published, ours), AVERAGE);
    vec![
        row(
            "Figure 9",
            "AVF reduced by SAWP, mean",
            said.avf_reduction,
            mean(&own),
        ),
        row(
            "Figure 9",
            "AVF reduced by SAWP, most",
            said.avf_reduction_best,
            most(&own),
        ),
        check(
            "Figure 9",
            "AVF reduced by SAWP_fs, mean",
            (
                said.avf_reduction_full_size,
                average(FULL_SIZE, ROUND_ROBIN),
            ),
            Tolerance::Absolute(0.01),
        ),
        row(
            "Figure 9",
            "AVF reduced by SAWP_min, mean",
            said.avf_reduction_min,
            average(MIN, ROUND_ROBIN),
        ),
        row(
            "Figure 10",
            "AVF reduced by SAWP under FAIR, mean",
            said.avf_reduction_fair,
            average(SAWP, "fair"),
        ),
    ]
}

/// Figure 9 (b), areas, and what a reduction costs.
fn power_of_buffer(paper: &SoftErrorPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = &paper.sawp;
    let power = |with| {
        let each = rows.against(BASELINE, with, |without, with| {
            Part::Buffer.power(with) / Part::Buffer.power(without)
        });
        mean(&each)
    };
    let areas = rows.against(CODE_OF_SLOTS, SAWP, |code, sawp| {
        1.0 - Part::Buffer.area(sawp) / Part::Buffer.area(code)
    });
    let coverage = mean(&rows.metric(SAWP, ROUND_ROBIN, "sawp.coverage"));
    let (code, sawp) = (power(CODE_OF_SLOTS), power(SAWP));
    let (sawp_free, full_free, min_free) = (
        power(SAWP_FREE),
        power("sawp(variant=full_size, compare_reads=false)"),
        power("sawp(variant=min, compare_reads=false)"),
    );
    let slots = |with| {
        let each = rows.against(BASELINE, with, |without, with| {
            Part::Buffer.own_power(with) / Part::Buffer.own_power(without)
        });
        mean(&each)
    };
    let row = |what, published, ours| check("Figure 9", what, (published, ours), POWER);
    vec![
        row("power of a code on every slot", said.power_full_code, code),
        row(
            "power of a code on every slot, wider slots alone",
            said.power_full_code,
            slots(CODE_OF_SLOTS),
        ),
        row("power of SAWP", said.power, sawp),
        row(
            "power of SAWP, wider slots alone",
            said.power,
            slots(SAWP_FREE),
        ),
        row(
            "power of SAWP, comparisons read for nothing",
            said.power,
            sawp_free,
        ),
        row(
            "power of SAWP_fs, comparisons read for nothing",
            said.power_full_code - said.power_full_size_below_full_code,
            full_free,
        ),
        row(
            "power of SAWP_min, comparisons read for nothing",
            said.power_full_code
                - said.power_full_size_below_full_code
                - said.power_min_below_full_size,
            min_free,
        ),
        check(
            "section 3.2.4",
            "area below that of a code on every slot",
            (said.area_below_full_code_at_most, mean(&areas)),
            AVERAGE,
        ),
        check(
            "section 5.2",
            "more power over less AVF, SAWP",
            (said.power_per_avf, (sawp - 1.0) / coverage),
            AVERAGE,
        ),
        check(
            "section 5.2",
            "more power over less AVF, a code on every slot",
            (said.power_per_avf_full_code, code - 1.0),
            AVERAGE,
        ),
    ]
}

/// Figures 6 and 11 (a).
fn registers(paper: &SoftErrorPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = &paper.sharp;
    let coverage = |technique: &str, name| rows.metric(technique, ROUND_ROBIN, name);
    let of = |technique, name| {
        let point = rows.get("BP", technique, ROUND_ROBIN);
        point.map_or(f64::NAN, |it| metric(it, name))
    };
    let row = |place, what, published, ours| check(place, what, (published, ours), AVERAGE);
    vec![
        row(
            "Figure 6",
            "words of shared memory that are ever written, mean",
            said.shared_memory_used,
            mean(&coverage(SHARP, "sharp.shared_memory_touched")),
        ),
        row(
            "Figure 11",
            "AVF reduced by SHARP, mean",
            said.avf_reduction,
            mean(&coverage(SHARP, "sharp.coverage")),
        ),
        row(
            "Figure 11",
            "AVF reduced by RTRP, mean",
            said.avf_reduction_rtrp,
            mean(&coverage(RTRP, "rtrp.coverage")),
        ),
        row(
            "Figure 11",
            "BP: AVF reduced by SHARP",
            said.avf_reduction_bp,
            of(SHARP, "sharp.coverage"),
        ),
        row(
            "Figure 11",
            "BP: AVF reduced by RTRP",
            said.avf_reduction_rtrp_bp,
            of(RTRP, "rtrp.coverage"),
        ),
    ]
}

/// Figure 11 (b), areas, and what a reduction costs.
fn power_of_registers(paper: &SoftErrorPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = &paper.sharp;
    let over = |with, figure: &dyn Fn(&Outcome) -> f64| {
        mean(&rows.against(BASELINE, with, |without, with| {
            figure(with) / figure(without)
        }))
    };
    let power = |with| over(with, &|outcome| Part::Registers.power(outcome));
    let own = |with| over(with, &|outcome| Part::Registers.own_power(outcome));
    let area = |with| over(with, &|outcome| Part::Registers.area(outcome)) - 1.0;
    let own_area = |with| over(with, &|outcome| Part::Registers.own_area(outcome)) - 1.0;
    let (code, sharp, rtrp) = (power(CODE_OF_REGISTERS), power(SHARP), power(RTRP));
    let coverage = mean(&rows.metric(SHARP, ROUND_ROBIN, "sharp.coverage"));
    let row = |what, published, ours| check("Figure 11", what, (published, ours), POWER);
    vec![
        row(
            "power of a code on every register",
            said.power_full_code,
            code,
        ),
        row(
            "power of a code on every register, wider registers alone",
            said.power_full_code,
            own(CODE_OF_REGISTERS),
        ),
        row("power of SHARP", said.power, sharp),
        row("power of RTRP", said.power + said.power_rtrp_above, rtrp),
        check(
            "section 3.3.4",
            "area that SHARP adds to the register file",
            (said.area_of_register_file, area(SHARP)),
            AVERAGE,
        ),
        check(
            "section 5.2",
            "area that a code on every register adds",
            (said.area_of_full_code, area(CODE_OF_REGISTERS)),
            AVERAGE,
        ),
        check(
            "section 5.2",
            "area that a code on every register adds, wider registers alone",
            (said.area_of_full_code, own_area(CODE_OF_REGISTERS)),
            AVERAGE,
        ),
        check(
            "section 5.2",
            "more power over less AVF, SHARP",
            (said.power_per_avf, (sharp - 1.0) / coverage),
            AVERAGE,
        ),
        check(
            "section 5.2",
            "more power over less AVF, a code on every register",
            (said.power_per_avf_full_code, code - 1.0),
            AVERAGE,
        ),
    ]
}

//! Warped-DMR against a study's points and our circuits.

use warpwatt_circuit::logic::{LogicBlock, LogicSpec};
use warpwatt_circuit::{Cost, OperatingPoint, Profile, Spec, cost};
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Library};

use super::rows::{Rows, least, mean, metric, most};
use super::{Check, Tolerance};
use crate::outcome::{BASELINE, Outcome};
use crate::papers::WarpedDmrPaper;

const PAPER: &str = "warped_dmr";
const PROFILE: &str = "execution_profile";
/// With ten entries, clusters of four lanes and threads around them.
const DEFAULT: &str = "warped_dmr";
const IN_ORDER: &str = "warped_dmr(mapping=in_order)";
const EIGHT: &str = "warped_dmr(cluster_lanes=8, mapping=in_order)";
const ONE_ENTRY: &str = "warped_dmr(replayq_entries=1)";
const NO_QUEUE: &str = "warped_dmr(replayq_entries=0)";
const ENHANCED: &str = "warped_dmr(enhanced=true)";
const WITHIN: &str = "warped_dmr(inter=false)";
const SECOND_LANES: &str = "full_dmr";
const R_NAIVE: &str = "full_dmr(design=kernel)";

/// Averages over benchmarks of another compiler, in another pipeline; circuits of another library. What differs by more has an explanation on the page.
const THIRD: Tolerance = Tolerance::Relative(1.0 / 3.0);
/// Points of coverage.
const POINTS: Tolerance = Tolerance::Absolute(0.05);

/// What the lanes compute with.
const UNITS: [&str; 6] = ["int_add", "int_mul", "fp32_add", "fp32_mul", "fp64", "sfu"];

/// The synthesised blocks of section 4.4.1 and the size of the ReplayQ.
///
/// # Errors
/// If the technology data have a defect, or a circuit cannot be built.
pub fn circuits() -> Result<Vec<Check>, String> {
    let said = WarpedDmrPaper::load().circuits;
    let unit = logic(LogicBlock::ForwardingUnit { lanes: 4, bits: 32 })?;
    let comparator = logic(LogicBlock::Equality { bits: 128 })?;
    let place = "section 4.4.1";
    let area = |what: &str, published: f64, of: &Cost| {
        let ours = of.area.si() * 1e12;
        Check::new(
            (place, format!("{what}, area"), "um2"),
            published,
            ours,
            THIRD,
        )
    };
    let delay = |what: &str, published: f64, of: &Cost| {
        let ours = of.access_time.as_ps() / 1000.0;
        Check::new(
            (place, format!("{what}, delay"), "ns"),
            published,
            ours,
            THIRD,
        )
    };
    // Four words of all lanes, and the opcode.
    let entry_bytes = f64::from(32 * 4 * 4 + 4);
    let kb = 10.0 * entry_bytes / 1024.0;
    let place = "section 4.4.4";
    Ok(vec![
        area("register forwarding unit", said.rfu_area_um2, &unit),
        delay("register forwarding unit", said.rfu_delay_ns, &unit),
        area("comparator", said.comparator_area_um2, &comparator),
        delay("comparator", said.comparator_delay_ns, &comparator),
        Check::new(
            (place, "ReplayQ of ten entries".to_owned(), "KB"),
            said.queue_kb_at_10,
            kb,
            POINTS,
        ),
        Check::new(
            (
                place,
                "its share of a register file of 128 KB".to_owned(),
                "",
            ),
            said.queue_share_of_128_kb,
            kb / 128.0,
            POINTS,
        ),
    ])
}

/// A block at 40 nm.
fn logic(block: LogicBlock) -> Result<Cost, String> {
    let technology = Library::itrs()
        .and_then(|library| library.node("40nm", Flavour::Hp))
        .map_err(|error| error.to_string())?;
    let at = OperatingPoint::at(Temperature::from_k(350.0));
    let spec = Spec::Logic(LogicSpec {
        block,
        activity: 50,
    });
    cost(&technology, &at, Profile::Cacti65, &spec).map_err(|error| error.to_string())
}

/// Figures 4.1 and 4.4 to 4.10, over the benchmarks of Table 4.4.
pub fn study(outcomes: &[Outcome]) -> Vec<Check> {
    let paper = WarpedDmrPaper::load();
    let rows = Rows::of(PAPER, outcomes);
    let mut checks = idle(&paper, &rows);
    checks.extend(coverage(&paper, &rows));
    checks.extend(time(&paper, &rows));
    checks.extend(energy(&paper, &rows));
    checks
}

fn check(
    place: &str,
    what: impl Into<String>,
    (published, ours): (f64, f64),
    tolerance: Tolerance,
) -> Check {
    Check::new((place, what.into(), ""), published, ours, tolerance)
}

/// A metric of one benchmark.
fn one(rows: &Rows<'_>, technique: &str, benchmark: &str, name: &str) -> f64 {
    let outcome = rows.of_benchmark(technique, benchmark);
    outcome.map_or(f64::NAN, |outcome| metric(outcome, name))
}

/// Lanes that execute nothing while their warp does, by the counter of the lanes that do.
fn idle_lanes(outcome: &Outcome) -> f64 {
    let of = |lanes: u64| {
        let name = format!("execution_profile_lanes_{lanes}");
        outcome.activity.get(&name)
    };
    let (busy, all) = (1..=32).fold((0, 0), |(busy, all), lanes| {
        (busy + lanes * of(lanes), all + 32 * of(lanes))
    });
    1.0 - busy as f64 / all as f64
}

/// Figures 4.1, 4.4 and 4.7: the plain GPU.
fn idle(paper: &WarpedDmrPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = paper.idle;
    let runs = rows.metric_of(PROFILE, "execution_profile.run_length");
    let distances = |bound: &str| {
        let metric = format!("execution_profile.reads.{bound}");
        rows.metric_of(PROFILE, &metric)
    };
    vec![
        check(
            "Figure 4.1",
            "lanes idle, mean",
            (said.lanes, mean(&rows.each(PROFILE, idle_lanes))),
            THIRD,
        ),
        check(
            "Figure 4.1",
            "BFS: instructions that one lane executes",
            (
                said.bfs_one_lane,
                one(rows, PROFILE, "BFS", "execution_profile.lanes.1"),
            ),
            THIRD,
        ),
        check(
            "Figure 4.7 (a)",
            "instructions of one type in a row, mean of the benchmarks",
            (said.run_length_upper_bound, mean(&runs)),
            Tolerance::AtMost,
        ),
        check(
            "Figure 4.7 (a)",
            "instructions of one type in a row, most",
            (said.gaussian_run_length_upper_bound, most(&runs)),
            Tolerance::AtMost,
        ),
        check(
            "Figure 4.7 (b)",
            format!(
                "registers read less than {} cycles after they are written, most",
                said.raw_distance_cycles_at_least
            ),
            (0.0, most(&distances("under_8"))),
            Tolerance::Absolute(0.05),
        ),
        check(
            "Figure 4.7 (b)",
            "registers read more than 100 cycles after they are written, mean",
            (said.raw_over_100_cycles, mean(&distances("over_100"))),
            THIRD,
        ),
    ]
}

/// Figure 4.8 (a).
fn coverage(paper: &WarpedDmrPaper, rows: &Rows<'_>) -> Vec<Check> {
    let (said, summary) = (paper.coverage, paper.summary);
    let of = |technique: &str| mean(&rows.metric(technique, "coverage"));
    let (around, in_order) = (of(DEFAULT), of(IN_ORDER));
    let of_one = |benchmark: &str| one(rows, DEFAULT, benchmark, "warped_dmr.coverage");
    let place = "Figure 4.8 (a)";
    vec![
        check(
            place,
            "covered, eight lanes, mean",
            (said.lanes_8, of(EIGHT)),
            POINTS,
        ),
        check(
            place,
            "covered, threads around the clusters, mean",
            (said.round_robin, around),
            POINTS,
        ),
        check(
            "section 4.8",
            "the same as the summary says",
            (summary.coverage, around),
            POINTS,
        ),
        check(
            "section 4.4.2",
            "points that threads around the clusters gain over threads in order",
            (said.mapping_gain, around - in_order),
            THIRD,
        ),
        check(
            place,
            "HotSpot: covered",
            (said.hotspot, of_one("HotSpot")),
            POINTS,
        ),
        check(
            place,
            "covered, least",
            (said.hotspot, least(&rows.metric(DEFAULT, "coverage"))),
            POINTS,
        ),
        check(place, "BFS: covered", (said.bfs, of_one("BFS")), POINTS),
        check(
            "section 4.5",
            "covered, enhanced, least",
            (1.0, least(&rows.metric(ENHANCED, "coverage"))),
            Tolerance::Absolute(0.0),
        ),
    ]
}

/// Figures 4.8 (b) and 4.9.
fn time(paper: &WarpedDmrPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = paper.slowdown;
    let slower =
        |without: &Outcome, with: &Outcome| with.cycles as f64 / without.cycles as f64 - 1.0;
    let of = |technique: &str| mean(&rows.against(BASELINE, technique, slower));
    let of_one = |technique: &str, benchmark: &str| {
        let of = |technique| rows.of_benchmark(technique, benchmark);
        let pair = of(BASELINE).zip(of(technique));
        pair.map_or(f64::NAN, |(without, with)| slower(without, with))
    };
    let (ten, enhanced) = (of(DEFAULT), of(ENHANCED));
    let place = "Figure 4.8 (b)";
    vec![
        check(
            place,
            "slowdown, ten entries, mean",
            (said.entries_10, ten),
            THIRD,
        ),
        check(
            "section 4.8",
            "the same as the summary says",
            (paper.summary.slowdown, ten),
            THIRD,
        ),
        check(
            place,
            "MatrixMul: slowdown, one entry",
            (said.matrix_mul_1, of_one(ONE_ENTRY, "MatrixMul")),
            THIRD,
        ),
        check(
            place,
            "MatrixMul: slowdown, no entry: a stall for each",
            (said.matrix_mul_1, of_one(NO_QUEUE, "MatrixMul")),
            THIRD,
        ),
        check(
            place,
            "MatrixMul: slowdown, ten entries",
            (said.matrix_mul_10, of_one(DEFAULT, "MatrixMul")),
            THIRD,
        ),
        check(
            place,
            "BFS: slowdown, ten entries",
            (said.bfs, of_one(DEFAULT, "BFS")),
            Tolerance::Absolute(0.02),
        ),
        check(
            "Figure 4.9",
            "slowdown, enhanced, mean",
            (said.enhanced_10, enhanced),
            THIRD,
        ),
        check(
            "section 4.6.3",
            "points that the enhanced mode takes more",
            (said.enhanced_more, enhanced - ten),
            THIRD,
        ),
        check(
            "section 4.7",
            "slowdown, all twice (R-Naive), mean",
            (1.0, of(R_NAIVE)),
            THIRD,
        ),
    ]
}

/// Figure 4.10: dynamic energy of the execution units, dynamic and static energy of all that is priced.
fn energy(paper: &WarpedDmrPaper, rows: &Rows<'_>) -> Vec<Check> {
    let said = paper.energy;
    let units = |outcome: &Outcome| -> f64 {
        let parts = UNITS.iter().filter_map(|name| outcome.structure(name));
        parts.map(|part| part.dynamic_j).sum()
    };
    let device = |outcome: &Outcome| outcome.totals.dynamic_j + outcome.totals.leakage_j;
    let more = |technique: &str, of: &dyn Fn(&Outcome) -> f64| {
        mean(&rows.against(BASELINE, technique, |without, with| {
            of(with) / of(without) - 1.0
        }))
    };
    let place = "Figure 4.10";
    let twice = said.execution_units;
    vec![
        check(
            place,
            "energy more of the execution units, mean",
            (twice, more(DEFAULT, &units)),
            THIRD,
        ),
        check(
            place,
            "the same without second executions, mean",
            (twice, more(WITHIN, &units)),
            THIRD,
        ),
        check(
            place,
            "energy more of the device, mean",
            (said.device, more(DEFAULT, &device)),
            THIRD,
        ),
        check(
            place,
            "the same with a second lane beside each, mean",
            (said.device, more(SECOND_LANES, &device)),
            THIRD,
        ),
    ]
}

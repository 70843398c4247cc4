//! Process variation: nothing of it changes nothing, what differs within a die averages, what a die has in common does not.

use std::path::Path;

use super::process::ProcessVariation;
use super::tests::{STUDY, results_of, surer};
use super::*;
use crate::diag::Sink;
use crate::recipe::Recipes;
use crate::report::Report;
use crate::report::metric::Metrics;
use crate::run::resolve_text;
use crate::sensitivity::sensitivity;
use approx::assert_relative_eq;
use warpwatt_techlib::quantity::Voltage;

const NONE: ProcessVariation = ProcessVariation {
    vth_die_to_die: Some(Voltage::ZERO),
    vth_within_die: Some(Voltage::ZERO),
    length_die_to_die: Some(0.0),
    length_within_die: Some(0.0),
};

fn sampling(samples: usize, process: Option<ProcessVariation>) -> Draws {
    Draws {
        samples,
        seed: 3,
        process,
    }
}

fn results() -> (Report, Recipes) {
    let (report, recipes, _) = results_of(STUDY);
    (report, recipes)
}

#[test]
fn no_variation_is_the_plain_run_bit_for_bit() {
    let (report, recipes) = results();
    let of = |process| {
        monte_carlo(&report, &recipes, sampling(60, process))
            .unwrap()
            .0
    };
    assert_eq!(of(None).figures, of(Some(NONE)).figures);
    let published = of(Some(ProcessVariation::default()));
    assert_ne!(of(None).figures, published.figures);
}

/// With nothing else uncertain and nothing drawn die by die, each draw of sub-threshold leakage is the nominal one times the mean of a log-normal of the same spread, by hand:
/// s = 20 mV ln 10 / (swing T / 300 K).
#[test]
fn within_a_die_leakage_is_the_mean_of_a_log_normal() {
    let (report, recipes) = results();
    let sure = surer(&recipes, 0.0);
    let process = ProcessVariation {
        vth_within_die: Some(Voltage::from_mv(20.0)),
        ..NONE
    };
    let all = monte_carlo(&report, &sure, sampling(200, Some(process)))
        .unwrap()
        .0;
    let swing = match &sure.processes[0].technology.device.i_off_n {
        warpwatt_techlib::Leakage::Activated(law) => law.swing.value.as_mv(),
        _ => unreachable!("the silicon library has laws"),
    };
    let s = 20.0 * 10f64.ln() / (swing * 350.0 / 300.0);
    let name = "structures.register_file.leakage_w";
    let value = |metric: &str| {
        let metric = Metrics::known()
            .with_points(&report.points)
            .find(metric)
            .unwrap();
        metric.value(&report.points[0], None).unwrap()
    };
    let metric = Metrics::known()
        .with_points(&report.points)
        .find(name)
        .unwrap();
    let (spread, shares) = drawn(&report, &sure, &metric, 0, sampling(200, Some(process)))
        .unwrap()
        .unwrap();
    // What the models are off for themselves is drawn with the median of one, and moves the median of 200 draws by some percent; the mean shift is 25 %.
    let shift = (s * s / 2.0).exp();
    assert!(shift > 1.15, "{shift}");
    assert!(
        (spread.median / value(name) / shift - 1.0).abs() < 0.05,
        "{spread:?} {shift}"
    );
    assert!(
        shares
            .iter()
            .any(|share| share.cause == "process: leakage of register_file within the die")
    );
    // Thousands of transistors leave little of it to chance.
    let figure = all.spread(0, "leakage_w").unwrap();
    assert!(figure.median > 1.1 * figure.value);
}

/// What a die has in common moves its leakage as a log-normal: mean exp(s²/2) over dies, median one.
#[test]
fn from_die_to_die_the_mean_rises_and_the_median_stays() {
    let (_, recipes) = results();
    let technology = &recipes.processes[0].technology;
    let at = &recipes.processes[0].at;
    let variation = ProcessVariation {
        vth_die_to_die: Some(Voltage::from_mv(15.0)),
        ..NONE
    };
    let varied = variation.of(technology).unwrap();
    let draws = sampling(10_000, Some(variation)).of_die(technology, process::DieToDie::Vth);
    let leakage =
        |of: &warpwatt_techlib::Technology| of.at(at.vdd, at.temperature).unwrap().i_off.si();
    let nominal = leakage(technology);
    let mut dies: Vec<f64> = draws
        .iter()
        .map(|z| {
            let die = varied.die(technology, |of| {
                if of == process::DieToDie::Vth {
                    *z
                } else {
                    0.0
                }
            });
            leakage(&varied.many(&die, at)) / nominal
        })
        .collect();
    dies.sort_by(f64::total_cmp);
    let s = technology.leakage_sigma(
        warpwatt_techlib::Sigma {
            vth: Voltage::from_mv(15.0),
            log_length: 0.0,
        },
        at.temperature,
    );
    let mean = dies.iter().sum::<f64>() / dies.len() as f64;
    // 10,000 draws know the mean to 0.5 %.
    assert_relative_eq!(mean, (s * s / 2.0).exp(), max_relative = 0.02);
    assert_relative_eq!(dies[dies.len() / 2], 1.0, max_relative = 0.02);
}

#[test]
fn sensitivity_names_what_dies_do_not_have_in_common() {
    let (report, recipes) = results();
    let metric = Metrics::known().find("slowest_delay_s").unwrap();
    let all = sampling(400, Some(ProcessVariation::default()));
    let found = sensitivity(&report, &recipes, &metric, 0, all).unwrap();
    for name in ["process.vth", "process.l_elec"] {
        let input = found
            .inputs
            .iter()
            .find(|input| input.input == name)
            .unwrap();
        assert!(
            input.moves > 0.0 && input.source.contains("VARIUS"),
            "{input:?}"
        );
    }
    let causes: Vec<&str> = found
        .causes
        .iter()
        .map(|cause| cause.cause.as_str())
        .collect();
    assert!(causes.contains(&"process: vth die to die"), "{causes:?}");
    // Longer delays of high thresholds: both orders agree on how much.
    let cause = found
        .causes
        .iter()
        .find(|cause| cause.cause == "process: vth die to die")
        .unwrap();
    assert!((cause.first_order - cause.drawn).abs() < 0.12, "{cause:?}");
}

#[test]
fn a_study_says_what_varies() {
    let read = |more: &str| {
        let mut sink = Sink::default();
        let text = format!("{STUDY}{more}");
        let resolved = resolve_text("study.toml", &text, Path::new(""), &mut sink);
        let codes: Vec<&str> = sink.diags.iter().map(|diag| diag.code).collect();
        (
            resolved.and_then(|resolved| resolved.study.uncertainty),
            codes,
        )
    };
    let (sampling, _) = read("process = { vth_within_die = \"20 mV\", length_die_to_die = 0 }\n");
    let process = sampling.unwrap().process.unwrap();
    assert_eq!(process.vth_within_die, Some(Voltage::from_mv(20.0)));
    assert_eq!(process.length_die_to_die, Some(0.0));
    assert_eq!(process.vth_die_to_die, None);
    assert_eq!(read("").0.unwrap().process, None);
    for (wrong, code) in [
        (
            "process = { vth_within_die = \"2 V\" }\n",
            "study::absurd_size",
        ),
        (
            "process = { length_within_die = -0.1 }\n",
            "study::absurd_size",
        ),
        (
            "process = { length_within_die = true }\n",
            "study::wrong_type",
        ),
        ("process = { vth_within_die = 20 }\n", "study::wrong_type"),
        ("process = { tox = 0.1 }\n", "study::unknown_key"),
    ] {
        let (found, codes) = read(wrong);
        assert!(
            found.is_none() && codes.contains(&code),
            "{wrong}: {codes:?}"
        );
    }
}

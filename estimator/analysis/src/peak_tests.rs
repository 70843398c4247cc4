//! Windows part a run: they change nothing of it, add up to it, and none of them takes less than the mean.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::diag::{Diag, Sink};
use crate::outcome::Outcome;
use crate::report::Table;
use crate::run::drive::{Batch, Made, TimingRun, Work, drive};
use crate::run::work::{Executed, StudyWork, Timed};
use crate::run::{resolve_text, run_all};
use approx::assert_relative_eq;
use warpwatt_gpu::Control;
use warpwatt_pricing::pace::Length;
use warpwatt_pricing::peak::{Sampler, Windows};

const STUDY: &str = r#"
[study]
title = "windows"
[gpu]
preset = "tesla-16sm"
node = "32nm"
[workloads]
kernels = ["matrix_mul", "vector_add"]
[[technique]]
name = "filter_cache"
[[technique]]
name = "power_gating"
"#;

fn outcomes(more: &str) -> Vec<Outcome> {
    let mut sink = Sink::default();
    let text = format!("{STUDY}{more}");
    let resolved = resolve_text("study.toml", &text, Path::new(""), &mut sink);
    let resolved = resolved.unwrap_or_else(|| panic!("{:?}", sink.diags));
    run_all(&resolved, &sink.sources, Some(1), |_| ()).unwrap()
}

#[test]
fn windows_change_nothing_and_add_up_to_the_run() {
    let mut sink = Sink::default();
    let resolved = resolve_text("study.toml", STUDY, Path::new(""), &mut sink).unwrap();
    let work = resolved.work(&sink.sources, None);
    for timing in &resolved.plan.timings {
        let executed = work.execute(timing.execution).unwrap().trace;
        let plain = work
            .simulate(timing, executed.traces(), Control::default())
            .unwrap();
        for window in [1000, 97, plain.cycles, u64::MAX] {
            let mut sampler = Sampler::new(Length::Fixed(window));
            let control = Control {
                watcher: Some(&mut sampler),
                ..Control::default()
            };
            let run = work.simulate(timing, executed.traces(), control).unwrap();
            assert_eq!(run, plain);
            let windows = sampler.finish(&run).unwrap();
            let spans = (0..windows.rows.len()).map(|number| windows.span(number));
            assert_eq!(
                spans.clone().map(|(_, cycles)| cycles).sum::<u64>(),
                run.cycles
            );
            every_cycle_is_in_its_window(&windows, run.per_sm.len() as u64);
            assert!(spans.skip(1).all(|(_, cycles)| cycles >= window));
            assert_eq!(
                windows.rows.len() as u64,
                (run.cycles / window).max(1),
                "{window}"
            );
            for (place, name) in windows.names.iter().enumerate() {
                let sum: u64 = windows.rows.iter().map(|row| row[place]).sum();
                assert_eq!(
                    sum,
                    run.activity.get(name),
                    "{name}, windows of {window} cycles"
                );
            }
        }
    }
}

/// What the cycles of SMs went into makes up the cycles of each window, long waits among them; and so do the cycles that are counted for the whole GPU.
fn every_cycle_is_in_its_window(windows: &Windows, sms: u64) {
    let spends =
        |name: &str| name.starts_with("stall_") || matches!(name, "issue_cycles" | "idle_cycles");
    for (number, row) in windows.rows.iter().enumerate() {
        let (_, cycles) = windows.span(number);
        let named = || windows.names.iter().zip(row);
        let spent = named().filter(|(name, _)| spends(name));
        assert_eq!(
            spent.map(|(_, count)| count).sum::<u64>(),
            cycles * sms,
            "window {number}"
        );
        let counted = named().find(|(name, _)| *name == "cycles");
        assert_eq!(counted.map(|(_, count)| *count), Some(cycles));
    }
}

#[test]
fn no_peak_is_below_the_mean_and_a_window_as_long_as_the_run_is_the_mean() {
    let plain = outcomes("");
    let with = outcomes("[peak_power]\nwindow = \"200 ns\"\n");
    let whole = outcomes("[peak_power]\nwindow = \"1 s\"\n");
    assert!(plain.iter().all(|outcome| outcome.peak_power_w().is_none()));
    let mut above = 0;
    for ((plain, with), whole) in plain.iter().zip(&with).zip(&whole) {
        let mean = plain.energy_j() / plain.time_s;
        let without = Outcome {
            peak: None,
            ..with.clone()
        };
        assert_eq!(without, *plain);
        let peak = with.peak_power_w().unwrap();
        assert!(peak >= mean * (1.0 - 1e-12), "{peak} {mean}");
        above += usize::from(peak > 1.05 * mean);
        assert_relative_eq!(whole.peak_power_w().unwrap(), mean, max_relative = 1e-12);
        assert_eq!(whole.peak.as_ref().unwrap().windows, 1);
        // Every event with a price is in the windows, wake-ups among them.
        let counts = &whole.peak.as_ref().unwrap().counts;
        let events = plain.structures.iter().flat_map(|structure| {
            structure
                .actions
                .iter()
                .map(|(action, priced)| (format!("{}.{action}", structure.name), priced.count))
        });
        assert_eq!(*counts, events.collect());
    }
    assert!(above > 0, "some run has a peak");
}

#[test]
fn a_goal_that_names_the_metric_asks_for_windows() {
    let window = |more: &str| {
        let mut sink = Sink::default();
        let text = format!("{STUDY}{more}");
        let resolved = resolve_text("study.toml", &text, Path::new(""), &mut sink)?;
        Some(resolved.plan.axes.peak.map(|window| window.si()))
    };
    assert_eq!(window(""), Some(None));
    assert_eq!(
        window("[budget]\npeak_power_w = \"<= 5 W\"\n"),
        Some(Some(1e-6))
    );
    assert_eq!(
        window("[pareto]\nmetrics = [\"peak_power_w\", \"time_s\"]\n"),
        Some(Some(1e-6))
    );
    assert_eq!(window("[peak_power]\n"), Some(Some(1e-6)));
    assert_eq!(window("[peak_power]\nwindow = \"1 day\"\n"), None);
    assert_eq!(window("[peak_power]\nwindow = \"10 s\"\n"), None);
}

#[test]
fn reports_show_the_peak_where_there_is_one() {
    use crate::report::{Detail, Details, Report};
    let plain = Report::new("plain", &outcomes(""));
    assert!(
        plain.peak_table().is_none()
            && !plain
                .sheet(Table::Points)
                .unwrap()
                .csv()
                .contains("peak_power_w")
    );
    let with = Report::new("with", &outcomes("[peak_power]\nwindow = \"200 ns\"\n"));
    let table = with.peak_table().unwrap();
    assert_eq!(table.names.len(), with.points.len());
    assert!(table.heading.contains("cycles"), "{}", table.heading);
    let header = with
        .sheet(Table::Points)
        .unwrap()
        .csv()
        .lines()
        .next()
        .unwrap()
        .to_owned();
    assert!(header.contains(",peak_power_w,gpu.node"), "{header}");
    assert!(
        with.terminal(120, &Details::of(Detail::ALL))
            .contains("peak power")
    );
}

/// The work of a study, and how often it is asked for some of it.
struct Asked<'w> {
    work: StudyWork<'w>,
    timed: AtomicUsize,
    priced: AtomicUsize,
}

impl Work for Asked<'_> {
    type Trace = Executed;
    type Timed = Timed;
    type Outcome = Outcome;
    type Error = Diag;

    fn execute(&self, execution: usize) -> Result<Made<Executed>, Diag> {
        self.work.execute(execution)
    }

    fn time(&self, trace: &Executed, run: &TimingRun) -> Result<Timed, Diag> {
        self.timed.fetch_add(1, Ordering::Relaxed);
        self.work.time(trace, run)
    }

    fn price(
        &self,
        timed: &Timed,
        run: &TimingRun,
        points: &[usize],
    ) -> Result<Batch<Outcome>, Diag> {
        self.priced.fetch_add(1, Ordering::Relaxed);
        self.work.price(timed, run, points)
    }
}

/// A structure without a price ends the study at the first run that has it, however many windows and runs there are.
#[test]
fn a_structure_without_a_price_is_refused_at_the_first_run() {
    let odd = "[[structure]]\nname = \"odd\"\nbaseline = true\narray = { words = 64, bits = 96, ports = \"1r1w\" }\nread = \"int_add.read - 1e15\"\n";
    let entries =
        "[[technique]]\nname = \"filter_cache\"\nentries = { from = 33, to = 52, step = 1 }\n";
    for window in ["", "[peak_power]\nwindow = \"20 ns\"\n"] {
        let mut sink = Sink::default();
        let text = format!("{STUDY}{entries}{odd}{window}");
        let resolved = resolve_text("study.toml", &text, Path::new(""), &mut sink);
        let resolved = resolved.unwrap_or_else(|| panic!("{:?}", sink.diags));
        let plan = &resolved.plan;
        assert!(plan.timings.len() > 40);
        let asked = Asked {
            work: resolved.work(&sink.sources, None),
            timed: AtomicUsize::default(),
            priced: AtomicUsize::default(),
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let runs = plan.work(&vec![false; plan.points.len()]);
        let refused = drive(&asked, &runs, &pool, |_| (), Ok, |_| Ok(())).unwrap_err();
        assert!(refused.message.contains("`odd`"), "{refused:?}");
        assert_eq!(
            [asked.timed.into_inner(), asked.priced.into_inner()],
            [1, 1]
        );
    }
}

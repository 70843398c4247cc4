use super::*;

fn of<'a>(checks: &'a [MacroCheck], figure: &'a str) -> impl Iterator<Item = &'a MacroCheck> {
    checks.iter().filter(move |check| check.figure == figure)
}

#[test]
#[ignore = "prints the table of docs/silicon-arrays.md"]
fn table() {
    let checks = macros(TRUTH).unwrap();
    for figure in ["area_m2", "access_time_s"] {
        for family in [
            Family::Ihp,
            Family::Gf180,
            Family::Asap7,
            Family::Openram,
            Family::Foundry,
        ] {
            println!(
                "{figure} {family:?} {:?}",
                summary(of(&checks, figure).filter(|c| c.family == family))
            );
        }
        println!("{figure} {:?}", summary(of(&checks, figure)));
        println!(
            "{figure} held {:?}",
            summary(of(&checks, figure).filter(|c| c.held_out))
        );
    }
}

#[test]
fn area_and_delay_of_macros_at_the_median_and_inside_our_intervals() {
    let checks = macros(TRUTH).unwrap();
    let area = summary(of(&checks, "area_m2")).unwrap();
    let delay = summary(of(&checks, "access_time_s")).unwrap();
    assert_eq!((area.checks, delay.checks), (51, 49));
    assert!(area.median_error <= 0.12 && area.covered >= 0.8, "{area:?}");
    assert!(
        delay.median_error <= 0.18 && delay.covered >= 0.8,
        "{delay:?}"
    );
}

#[test]
fn macros_that_the_calibration_did_without_are_no_worse() {
    let checks = macros(TRUTH).unwrap();
    for (figure, median) in [("area_m2", 0.12), ("access_time_s", 0.16)] {
        let held = summary(of(&checks, figure).filter(|check| check.held_out)).unwrap();
        assert!(
            held.median_error <= median && held.covered >= 0.8,
            "{figure}: {held:?}"
        );
    }
}

#[test]
fn known_gaps() {
    let checks = macros(TRUTH).unwrap();
    // OpenRAM's dual-port cell is laid out by logic rules: its macros are nearly twice as large as ours.
    for check in of(&checks, "area_m2").filter(|check| check.family == Family::Openram) {
        assert!(check.error() < -0.3, "{check:?}");
    }
    // Memories of 5 V transistors are faster than ours.
    for check in of(&checks, "access_time_s").filter(|check| check.family == Family::Gf180) {
        assert!((0.1..0.4).contains(&check.error()), "{check:?}");
    }
}

#[test]
fn no_family_of_a_kit_is_off_by_a_third_to_one_side() {
    let checks = macros(TRUTH).unwrap();
    for family in [Family::Ihp, Family::Gf180, Family::Asap7] {
        let of_family = of(&checks, "access_time_s").filter(|check| check.family == family);
        let logs: Vec<f64> = of_family.map(|check| (1.0 + check.error()).ln()).collect();
        let bias = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        assert!((0.75..1.33).contains(&bias), "{family:?}: {bias:.2}");
    }
}

#[test]
fn a_list_that_is_none_is_refused_and_an_empty_one_has_no_summary() {
    assert!(macros("macro\nx\n").is_err());
    assert!(summary(&macros("macro,family\n").unwrap()).is_none());
}

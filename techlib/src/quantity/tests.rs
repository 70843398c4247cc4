use super::*;

#[test]
fn text_with_a_unit_reads_with_and_without_a_space() {
    assert_eq!(
        "350 K".parse::<Temperature>().unwrap(),
        Temperature::from_k(350.0)
    );
    assert_eq!("0.9V".parse::<Voltage>().unwrap(), Voltage::from_v(0.9));
    assert_eq!(
        " 1300 MHz ".parse::<Frequency>().unwrap(),
        Frequency::from_mhz(1300.0)
    );
    assert_eq!(
        "1.1e-3 A/um".parse::<CurrentPerLength>().unwrap(),
        CurrentPerLength::from_a_per_um(1.1e-3)
    );
}

#[test]
fn a_wrong_unit_is_told_with_the_right_ones() {
    let wrong = "1.25 pW".parse::<Energy>().unwrap_err().to_string();
    assert_eq!(
        wrong,
        "`pW` is not a unit of energy; units: J, mJ, uJ, nJ, pJ, fJ, aJ, eV"
    );
    let missing = "350".parse::<Temperature>().unwrap_err().to_string();
    assert_eq!(
        missing,
        "`350` has no unit; temperature is written like \"350 K\" (units: K)"
    );
    let none = "hot".parse::<Temperature>().unwrap_err().to_string();
    assert_eq!(
        none,
        "`hot` does not start with a number; temperature is written like \"350 K\""
    );
    assert!("inf K".parse::<Temperature>().is_err());
    assert!("1e999 K".parse::<Temperature>().is_err());
}

#[test]
fn text_output_picks_a_readable_unit() {
    assert_eq!(Energy::from_j(4.29812e-12).to_string(), "4.298 pJ");
    assert_eq!(Energy::from_nj(1.0).to_string(), "1.000 nJ");
    assert_eq!(Power::from_uw(27.87).to_string(), "27.87 uW");
    assert_eq!(Area::ZERO.to_string(), "0 m2");
    assert_eq!(format!("{:.1}", Time::from_ps(115.94)), "115.9 ps");
}

#[test]
fn microampere_per_micrometre_is_ampere_per_metre() {
    assert_eq!(
        CurrentPerLength::from_ua_per_um(3.0),
        CurrentPerLength::from_a_per_m(3.0)
    );
}

#[test]
fn serialised_text_reads_back_to_the_same_bits() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Holder {
        delay: Time,
    }
    let held = Holder {
        delay: Time::from_ps(115.94) / 3.0,
    };
    let text = toml::to_string(&held).unwrap();
    let back: Holder = toml::from_str(&text).unwrap();
    assert_eq!(back.delay.si().to_bits(), held.delay.si().to_bits());
    let wrong = toml::from_str::<Holder>("delay = 3")
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("text with a unit such as \"0.28 ns\""),
        "{wrong}"
    );
}

#[test]
fn products_are_consistent_with_the_units() {
    let tau = Resistance::from_kohm(1.0) * Capacitance::from_ff(1.0);
    approx::assert_relative_eq!(tau.as_ps(), 1.0, max_relative = 1e-12);
    let leak = CurrentPerLength::from_a_per_um(1e-7) * Length::from_um(2.0) * Voltage::from_v(0.9);
    approx::assert_relative_eq!(leak.as_uw(), 0.18, max_relative = 1e-12);
    let on = Resistivity::from_ohm_um(2000.0) / Length::from_um(0.5);
    approx::assert_relative_eq!(on.as_kohm(), 4.0, max_relative = 1e-12);
    approx::assert_relative_eq!(
        Frequency::from_mhz(1300.0).period().as_ns(),
        1.0 / 1.3,
        max_relative = 1e-12
    );
}

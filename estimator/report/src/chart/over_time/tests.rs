//! What is drawn is what was spent.

use super::*;

fn layer(name: &str, values: &[f64]) -> Layer {
    Layer {
        name: name.to_owned(),
        values: values.to_vec(),
        is_idle: false,
    }
}

const SPANS: [(f64, f64); 3] = [(0.0, 1e-6), (1e-6, 2e-6), (2e-6, 4e-6)];

fn drawn(launches: &[(f64, String)]) -> String {
    let over = OverTime {
        title: "Power over time",
        unit: "W",
        spans: &SPANS,
        layers: vec![
            layer("storage", &[1.0, 3.0, 2.0]),
            layer("dram", &[1.0, 1.0, 4.0]),
        ],
        launches,
    };
    over_time(&over, "power").unwrap()
}

/// By hand: 1, 3 and 2 W for 1, 1 and 2 us are 8 uJ in 4 us, and both layers together 1 x 2 + 1 x 4 + 2 x 6 = 18 uJ, 4.5 W.
#[test]
fn means_are_over_time() {
    let picture = drawn(&[]);
    assert!(
        picture.contains("storage: mean 2.000 W, at most 3.000 W"),
        "{picture}"
    );
    assert!(
        picture.contains("Power over time: mean 4.500 W, at most 6.000 W"),
        "{picture}"
    );
}

#[test]
fn layers_and_launches_look_like_this() {
    let launches = [
        (0.0, "first".to_owned()),
        (1e-6, "a_kernel_with_a_long_name".to_owned()),
    ];
    insta::assert_snapshot!(drawn(&launches));
}

#[test]
fn nothing_is_drawn_of_nothing() {
    let none = OverTime {
        title: "",
        unit: "1",
        spans: &[],
        layers: vec![layer("a", &[])],
        launches: &[],
    };
    assert!(over_time(&none, "x").is_none());
}

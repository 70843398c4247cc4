use proptest::prelude::*;

use super::*;

fn of(name: &str) -> f64 {
    match name {
        "icache.tag.read" => 100.0,
        "l1_reads" => 7.0,
        "odd name [x]" => 3.0,
        _ => 0.0,
    }
}

fn value(text: &str) -> f64 {
    Expression::parse(text).unwrap().value(&of).unwrap()
}

#[test]
fn operators_bind_as_in_school() {
    assert_eq!(value("2 + 3 * 4 - 6 / 2"), 11.0);
    assert_eq!(value("(2 + 3) * -4"), -20.0);
    assert_eq!(value("10 - 4 - 3"), 3.0, "from left to right");
    assert_eq!(value("--2"), 2.0);
    assert_eq!(value("min(3, max(1, 2), 5)"), 2.0);
    assert_eq!(value("1e-1*10 + 1_000 + .5"), 1001.5);
}

#[test]
fn names_have_dots_and_may_be_quoted() {
    assert_eq!(value("2*icache.tag.read+0.5 * l1_reads"), 203.5);
    assert_eq!(value("`odd name [x]` + 1"), 4.0);
    let expression = Expression::parse("a + `b c` * a.x").unwrap();
    assert_eq!(
        expression.names(),
        [("a", 0..1), ("b c", 4..9), ("a.x", 12..15)]
    );
    assert_eq!(expression.text(), "a + `b c` * a.x");
}

#[test]
fn counts_are_whole_and_not_negative() {
    let count = |text: &str| Expression::parse(text).unwrap().count(&of);
    assert_eq!(count("l1_reads * 0.5"), Ok(4));
    assert_eq!(count("2.5"), Ok(2), "the even one of two");
    assert_eq!(count("-0.2"), Ok(0));
    assert_eq!(
        count("3 - l1_reads").unwrap_err().to_string(),
        "it is -4, and nothing is counted less than zero times; write `max(..., 0)`"
    );
    assert_eq!(
        count("1 / (l1_writes ) + 2").unwrap_err().to_string(),
        "`(l1_writes )` is zero, and something is divided by it; write `max((l1_writes ), 1)`"
    );
    assert_eq!(count("0 / max(l1_writes, 1)"), Ok(0));
    assert!(matches!(count("1e20"), Err(Undefined::TooLarge { .. })));
    assert!(matches!(
        count("1e300 * 1e300"),
        Err(Undefined::TooLarge { .. })
    ));
    // Infinity less infinity is nothing at all.
    assert!(count("1e300*1e300 - 1e300*1e300").is_err());
}

#[test]
fn faults_say_where_and_what_instead() {
    for (text, range, says) in [
        ("", 0..0, "missing at the end"),
        ("1 +", 3..3, "missing at the end"),
        ("a b", 2..3, "an operator before `b`"),
        ("(a", 0..1, "not closed"),
        ("a)", 1..2, "an operator before `)`"),
        ("a ^ 2", 2..3, "an operator before `^`"),
        ("$a", 0..1, "has no place"),
        ("sqrt(a)", 0..4, "no function `sqrt`"),
        ("1 + ceil(a, b)", 4..14, "`ceil` is taken of 2 values"),
        ("pow(a)", 0..6, "`pow` is taken of 1 values"),
        ("a[0]", 1..2, "an operator before `[`"),
        ("min()", 4..5, "has no place"),
        ("2x", 0..2, "`2x` is no number"),
        ("1.2.3", 0..5, "is no number"),
        ("1e", 0..2, "is no number"),
        ("`a", 0..1, "does not end"),
        ("a + \u{e9}", 4..6, "has no place"),
    ] {
        let fault = Expression::parse(text).unwrap_err();
        assert_eq!(fault.range, range, "{text}: {}", fault.message);
        assert!(fault.message.contains(says), "{text}: {}", fault.message);
        assert!(fault.help.is_some(), "{text}");
    }
}

#[test]
fn names_are_looked_up_with_a_suggestion() {
    let expression = Expression::parse("icache.tag.raed + l1_reads").unwrap();
    let faults = expression.unknown("counter", ["icache.tag.read", "l1_reads"].into_iter());
    let [fault] = &faults[..] else {
        panic!("{faults:?}")
    };
    assert_eq!(fault.range, 0..15);
    assert_eq!(
        fault.help.as_deref(),
        Some("did you mean `icache.tag.read`?")
    );
}

#[test]
fn integers_divide_round_and_double() {
    assert_eq!(value("ceil(1000 / 256) + floor(7 / 2)"), 7.0);
    assert_eq!(value("1000 // 256 + 1000 % 256"), 235.0);
    assert_eq!(
        value("-7 // 2 + -7 % 2"),
        -3.0,
        "both towards minus infinity"
    );
    assert_eq!(value("log2(1024) * pow(2, 3)"), 80.0);
    let undefined = |text: &str| {
        let expression = Expression::parse(text).unwrap();
        expression.value(&of).unwrap_err().to_string()
    };
    assert_eq!(
        undefined("1 + log2(l1_writes)"),
        "`log2(l1_writes)` is taken of 0, where it has no value"
    );
    assert!(undefined("1 // l1_writes").contains("`l1_writes` is zero"));
    assert!(undefined("1 % (2 - 2)").contains("is zero"));
}

#[test]
fn elements_of_lists() {
    let expression = Expression::parse_with_elements("over[i + 1] + 2 * i").unwrap();
    assert_eq!(expression.names(), [("i", 5..6), ("i", 18..19)]);
    assert_eq!(expression.lists(), [("over", 0..11)]);
    let value = |i: f64| {
        let elements = |_: &str, index: u64| [10.0, 20.0, 30.0].get(index as usize).copied();
        expression.value_with(&|_| i, &elements)
    };
    assert_eq!(value(1.0), Ok(32.0));
    for (i, index) in [(2.0, "3"), (-2.0, "-1"), (0.5, "1.5")] {
        let said = value(i).unwrap_err().to_string();
        let wanted = format!("`over[i + 1]` is not there: its index comes out as {index}");
        assert_eq!(said, wanted);
    }
    let open = Expression::parse_with_elements("over[1").unwrap_err();
    assert_eq!((open.range, open.help.as_deref()), (4..5, Some("add `]`")));
}

#[test]
fn depth_and_length_are_bounded() {
    let deep = "(".repeat(2000) + "1" + &")".repeat(2000);
    assert!(
        Expression::parse(&deep)
            .unwrap_err()
            .message
            .contains("in each other")
    );
    let signs = "-".repeat(3000) + "1";
    assert!(Expression::parse(&signs).is_err());
    let long = "1+".repeat(2040) + "1";
    assert_eq!(value(&long), 2041.0, "a chain is not deep");
    assert!(Expression::parse(&"1+".repeat(3000)).is_err());
}

proptest! {
    #[test]
    fn a_name_alone_is_its_count(count in 0_u64..1 << 53) {
        let name = Expression::parse("x.y").unwrap();
        prop_assert_eq!(name.count(&|_| count as f64), Ok(count));
    }

    #[test]
    fn sums_are_those_of_floats(a in -1e9..1e9_f64, b in -1e9..1e9_f64, c in 1.0..1e3_f64) {
        let expression = Expression::parse("a * (b - a) / c + min(a, b, c)").unwrap();
        let got = expression.value(&|name| match name { "a" => a, "b" => b, _ => c });
        prop_assert_eq!(got, Ok(a * (b - a) / c + a.min(b).min(c)));
    }

    #[test]
    fn no_text_is_too_odd(text in "[ab.0-9e+*/()`, -]{0,60}|\\PC{0,40}") {
        if let Ok(expression) = Expression::parse(&text) {
            let _ = expression.count(&|_| 1.0);
        }
    }
}

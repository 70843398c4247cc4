//! Ports as text: `1rw`, `3r1w`, `2r1se1w`, `1r1w1s`.

use warpwatt_circuit::Ports;

use super::Refusal;

const HELP: &str = "write counts with rw, r, w, s (search) or se (how many of the r have one bitline), each once: 1rw, 3r1w, 1r1w1s";

/// Reads ports such as `1rw`, `3r1w`, `1rw1s`.
///
/// # Errors
/// If a count or a kind is missing or unknown, a kind occurs twice, or more read ports are single-ended than there are.
pub fn parse_ports(text: &str) -> Result<Ports, Refusal> {
    let lower = text.trim().to_ascii_lowercase();
    let fault = |what: String| Refusal::new(format!("ports `{}`: {what}", text.trim())).help(HELP);
    let mut counts: [Option<u32>; 5] = [None; 5];
    let mut rest = lower.as_str();
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (count, tail) = rest.split_at(digits);
        if count.is_empty() {
            return Err(fault(format!("a count is missing before `{tail}`")));
        }
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (kind, tail) = tail.split_at(letters);
        let count: u32 = count
            .parse()
            .map_err(|_| fault(format!("{count} ports are too many")))?;
        let place = ["rw", "r", "w", "se", "s"]
            .iter()
            .position(|known| *known == kind);
        let Some(place) = place else {
            return Err(fault(if kind.is_empty() {
                format!("what do the {count} ports do?")
            } else {
                format!("there are no `{kind}` ports")
            }));
        };
        if counts[place].replace(count).is_some() {
            return Err(fault(format!("`{kind}` occurs twice")));
        }
        rest = tail.trim_start_matches([' ', '+', ',']);
    }
    let [read_write, read, write, single_ended_read, search] =
        counts.map(Option::unwrap_or_default);
    if counts == [None; 5] {
        return Err(fault("there are none".to_owned()));
    }
    if single_ended_read > read {
        return Err(fault(format!(
            "{single_ended_read} of {read} read ports cannot be single-ended"
        )));
    }
    Ok(Ports {
        read_write,
        read,
        write,
        single_ended_read,
        search,
    })
}

/// The text that [`parse_ports`] reads as `ports`.
pub fn ports_text(ports: Ports) -> String {
    let text: String = [
        (ports.read_write, "rw"),
        (ports.read, "r"),
        (ports.single_ended_read, "se"),
        (ports.write, "w"),
        (ports.search, "s"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, kind)| format!("{count}{kind}"))
    .collect();
    if text.is_empty() {
        "0rw".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ports_are_counts_and_kinds() {
        assert_eq!(parse_ports("1rw"), Ok(Ports::ONE));
        assert_eq!(parse_ports("1R1W"), Ok(Ports::READ_AND_WRITE));
        assert_eq!(
            parse_ports("2rw1r").map(|p| (p.read_write, p.read)),
            Ok((2, 1))
        );
        assert_eq!(parse_ports("1r1w1s").map(|p| p.search), Ok(1));
        assert_eq!(parse_ports("3r 2se 1w").map(|p| p.single_ended_read), Ok(2));
        for (wrong, says) in [
            ("", "there are none"),
            ("rw", "a count is missing before `rw`"),
            ("1x", "there are no `x` ports"),
            ("1r1r", "`r` occurs twice"),
            ("3", "what do the 3 ports do?"),
            ("99999999999r", "too many"),
            ("1r2se", "2 of 1 read ports"),
            ("1r;1w", "a count is missing"),
        ] {
            let refusal = parse_ports(wrong).unwrap_err();
            assert!(refusal.message.contains(says), "{wrong}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn ports_come_back(rw in 0_u32..9, read in 0_u32..9, write in 0_u32..9, search in 0_u32..9, se in 0_u32..9) {
            let ports = Ports { read_write: rw, read, write, single_ended_read: se.min(read), search };
            prop_assert_eq!(parse_ports(&ports_text(ports)), Ok(ports));
        }

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,20}") {
            let _ = parse_ports(&text);
        }
    }
}

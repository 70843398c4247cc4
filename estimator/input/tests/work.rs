//! What reading costs grows with what is read, and what is said of it has bounds: counted, not timed.

use std::sync::atomic::{AtomicUsize, Ordering};

use warpwatt_input::diag::{Sink, render, to_json};
use warpwatt_input::toml_reader::{Reader, Section, parse_document, positive};

/// How often values were compared.
static COMPARED: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
struct Counted(u64);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        COMPARED.fetch_add(1, Ordering::Relaxed);
        self.0 == other.0
    }
}

/// Gives a text's root to `check`, and returns what is said.
fn said(text: &str, check: impl FnOnce(&mut Reader<'_>, &Section<'_>)) -> Sink {
    let mut sink = Sink::default();
    let source = sink.sources.add("study.toml", text);
    let document = parse_document(text, &mut sink, source);
    let root = Section {
        name: String::new(),
        table: document.get_ref(),
        range: 0..0,
    };
    check(&mut Reader::new(&mut sink, source), &root);
    sink
}

#[test]
fn a_long_list_is_compared_as_often_as_it_is_long() {
    const LONG: usize = 20_000;
    let numbers: Vec<String> = (1..=LONG).map(|number| number.to_string()).collect();
    let text = format!("n = [{}, 7]", numbers.join(", "));
    let sink = said(&text, |reader, root| {
        let list = reader.axis(root, "n", |value| {
            positive("n", value, "n = 1").map(Counted)
        });
        assert_eq!(list.map(|list| list.len()), Some(LONG));
    });
    assert_eq!(sink.diags.len(), 1, "7 stands there twice");
    let compared = COMPARED.load(Ordering::Relaxed);
    assert!(compared <= LONG, "{compared} comparisons");
}

#[test]
fn thousands_of_unknown_keys_and_one_of_megabytes_are_told_in_a_few_lines() {
    let keys: String = (0..16_000)
        .map(|key| format!("unknown_{key} = 1\n"))
        .collect();
    let text = format!("{} = 1\n{keys}", "x".repeat(5_000_000));
    let mut sink = said(&text, |reader, root| {
        reader.refuse_unknown(root, &["title"])
    });
    sink.sort();
    assert_eq!(sink.diags.len(), 16_001);
    let shown = render(&sink, false);
    assert!(shown.len() < 20_000, "{} bytes", shown.len());
    assert!(
        shown.contains("15951 more faults of `study.toml`"),
        "{shown}"
    );
    assert!(shown.ends_with("16001 errors.\n"));
    assert!(to_json(&sink).to_string().len() < 40_000);
}

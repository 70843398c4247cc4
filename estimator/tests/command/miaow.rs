//! MIAOW's compute unit beside its paper: which rows hold and which are known gaps, and that the page shows them.

use std::path::Path;

use serde_json::Value;

use crate::common::{Scratch, stdout, warpwatt};

const BEGIN: &str = "<!-- printed by `warpwatt validate miaow --markdown` -->\n\n";
const END: &str = "\n<!-- end of the table -->";

fn printed(scratch: &Scratch, form: &str) -> String {
    let output = warpwatt(&scratch.path(""), &["validate", "miaow", "--quiet", form]);
    assert_eq!(output.status.code(), Some(1), "there are gaps");
    stdout(&output)
}

/// `WARPWATT_BLESS=1` writes the page's table anew.
#[test]
fn rows_are_as_the_page_has_them_and_known_gaps_are_gaps() {
    let scratch = Scratch::new();
    let document: Value = serde_json::from_str(&printed(&scratch, "--json")).unwrap();
    let checks = document["checks"].as_array().unwrap();
    // What is only shown needs no reason.
    let unknown = |check: &&Value| {
        check["kind"] != "context" && (check["status"] == "gap") != check["why"].is_string()
    };
    let wrong: Vec<&Value> = checks.iter().filter(unknown).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let table = printed(&scratch, "--markdown");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/southern-islands.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let start = page.find(BEGIN).expect("the page has its table") + BEGIN.len();
    let stop = start + page[start..].find(END).unwrap();
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let new = format!("{}{table}{}", &page[..start], &page[stop..]);
        std::fs::write(&path, new).unwrap();
    } else {
        assert_eq!(&page[start..stop], table);
    }
}

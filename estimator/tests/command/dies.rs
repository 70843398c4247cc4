//! Chips beside what is published of them: which rows hold and which are known gaps, and that the page shows them.

use std::path::Path;

use serde_json::Value;

use crate::common::{Scratch, stdout, warpwatt};

fn printed(scratch: &Scratch, form: &str) -> String {
    let arguments = ["validate", "dies", "--quiet", form, "--picture", "dies.svg"];
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(1), "there are gaps");
    stdout(&output)
}

/// A gap that closes is news, and so is one that opens: the suite says which there are and why.
fn gaps_are_those_that_are_known(checks: &[Value]) {
    let unknown = |check: &&Value| (check["status"] == "gap") != check["why"].is_string();
    let wrong: Vec<&Value> = checks.iter().filter(unknown).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `WARPWATT_BLESS=1` writes the page's table and its picture anew.
#[test]
fn rows_are_as_the_page_has_them_and_known_gaps_are_gaps() {
    let scratch = Scratch::new();
    let document: Value = serde_json::from_str(&printed(&scratch, "--json")).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let table = printed(&scratch, "--markdown");
    let picture = std::fs::read_to_string(scratch.path("dies.svg")).unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let (page_path, picture_path) = (docs.join("dies.md"), docs.join("dies.svg"));
    let page = std::fs::read_to_string(&page_path).unwrap();
    let begin = "<!-- printed by `warpwatt validate dies --markdown` -->\n\n";
    let start = page.find(begin).expect("the page has its table") + begin.len();
    let stop = page.find("\n<!-- end of the table -->").unwrap();
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let new = format!("{}{table}{}", &page[..start], &page[stop..]);
        std::fs::write(&page_path, new).unwrap();
        std::fs::write(&picture_path, &picture).unwrap();
    } else {
        assert_eq!(&page[start..stop], table);
        assert_eq!(std::fs::read_to_string(&picture_path).unwrap(), picture);
    }
    gaps_are_those_that_are_known(checks);
}

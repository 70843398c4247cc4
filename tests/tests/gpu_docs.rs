//! The tables of `docs/counters.md` and `docs/techniques-reference.md` are what the code declares.

use std::fmt::Write;
use std::path::PathBuf;

use warpwatt_gpu::COUNTERS;
use warpwatt_techniques::ALL;

/// Compares what stands between the markers of `topic` in `page` with `table`, or writes it if `WARPWATT_BLESS` is set.
fn check(page: &str, topic: &str, table: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = format!(
        "<!-- {topic}: written by `WARPWATT_BLESS=1 cargo test -p warpwatt-tests gpu_docs::` -->\n"
    );
    let end = format!("<!-- end of {topic} -->\n");
    let start = text.find(&begin).expect("the table has its marker") + begin.len();
    let stop = text.find(&end).expect("the table has its end");
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let new = format!("{}{table}{}", &text[..start], &text[stop..]);
        std::fs::write(&path, new).unwrap();
    } else {
        assert_eq!(&text[start..stop], table, "{page}");
    }
}

#[test]
fn the_table_of_counters_is_the_code_s() {
    let mut table = "| counter | unit | meaning |\n| --- | --- | --- |\n".to_owned();
    for info in COUNTERS {
        writeln!(
            table,
            "| `{}` | {} | {} |",
            info.name, info.unit, info.meaning
        )
        .unwrap();
    }
    check("counters.md", "counters", &table);
}

#[test]
fn the_tables_of_techniques_are_the_registry_s() {
    let mut table = String::new();
    for definition in ALL {
        writeln!(
            table,
            "**`{}`**: {}. {}.\n",
            definition.name, definition.summary, definition.citation
        )
        .unwrap();
        table += "| parameter | default | range | meaning |\n| --- | --- | --- | --- |\n";
        for parameter in definition.parameters {
            let (name, default) = (parameter.name, parameter.default());
            let priced = if parameter.priced_only { " \\*" } else { "" };
            writeln!(
                table,
                "| `{name}`{priced} | `{default}` | {} | {} |",
                parameter.range(),
                parameter.meaning
            )
            .unwrap();
        }
        table += "\n| counter | meaning |\n| --- | --- |\n";
        for (name, meaning) in definition.counters {
            writeln!(table, "| `{name}` | {meaning} |").unwrap();
        }
        table += "\n";
    }
    check("techniques-reference.md", "techniques", &table);
}

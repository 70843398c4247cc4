//! The array models beside a whole grid of runs of CACTI, by family and figure.
//!
//! `cargo run --release -p warpwatt-tests --example oracle_grid -- cacti7 path/to/cacti_grid.csv [rows]`
//!
//! Prints median, 95th percentile and largest absolute error in percent, and the share of rows with the tool's organisation. With `rows` also a line for
//! each row that differs: number, family, organisation of ours and relative errors.

#[path = "../tests/oracle_support/mod.rs"]
mod oracle_support;

use std::collections::BTreeMap;
use std::path::Path;

use oracle_support::{Errors, Row, figures};
use warpwatt_circuit::{Cost, Organisation, Profile};
use warpwatt_techlib::Library;

const FIGURES: [&str; 7] = [
    "access",
    "cycle",
    "read",
    "write",
    "leakage",
    "gate leakage",
    "area",
];

#[derive(Default)]
struct Family {
    rows: u64,
    same: u64,
    refused: u64,
    errors: Errors,
}

impl Family {
    fn add(&mut self, row: &Row, answer: Option<&Cost>) {
        self.rows += 1;
        let Some(cost) = answer else {
            self.refused += 1;
            return;
        };
        self.same += u64::from(row.same_organisation(cost));
        self.errors.add_all(row, cost);
    }

    fn print(&self, name: &str) {
        let share = 100.0 * self.same as f64 / self.rows as f64;
        print!(
            "{name:24} {:5} {:4} refused, same {share:5.1} %",
            self.rows, self.refused
        );
        for figure in FIGURES {
            if let Some((m, p, worst)) = self.errors.of(figure) {
                let [m, p, worst] = [m, p, worst].map(|error| error * 100.0);
                print!(" | {figure} {m:.3} {p:.2} {worst:.1}");
            }
        }
        println!();
    }
}

fn organisation(organisation: &Organisation) -> String {
    format!(
        "{}x{} {} {}/{}/{} {:?}",
        organisation.ndwl,
        organisation.ndbl,
        organisation.nspd,
        organisation.ndcm,
        organisation.ndsam1,
        organisation.ndsam2,
        organisation.wires
    )
}

fn print_row(row: &Row, cost: &Cost) {
    let organisations = [
        cost.organisation,
        cost.tag.as_ref().and_then(|tag| tag.organisation),
    ];
    let ours: Vec<String> = organisations.iter().flatten().map(organisation).collect();
    let errors: Vec<String> = figures(row, cost)
        .into_iter()
        .filter_map(|(name, ours, theirs)| {
            Some(format!("{name} {:+.2}", (ours / theirs? - 1.0) * 100.0))
        })
        .collect();
    println!(
        "row {} {} {} same {} [{}] {}",
        row.text("id"),
        row.text("family"),
        row.text("mem_type"),
        row.same_organisation(cost),
        ours.join("; "),
        errors.join(" ")
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, profile, path, rest @ ..] = arguments.as_slice() else {
        println!("usage: oracle_grid cacti65|cacti7 GRID.csv [rows]");
        return;
    };
    let profile = match profile.as_str() {
        "cacti65" => Profile::Cacti65,
        _ => Profile::Cacti7,
    };
    let library = Library::itrs().unwrap();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for row in Row::all(Path::new(path)) {
        let kind = row.text("mem_type").to_owned();
        if kind != "ram" && kind != "cache" {
            continue;
        }
        let answer = row.cost(&library, profile);
        if let Err(error) = &answer {
            println!("row {} {}: {error}", row.text("id"), row.text("family"));
        }
        if let (false, Ok(cost)) = (rest.is_empty(), &answer) {
            print_row(&row, cost);
        }
        let names = [
            format!("{} {kind}", row.text("family")),
            format!("all {kind}"),
            "all".to_owned(),
        ];
        for name in names {
            families
                .entry(name)
                .or_default()
                .add(&row, answer.as_ref().ok());
        }
    }
    for (name, family) in &families {
        family.print(name);
    }
}

//! Kernels by the papers' names: `paper:NAME` is a paper's whole table, `paper:NAME/ROW` one row of it, and an abbreviation or a
//! benchmark's name alone is the kernel that stands for it.

use warpwatt_suite::Build;

use super::Workload;
use crate::Catalogue;
use crate::diag::did_you_mean;
use crate::reader::Fault;

/// A paper's table of benchmarks.
#[derive(Clone, Debug, Default)]
pub struct PaperTable {
    /// Its name in studies.
    pub name: String,
    /// Its rows, in order.
    pub rows: Vec<PaperRow>,
}

/// A row of such a table.
#[derive(Clone, Debug, Default)]
pub struct PaperRow {
    /// The benchmark's abbreviation and its name.
    pub names: [String; 2],
    /// Kernel and case that stand for it; `None` if the suite has none.
    pub stands: Option<(String, String)>,
}

/// What a selector selects.
#[derive(Debug)]
pub(super) struct Selected {
    /// The kernels, each once.
    pub workloads: Vec<Workload>,
    /// What the suite does not have of it, said to the user.
    pub missing: Option<String>,
}

pub(crate) const PREFIX: &str = "paper:";

/// What `text` selects; `None` if it is not of the form `paper:...`.
pub(super) fn paper(catalogue: &Catalogue, text: &str) -> Option<Result<Selected, Fault>> {
    let selector = text.strip_prefix(PREFIX)?;
    let (name, row) = match selector.split_once('/') {
        Some((name, row)) => (name, Some(row)),
        None => (selector, None),
    };
    Some(table(catalogue, name).and_then(|table| match row {
        Some(row) => one(table, row),
        None => whole(table),
    }))
}

/// The kernels that a paper's name for a benchmark stands for.
pub(super) fn called<'c>(catalogue: &'c Catalogue, name: &str) -> Vec<&'c str> {
    let rows = catalogue.papers.iter().flat_map(|table| &table.rows);
    let mut kernels: Vec<&str> = rows
        .filter(|row| row.is_called(name))
        .filter_map(|row| row.stands.as_ref().map(|(kernel, _)| kernel.as_str()))
        .collect();
    kernels.sort_unstable();
    kernels.dedup();
    kernels
}

impl PaperRow {
    fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

fn table<'c>(catalogue: &'c Catalogue, name: &str) -> Result<&'c PaperTable, Fault> {
    let mut tables = catalogue.papers.iter();
    tables.find(|table| table.name == name).ok_or_else(|| {
        let names = catalogue.papers.iter().map(|table| table.name.as_str());
        fault(
            "study::unknown_paper",
            format!("no paper is called `{name}`"),
            Some(did_you_mean(name, names)),
        )
    })
}

fn one(table: &PaperTable, name: &str) -> Result<Selected, Fault> {
    let row = table.rows.iter().find(|row| row.is_called(name));
    let row = row.ok_or_else(|| {
        let names = table.rows.iter().map(|row| row.names[0].as_str());
        fault(
            "study::unknown_kernel",
            format!("the paper `{}` has no benchmark `{name}`", table.name),
            Some(did_you_mean(name, names)),
        )
    })?;
    match workload(row) {
        Some(workload) => Ok(Selected {
            workloads: vec![workload],
            missing: None,
        }),
        None => Err(none(format!(
            "the suite has no kernel for `{name}` of the paper `{}`",
            table.name
        ))),
    }
}

fn whole(table: &PaperTable) -> Result<Selected, Fault> {
    let mut workloads = Vec::new();
    for workload in table.rows.iter().filter_map(workload) {
        if !workloads.contains(&workload) {
            workloads.push(workload);
        }
    }
    if workloads.is_empty() {
        let message = format!("the suite has no kernel of the paper `{}` yet", table.name);
        return Err(none(message));
    }
    let missing: Vec<&str> = table
        .rows
        .iter()
        .filter(|row| row.stands.is_none())
        .map(|row| row.names[0].as_str())
        .collect();
    let message = format!(
        "the suite has no kernel for {} of the {} benchmarks of the paper `{}`: {}",
        missing.len(),
        table.rows.len(),
        table.name,
        missing.join(", ")
    );
    Ok(Selected {
        workloads,
        missing: (!missing.is_empty()).then_some(message),
    })
}

fn workload(row: &PaperRow) -> Option<Workload> {
    let (name, case) = row.stands.clone()?;
    Some(Workload::Suite {
        name,
        case: Some(case),
        build: Build::default(),
        lower: None,
    })
}

fn none(message: String) -> Fault {
    let help = "`warpwatt list kernels` shows which rows of which paper there are";
    fault("study::no_such_kernel_yet", message, Some(help.to_owned()))
}

fn fault(code: &'static str, message: String, help: Option<String>) -> Fault {
    Fault {
        code,
        message,
        label: String::new(),
        help,
    }
}

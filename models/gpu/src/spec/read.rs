//! From a TOML table to a [`GpuSpec`], with all problems at once.

use toml::{Table, Value};

use super::{
    Atomics, BackEnd, BranchFetch, Carveout, Choice, ConstantTurns, CountWaits, DataBanks,
    DramKind, DramOrder, Exits, Fill, FlavourChoice, GpuSpec, Index, Inventory, Lowering, Masks,
    MemoryPath, MissSource, Policy, Reads, StoreMiss, TexturePath, Topology, Transactions, Turns,
    Unitless, WritePort, presets, validate,
};

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecProblem {
    /// The setting: `sm.threads`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub help: Option<String>,
    /// Whether there is no such setting, so that the key is wrong and not its value.
    pub unknown: bool,
}

impl GpuSpec {
    /// Reads a whole GPU (a preset's table with the user's settings merged into it) and checks it.
    ///
    /// # Errors
    /// All problems at once: unknown, missing and mistyped settings; if there are none, all values that cannot be.
    pub fn from_table(table: Table) -> Result<Self, Vec<SpecProblem>> {
        let mut problems = Vec::new();
        compare(&table, &presets()[0].table(), "", &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let spec: Self = Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| vec![other(&error)])?;
        let problems = validate::problems(&spec);
        if problems.is_empty() {
            Ok(spec)
        } else {
            Err(problems)
        }
    }
}

fn other(error: &toml::de::Error) -> SpecProblem {
    SpecProblem {
        path: String::new(),
        message: error.message().to_owned(),
        help: None,
        unknown: false,
    }
}

/// Collects where `table` departs from the shape of `reference`.
fn compare(table: &Table, reference: &Table, prefix: &str, problems: &mut Vec<SpecProblem>) {
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match reference.get(key) {
            None => problems.push(unknown(&path, key, reference)),
            Some(Value::Table(inner)) => match value {
                Value::Table(table) => compare(table, inner, &format!("{path}."), problems),
                other => problems.push(mistyped(path, "a table of settings", other)),
            },
            Some(Value::String(_)) => choice(path, value, problems),
            Some(_) => number(path, value, problems),
        }
    }
    for key in reference.keys().filter(|key| !table.contains_key(*key)) {
        problems.push(SpecProblem {
            path: format!("{prefix}{key}"),
            message: "this setting is missing".to_owned(),
            help: Some("start from a preset and override only what differs".to_owned()),
            unknown: false,
        });
    }
}

fn unknown(path: &str, key: &str, reference: &Table) -> SpecProblem {
    let nearest = reference
        .keys()
        .map(|known| (strsim::damerau_levenshtein(known, key), known))
        .min()
        .filter(|&(distance, known)| distance <= 1 + known.len() / 3);
    let known: Vec<&str> = reference.keys().map(String::as_str).collect();
    SpecProblem {
        path: path.to_owned(),
        message: format!("there is no setting `{key}` here"),
        help: Some(match nearest {
            Some((_, known)) => format!("did you mean `{known}`?"),
            None => format!("the settings here are {}", known.join(", ")),
        }),
        unknown: true,
    }
}

fn number(path: String, value: &Value, problems: &mut Vec<SpecProblem>) {
    match value {
        Value::Integer(number) if u32::try_from(*number).is_ok() => {}
        Value::Integer(number) => problems.push(SpecProblem {
            path,
            message: format!("{number} is out of range"),
            help: Some("a whole number from 0 to 4294967295".to_owned()),
            unknown: false,
        }),
        other => problems.push(mistyped(path, "a whole number", other)),
    }
}

/// What a setting that is a text can be.
fn names(path: &str) -> &'static [&'static str] {
    match path {
        "lower" => Lowering::NAMES,
        "constant.turns" => ConstantTurns::NAMES,
        "scheduler.policy" => Policy::NAMES,
        "scheduler.back_end" => BackEnd::NAMES,
        "texture.path" => TexturePath::NAMES,
        "shared.atomics" => Atomics::NAMES,
        "operands.write_port" => WritePort::NAMES,
        "scheduler.choice" => Choice::NAMES,
        "scheduler.turns" => Turns::NAMES,
        "scheduler.unitless" => Unitless::NAMES,
        "scoreboard.counts" => CountWaits::NAMES,
        "scoreboard.exits" => Exits::NAMES,
        "ldst.memory" => MemoryPath::NAMES,
        "fetch.branches" => BranchFetch::NAMES,
        "ldst.transactions" => Transactions::NAMES,
        "chip.inventory" => Inventory::NAMES,
        "chip.flavour" => FlavourChoice::NAMES,
        "chip.dram" => DramKind::NAMES,
        "l1.fill" => Fill::NAMES,
        "l1.stores" => StoreMiss::NAMES,
        "l1.data" => DataBanks::NAMES,
        "noc.masks" => Masks::NAMES,
        "noc.reads" => Reads::NAMES,
        "l1.carveout" => Carveout::NAMES,
        "l1.index" | "l2.index" | "dram.bank_index" => Index::NAMES,
        "dram.scheduler" => DramOrder::NAMES,
        "noc.topology" => Topology::NAMES,
        "icache.misses" | "constant.misses" => MissSource::NAMES,
        _ => &[],
    }
}

fn choice(path: String, value: &Value, problems: &mut Vec<SpecProblem>) {
    let known = names(&path);
    match value {
        Value::String(name) if known.contains(&name.as_str()) => {}
        Value::String(name) => problems.push(SpecProblem {
            message: format!("there is no choice `{name}`"),
            help: Some(format!("one of \"{}\"", known.join("\", \""))),
            path,
            unknown: false,
        }),
        other => problems.push(mistyped(path, "a text", other)),
    }
}

fn mistyped(path: String, expected: &str, found: &Value) -> SpecProblem {
    SpecProblem {
        path,
        message: format!(
            "expected {expected}, found {} `{found}`",
            article(found.type_str())
        ),
        help: None,
        unknown: false,
    }
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(path: &[&str], value: impl Into<Value>) -> Table {
        let mut table = presets()[0].table();
        let (last, outer) = path.split_last().unwrap();
        let mut inner = &mut table;
        for key in outer {
            inner = inner
                .entry(*key)
                .or_insert_with(|| Value::Table(Table::new()))
                .as_table_mut()
                .unwrap();
        }
        inner.insert((*last).to_owned(), value.into());
        table
    }

    #[test]
    fn a_misspelt_setting_gets_the_nearest_name() {
        let problems = GpuSpec::from_table(with(&["sm", "thread"], 512)).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "sm.thread");
        assert_eq!(problems[0].help.as_deref(), Some("did you mean `threads`?"));
    }

    #[test]
    fn all_problems_come_at_once() {
        let mut table = with(&["sm", "threads"], "many");
        table.insert("l3".to_owned(), Value::Integer(1));
        table["scheduler"]
            .as_table_mut()
            .unwrap()
            .insert("policy".to_owned(), "gtoo".into());
        table["icache"].as_table_mut().unwrap().remove("ways");
        let problems = GpuSpec::from_table(table).unwrap_err();
        let paths: Vec<&str> = problems
            .iter()
            .map(|problem| problem.path.as_str())
            .collect();
        for path in ["sm.threads", "l3", "scheduler.policy", "icache.ways"] {
            assert!(paths.contains(&path), "{path} in {paths:?}");
        }
    }

    #[test]
    fn a_specification_survives_its_own_serialisation() {
        let gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let table = Table::try_from(&gpu).unwrap();
        assert_eq!(GpuSpec::from_table(table).unwrap(), gpu);
    }
}

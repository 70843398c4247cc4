//! `cargo run --release -p warpwatt-campaign`: attacks the `warpwatt` command and says what fell.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use warpwatt_campaign::attack::{ALL, Attack, Setting};
use warpwatt_campaign::{guard, input, table, worker};

/// Attack the warpwatt command: damaged inputs, kills, damaged stores, full disks, threads and caches.
///
/// Exit codes: 0 nothing fell; 1 something did; 2 the program is not there.
#[derive(Debug, Parser)]
struct Cli {
    /// The program to attack [default: the `warpwatt` beside this one]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The attack to carry out (repeatable) [default: all]
    #[arg(long, value_name = "NAME", value_parser = names())]
    attack: Vec<String>,
    /// A few cases of each attack: a minute or two
    #[arg(long)]
    short: bool,
    /// Cases of each attack, instead of its own number
    #[arg(long, value_name = "N")]
    cases: Option<u64>,
    /// Do only this case of the one attack
    #[arg(long, value_name = "N")]
    case: Option<u64>,
    /// Print the input of the one case of `mutate` instead of giving it to its reader
    #[arg(long, requires = "case")]
    show: bool,
    /// Decides what the cases are
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cases at the same time [default: one a core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Put the rows of these attacks into the table of this page, with today's date
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
}

fn names() -> Vec<&'static str> {
    ALL.iter().map(|attack| attack.name).collect()
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((first, [report, program @ ..])) if first == guard::ARGUMENT => {
            guard::run(Path::new(report), program).map_err(|error| error.to_string())
        }
        Some((first, rest)) if first == worker::ARGUMENT => worker::run(rest),
        _ => return campaign(&Cli::parse()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn campaign(cli: &Cli) -> ExitCode {
    let setting = match setting(cli) {
        Ok(setting) => setting,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    if let Some(case) = cli.case.filter(|_| cli.show) {
        let input = input(setting.seed, case);
        let done = std::io::Write::write_all(&mut std::io::stdout(), &input);
        return ExitCode::from(if done.is_ok() { 0 } else { 2 });
    }
    let asked = |attack: &&Attack| {
        cli.attack.is_empty() || cli.attack.iter().any(|name| name == attack.name)
    };
    let mut rows = Vec::new();
    for attack in ALL.iter().filter(asked) {
        eprintln!("{}: {}", attack.name, attack.what);
        rows.push((attack, (attack.run)(&setting)));
    }
    println!("{}", table::table(&rows));
    print!("{}", table::failures(&rows, setting.seed));
    if let Some(page) = &cli.markdown
        && let Err(problem) = write_page(page, &rows)
    {
        eprintln!("{}: {problem}", page.display());
        return ExitCode::from(2);
    }
    let fell = |outcome: &Result<_, _>| matches!(outcome, Ok(warpwatt_campaign::attack::Tally { failures, .. }) if !failures.is_empty());
    ExitCode::from(u8::from(rows.iter().any(|(_, outcome)| fell(outcome))))
}

fn setting(cli: &Cli) -> Result<Setting, String> {
    if cli.case.is_some() && cli.attack.len() != 1 {
        return Err("--case needs one --attack: each has its own cases".to_owned());
    }
    let beside = std::env::current_exe().map(|path| path.with_file_name("warpwatt"));
    let program = match &cli.program {
        Some(path) => path.clone(),
        None => beside.map_err(|error| error.to_string())?,
    };
    let program = program.canonicalize().map_err(|error| {
        format!(
            "{}: {error}; `cargo build` makes it, --program names another",
            program.display()
        )
    })?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Setting {
        program,
        seed: cli.seed,
        cases: cli.cases,
        only: cli.case,
        short: cli.short,
        jobs: cli.jobs.unwrap_or(cores),
    })
}

fn write_page(page: &Path, rows: &[table::Row]) -> Result<(), String> {
    let text = std::fs::read_to_string(page).map_err(|error| error.to_string())?;
    let new = table::in_page(&text, rows, &today()?).ok_or("it has no place for the table")?;
    std::fs::write(page, new).map_err(|error| error.to_string())
}

/// The day in the calendar.
fn today() -> Result<String, String> {
    let said = std::process::Command::new("date")
        .args(["-u", "+%F"])
        .output();
    let said = said.map_err(|error| format!("date: {error}"))?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

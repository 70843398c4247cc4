//! A row as a launch, and its traces.

use std::fmt::Write as _;

use toml::Value;
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::launch::Files;
use warpwatt_suite::{LaunchFile, Lower, RunOptions, run_case};

use super::rows::{Before, Row};

macro_rules! programs {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../workloads/silicon/", $name, ".ptx")))),*]
    };
}

/// The kernels, by the names of their files.
const PROGRAMS: [(&str, &str); 10] = programs![
    "applications",
    "probes",
    "reduce",
    "streams",
    "attention80",
    "attention80_d128",
    "attention90",
    "attention90_d128",
    "product80",
    "product90",
];

/// What `n` of a row's work executes.
///
/// # Errors
/// If the row is not a launch of its program.
pub fn traces(
    row: &Row,
    n: u64,
    warp_width: u32,
    lower: Lower,
) -> Result<Vec<KernelTrace>, String> {
    let program = PROGRAMS.iter().find(|(name, _)| *name == row.program);
    let (_, ptx) = program.ok_or_else(|| format!("there is no program `{}`", row.program))?;
    let module = warpwatt_ptx::load_lowered(ptx, lower)
        .map_err(|_| format!("the PTX of `{}` cannot be read", row.program))?;
    let told = |problems: Vec<warpwatt_suite::Problem>| {
        let texts = problems.into_iter().map(|problem| problem.message);
        texts.collect::<Vec<_>>().join("; ")
    };
    let file = LaunchFile::parse(&text(row, n)?).map_err(told)?;
    let case = &file.cases[0];
    let problems = case.check(&module);
    if !problems.is_empty() {
        return Err(told(problems));
    }
    let prepared = case.fill(Files::None).map_err(told)?;
    let options = RunOptions {
        warp_width,
        limit: u64::MAX,
        ..RunOptions::default()
    };
    let run = run_case(&module, case, &prepared, options).map_err(|error| error.to_string())?;
    Ok(run.into_traces())
}

/// The row as a launch file.
fn text(row: &Row, n: u64) -> Result<String, String> {
    let mut text = format!("name = \"row\"\n[constants]\nn = {n}\n[row]\n");
    for (place, argument) in row.args.iter().enumerate() {
        let _ = writeln!(
            text,
            "[[row.arg]]\nname = \"a{place}\"\n{}",
            parameter(argument)?
        );
    }
    if let Some(before) = &row.before {
        let Before {
            entry,
            grid,
            block,
            args,
        } = before;
        step(&mut text, (entry, grid, block), 0, args.iter().copied());
    }
    let shape = (&row.entry, &row.grid, &row.block);
    // What only the launch before takes comes last.
    let taken = |place: &usize| {
        let before = row.before.as_ref();
        before.is_none_or(|before| *place == 0 || !before.args.contains(place))
    };
    step(
        &mut text,
        shape,
        row.shared,
        (0..row.args.len()).filter(taken),
    );
    Ok(text)
}

fn step(
    text: &mut String,
    (entry, grid, block): (&String, &Vec<Value>, &Vec<u32>),
    shared: u64,
    args: impl Iterator<Item = usize>,
) {
    let grid: Vec<String> = grid.iter().map(Value::to_string).collect();
    let args: Vec<String> = args.map(|place| format!("\"a{place}\"")).collect();
    let _ = writeln!(
        text,
        "[[row.step]]\nkernel = \"{entry}\"\ngrid = [{}]\nblock = {block:?}\ndynamic_shared = {shared}\nargs = [{}]",
        grid.join(", "),
        args.join(", ")
    );
}

/// `f32[n]` and `u32 n` as arguments of a launch file.
fn parameter(argument: &str) -> Result<String, String> {
    let wrong = || format!("`{argument}` is no parameter");
    if let Some((element, count)) = argument.strip_suffix(']').and_then(|it| it.split_once('[')) {
        let init = match element {
            "f32" => "range_f32(seed=1, lo=-1, hi=1)",
            "u32" => "bits_u32(seed=1)",
            _ => "zeros()",
        };
        return Ok(format!(
            "kind = \"inout\"\ntype = \"{element}\"\ncount = \"{count}\"\ninit = \"{init}\""
        ));
    }
    let (element, value) = argument.split_once(' ').ok_or_else(wrong)?;
    Ok(format!(
        "kind = \"scalar\"\ntype = \"{element}\"\nvalue = \"{value}\""
    ))
}

//! The `warpwatt` command.

mod arguments;
mod array;
mod artifact;
mod avf;
mod begin;
mod boards;
mod cache;
mod calibrate;
mod completions;
mod console;
mod diff;
mod drawn;
mod dry_run;
mod effects;
mod energy;
#[cfg(unix)]
mod exec;
mod explain;
mod fault;
mod files;
mod fleet;
mod formulas;
mod inject;
mod kernel;
mod large;
mod list;
mod logic;
mod man;
mod merge;
mod open;
mod optimize;
mod predict;
mod present;
mod progress;
mod ptx;
mod races;
mod registers_over_time;
mod report;
mod reproduce;
mod results;
mod run;
mod sample;
mod schema;
mod sensitivity;
mod serve;
mod shown;
mod study_runs;
mod study_timeline;
mod subject;
mod tables;
mod tech;
mod timeline;
mod trace;
mod validate;
mod what_if;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Cli, Command};
use console::Exit;

/// Runs the command with the process's arguments.
pub fn main() -> ExitCode {
    let exit = fault::guarded(|| match Cli::try_parse() {
        Ok(cli) => dispatch(&cli.command),
        Err(error) => console::usage(&error),
    });
    ExitCode::from(console::ended(exit).code())
}

fn dispatch(command: &Command) -> Exit {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Optimize(arguments) => optimize::run(arguments),
        Command::Effects(arguments) => effects::run(arguments),
        Command::WhatIf(arguments) => what_if::run(arguments),
        Command::Kernel(arguments) => kernel::run(arguments),
        #[cfg(unix)]
        Command::Exec(arguments) => exec::run(arguments),
        Command::Avf(arguments) => avf::run(arguments),
        Command::Calibrate(arguments) => calibrate::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::New(arguments) => begin::run(arguments),
        Command::Ptx(arguments) => ptx::run(arguments),
        Command::Inject(arguments) => inject::run(arguments),
        Command::Trace(arguments) => trace::run(arguments),
        Command::Logic(arguments) => logic::run(arguments),
        Command::Array(arguments) => array::run(arguments),
        Command::List(arguments) => list::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Tech(command) => tech::run(command),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Plan(arguments) => fleet::plan(arguments),
        Command::Work(arguments) => fleet::work(arguments),
        Command::Status(arguments) => fleet::status(arguments),
        Command::Slurm(arguments) => fleet::slurm(arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Artifact(arguments) => artifact::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Sensitivity(arguments) => sensitivity::run(arguments),
    }
}

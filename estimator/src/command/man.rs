//! `warpwatt man`: manual pages.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::arguments::Cli;
use super::console::{Exit, out_data, reject};
use super::files::write_all;
use crate::diag::{Diag, Rejection};

/// Print the manual page, or write the pages of all commands.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt man | man -l -
  warpwatt man --out ~/.local/share/man/man1

Exit codes: 0 done; 2 the pages cannot be written.")]
pub struct ManArguments {
    /// Write warpwatt.1 and a page for every command into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Prints the main page, or writes all.
pub fn run(arguments: &ManArguments) -> Exit {
    let pages = match pages() {
        Ok(pages) => pages,
        Err(error) => return rejected(Diag::error("man::defect", error.to_string()).into()),
    };
    let Some(directory) = &arguments.out else {
        pages.iter().take(1).for_each(|(_, page)| out_data(page));
        return Exit::Done;
    };
    match write_all(directory, &pages) {
        Ok(()) => Exit::Done,
        Err(rejection) => rejected(rejection),
    }
}

fn rejected(rejection: Rejection) -> Exit {
    reject(&rejection, false)
}

/// Name and contents of every page: the main one, then a command each, in the order of the help.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut pages = Vec::new();
    let mut command = Cli::command();
    command.build();
    collect(command, &mut pages)?;
    Ok(pages)
}

fn collect(command: Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let below: Vec<Command> = command
        .get_subcommands()
        .filter(|below| below.get_name() != "help" && !below.is_hide_set())
        .cloned()
        .collect();
    let page = Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((page.get_filename(), text));
    below
        .into_iter()
        .try_for_each(|command| collect(command, pages))
}

//! `warpwatt completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::arguments::Cli;
use super::console::{Exit, out_data};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt completions bash > ~/.local/share/bash-completion/completions/warpwatt
  warpwatt completions zsh > ~/.zfunc/_warpwatt
  warpwatt completions fish > ~/.config/fish/completions/warpwatt.fish")]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// Prints the script.
pub fn run(arguments: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "warpwatt",
        &mut script,
    );
    out_data(&script);
    Exit::Done
}

//! The `warpwatt` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpwatt::command::main()
}

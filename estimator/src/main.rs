//! The `warpwatt` command.

fn main() {}

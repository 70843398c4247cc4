//! The boards that ship.

use crate::board::Board;

macro_rules! boards {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../boards/", $name, ".toml")))),*]
    };
}

/// Files of the shipped boards by name. `boards/make.sh` writes them again from `facts/` and `measured/`.
pub const SHIPPED: [(&str, &str); 10] = boards![
    "gtx-titan-x",
    "titan-xp",
    "titan-x-pascal",
    "titan-v",
    "qv100",
    "v100",
    "rtx2060s",
    "a100",
    "h100",
    "h200",
];

/// Names of the shipped boards.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// The shipped board of that name.
pub fn shipped(name: &str) -> Option<Board> {
    let (_, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Board::parse(text).ok()
}

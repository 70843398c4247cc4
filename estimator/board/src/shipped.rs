//! The boards that ship.

use crate::board::Board;
use crate::map::Map;
use crate::rows::{Rows, Table};

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

/// A table of measured watts that ships.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The board.
    pub board: &'static str,
    /// What was measured.
    pub what: &'static str,
    /// The table, as CSV.
    pub text: &'static str,
    /// What a profiler counted of its cases, where that is a table of its own: joined by name.
    pub counts: Option<&'static str>,
}

/// Every table. The first three: J. Guerreiro et al., TPDS 2019 (github.com/hpc-ulisboa/gpupowermodel, BSD); the fourth: accel-sim/accel-sim-framework,
/// `util/accelwattch`; the last two: this project's own, with `workloads/your_gpu`, on an H100 SXM and an H200, driver 580.159.04, 2026-11-26 and -27.
pub const MEASURED: [Measured; 6] = [
    Measured {
        board: "gtx-titan-x",
        what: "loops on a GTX Titan X",
        text: include_str!("../measured/gtx_titan_x_micro.csv"),
        counts: None,
    },
    Measured {
        board: "titan-xp",
        what: "loops on a TITAN Xp",
        text: include_str!("../measured/titan_xp_micro.csv"),
        counts: None,
    },
    Measured {
        board: "titan-v",
        what: "loops on a TITAN V",
        text: include_str!("../measured/titan_v_micro.csv"),
        counts: None,
    },
    Measured {
        board: "qv100",
        what: "kernels on a Quadro GV100",
        text: include_str!("../measured/qv100_kernels.csv"),
        counts: None,
    },
    Measured {
        board: "h100",
        what: "loops and kernels on an H100",
        text: include_str!("../measured/h100/watts.csv"),
        counts: Some(include_str!("../measured/h100/counts.csv")),
    },
    Measured {
        board: "h200",
        what: "loops and kernels on an H200",
        text: include_str!("../measured/h200/watts.csv"),
        counts: Some(include_str!("../measured/h200/counts.csv")),
    },
];

impl Measured {
    /// Its rows, on `board`, which has the chip of the one that was measured.
    ///
    /// # Errors
    /// The table or the board's preset cannot be read: a sentence.
    pub fn rows(&self, board: &Board) -> Result<Rows, String> {
        let parsed = |text| Table::parse(text).map_err(|faults| format!("{faults:?}"));
        let mut table = parsed(self.text)?;
        if let Some(counts) = self.counts {
            table = table.joined(&parsed(counts)?, "name");
        }
        let columns: Vec<&str> = table.header.iter().map(String::as_str).collect();
        let map = Map::recognised(&columns).ok_or("no known layout")?;
        let gpu = board.gpu()?;
        Ok(Rows::of(&table, &map, (&board.facts, &gpu), map.operands))
    }
}

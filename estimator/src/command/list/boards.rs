//! Graphics boards.

use serde_json::json;

use super::{Entry, Listed};
use crate::board::board::Board;
use crate::board::shipped::{SHIPPED, shipped};

/// The boards that ship.
pub(super) fn boards() -> Listed {
    let entries = SHIPPED
        .iter()
        .filter_map(|(name, text)| Some(entry(&shipped(name)?, text)));
    Listed {
        heading: vec!["board", "GPU", "node", "power", "from"],
        entries: entries.collect(),
        foot: "`warpwatt kernel KERNEL --board NAME` says what one draws.\n".to_owned(),
    }
}

/// A board; in full its file.
fn entry(board: &Board, text: &str) -> Entry {
    let (facts, record) = (&board.facts, &board.record);
    let from = match &record.measured {
        Some(_) => format!("{} measured cases", record.cases),
        None => "other boards".to_owned(),
    };
    Entry {
        name: facts.name.clone(),
        line: vec![
            facts.name.clone(),
            format!("{} ({})", facts.chip, facts.preset),
            facts.node.clone(),
            format!("{} W", facts.tdp_w),
            from,
        ],
        full: text.to_owned(),
        values: vec![json!({
            "name": facts.name, "chip": facts.chip, "preset": facts.preset, "node": facts.node, "tdp_w": facts.tdp_w,
            "power_limit_w": facts.power_limit_w, "core_mhz": facts.core_mhz, "memory_mhz": facts.memory_mhz,
            "measured": record.measured, "cases": record.cases, "transferred_from": record.transferred_from,
            "left_out_error": record.left_out.map(|(error, _)| error), "source": facts.source,
        })],
    }
}

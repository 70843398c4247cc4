//! A program on a page: its launches and copies one after the other, with the power of each launch.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::listen::Item;
use super::{Launched, Way};
use crate::timeline::events::{Events, Row};

const PID: u32 = 0;
const GPU: Row = Row { pid: PID, tid: 0 };
const LAUNCHES: Row = Row { pid: PID, tid: 1 };
const COPIES: Row = Row { pid: PID, tid: 2 };
/// The counter of power.
const POWER: &str = "power, W";

/// How long a launch takes, and what power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Simulated seconds.
    pub seconds: f64,
    /// Mean power.
    pub watts: f64,
}

/// What the device did, with the simulated second in which it begins, and how long a launch takes if it was timed (`timed` is by trace). Time passes in such launches,
/// and in nothing else.
pub fn in_time<'i>(
    items: &'i [Item],
    timed: &BTreeMap<u64, Timed>,
) -> impl Iterator<Item = (f64, &'i Item, Option<Timed>)> {
    let mut now = 0.0;
    items.iter().map(move |item| {
        let own = match item {
            Item::Launch(launched) => launched.trace.and_then(|trace| timed.get(&trace)),
            Item::Copy(..) => None,
        };
        let from = now;
        now += own.map_or(0.0, |own| own.seconds);
        (from, item, own.copied())
    })
}

/// Writes what the device did as a trace file; its launches take the time of `timed` ([`in_time`]). Gives `out` back, and the events.
pub fn write<W: Write>(
    items: &[Item],
    timed: &BTreeMap<u64, Timed>,
    name: impl Fn(&str) -> String,
    out: W,
) -> (W, u64) {
    let mut events = Events::new(out);
    events.name(GPU, "GPU");
    events.name(LAUNCHES, "launches");
    events.name(COPIES, "copies");
    let mut end_s = 0.0;
    for (from_s, item, timed) in in_time(items, timed) {
        let from = nanoseconds(from_s);
        match item {
            Item::Launch(launched) => {
                end_s = from_s + timed.map_or(0.0, |timed| timed.seconds);
                let span = (from, nanoseconds(end_s));
                events.slice(LAUNCHES, span, &name(&launched.kernel), about(launched));
                if let Some(timed) = timed {
                    events.counter(PID, from, POWER, timed.watts);
                }
            }
            Item::Copy(way, bytes) => {
                let args = format!("\"bytes\":{bytes}");
                events.instant(COPIES, from, way_name(*way), args);
            }
        }
    }
    events.counter(PID, nanoseconds(end_s), POWER, 0.0);
    let about = json!({
        "producer": concat!("warpwatt ", env!("CARGO_PKG_VERSION")),
        "time": "one microsecond is one nanosecond of simulated time, which passes in launches that were timed",
    });
    let written = events.written();
    (events.finish(&about), written)
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// How reports call a way of copying.
pub fn way_name(way: Way) -> &'static str {
    match way {
        Way::ToDevice => "host to device",
        Way::ToHost => "device to host",
        Way::Within => "within the device",
        Way::Set => "memset",
    }
}

/// The arguments of a launch's slice.
fn about(launched: &Launched) -> String {
    let Launched {
        grid,
        block,
        warp_instructions,
        untraced,
        ..
    } = launched;
    let mut text = format!(
        "\"grid\":\"{grid:?}\",\"block\":\"{block:?}\",\"warp instructions\":{warp_instructions}"
    );
    if let Some(why) = untraced {
        text += &format!(",\"not timed\":{}", json!(why));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn launch(trace: u64) -> Item {
        Item::Launch(Launched {
            kernel: "a\"b".to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            trace: Some(trace),
            untraced: None,
            warp_instructions: 10,
            launches_by_kernels: 0,
        })
    }

    #[test]
    fn time_passes_in_launches_that_were_timed() {
        let items = [
            Item::Copy(Way::ToDevice, 64),
            launch(1),
            launch(2),
            launch(1),
            Item::Copy(Way::ToHost, 32),
        ];
        let timed = Timed {
            seconds: 2e-6,
            watts: 50.0,
        };
        let timed = BTreeMap::from([(1, timed)]);
        let (bytes, written) = write(&items, &timed, str::to_owned, Vec::new());
        let page: Value = serde_json::from_slice(&bytes).unwrap();
        let events = page["traceEvents"].as_array().unwrap();
        assert_eq!(events.len() as u64, written);
        let of = |phase: &str, key: &str| -> Vec<Value> {
            let found = events.iter().filter(|event| event["ph"] == phase);
            found.map(|event| event[key].clone()).collect()
        };
        assert_eq!(of("X", "ts"), [0, 2000, 2000]);
        assert_eq!(of("X", "dur"), [2000, 0, 2000]);
        assert_eq!(of("X", "name")[0], "a\"b");
        assert_eq!(of("i", "ts"), [0, 4000]);
        assert_eq!(of("C", "ts"), [0, 2000, 4000]);
    }
}

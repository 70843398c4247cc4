use super::*;
use crate::{Outcome, Whole};
use proptest::prelude::*;

fn held(structure: Structure, bits: u32, from: u64, to: u64) -> Residency {
    Residency {
        structure,
        warp: 0,
        entry: 0,
        bits,
        from,
        to,
    }
}

const FILE: Structure = Structure::RegisterFile;

#[test]
fn windows_cut_a_residency_exactly() {
    let mut ledger = Ledger::new(100, 10, Vec::new());
    ledger.ace(held(FILE, 3, 105, 127));
    let Closed {
        structures: sums,
        over_time,
        ..
    } = ledger.close(130);
    assert_eq!(sums[FILE as usize].ace, 66);
    let of_file: Vec<u128> = over_time
        .windows
        .iter()
        .map(|it| it[FILE as usize])
        .collect();
    assert_eq!(of_file, [15, 30, 21]);
}

#[test]
fn the_best_protection_counts() {
    let all: Vec<Box<dyn Protection>> = vec![
        Box::new(Whole {
            structure: FILE,
            outcome: Outcome::Corrected,
        }),
        Box::new(Whole {
            structure: FILE,
            outcome: Outcome::Detected,
        }),
        Box::new(Whole {
            structure: Structure::L2,
            outcome: Outcome::Detected,
        }),
    ];
    let mut ledger = Ledger::new(0, 10, all);
    ledger.ace(held(FILE, 2, 0, 5));
    ledger.ace(held(Structure::L2, 1, 0, 5));
    ledger.ace(held(Structure::L1Data, 1, 0, 5));
    let sums = ledger.close(10).structures;
    let of = |structure: Structure| {
        let it = sums[structure as usize];
        (it.silent(), it.detected, it.corrected)
    };
    assert_eq!(of(FILE), (0, 0, 10));
    assert_eq!(of(Structure::L2), (0, 5, 0));
    assert_eq!(of(Structure::L1Data), (5, 0, 0));
}

#[test]
fn an_entry_holds_what_it_held_until_it_changes() {
    let mut ledger = Ledger::new(0, 10, Vec::new());
    let mut entry = Held::default();
    let of = held(FILE, 0, 0, 0);
    ledger.change(&mut entry, 32, 4, of);
    ledger.change(&mut entry, 8, 10, of);
    // A change that is said to be earlier than the last one is as late as that.
    ledger.change(&mut entry, 4, 9, of);
    ledger.change(&mut entry, 0, 12, of);
    let sums = ledger.close(20).structures;
    assert_eq!(sums[FILE as usize].ace, 32 * 6 + 4 * 2);
}

#[test]
fn what_lies_there_over_launches_is_put_down_to_each() {
    let parity = Whole {
        structure: Structure::L2,
        outcome: Outcome::Detected,
    };
    let mut ledger = Ledger::new(0, 4, vec![Box::new(parity)]);
    let mut closed = Vec::new();
    for (start, end) in [(0, 10), (10, 16)] {
        ledger.start_at(start);
        closed.push(ledger.close(end));
    }
    ledger.start_at(16);
    ledger.ace(held(Structure::L2, 3, 7, 20));
    let last = ledger.close(30);
    let sum = last.structures[Structure::L2 as usize];
    assert_eq!((sum.ace, sum.detected), (12, 12));
    let late: Vec<_> = last
        .late
        .iter()
        .map(|it| (it.launch, it.residency))
        .collect();
    assert_eq!(
        late,
        [
            (0, held(Structure::L2, 3, 7, 10)),
            (1, held(Structure::L2, 3, 0, 6))
        ]
    );
    assert!(last.late.iter().all(|it| it.more.detected == it.more.ace));
    let mut over_time = closed.swap_remove(0).over_time;
    over_time.add_residency(&last.late[0].residency);
    let of_cache = over_time
        .windows
        .iter()
        .map(|it| it[Structure::L2 as usize]);
    assert_eq!(of_cache.collect::<Vec<_>>(), [0, 3, 6]);
}

/// Corrects from cycle 4 to 8.
struct FromFour;

impl Protection for FromFour {
    fn cover(&mut self, _: &Residency, covers: &mut Vec<Cover>) {
        covers.push(Cover {
            outcome: Outcome::Corrected,
            bits: u32::MAX,
            from: 4,
            to: 8,
        });
    }
}

#[test]
fn a_residency_is_protected_in_parts() {
    let parity = Whole {
        structure: FILE,
        outcome: Outcome::Detected,
    };
    let mut ledger = Ledger::new(0, 10, vec![Box::new(FromFour), Box::new(parity)]);
    ledger.ace(held(FILE, 3, 2, 10));
    let sums = ledger.close(10).structures[FILE as usize];
    assert_eq!((sums.ace, sums.detected, sums.corrected), (24, 12, 12));
    let mut ledger = Ledger::new(0, 10, vec![Box::new(FromFour)]);
    ledger.ace(held(FILE, 3, 2, 10));
    let sums = ledger.close(10).structures[FILE as usize];
    assert_eq!((sums.silent(), sums.corrected), (12, 12));
}

proptest! {
    #[test]
    fn windows_add_up(residencies in prop::collection::vec((0u32..100, 0u64..1000, 0u64..300), 0..40), window in 1u64..400) {
        let mut ledger = Ledger::new(0, window, Vec::new());
        for (bits, from, length) in residencies {
            ledger.ace(held(FILE, bits, from, from + length));
        }
        let Closed { structures: sums, over_time, .. } = ledger.close(1300);
        let added: u128 = over_time.windows.iter().map(|it| it[FILE as usize]).sum();
        prop_assert_eq!(added, sums[FILE as usize].ace);
        // No window holds more than all of it at once could.
        let window = over_time.length;
        prop_assert!(over_time.windows.iter().all(|it| it[FILE as usize] <= 40 * 100 * u128::from(window)));
    }
}

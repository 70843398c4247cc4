use super::forecast::LATENCY;
use super::*;
use crate::protection::WarpRegister;

/// Warps of four registers beside the paper's shared memory.
fn engine() -> Engine {
    let shape = Shape {
        registers: 4,
        groups: 8,
        cycles: 1,
    };
    let mut store = Store::new(16384, 8);
    store.begin(0);
    let mut engine = Engine::new(shape, 32, Ports::new(16, 16), store);
    engine.lives.start(0, 4);
    for word in 0..4 {
        engine.lives.write(WarpRegister { warp: 0, word }, 0, true);
    }
    engine
}

/// Register 3 is to be loaded: the other three are recorded from cycle 10 on, one a cycle, and checked from cycle 100 on.
#[test]
fn registers_are_recorded_and_checked_one_a_cycle() {
    let mut engine = engine();
    engine.advance(10);
    engine.load(0, &[3], 10);
    engine.loaded(100, 0);
    engine.advance(100);
    engine.read(0, 0, 100);
    assert_eq!(engine.lives.live, 0, "it waits for the check");
    assert_eq!(
        (engine.counts.recorded, engine.counts.groups_written),
        (3, 24)
    );
    assert_eq!(
        engine.checked_at(0),
        Some(100 + 3 + LATENCY),
        "three registers have check bits"
    );
    engine.advance(110);
    assert_eq!(engine.counts.checked, 3);
    assert_eq!(engine.checked_at(0), None);
    for word in 0..4 {
        engine
            .lives
            .read(WarpRegister { warp: 0, word }, 200, false);
    }
    assert_eq!(
        engine.lives.guarded,
        3 * 8 * 90,
        "recorded at 10, 11, 12, checked at 100, 101, 102"
    );
    assert_eq!(engine.lives.live, 8 * (3 * 200 + 100));
}

#[test]
fn ports_that_others_want_are_waited_for() {
    let mut engine = engine();
    engine.advance(10);
    engine.ports.shared(10, 5, 0xffff);
    engine.ports.read(0, 1, 15);
    engine.load(0, &[], 0);
    engine.advance(50);
    assert_eq!(engine.counts.recorded, 4);
    assert_eq!(
        engine.counts.waited,
        4 + 1,
        "register 0 fills the waiting queue in cycle 10, which empties in 15; then the bank of register 1 is taken"
    );
}

/// Registers 0 and 2 go to the lower eight banks, 1 and 3 to the upper ones: a pass that takes those above stands in nobody's way but theirs.
#[test]
fn a_pass_keeps_out_only_those_whose_banks_it_takes() {
    let waited = |banks| {
        let mut engine = engine();
        engine.advance(10);
        engine.ports.shared(11, 4, banks);
        engine.load(0, &[1, 3], 0);
        engine.advance(50);
        assert_eq!(engine.counts.recorded, 2);
        engine.counts.waited
    };
    assert_eq!(waited(0xff00), 0);
    assert_eq!(waited(0x00ff), 4);
}

#[test]
fn a_register_that_changes_and_a_word_that_is_taken_lose_their_check_bits() {
    let mut engine = engine();
    engine.store.placed(0, 0);
    engine.load(0, &[], 0);
    engine.advance(20);
    engine.written(0, 1);
    assert_eq!(engine.counts.resets, 8);
    // Group 2 of register 0 lies in word 2.
    engine.store.begin(1024);
    let (place, holder) = engine.store.write(0, 8, 20).unwrap();
    engine.pushed_out(place, holder);
    engine.loaded(30, 0);
    engine.advance(60);
    assert_eq!(engine.counts.checked, 3);
    assert_eq!(engine.counts.groups_read, 7 + 8 + 8);
}

/// Sixteen recordings wait at the most; a check takes the place of the latest.
#[test]
fn a_full_queue_takes_no_recording_and_gives_one_up_for_a_check() {
    let mut engine = engine();
    engine.load(0, &[], 0);
    engine.advance(10);
    for warp in 1..20 {
        engine.load(warp, &[], 10);
    }
    assert_eq!(engine.counts.dropped, 3);
    engine.ask(Request::Check(0));
    assert_eq!(engine.counts.dropped, 4);
    assert_eq!(engine.queue.len(), QUEUE);
    assert_eq!(engine.checked_at(0), Some(10 + 15 * 4 + 4 + LATENCY));
}

/// Registers of warps that fall into the same words: the later one is not recorded.
#[test]
fn a_conflict_among_warps_drops_the_later_recording() {
    let mut engine = engine();
    engine.store = Store::new(4 * 4 * 8, 8);
    engine.load(0, &[], 0);
    engine.load(1, &[], 0);
    engine.advance(50);
    assert_eq!((engine.counts.recorded, engine.counts.dropped), (4, 1));
}

/// Two registers are recorded of the first warp, whose others loads will bring, one of them twice; then four of the next, and these are checked.
#[test]
fn a_register_that_two_loads_bring_is_left_out_once() {
    let mut engine = engine();
    engine.load(0, &[3], 0);
    engine.load(0, &[3, 2], 0);
    engine.load(1, &[], 0);
    engine.ask(Request::Check(1));
    assert_eq!(engine.checked_at(1), Some(2 + 4 + 4 + LATENCY));
}

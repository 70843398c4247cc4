//! Algorithm 2 on a few instructions: one SP, one load-store unit, one special-function unit that takes eight cycles.

use proptest::prelude::*;

use super::*;

const WARP: u8 = 3;

struct Machine {
    checker: Checker,
    cycle: u64,
    inst: u32,
    started: Vec<(u32, u64)>,
}

fn slot(port: Port) -> IssueSlot {
    IssueSlot { port, scheduler: 0 }
}

fn interval(port: Port) -> u64 {
    if port == Port::Sfu { 8 } else { 1 }
}

impl Machine {
    fn new(capacity: u32) -> Self {
        let units = [Port::Sp, Port::Ldst, Port::Sfu].map(|port| (port, None));
        Self {
            checker: Checker::new(units.into_iter(), capacity),
            cycle: 0,
            inst: 0,
            started: Vec::new(),
        }
    }

    fn told(&mut self) {
        while let Some(again) = self.checker.next() {
            self.started.push((again.inst, again.from));
        }
    }

    /// Issues an instruction as soon as it may and gives the cycle in which it did; the next one comes a cycle later.
    fn issue_if(&mut self, port: Port, verified: bool, wants: Option<u32>) -> u64 {
        let wants = |waiting: &Waiting| Some(waiting.inst) == wants && waiting.warp == Some(WARP);
        while !self.checker.admits(self.cycle, slot(port), wants) {
            self.told();
            self.cycle += 1;
        }
        self.told();
        let again = Waiting {
            warp: Some(WARP),
            slot: slot(port),
            inst: self.inst,
            lanes: 32,
            interval: interval(port),
            wide: false,
        };
        self.checker.issued(
            self.cycle,
            slot(port),
            interval(port),
            verified.then_some(again),
        );
        self.inst += 1;
        self.cycle += 1;
        self.cycle - 1
    }

    fn issue(&mut self, port: Port) -> u64 {
        self.issue_if(port, true, None)
    }

    fn finish(mut self) -> (Counts, Vec<(u32, u64)>) {
        let end = self.cycle;
        self.checker.finish(end);
        self.told();
        (self.checker.counts, self.started)
    }
}

/// Figure 4.3: units take turns, and each verifies in the next cycle.
#[test]
fn different_units_in_turn_verify_each_other_in_the_next_cycle() {
    let mut machine = Machine::new(0);
    let ports = [Port::Sp, Port::Ldst, Port::Sp, Port::Ldst, Port::Sp];
    let issued: Vec<u64> = ports.iter().map(|&port| machine.issue(port)).collect();
    assert_eq!(issued, [0, 1, 2, 3, 4]);
    let (counts, started) = machine.finish();
    assert_eq!(started, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    assert_eq!(
        (counts.behind, counts.queued, counts.full_stalls),
        (5, 0, 0)
    );
}

/// Without a queue every instruction of a run but the last makes the next one wait.
#[test]
fn a_run_without_a_queue_takes_twice_as_long() {
    let mut machine = Machine::new(0);
    let issued: Vec<u64> = (0..4).map(|_| machine.issue(Port::Sp)).collect();
    assert_eq!(issued, [0, 2, 4, 6]);
    let (counts, started) = machine.finish();
    assert_eq!(started, [(0, 1), (1, 3), (2, 5), (3, 7)]);
    assert_eq!((counts.full_stalls, counts.behind), (3, 1));
}

/// Algorithm 2: two entries hold two of a run of five; the third and the fourth stall. Beside loads the SP is idle, but only what a load pushes out of its unit
/// changes places with one of the queue.
#[test]
fn a_queue_takes_what_it_can_hold_and_gives_it_out_in_exchange() {
    let mut machine = Machine::new(2);
    let issued: Vec<u64> = (0..5).map(|_| machine.issue(Port::Sp)).collect();
    assert_eq!(issued, [0, 1, 2, 4, 6]);
    let loads: Vec<u64> = (0..3).map(|_| machine.issue(Port::Ldst)).collect();
    let (counts, started) = machine.finish();
    // The fifth behind itself beside the first load. The second load takes the place of one of the two that wait, the third of the other; at the end loads go one by one.
    assert_eq!(loads, [7, 8, 9]);
    let mut swapped: Vec<(u32, u64)> = started[3..5].to_vec();
    assert_eq!(started[..3], [(2, 3), (3, 5), (4, 7)]);
    swapped.sort_unstable();
    assert_eq!([swapped[0].0, swapped[1].0], [0, 1]);
    assert_eq!(started[3].1, 8);
    assert_eq!(started[4].1, 9);
    assert_eq!(
        (counts.queued, counts.full_stalls, counts.behind),
        (4, 2, 2)
    );
    assert_eq!((counts.queue_most, counts.raw_stalls), (2, 0));
}

/// Nothing that waits leaves the queue in cycles that nobody uses: one that is of the same type as what comes stays there however long the unit is idle.
#[test]
fn idle_cycles_leave_the_queue_as_it_is() {
    let mut machine = Machine::new(4);
    for _ in 0..3 {
        machine.issue(Port::Sp);
    }
    machine.cycle += 50;
    machine.issue(Port::Ldst);
    assert_eq!(machine.checker.queue.len(), 2);
    let (counts, started) = machine.finish();
    assert_eq!((counts.queued, counts.behind), (2, 2));
    assert!(started.iter().filter(|(_, from)| *from > 50).count() >= 3);
}

/// Whoever reads what waits in the queue lets it go first.
#[test]
fn a_result_that_waits_for_verification_stalls_its_reader_for_a_cycle() {
    let mut machine = Machine::new(4);
    machine.issue(Port::Sp);
    machine.issue(Port::Sp);
    let reader = machine.issue_if(Port::Sp, true, Some(0));
    assert_eq!(reader, 3, "instruction 0 is verified in cycle 2");
    let (counts, started) = machine.finish();
    assert_eq!(counts.raw_stalls, 1);
    assert_eq!(started[0], (0, 2), "before instruction 1");
}

#[test]
fn nobody_wants_results_of_a_warp_that_has_gone() {
    let mut machine = Machine::new(4);
    machine.issue(Port::Sp);
    machine.issue(Port::Sp);
    machine.checker.retired(WARP);
    assert_eq!(machine.issue_if(Port::Sp, true, Some(0)), 2);
}

/// A unit of eight cycles verifies when it is through, if nobody else wants it by then.
#[test]
fn a_slow_unit_verifies_when_it_is_free() {
    let mut machine = Machine::new(1);
    machine.issue(Port::Sfu);
    for _ in 0..10 {
        machine.issue_if(Port::Sp, false, None);
    }
    let (counts, started) = machine.finish();
    assert_eq!(started, [(0, 8)]);
    assert_eq!(counts.behind, 1);

    let mut machine = Machine::new(1);
    machine.issue(Port::Sfu);
    machine.issue_if(Port::Sp, false, None);
    machine.issue(Port::Sfu);
    let (counts, started) = machine.finish();
    assert_eq!(counts.queued, 1);
    assert_eq!(started, [(2, 16), (0, 24)], "the second before the first");
}

proptest! {
    /// Every instruction that is to be verified is executed again once, after its first execution; a unit does one thing at a time.
    #[test]
    fn every_instruction_is_executed_again_once(
        steps in prop::collection::vec((0..3usize, any::<bool>(), 0..4u64, 0..8u32), 1..200),
        capacity in 0..12u32,
    ) {
        let ports = [Port::Sp, Port::Ldst, Port::Sfu];
        let mut machine = Machine::new(capacity);
        let mut first = Vec::new();
        for (port, verified, pause, back) in steps {
            machine.cycle += pause;
            let wants = machine.inst.checked_sub(back + 1);
            let cycle = machine.issue_if(ports[port], verified, wants);
            first.push((ports[port], verified, cycle));
            prop_assert!(machine.checker.queue.len() <= capacity as usize);
        }
        let (counts, mut started) = machine.finish();
        let verified = first.iter().filter(|(_, verified, _)| *verified).count() as u64;
        prop_assert_eq!(counts.behind + counts.queued + counts.full_stalls, verified);
        prop_assert_eq!(started.len() as u64, verified);
        prop_assert!(counts.queue_most <= u64::from(capacity));
        started.sort_unstable();
        started.dedup_by_key(|(inst, _)| *inst);
        prop_assert_eq!(started.len() as u64, verified);
        for port in ports {
            let of_port = |inst: u32| first[inst as usize].0 == port;
            let mut again: Vec<u64> = started.iter().filter(|it| of_port(it.0)).map(|it| it.1).collect();
            again.sort_unstable();
            for pair in again.windows(2) {
                prop_assert!(pair[1] >= pair[0] + interval(port));
            }
            for &(inst, from) in started.iter().filter(|it| of_port(it.0)) {
                prop_assert!(from >= first[inst as usize].2 + interval(port));
            }
        }
    }
}

//! Who goes next: priority encoders, arbiters, warp schedulers, scoreboard checks, free lists.

use serde::{Deserialize, Serialize};

use super::netlist::{Net, Netlist};

/// How an arbiter keeps fair.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Fairness {
    /// A pointer behind the last grant: two priority trees and a mask (Gupta and McKeown, IEEE Micro 19(1), 1999).
    #[default]
    RoundRobin,
    /// A bit for each pair says who was served longer ago (Dally and Towles, Principles and Practices of Interconnection Networks, section 18.5).
    Matrix,
}

/// Which ready warp issues.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Loose round robin.
    #[default]
    Lrr,
    /// Greedy, then oldest (Rogers, O'Connor and Aamodt, MICRO 2012).
    Gto,
    /// Round robin among a few active warps, and another among those that wait (Narasiman et al., MICRO 2011).
    TwoLevel,
}

/// For each request whether it or one with a lower number asks: a tree of ORs with a fan-out of two (Brent and Kung, IEEE Transactions on Computers 31(3), 1982).
fn before(n: &mut Netlist, requests: &[Net]) -> Vec<Net> {
    let mut any = requests.to_vec();
    let mut step = 1;
    while step < any.len() {
        for i in (2 * step - 1..any.len()).step_by(2 * step) {
            any[i] = n.or(any[i], any[i - step]);
        }
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        for i in (3 * step - 1..any.len()).step_by(2 * step) {
            any[i] = n.or(any[i], any[i - step]);
        }
    }
    any
}

/// The first request alone.
fn first(n: &mut Netlist, requests: &[Net], any: &[Net]) -> Vec<Net> {
    let mut grants = vec![requests[0]];
    for i in 1..requests.len() {
        let none = n.not(any[i - 1]);
        grants.push(n.and(requests[i], none));
    }
    grants
}

/// Number of the lowest request, and whether there is one.
pub(crate) fn priority_encoder(inputs: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("prefix tree");
    let requests = n.bus(inputs);
    let any = before(&mut n, &requests);
    n.part("grants");
    let grants = first(&mut n, &requests, &any);
    n.part("encoder");
    for net in encode(&mut n, &grants) {
        n.output(net);
    }
    n.output(any[any.len() - 1]);
    n
}

/// The number of the line that is high.
fn encode(n: &mut Netlist, lines: &[Net]) -> Vec<Net> {
    let bits = usize::BITS - (lines.len() - 1).leading_zeros();
    (0..bits)
        .filter_map(|bit| {
            let of: Vec<Net> = lines
                .iter()
                .enumerate()
                .filter(|(line, _)| line >> bit & 1 == 1)
                .map(|(_, net)| *net)
                .collect();
            n.or_all(&of)
        })
        .collect()
}

/// Grants of a fair arbiter.
pub(crate) fn arbiter(inputs: u64, fairness: Fairness) -> Netlist {
    let mut n = Netlist::default();
    n.part("requests");
    let requests = n.bus(inputs);
    let grants = match fairness {
        Fairness::RoundRobin => round_robin(&mut n, &requests),
        Fairness::Matrix => matrix(&mut n, &requests, true),
    };
    for grant in grants {
        n.output(grant);
    }
    n
}

/// Requests behind the last grant first, then any. The state is a thermometer: high behind the last grant.
fn round_robin(n: &mut Netlist, requests: &[Net]) -> Vec<Net> {
    n.part("pointer");
    let state: Vec<Net> = requests.iter().map(|_| n.state()).collect();
    n.part("priority trees");
    let behind: Vec<Net> = requests
        .iter()
        .zip(&state)
        .map(|(request, state)| n.and(*request, *state))
        .collect();
    let any_behind = before(n, &behind);
    let grants_behind = first(n, &behind, &any_behind);
    let any = before(n, requests);
    let grants_any = first(n, requests, &any);
    n.part("grants");
    let none = n.not(any_behind[any_behind.len() - 1]);
    let grants: Vec<Net> = grants_behind
        .iter()
        .zip(grants_any)
        .map(|(behind, any)| {
            let any = n.and(any, none);
            n.or(*behind, any)
        })
        .collect();
    n.part("pointer");
    // After a grant the mask is high for all behind it. The first request is never behind another.
    let passed = before(n, &grants);
    for (i, state) in state.iter().enumerate() {
        let next = if i == 0 { *state } else { passed[i - 1] };
        n.feed(*state, next);
    }
    grants
}

/// One bit for each pair: the lower number goes first while it is high. A grant moves the requester to the end of the order if it `ages`; otherwise the order
/// changes only when a new warp comes, and its bits are held.
fn matrix(n: &mut Netlist, requests: &[Net], ages: bool) -> Vec<Net> {
    let count = requests.len();
    n.part("priority matrix");
    let mut state = Vec::new();
    for i in 0..count {
        for j in i + 1..count {
            let flop = if ages { n.state() } else { n.held() };
            state.push((i, j, flop));
        }
    }
    let mut inhibits: Vec<Vec<Net>> = vec![Vec::new(); count];
    for (i, j, flop) in &state {
        let complement = n.not(*flop);
        let of_j = n.gate(super::Kind::Nand2, &[requests[*i], *flop]);
        let of_i = n.gate(super::Kind::Nand2, &[requests[*j], complement]);
        inhibits[*j].push(of_j);
        inhibits[*i].push(of_i);
    }
    n.part("grants");
    let grants: Vec<Net> = (0..count)
        .filter_map(|i| {
            let mut terms = inhibits[i].clone();
            terms.push(requests[i]);
            n.and_all(&terms)
        })
        .collect();
    n.part("priority matrix");
    for (i, j, flop) in state.into_iter().filter(|_| ages) {
        // Whoever was granted goes last: reset by i, set by j.
        let kept = n.not(grants[i]);
        let held = n.and(flop, kept);
        let next = n.or(held, grants[j]);
        n.feed(flop, next);
    }
    grants
}

/// Ready bits of every warp to one grant.
pub(crate) fn scheduler(warps: u64, policy: Policy, active: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("requests");
    let ready = n.bus(warps);
    let grants = match policy {
        Policy::Lrr => round_robin(&mut n, &ready),
        Policy::Gto => greedy(&mut n, &ready),
        Policy::TwoLevel => {
            let (set, rest) = ready.split_at(active.min(warps) as usize);
            let mut grants = round_robin(&mut n, set);
            if !rest.is_empty() {
                grants.extend(round_robin(&mut n, rest));
            }
            grants
        }
    };
    for grant in grants {
        n.output(grant);
    }
    n
}

/// The warp that went last if it is ready, else the oldest by an age matrix.
fn greedy(n: &mut Netlist, ready: &[Net]) -> Vec<Net> {
    n.part("last warp");
    let last: Vec<Net> = ready.iter().map(|_| n.state()).collect();
    let again: Vec<Net> = ready
        .iter()
        .zip(&last)
        .map(|(ready, last)| n.and(*ready, *last))
        .collect();
    let stays = n.or_all(&again);
    let oldest = matrix(n, ready, false);
    n.part("grants");
    let Some(stays) = stays else { return oldest };
    let leaves = n.not(stays);
    let grants: Vec<Net> = again
        .iter()
        .zip(oldest)
        .map(|(again, oldest)| {
            let other = n.and(oldest, leaves);
            n.or(*again, other)
        })
        .collect();
    for (last, grant) in last.iter().zip(&grants) {
        n.feed(*last, *grant);
    }
    grants
}

/// Whether any register of an instruction is among those that a warp waits for.
pub(crate) fn scoreboard(entries: u64, operands: u64, register_bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("comparators");
    let wanted: Vec<Vec<Net>> = (0..operands).map(|_| n.bus(register_bits)).collect();
    let mut hits = Vec::new();
    for _ in 0..entries {
        n.part("entries");
        let valid = n.held();
        let register: Vec<Net> = (0..register_bits).map(|_| n.held()).collect();
        n.part("comparators");
        for operand in &wanted {
            let mut same: Vec<Net> = operand
                .iter()
                .zip(&register)
                .map(|(a, b)| n.xnor(*a, *b))
                .collect();
            same.push(valid);
            hits.extend(n.and_all(&same));
        }
    }
    n.part("or tree");
    if let Some(hit) = n.or_all(&hits) {
        n.output(hit);
    }
    n
}

/// A bit for each register; every port finds the next free one behind the port before it.
pub(crate) fn free_list(entries: u64, ports: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("free bits");
    let free: Vec<Net> = (0..entries).map(|_| n.state()).collect();
    let freed = n.bus(entries);
    let mut left = free.clone();
    for _ in 0..ports {
        n.part("priority trees");
        let any = before(&mut n, &left);
        let grants = first(&mut n, &left, &any);
        n.part("encoders");
        for net in encode(&mut n, &grants) {
            n.output(net);
        }
        n.output(any[any.len() - 1]);
        n.part("free bits");
        left = left
            .iter()
            .zip(&grants)
            .map(|(left, grant)| {
                let kept = n.not(*grant);
                n.and(*left, kept)
            })
            .collect();
    }
    for ((bit, left), freed) in free.iter().zip(&left).zip(freed) {
        let next = n.or(*left, freed);
        n.feed(*bit, next);
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(mask: usize, count: usize) -> Vec<bool> {
        (0..count).map(|i| mask >> i & 1 == 1).collect()
    }

    fn granted(grants: &[bool]) -> Vec<usize> {
        (0..grants.len()).filter(|&i| grants[i]).collect()
    }

    #[test]
    fn a_priority_encoder_names_the_lowest_request() {
        for inputs in [2, 5, 8] {
            let gates = priority_encoder(inputs);
            for mask in 0..1_usize << inputs {
                let out = gates.evaluate(&requests(mask, inputs as usize), &[]);
                let (number, any) = out.split_at(out.len() - 1);
                assert_eq!(any[0], mask != 0);
                let number: usize = number
                    .iter()
                    .enumerate()
                    .map(|(bit, value)| usize::from(*value) << bit)
                    .sum();
                assert_eq!(
                    number,
                    if mask == 0 {
                        0
                    } else {
                        mask.trailing_zeros() as usize
                    }
                );
            }
        }
    }

    #[test]
    fn a_round_robin_arbiter_grants_the_next_behind_the_last() {
        let gates = arbiter(6, Fairness::RoundRobin);
        for last in 0..6_usize {
            let state: Vec<bool> = (0..6).map(|i| i > last).collect();
            for mask in 1..64_usize {
                let next = (1..=6)
                    .map(|step| (last + step) % 6)
                    .find(|&i| mask >> i & 1 == 1)
                    .unwrap();
                assert_eq!(granted(&gates.evaluate(&requests(mask, 6), &state)), [next]);
            }
        }
    }

    #[test]
    fn a_matrix_arbiter_grants_one_of_those_that_ask_by_its_order() {
        // All bits high: the lower number goes first; all low: the higher.
        let gates = arbiter(5, Fairness::Matrix);
        for mask in 1..32_usize {
            let lowest = mask.trailing_zeros() as usize;
            let highest = (usize::BITS - 1 - mask.leading_zeros()) as usize;
            assert_eq!(
                granted(&gates.evaluate(&requests(mask, 5), &[true; 10])),
                [lowest]
            );
            assert_eq!(
                granted(&gates.evaluate(&requests(mask, 5), &[false; 10])),
                [highest]
            );
        }
    }

    #[test]
    fn greedy_then_oldest_stays_with_the_last_warp_while_it_is_ready() {
        let gates = scheduler(4, Policy::Gto, 4);
        // State: last warp (one hot), then the age matrix with warp 0 oldest.
        let mut state = vec![false, false, true, false];
        state.extend([true; 6]);
        assert_eq!(granted(&gates.evaluate(&requests(0b0111, 4), &state)), [2]);
        assert_eq!(granted(&gates.evaluate(&requests(0b1010, 4), &state)), [1]);
    }

    #[test]
    fn a_free_list_hands_out_the_lowest_free_registers() {
        let gates = free_list(8, 2);
        let free = requests(0b0101_1000, 8);
        let out = gates.evaluate(&[false; 8], &free);
        let number = |bits: &[bool]| -> usize {
            bits.iter()
                .enumerate()
                .map(|(bit, value)| usize::from(*value) << bit)
                .sum()
        };
        assert_eq!((number(&out[..3]), out[3]), (3, true));
        assert_eq!((number(&out[4..7]), out[7]), (4, true));
    }
}

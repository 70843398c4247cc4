//! Faults of lanes: small kernels beside a plain model of what a stuck lane computes and who compares it with what, and what holds for every kernel.

use warpwatt::diag::Sink;
use warpwatt::inject::Golden;
use warpwatt::inject::lanes::{Campaign, Checker, Defect, Permanent, permanent, transient};
use warpwatt::study::Asked;
use warpwatt_reliability::inject::Class;

use crate::fault_injection::{Case, Directory, kernel_in};

fn checkers(case: &Case, techniques: &[&str]) -> Vec<Checker> {
    let mut sink = Sink::default();
    let techniques: Vec<String> = techniques.iter().map(|it| (*it).to_owned()).collect();
    let asked = Asked::read(&techniques, &[], &mut sink).configurations(&mut sink);
    let asked = asked.expect("techniques that there are").into_iter();
    let checker = |it: warpwatt::study::Configuration| Checker {
        check: it.stack.lane_check(&case.spec).expect("it compares"),
        label: it.label,
    };
    asked.skip(1).map(checker).collect()
}

/// A 32-bit result as it leaves the faulty lane.
fn stuck(value: u32, bit: u32, at: bool) -> u32 {
    if at {
        value | 1 << bit
    } else {
        value & !(1 << bit)
    }
}

/// A 64-bit one, in two halves.
fn stuck_wide(value: u64, bit: u32, at: bool) -> u64 {
    let halves = [value as u32, (value >> 32) as u32].map(|half| stuck(half, bit, at));
    u64::from(halves[0]) | u64::from(halves[1]) << 32
}

/// What a thread of the kernel computes, and what it leaves: results in their order, as right and as they come out.
struct Computed {
    results: Vec<(u64, u64)>,
    stored: u32,
    address: u64,
}

/// The kernel by hand; `line` is the bit of its lane that is stuck, if one is.
fn computed(thread: u32, base: u64, line: Option<(u32, bool)>) -> Computed {
    let mut results = Vec::new();
    let mut word = |right: u32| {
        let left = line.map_or(right, |(bit, at)| stuck(right, bit, at));
        results.push((u64::from(right), u64::from(left)));
        left
    };
    let lane = word(thread);
    let mixed = word(lane ^ 12345);
    let stored = word(mixed & 6);
    word(lane + 1);
    let mut wide = |right: u64| {
        let left = line.map_or(right, |(bit, at)| stuck_wide(right, bit, at));
        results.push((right, left));
        left
    };
    let offset = wide(u64::from(thread) * 4);
    let address = wide(base.wrapping_add(offset));
    Computed {
        results,
        stored,
        address,
    }
}

/// Whether a stuck line changes one of the results of a lane that is itself right.
fn changes(results: &[(u64, u64)], bit: u32, at: bool) -> bool {
    let wide = |number: usize| number >= 4;
    results
        .iter()
        .enumerate()
        .any(|(number, (right, _))| match wide(number) {
            true => stuck_wide(*right, bit, at) != *right,
            false => stuck(*right as u32, bit, at) != *right as u32,
        })
}

fn base(golden: &Golden<'_>) -> u64 {
    let mut first = None;
    for step in golden.traces[0].warp_held(0, 0) {
        if let Some(addresses) = step.addresses {
            // The parameter is read before; what counts is where the first lane stores.
            first = None;
            addresses.for_each(step.executed, |_, address| first = first.or(Some(address)));
        }
    }
    first.expect("the kernel stores")
}

/// Every line of every lane, stuck at either value, in a kernel of one whole warp.
#[test]
fn a_lane_that_checks_itself_hides_its_fault() {
    let (case, _directory) = crate::fault_injection::micro();
    let golden = case.golden();
    let base = base(&golden);
    let techniques = [
        "warped_dmr(shuffle=false, mapping=in_order)",
        "warped_dmr(mapping=in_order)",
        "full_dmr",
    ];
    let checkers = checkers(&case, &techniques);
    let places = Permanent::new(&golden, &case.spec, &checkers).unwrap();
    let mut harmful = 0;
    for lane in 0..32 {
        for (bit, at) in (0..32).flat_map(|bit| [(bit, false), (bit, true)]) {
            let what = format!("bit {bit} of lane {lane} at {at}");
            let (class, found) = places.suffer(Defect { sm: 0, lane, bit }, at).unwrap();
            let (right, left) = (
                computed(lane, base, None),
                computed(lane, base, Some((bit, at))),
            );
            let own = left.results.iter().any(|(right, left)| right != left);
            let beside = computed(lane ^ 1, base, None).results;
            assert_eq!(
                found,
                [false, own || changes(&beside, bit, at), own],
                "{what}"
            );
            assert_eq!(class == Class::Unoccupied, !own, "{what}");
            if left.address == right.address {
                let masked = left.stored == right.stored;
                assert_eq!(class == Class::Sdc, !masked, "{what}");
            } else {
                assert!(
                    matches!(class, Class::Sdc | Class::Due),
                    "{what}: {class:?}"
                );
            }
            harmful += u32::from(!matches!(class, Class::Unoccupied | Class::Masked));
        }
    }
    assert!(harmful > 200, "{harmful}");
}

/// R-Naive executes the only CTA on the same SM again, R-Thread its copy on another.
#[test]
fn copies_tell_only_where_they_are_executed_elsewhere() {
    let (case, _directory) = crate::fault_injection::micro();
    let golden = case.golden();
    let checkers = checkers(
        &case,
        &["full_dmr(design=kernel)", "full_dmr(design=threads)"],
    );
    let places = Permanent::new(&golden, &case.spec, &checkers).unwrap();
    for (lane, bit) in (0..32)
        .step_by(5)
        .flat_map(|lane| (0..32).map(move |bit| (lane, bit)))
    {
        let on = |sm| places.suffer(Defect { sm, lane, bit }, true).unwrap();
        let (class, found) = on(0);
        let stops = matches!(class, Class::Due | Class::Hang);
        let harmful = !matches!(class, Class::Unoccupied | Class::Masked);
        assert_eq!(
            found,
            [stops, harmful],
            "bit {bit} of lane {lane}: {class:?}"
        );
        // The second SM has the copies only, and the third has nothing.
        assert_eq!(on(1), (Class::Unoccupied, vec![false, harmful]));
        assert_eq!(on(2), (Class::Unoccupied, vec![false, false]));
    }
}

const DIVERGENT: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 2;
    @%p1 add.u32 %r2, %r1, 5;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r2;
    ret;
}";

/// Idle lanes find faults of those that they repeat, and their own: a plain model of table 4.1.
#[test]
fn idle_lanes_find_what_they_compute_otherwise() {
    let directory = Directory::new("divergent");
    let case = kernel_in(&directory, DIVERGENT);
    let golden = case.golden();
    let techniques = [
        "warped_dmr(shuffle=false, mapping=in_order)",
        "warped_dmr(inter=false, mapping=in_order)",
    ];
    let checkers = checkers(&case, &techniques);
    let places = Permanent::new(&golden, &case.spec, &checkers).unwrap();
    let mut shown = [0, 0];
    for lane in 0..8_u32 {
        for (bit, at) in (0..32).flat_map(|bit| [(bit, false), (bit, true)]) {
            let left = |value: u32, thread: u32| match thread == lane {
                true => stuck(value, bit, at),
                false => value,
            };
            let of = |thread: u32| left(thread, thread);
            let holds = |thread: u32| match thread == lane && bit == 0 {
                true => at,
                false => of(thread) < 2,
            };
            let first = lane / 4 * 4;
            let active: Vec<u32> = (first..first + 4).filter(|thread| holds(*thread)).collect();
            let repeated = |idle: u32| {
                let choices = [1, 2, 3].map(|choice| idle ^ choice);
                choices.into_iter().find(|thread| active.contains(thread))
            };
            let all = (0..32).filter(|thread| holds(*thread)).count() == 32;
            assert!(!all);
            let found = if active.contains(&lane) {
                let mut idle = (first..first + 4).filter(|thread| !active.contains(thread));
                let sum = of(lane) + 5;
                idle.any(|idle| repeated(idle) == Some(lane)) && stuck(sum, bit, at) != sum
            } else {
                repeated(lane).is_some_and(|other| stuck(of(other) + 5, bit, at) != of(other) + 5)
            };
            let (class, told) = places.suffer(Defect { sm: 0, lane, bit }, at).unwrap();
            assert_eq!(
                told, [found; 2],
                "bit {bit} of lane {lane} at {at}: {class:?}"
            );
            shown[usize::from(found)] += 1;
        }
    }
    assert!(shown.iter().all(|count| *count > 20), "{shown:?}");
}

fn both(case: &Case, techniques: &[&str], samples: u64, jobs: usize) -> (Campaign, Campaign) {
    let golden = case.golden();
    let checkers = checkers(case, techniques);
    let places = Permanent::new(&golden, &case.spec, &checkers).unwrap();
    let drawn = (samples, 7);
    (
        transient(&golden, &checkers, drawn, jobs, || ()).unwrap(),
        permanent(&places, true, drawn, jobs, || ()).unwrap(),
    )
}

/// One of two executions is struck: where the other one was does not matter. A stuck line strikes both if they have it.
#[test]
fn shuffling_is_for_permanent_faults() {
    let case = Case::suite("reduction", None);
    let techniques = ["warped_dmr(shuffle=false)", "warped_dmr", "full_dmr"];
    let (transient, stuck) = both(&case, &techniques, 300, 2);
    assert_eq!((transient.tally.total(), stuck.tally.total()), (300, 300));
    assert_eq!(transient.found[0], transient.found[1]);
    assert_eq!(transient.found[2].all, 300);
    assert!(transient.found[1].all > 250, "{:?}", transient.found);
    let [hidden, shuffled, beside] = [0, 1, 2].map(|at| stuck.found[at]);
    assert!(hidden.harmful < shuffled.harmful, "{:?}", stuck.found);
    assert!(shuffled.harmful <= stuck.tally.vulnerable());
    assert_eq!(
        beside.harmful,
        stuck.tally.vulnerable(),
        "every lane has a second one"
    );
}

#[test]
fn equal_seeds_find_equal_faults_on_any_number_of_threads() {
    let case = Case::suite("scan", Some("miaow"));
    let techniques = ["warped_dmr", "full_dmr(design=threads)"];
    let one = both(&case, &techniques, 100, 1);
    assert_eq!(one, both(&case, &techniques, 100, 3));
    let found = one.0.found[1];
    assert_eq!(
        found.harmful,
        one.0.tally.vulnerable(),
        "only one copy was struck"
    );
}

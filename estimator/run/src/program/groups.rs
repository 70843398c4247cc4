//! Launches of a program that are alike: a few are timed, and stand for the others.
//!
//! A group is what one kernel does with CTAs of one size, and with as many CTAs, warp instructions a CTA and active lanes a warp to half an octave. Others group by more
//! (Avalos Baddouh et al., Principal Kernel Analysis, MICRO 2021) or less (Naderan-Tahan et al., Sieve, ISPASS 2023); here what a group is does not decide how
//! good an estimate is, but how many of it are timed: the spread that is left is measured.
//!
//! The first few are timed. Then come blocks of as many launches as there were before: of each are timed as many as the spread asks for that was seen until then. So
//! nobody needs to know how many will come, and what is timed depends on nothing but the program.

use std::collections::BTreeMap;

use warpwatt_cudart::protocol::Counted;
use warpwatt_pricing::uncertainty::half_width;

/// Launches of a group that are timed before it is asked whether all have to be.
const FIRST: u64 = 4;
/// Launches that are timed of each block at least.
const LEAST: u64 = 2;

/// The launches that were met, in groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_key: BTreeMap<Key, usize>,
    groups: Vec<Group>,
    members: BTreeMap<u64, Member>,
}

/// What launches of a group have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kernel: String,
    cta_threads: u64,
    ctas: u32,
    instructions: u32,
    lanes: u32,
}

/// A launch.
#[derive(Clone, Copy, Debug)]
struct Member {
    group: usize,
    /// How many of its group came before it.
    place: u64,
    warp_instructions: u64,
}

#[derive(Debug, Default)]
struct Group {
    members: u64,
    /// Those that are timed, in the order of the program.
    picked: Vec<u64>,
    /// What was decided last.
    block: Block,
}

/// Launches of a group that follow each other, and how many of them are timed.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Place of the first; they are as many.
    start: u64,
    picks: u64,
}

/// Whether a launch is to be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is.
    Timed,
    /// Others stand for it.
    Like,
    /// That depends on launches that are not timed yet.
    Open,
}

/// What stands for a launch that was not timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// Its group, by number.
    pub group: usize,
    /// Traces, and how often each.
    pub shares: Vec<(u64, f64)>,
}

/// Half octaves below a number.
fn half_octaves(of: u64) -> u32 {
    let of = of.max(1);
    let octaves = of.ilog2();
    let square = u128::from(of).pow(2);
    2 * octaves + u32::from(square >> (2 * octaves + 1) > 0)
}

impl Key {
    fn of(counted: &Counted) -> Self {
        let ctas = counted.ctas.max(1);
        let instructions = counted.warp_instructions.max(1);
        Self {
            kernel: counted.kernel.clone(),
            cta_threads: counted.cta_threads,
            ctas: half_octaves(ctas),
            instructions: half_octaves(instructions / ctas),
            lanes: half_octaves(counted.thread_instructions / instructions),
        }
    }
}

impl Block {
    /// That which holds `place`, if the relative spread of launches before it is `sigma` and half the 95 % interval is to be `error`.
    fn of(place: u64, sigma: f64, error: f64) -> Self {
        let start = 1 << place.ilog2();
        // By random sampling the error of so many launches is small enough; this block is half of all.
        let all = (half_width(sigma) / error).powi(2);
        Self {
            start,
            picks: ((all / 2.0).ceil() as u64).clamp(LEAST, start),
        }
    }

    /// Whether the launch at `place` is timed: one of each share of the block, at multiples of the golden ratio, so that a period of the program does not meet them
    /// (Weyl's equidistributed sequence, Mathematische Annalen 77, 1916).
    fn picks(self, place: u64) -> bool {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let within = place - self.start;
        let share = ((within + 1) * self.picks - 1) / self.start;
        let bound = |share: u64| share * self.start / self.picks;
        let width = bound(share + 1) - bound(share);
        let part = (GOLDEN * (self.start + share) as f64).fract();
        within == bound(share) + (part * width as f64) as u64
    }
}

impl Groups {
    /// Whether the launch was met.
    pub fn knows(&self, id: u64) -> bool {
        self.members.contains_key(&id)
    }

    /// Takes in a launch that was not met before.
    pub fn join(&mut self, id: u64, counted: &Counted) {
        let next = self.groups.len();
        let group = *self.by_key.entry(Key::of(counted)).or_insert(next);
        if group == next {
            self.groups.push(Group::default());
        }
        let members = &mut self.groups[group].members;
        let member = Member {
            group,
            place: *members,
            warp_instructions: counted.warp_instructions,
        };
        *members += 1;
        self.members.insert(id, member);
    }

    /// Whether a launch is timed, if half an interval is to be `error`. `seconds` of others: `Some(None)` of one that could not be timed, nothing if it was not yet.
    pub fn choose(
        &mut self,
        id: u64,
        error: f64,
        seconds: impl Fn(u64) -> Option<Option<f64>>,
    ) -> Choice {
        let member = self.members[&id];
        let timed = member.place < FIRST || {
            if self.groups[member.group].block.start != 1 << member.place.ilog2() {
                let Some(rates) = self.rates(member, seconds) else {
                    return Choice::Open;
                };
                self.groups[member.group].block = Block::of(member.place, spread(&rates), error);
            }
            self.groups[member.group].block.picks(member.place)
        };
        if !timed {
            return Choice::Like;
        }
        self.groups[member.group].picked.push(id);
        Choice::Timed
    }

    /// Seconds a warp instruction of the launches that were timed before the block of `member`; nothing if one is still timed.
    fn rates(
        &self,
        member: Member,
        seconds: impl Fn(u64) -> Option<Option<f64>>,
    ) -> Option<Vec<f64>> {
        let start = 1 << member.place.ilog2();
        let picked = self.groups[member.group].picked.iter();
        let before = picked.filter(|id| self.members[id].place < start);
        let rates = before.map(|id| {
            let seconds = seconds(*id)?;
            let instructions = self.members[id].warp_instructions.max(1);
            Some(seconds.map(|seconds| seconds / instructions as f64))
        });
        let rates: Option<Vec<Option<f64>>> = rates.collect();
        Some(rates?.into_iter().flatten().collect())
    }

    /// Those that are timed of a launch's group and came before it, the nearest first, and how often each of them it would be; nothing if it is timed itself.
    pub fn before(&self, id: u64) -> Vec<(u64, f64)> {
        let Some(member) = self.members.get(&id) else {
            return Vec::new();
        };
        let picked = &self.groups[member.group].picked;
        let before = picked.partition_point(|other| self.members[other].place <= member.place);
        match picked[..before].last() == Some(&id) {
            true => Vec::new(),
            false => (picked[..before].iter().rev())
                .map(|other| (*other, self.times(*member, *other)))
                .collect(),
        }
    }

    /// How often `other` a launch would be, by its instructions.
    fn times(&self, member: Member, other: u64) -> f64 {
        let instructions = self.members[&other].warp_instructions;
        member.warp_instructions as f64 / instructions.max(1) as f64
    }

    /// What stands for each launch that is not timed: those next to it in its group, before it and behind it, of which `is_timed` holds; a launch of which it does not
    /// hold if there are none.
    pub fn likes(&self, is_timed: impl Fn(u64) -> bool) -> BTreeMap<u64, Result<Like, u64>> {
        let mut likes = BTreeMap::new();
        let timed = self.timed(&is_timed);
        for (id, member) in &self.members {
            let picked = &self.groups[member.group].picked;
            let place = |other: &u64| self.members[other].place;
            if picked.binary_search_by_key(&member.place, place).is_ok() {
                continue;
            }
            let timed = &timed[member.group];
            let behind = timed.partition_point(|(other, _)| place(other) < member.place);
            let around = [behind.checked_sub(1), Some(behind)];
            let around = around.into_iter().flatten();
            let around: Vec<u64> = around.filter_map(|it| Some(timed.get(it)?.0)).collect();
            let share = |id: &u64| (*id, self.times(*member, *id) / around.len() as f64);
            let like = Like {
                group: member.group,
                shares: around.iter().map(share).collect(),
            };
            let like = match (like.shares.is_empty(), picked.first()) {
                (true, Some(failed)) => Err(*failed),
                _ => Ok(like),
            };
            likes.insert(*id, like);
        }
        likes
    }

    /// The launches of each group of which `is_timed` holds, in the order of the program, with their warp instructions.
    pub fn timed(&self, is_timed: impl Fn(u64) -> bool) -> Vec<Vec<(u64, u64)>> {
        let of = |group: &Group| {
            let picked = group.picked.iter().copied();
            let picked = picked.filter(|id| is_timed(*id));
            picked
                .map(|id| (id, self.members[&id].warp_instructions.max(1)))
                .collect()
        };
        self.groups.iter().map(of).collect()
    }
}

/// What each figure and the next differ by, relative to their mean, by the root of two: the difference of two has twice the variance of one. Where there is nothing
/// there is no difference. By those that follow each other a drift counts little (von Neumann et al., The mean square successive difference, Annals of
/// Mathematical Statistics 12, 1941).
pub fn differences(values: &[f64]) -> Vec<f64> {
    let pairs = values.windows(2).filter(|two| two[0] + two[1] > 0.0);
    let relative = pairs.map(|two| (two[1] - two[0]) / (two[0] + two[1]));
    relative.map(|it| std::f64::consts::SQRT_2 * it).collect()
}

/// The relative standard deviation of figures that follow each other.
fn spread(values: &[f64]) -> f64 {
    let differences = differences(values);
    let squares: f64 = differences.iter().map(|it| it * it).sum();
    (squares / differences.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(kernel: &str, warp_instructions: u64) -> Counted {
        Counted {
            kernel: kernel.to_owned(),
            ctas: 8,
            cta_threads: 64,
            warp_instructions,
            thread_instructions: 32 * warp_instructions,
        }
    }

    /// Offers launches with a time each; those that are timed.
    fn offered(times: &[f64], error: f64) -> Groups {
        let mut groups = Groups::default();
        for id in 0..times.len() as u64 {
            groups.join(id, &counted("k", 1000));
            let seconds = |id: u64| Some(Some(times[id as usize]));
            assert_ne!(groups.choose(id, error, seconds), Choice::Open);
        }
        groups
    }

    fn total(groups: &Groups, times: &[f64]) -> f64 {
        let timed: f64 = groups.timed(|_| true)[0]
            .iter()
            .map(|(id, _)| times[*id as usize])
            .sum();
        let likes = groups.likes(|_| true);
        let shares = likes
            .values()
            .flat_map(|like| &like.as_ref().unwrap().shares);
        timed
            + shares
                .map(|(id, share)| share * times[*id as usize])
                .sum::<f64>()
    }

    proptest! {
        /// Every block has as many as it says, one in each share, and each launch lies in one.
        #[test]
        fn a_block_has_the_picks_that_it_says(place in 4u64..5000, sigma in 0.0..0.5f64, error in 0.001..0.5f64) {
            let block = Block::of(place, sigma, error);
            let places: Vec<u64> = (block.start..2 * block.start).filter(|place| block.picks(*place)).collect();
            prop_assert!((block.start..2 * block.start).contains(&place));
            prop_assert_eq!(places.len() as u64, block.picks);
            prop_assert!(block.picks >= LEAST);
            let shares: Vec<u64> = places.iter().map(|place| ((place - block.start + 1) * block.picks - 1) / block.start).collect();
            prop_assert!(shares.is_sorted_by(|one, next| one < next));
        }

        /// Launches that are the same are timed a few times, and their sum is exact.
        #[test]
        fn launches_that_are_the_same_come_to_as_many_times_one(count in 1usize..3000) {
            let times = vec![2.0; count];
            let groups = offered(&times, 0.02);
            let timed = groups.timed(|_| true)[0].len();
            let blocks = (count as f64).log2().ceil() as usize;
            prop_assert!(timed <= 4 + 2 * blocks);
            prop_assert!((total(&groups, &times) / (2.0 * count as f64) - 1.0).abs() < 1e-12);
        }

        /// Half octaves grow with the number, two in each octave.
        #[test]
        fn half_octaves_are_twice_the_logarithm(of in 1u64..u64::MAX) {
            prop_assert_eq!(half_octaves(of) / 2, of.ilog2());
            prop_assert!(half_octaves(of) <= half_octaves(of.saturating_add(1)));
        }
    }

    #[test]
    fn more_are_timed_of_what_spreads_and_a_period_is_not_met() {
        // Two kinds by turns, 20 % apart.
        let times: Vec<f64> = (0..4096).map(|n| 1.0 + 0.2 * f64::from(n % 2)).collect();
        let groups = offered(&times, 0.02);
        let timed = groups.timed(|_| true)[0].len();
        assert!((200..900).contains(&timed), "{timed}");
        let exact: f64 = times.iter().sum();
        assert!((total(&groups, &times) / exact - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_drift_is_followed() {
        let times: Vec<f64> = (0..1000).map(|n| 1.0 + f64::from(n) / 1000.0).collect();
        let groups = offered(&times, 0.02);
        let exact: f64 = times.iter().sum();
        assert!((total(&groups, &times) / exact - 1.0).abs() < 0.03);
        assert!(groups.timed(|_| true)[0].len() < 60);
    }

    #[test]
    fn a_block_waits_for_those_before_it_and_a_fault_stands_for_what_is_like_it() {
        let mut groups = Groups::default();
        for id in 0..4 {
            groups.join(id, &counted("k", 1000 + id));
            assert_eq!(groups.choose(id, 0.02, |_| None), Choice::Timed);
        }
        groups.join(4, &counted("k", 1000));
        assert_eq!(groups.choose(4, 0.02, |_| None), Choice::Open);
        let choices: Vec<Choice> = (4..8)
            .map(|id| {
                if id > 4 {
                    groups.join(id, &counted("k", 1000));
                }
                groups.choose(id, 0.02, |_| Some(None))
            })
            .collect();
        let like = choices.iter().position(|it| *it == Choice::Like).unwrap() as u64 + 4;
        assert_eq!(groups.likes(|_| false)[&like], Err(0));
        assert_eq!(groups.before(0), []);
        assert!(groups.before(like).len() >= 4);
        // Other kernels, shapes and lengths are other groups.
        groups.join(8, &counted("other", 1000));
        groups.join(9, &counted("k", 2000));
        assert_eq!(groups.timed(|_| true).len(), 3);
    }
}

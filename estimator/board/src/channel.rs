//! What a board's dynamic power is made of: kinds of events, each with the counters of ours that one of them moves.

use warpwatt_activity::Activity;
use warpwatt_gpu::GpuSpec;

/// A kind of event that costs energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// A warp instruction: fetched, decoded, issued.
    Issue,
    /// A lane's operation on whole numbers, without multiplications.
    Int,
    /// A lane's multiplication of whole numbers.
    IntMul,
    /// A lane's operation in single precision.
    Fp32,
    /// A lane's operation in double precision.
    Fp64,
    /// A lane's special function.
    Sfu,
    /// A multiply-add of a tensor unit.
    Tensor,
    /// A pass through shared memory: up to a warp's words.
    Shared,
    /// A sector read in the first-level cache.
    L1,
    /// A constant broadcast to a warp.
    Constant,
    /// A lane's texel.
    Texture,
    /// A sector moved between the second-level cache and an SM.
    L2,
    /// A sector moved between DRAM and the chip.
    Dram,
}

/// How many kinds there are.
pub const CHANNELS: usize = Channel::ALL.len();

/// Events whose energy is measured in one: a thousand warps' worth, so that shares of events are whole.
const WARPS: f64 = 1000.0;
/// Sectors of a row of DRAM that are moved while it is open. Assumed: half a kibibyte.
const SECTORS_A_ROW: f64 = 16.0;

impl Channel {
    /// All of them, in the order in which rates and energies are kept.
    pub const ALL: [Self; 13] = [
        Self::Issue,
        Self::Int,
        Self::IntMul,
        Self::Fp32,
        Self::Fp64,
        Self::Sfu,
        Self::Tensor,
        Self::Shared,
        Self::L1,
        Self::Constant,
        Self::Texture,
        Self::L2,
        Self::Dram,
    ];

    /// Its name in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Int => "int",
            Self::IntMul => "int_mul",
            Self::Fp32 => "fp32",
            Self::Fp64 => "fp64",
            Self::Sfu => "sfu",
            Self::Tensor => "tensor",
            Self::Shared => "shared",
            Self::L1 => "l1",
            Self::Constant => "constant_cache",
            Self::Texture => "texture",
            Self::L2 => "l2",
            Self::Dram => "dram",
        }
    }

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Issue => "instructions issued",
            Self::Int => "whole numbers",
            Self::IntMul => "multiplications of whole numbers",
            Self::Fp32 => "single precision",
            Self::Fp64 => "double precision",
            Self::Sfu => "special functions",
            Self::Tensor => "tensor units",
            Self::Shared => "shared memory",
            Self::L1 => "first-level cache",
            Self::Constant => "constants",
            Self::Texture => "textures",
            Self::L2 => "second-level cache",
            Self::Dram => "DRAM",
        }
    }

    /// The one of that name.
    pub fn named(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.key() == key)
    }

    /// Whether what its operands are decides what it takes: the same bits again and again switch little.
    pub fn computes(self) -> bool {
        matches!(
            self,
            Self::Int | Self::IntMul | Self::Fp32 | Self::Fp64 | Self::Sfu | Self::Tensor
        )
    }

    /// Whether what it computes with is floating point.
    pub fn floats(self) -> bool {
        self.computes() && !matches!(self, Self::Int | Self::IntMul)
    }

    /// Events of this kind that [`Self::events`] stand for.
    pub fn batch(self) -> f64 {
        WARPS * 32.0
    }

    /// Counts of our model that so many events of the kind move on `gpu`.
    pub fn events(self, gpu: &GpuSpec) -> Activity {
        let batch = self.batch();
        let recipe = self.recipe(gpu).into_iter();
        let counts: Vec<(&str, u64)> = recipe
            .map(|(counter, each)| (counter, (each * batch).round() as u64))
            .collect();
        counts.into_iter().collect()
    }

    /// Counters that one event moves, and how far.
    fn recipe(self, gpu: &GpuSpec) -> Vec<(&'static str, f64)> {
        let lane = |unit, reads: f64| operands(gpu, unit, reads);
        match self {
            Self::Issue => ISSUE.to_vec(),
            Self::Int => with(lane(Unit::Int, 2.0), &[("int_add.read", 1.0)]),
            Self::IntMul => with(lane(Unit::Int, 3.0), &[("int_mul.read", 1.0)]),
            Self::Fp32 => with(lane(Unit::Sp, 3.0), &[("fp32_mul.read", 1.0)]),
            Self::Fp64 => with(lane(Unit::Fp64, 6.0), &[("fp64.read", 1.0)]),
            Self::Sfu => with(lane(Unit::Sfu, 1.0), &[("sfu.read", 1.0)]),
            Self::Tensor => vec![("tensor_multiply_adds", 1.0)],
            Self::Shared => with(
                MOVED.iter().map(|&(name, each)| (name, 32.0 * each)),
                &[("shared_words", 32.0)],
            ),
            Self::L1 => with(
                MOVED.iter().map(|&(name, each)| (name, 8.0 * each)),
                &[("l1_lookups", 0.25), ("l1_read_hits", 1.0)],
            ),
            Self::Constant => with(
                [("register_words_written", 32.0)],
                &[("constant_accesses", 1.0)],
            ),
            Self::Texture => with(
                MOVED.iter().copied(),
                &[("l1_lookups", 0.03125), ("l1_read_hits", 0.125)],
            ),
            Self::L2 => vec![
                ("load_transactions", 1.0),
                ("load_bytes", 32.0),
                ("l2_reads", 1.0),
                ("l2_read_hits", 1.0),
                ("l1_read_misses", 1.0),
            ],
            Self::Dram => vec![
                ("l2_read_misses", 1.0),
                ("dram_reads", 1.0),
                ("dram_row_misses", 1.0 / SECTORS_A_ROW),
            ],
        }
    }

    /// How many events of the kind a run counted.
    pub fn counted(self, activity: &Activity) -> f64 {
        let names: &[&str] = match self {
            Self::Issue => &["warp_instructions"],
            Self::Int => &["int_add.read"],
            Self::IntMul => &["int_mul.read"],
            Self::Fp32 => &["fp32_add.read", "fp32_mul.read"],
            Self::Fp64 => &["fp64.read"],
            Self::Sfu => &["sfu.read"],
            Self::Tensor => &["tensor_multiply_adds"],
            Self::Shared => &["shared_passes"],
            Self::L1 => &["l1_reads"],
            Self::Constant => &["constant_accesses"],
            Self::Texture => &["texture_reads"],
            Self::L2 => &["l2_reads", "l2_writes"],
            Self::Dram => &["l2_read_misses", "l2_write_backs"],
        };
        names.iter().map(|name| activity.get(name) as f64).sum()
    }
}

/// What issuing a warp instruction moves. A fetch brings two instructions.
const ISSUE: [(&str, f64); 10] = [
    ("warp_instructions", 1.0),
    ("fetches", 1.0),
    ("fetch_grants", 0.5),
    ("icache.tag.read", 0.5),
    ("icache.data.read", 0.5),
    ("instruction_buffer.read", 1.0),
    ("instruction_buffer.write", 1.0),
    ("scoreboard.read", 1.0),
    ("scoreboard.write", 2.0),
    ("issued_int", 1.0),
];

/// What a lane's word moves between memory and its register: an address, a word, a thirty-second of a cycle of the load-store unit.
const MOVED: [(&str, f64); 4] = [
    ("address_lanes", 1.0),
    ("register_words_read", 1.0),
    ("register_words_written", 1.0),
    ("ldst_busy_cycles", 1.0 / 32.0),
];

/// Units of lanes that are clocked on their own.
#[derive(Clone, Copy)]
enum Unit {
    Sp,
    Int,
    Sfu,
    Fp64,
}

/// What a lane's operation moves beside its arithmetic: so many operands and a result, and its share of the cycles in which its unit works on a warp.
fn operands(gpu: &GpuSpec, unit: Unit, reads: f64) -> Vec<(&'static str, f64)> {
    let (chip, units) = (&gpu.chip, &gpu.units);
    let (busy, count, lanes) = match unit {
        Unit::Sp => ("sp_busy_cycles", units.sp.count, chip.fp32_lanes),
        Unit::Int if units.int.count > 0 && chip.int_lanes > 0 => {
            ("int_busy_cycles", units.int.count, chip.int_lanes)
        }
        Unit::Int => ("sp_busy_cycles", units.sp.count, chip.fp32_lanes),
        Unit::Sfu => ("sfu_busy_cycles", units.sfu.count, chip.sfu_lanes),
        Unit::Fp64 => ("fp64_busy_cycles", units.fp64.count, chip.fp64_lanes),
    };
    vec![
        ("register_words_read", reads),
        ("register_words_written", (reads / 3.0).ceil()),
        ("operand_buffer.read", reads / 32.0),
        ("operand_buffer.write", reads / 32.0),
        (busy, f64::from(count) / f64::from(lanes.max(1))),
    ]
}

fn with<'a>(
    some: impl IntoIterator<Item = (&'a str, f64)>,
    more: &[(&'a str, f64)],
) -> Vec<(&'a str, f64)> {
    some.into_iter().chain(more.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_gpu::COUNTERS;

    fn is_counted(name: &str) -> bool {
        COUNTERS.iter().any(|counter| counter.name == name)
    }

    #[test]
    fn what_an_event_moves_is_what_the_model_counts() {
        let gpu = GpuSpec::preset("titan-v").unwrap();
        for channel in Channel::ALL {
            for (name, each) in channel.recipe(&gpu) {
                assert!(is_counted(name), "{}: `{name}`", channel.key());
                assert!(each > 0.0);
            }
        }
    }

    /// A run of events of one kind alone counts them as that kind.
    #[test]
    fn events_are_counted_back() {
        let gpu = GpuSpec::preset("titan-v").unwrap();
        let counted = [
            Channel::Issue,
            Channel::Int,
            Channel::IntMul,
            Channel::Fp32,
            Channel::Fp64,
            Channel::Sfu,
            Channel::Tensor,
        ];
        for channel in counted {
            let events = channel.events(&gpu);
            approx::assert_relative_eq!(channel.counted(&events), channel.batch());
        }
    }

    #[test]
    fn every_kind_has_a_price_on_every_board_that_has_it() {
        for name in crate::shipped::names() {
            let board = crate::shipped::shipped(name).unwrap();
            let gpu = board.gpu().unwrap();
            let prices = crate::own::prices(&board.facts, &gpu).unwrap();
            for channel in Channel::ALL {
                let picojoules = 1e12 * prices[channel as usize].energy_j;
                let (least, most) = match channel {
                    Channel::Tensor | Channel::Texture => (0.01, 50.0),
                    Channel::Dram => (300.0, 8000.0),
                    Channel::Shared | Channel::L2 => (20.0, 1000.0),
                    Channel::Issue | Channel::L1 | Channel::Constant => (3.0, 300.0),
                    _ => (0.5, 100.0),
                };
                assert!(
                    (least..most).contains(&picojoules),
                    "{name} {}: {picojoules} pJ",
                    channel.key()
                );
            }
        }
    }
}

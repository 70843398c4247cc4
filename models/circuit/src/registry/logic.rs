//! Blocks of static gates.

use super::{Block, Parameter, Values, count, word};
use crate::logic::{Carry, Code, Fairness, GateCounts, LogicBlock, LogicSpec, Policy, Side};
use crate::{ComparatorSpec, MuxSpec, SelectSpec, Spec};

const ACTIVITY: Parameter = count(
    "activity",
    "50",
    0,
    100,
    "percent of the input bits that change from one operation to the next",
);

/// Gates of one kind.
const MOST_GATES: u64 = 100_000;

fn spec(values: &Values, block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: values.count("activity") as u8,
    })
}

fn fairness(values: &Values) -> Fairness {
    if values.word("fairness") == "matrix" {
        Fairness::Matrix
    } else {
        Fairness::RoundRobin
    }
}

pub(super) const BLOCKS: &[Block] = &[
    Block {
        name: "parity",
        summary: "Parity of a word: a balanced tree of exclusive-ors",
        operation: "one word",
        parameters: &[count("width", "32", 2, 4096, "bits of the word"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::Parity {
                    bits: v.count("width"),
                    stages: 1,
                },
            )
        },
    },
    Block {
        name: "secded",
        summary: "Corrects one error and mostly detects two, or one more of each: generator, detector, or checker with corrector, of the actual check matrix",
        operation: "one word encoded, or checked and corrected",
        parameters: &[
            count(
                "width",
                "32",
                1,
                1024,
                "data bits; check bits are added by the code",
            ),
            word(
                "code",
                &["hsiao", "hamming", "sec", "dected"],
                "columns of odd weight, Hamming's with an overall parity, Hamming's alone, which detects no second error, or an extended BCH code, which corrects two errors and detects three, of 128 bits at the most",
            ),
            word("side", &["checker", "generator", "detector"], "which side"),
            ACTIVITY,
        ],
        make: |v| {
            let code = match v.word("code") {
                "hamming" => Code::Hamming,
                "sec" => Code::Sec,
                "dected" => Code::Dected,
                _ => Code::Hsiao,
            };
            let side = match v.word("side") {
                "generator" => Side::Generator,
                "detector" => Side::Detector,
                _ => Side::Checker,
            };
            spec(
                v,
                LogicBlock::Secded {
                    bits: v.count("width"),
                    code,
                    side,
                    stages: 1,
                },
            )
        },
    },
    Block {
        name: "equality",
        summary: "Whether two words are equal",
        operation: "one comparison",
        parameters: &[count("width", "32", 2, 4096, "bits of each word"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::Equality {
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "magnitude",
        summary: "Which of two numbers is greater, and whether they are equal",
        operation: "one comparison",
        parameters: &[
            count("width", "32", 2, 4096, "bits of each number"),
            ACTIVITY,
        ],
        make: |v| {
            spec(
                v,
                LogicBlock::Magnitude {
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "priority_encoder",
        summary: "Number of the lowest request, and whether there is one",
        operation: "one choice",
        parameters: &[count("inputs", "32", 2, 4096, "requests"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::PriorityEncoder {
                    inputs: v.count("inputs"),
                },
            )
        },
    },
    Block {
        name: "decoder",
        summary: "One line of two to the power of the width, with predecoders of three bits",
        operation: "one address",
        parameters: &[count("width", "5", 1, 12, "address bits"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::Decoder {
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "multiplexer",
        summary: "One of several words by a binary select",
        operation: "one word",
        parameters: &[
            count("inputs", "4", 2, 1024, "words"),
            count("width", "32", 1, 4096, "bits of a word"),
            ACTIVITY,
        ],
        make: |v| {
            spec(
                v,
                LogicBlock::Multiplexer {
                    inputs: v.count("inputs"),
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "forwarding_unit",
        summary: "Register forwarding unit of Warped-DMR: each lane takes its own operand, or that of an active lane of its cluster",
        operation: "one operand of every lane of the cluster",
        parameters: &[
            count("lanes", "4", 2, 32, "lanes of a cluster, a power of two"),
            count("width", "32", 1, 1024, "bits of an operand"),
            ACTIVITY,
        ],
        make: |v| {
            spec(
                v,
                LogicBlock::ForwardingUnit {
                    lanes: v.count("lanes"),
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "adder",
        summary: "Sum of two words and a carry",
        operation: "one addition",
        parameters: &[
            count("width", "32", 1, 1024, "bits of each word"),
            word(
                "carry",
                &["prefix", "ripple"],
                "how carries travel: through Sklansky's tree or from bit to bit",
            ),
            ACTIVITY,
        ],
        make: |v| {
            let carry = if v.word("carry") == "ripple" {
                Carry::Ripple
            } else {
                Carry::Prefix
            };
            spec(
                v,
                LogicBlock::Adder {
                    bits: v.count("width"),
                    carry,
                },
            )
        },
    },
    Block {
        name: "shifter",
        summary: "A word shifted left by any distance: stages of 2:1 multiplexers",
        operation: "one shift",
        parameters: &[count("width", "32", 2, 1024, "bits of the word"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::Shifter {
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "counter",
        summary: "A register that counts up by one",
        operation: "one cycle",
        parameters: &[count("width", "16", 1, 256, "bits"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::Counter {
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "arbiter",
        summary: "A fair arbiter: one grant among requests",
        operation: "one arbitration",
        parameters: &[
            count("inputs", "16", 2, 256, "requests"),
            word(
                "fairness",
                &["round_robin", "matrix"],
                "a pointer behind the last grant, or who was served longest ago",
            ),
            ACTIVITY,
        ],
        make: |v| {
            spec(
                v,
                LogicBlock::Arbiter {
                    inputs: v.count("inputs"),
                    fairness: fairness(v),
                },
            )
        },
    },
    Block {
        name: "scheduler",
        summary: "Warp scheduler: which ready warp issues",
        operation: "one issue slot",
        parameters: &[
            count("warps", "48", 2, 128, "warps"),
            word(
                "policy",
                &["lrr", "gto", "two_level"],
                "loose round robin, greedy then oldest, or a small active set",
            ),
            count("active", "8", 2, 128, "warps of the active set (two_level)"),
            ACTIVITY,
        ],
        make: |v| {
            let policy = match v.word("policy") {
                "gto" => Policy::Gto,
                "two_level" => Policy::TwoLevel,
                _ => Policy::Lrr,
            };
            spec(
                v,
                LogicBlock::Scheduler {
                    warps: v.count("warps"),
                    policy,
                    active: v.count("active"),
                },
            )
        },
    },
    Block {
        name: "scoreboard",
        summary: "Registers that one warp waits for, compared with those of an instruction",
        operation: "one check",
        parameters: &[
            count(
                "entries",
                "6",
                1,
                256,
                "registers that may be waited for at once",
            ),
            count("operands", "4", 1, 8, "registers of an instruction"),
            count("register_bits", "8", 1, 16, "bits of a register's number"),
            ACTIVITY,
        ],
        make: |v| {
            let (entries, operands) = (v.count("entries"), v.count("operands"));
            spec(
                v,
                LogicBlock::Scoreboard {
                    entries,
                    operands,
                    register_bits: v.count("register_bits"),
                },
            )
        },
    },
    Block {
        name: "free_list",
        summary: "Free registers as a bit vector; each port finds the next free one",
        operation: "one cycle in which every port hands one out",
        parameters: &[
            count("entries", "256", 2, 4096, "registers"),
            count("ports", "1", 1, 8, "registers handed out in one cycle"),
            ACTIVITY,
        ],
        make: |v| {
            spec(
                v,
                LogicBlock::FreeList {
                    entries: v.count("entries"),
                    ports: v.count("ports"),
                },
            )
        },
    },
    Block {
        name: "renaming_table",
        summary: "Renaming table in flip-flops",
        operation: "one cycle in which every port works",
        parameters: &[
            count("entries", "64", 1, 1024, "names"),
            count("width", "10", 1, 64, "bits of what they stand for"),
            count("reads", "3", 1, 32, "names looked up in one cycle"),
            count("writes", "1", 1, 32, "names changed in one cycle"),
            ACTIVITY,
        ],
        make: |v| {
            let ports = (v.count("reads") as u32, v.count("writes") as u32);
            let block = LogicBlock::RenamingTable {
                entries: v.count("entries"),
                bits: v.count("width"),
                reads: ports.0,
                writes: ports.1,
            };
            spec(v, block)
        },
    },
    Block {
        name: "replay_queue",
        summary: "ReplayQ of Warped-DMR: instructions that wait for their second execution",
        operation: "one instruction written and one read",
        parameters: &[
            count("entries", "10", 1, 64, "instructions"),
            count(
                "width",
                "4128",
                1,
                65_536,
                "bits of an instruction with its operands and result",
            ),
            count("lanes", "32", 1, 1024, "lanes that each keep their slice"),
            ACTIVITY,
        ],
        make: |v| {
            let (entries, bits) = (v.count("entries"), v.count("width"));
            spec(
                v,
                LogicBlock::ReplayQueue {
                    entries,
                    bits,
                    lanes: v.count("lanes"),
                },
            )
        },
    },
    Block {
        name: "operand_collector",
        summary: "Operand collectors with the arbiters in front of the register banks",
        operation: "one operand taken in, one instruction sent on",
        parameters: &[
            count("units", "4", 1, 32, "collectors"),
            count("operands", "3", 1, 4, "operands of an instruction"),
            count("width", "1024", 1, 4096, "bits of an operand of a warp"),
            count("banks", "16", 1, 64, "register banks"),
            ACTIVITY,
        ],
        make: |v| {
            let (units, operands) = (v.count("units"), v.count("operands"));
            spec(
                v,
                LogicBlock::OperandCollector {
                    units,
                    operands,
                    bits: v.count("width"),
                    banks: v.count("banks"),
                },
            )
        },
    },
    Block {
        name: "register",
        summary: "Pipeline register, clocked in every cycle",
        operation: "one cycle",
        parameters: &[count("width", "32", 1, 65_536, "bits"), ACTIVITY],
        make: |v| {
            spec(
                v,
                LogicBlock::Register {
                    bits: v.count("width"),
                },
            )
        },
    },
    Block {
        name: "flop_file",
        summary: "Register file in flip-flops with multiplexed read ports and a write port, without its clock",
        operation: "a read through one port",
        parameters: &[
            count("words", "64", 2, 4096, "words"),
            count("width", "32", 1, 64, "bits of a word"),
            count("reads", "3", 1, 8, "read ports"),
            ACTIVITY,
        ],
        make: |v| {
            let reads = v.count("reads") as u32;
            spec(
                v,
                LogicBlock::FlopFile {
                    words: v.count("words"),
                    bits: v.count("width"),
                    reads,
                },
            )
        },
    },
    Block {
        name: "counted",
        summary: "Logic of which a synthesis counted the gates, connected at random; its delay means nothing",
        operation: "one evaluation",
        parameters: &[
            count("and", "0", 0, MOST_GATES, "AND gates of two inputs"),
            count(
                "aoi",
                "0",
                0,
                MOST_GATES,
                "gates that compute not (a b or c)",
            ),
            count("mux", "0", 0, MOST_GATES, "2:1 multiplexers"),
            count(
                "nand",
                "1000",
                0,
                MOST_GATES,
                "NAND gates of two inputs; all others are zero unless something is said",
            ),
            count("nor", "0", 0, MOST_GATES, "NOR gates of two inputs"),
            count("not", "0", 0, MOST_GATES, "inverters"),
            count(
                "oai",
                "0",
                0,
                MOST_GATES,
                "gates that compute not ((a or b) c)",
            ),
            count("or", "0", 0, MOST_GATES, "OR gates of two inputs"),
            count("xnor", "0", 0, MOST_GATES, "exclusive NOR gates"),
            count("xor", "0", 0, MOST_GATES, "exclusive OR gates"),
            count(
                "flops",
                "0",
                0,
                MOST_GATES,
                "flip-flops, without what the clock does to them",
            ),
            ACTIVITY,
        ],
        make: |v| {
            let gates = GateCounts {
                and: v.count("and"),
                aoi: v.count("aoi"),
                mux: v.count("mux"),
                nand: v.count("nand"),
                nor: v.count("nor"),
                not: v.count("not"),
                oai: v.count("oai"),
                or: v.count("or"),
                xnor: v.count("xnor"),
                xor: v.count("xor"),
                flops: v.count("flops"),
            };
            spec(v, LogicBlock::Counted { gates })
        },
    },
    Block {
        name: "mux",
        summary: "2:1 multiplexer out of NAND2 gates: the one between a filter cache and the I-cache",
        operation: "one word",
        parameters: &[count("width", "64", 1, 65_536, "bits of a word")],
        make: |v| {
            Spec::Mux(MuxSpec {
                bits: v.count("width"),
            })
        },
    },
    Block {
        name: "select",
        summary: "Round-robin select tree out of NAND2 gates",
        operation: "one choice",
        parameters: &[count("inputs", "32", 1, 65_536, "requests")],
        make: |v| {
            Spec::Select(SelectSpec {
                inputs: v.count("inputs"),
            })
        },
    },
    Block {
        name: "comparator",
        summary: "Equality comparator out of NAND2 gates; `equality` is a netlist instead",
        operation: "one pair",
        parameters: &[count("width", "32", 1, 65_536, "bits of a word")],
        make: |v| {
            Spec::Comparator(ComparatorSpec {
                bits: v.count("width"),
            })
        },
    },
];

//! Functional units.

use super::{Block, Parameter, Values, count, word};
use crate::Spec;
use crate::units::{McpatBlock, McpatSpec, Operation, Precision, UnitSpec};

const ALL: &[&str] = &[
    "fp32", "int8", "int16", "int32", "int64", "fp16", "bf16", "fp64",
];
const WHOLE: &[&str] = &["int32", "int8", "int16", "int64"];
const FLOATING: &[&str] = &["fp32", "fp16", "bf16", "fp64"];
const MATRIX: &[&str] = &["fp16", "bf16", "int8", "fp32", "fp64"];

/// The first is what stays a figure of arithmetic alone.
const SCOPES: &[&str] = &["datapath", "unit"];

const fn scope() -> Parameter {
    word(
        "scope",
        SCOPES,
        "arithmetic alone, or a unit as products have it, with the registers of its stages, operand latches and control",
    )
}

const fn precision(words: &'static [&'static str]) -> Parameter {
    word("precision", words, "kind and width of the operands")
}

fn unit(values: &Values, operation: Operation) -> Spec {
    let precision = match values.word("precision") {
        "int8" => Precision::Int8,
        "int16" => Precision::Int16,
        "int32" => Precision::Int32,
        "int64" => Precision::Int64,
        "fp16" => Precision::Fp16,
        "bf16" => Precision::Bf16,
        "fp64" => Precision::Fp64,
        _ => Precision::Fp32,
    };
    let macs = values.count("macs").max(1) as u32;
    let spec = UnitSpec {
        operation,
        precision,
        macs,
    };
    match values.word("scope") {
        "unit" => Spec::Unit(spec),
        _ => Spec::Datapath(spec),
    }
}

pub(super) const BLOCKS: &[Block] = &[
    Block {
        name: "add",
        summary: "Addition, subtraction, comparison: the datapath of one lane, from published figures",
        operation: "one operation of a lane",
        parameters: &[precision(ALL)],
        make: |v| unit(v, Operation::Add),
    },
    Block {
        name: "mul",
        summary: "Multiplication: the datapath of one lane, from published figures",
        operation: "one operation of a lane",
        parameters: &[precision(ALL)],
        make: |v| unit(v, Operation::Mul),
    },
    Block {
        name: "mad",
        summary: "Multiply-add of whole numbers: the datapath of one lane, from published figures",
        operation: "one operation of a lane",
        parameters: &[precision(WHOLE)],
        make: |v| unit(v, Operation::Mad),
    },
    Block {
        name: "fma",
        summary: "Fused multiply-add of floating-point numbers, of one lane, from published figures",
        operation: "one operation of a lane",
        parameters: &[precision(FLOATING), scope()],
        make: |v| unit(v, Operation::Fma),
    },
    Block {
        name: "sfu",
        summary: "Special function (reciprocal, root, exponential, sine), of one lane",
        operation: "one operation of a lane",
        parameters: &[precision(&["fp32"]), scope()],
        make: |v| unit(v, Operation::Sfu),
    },
    Block {
        name: "mma",
        summary: "Matrix multiply-add of a tensor core, from published figures",
        operation: "all multiply-adds of one step",
        parameters: &[
            precision(MATRIX),
            scope(),
            count("macs", "64", 1, 65_536, "multiply-adds of a step"),
        ],
        make: |v| unit(v, Operation::Mma),
    },
    Block {
        name: "address",
        summary: "Address of a load or store: base plus offset",
        operation: "one address",
        parameters: &[precision(&["int64", "int32"])],
        make: |v| unit(v, Operation::Address),
    },
    Block {
        name: "mcpat",
        summary: "A functional unit or a pipeline flip-flop as McPAT 1.3 has it, for laying beside that tool; use it with the library itrs",
        operation: "one operation; of the flip-flop one cycle",
        parameters: &[
            word("unit", &["alu", "mul", "fpu", "flip_flop"], "which"),
            word("core", &["ordinary", "embedded"], "of which kind of core"),
        ],
        make: |v| {
            let block = match v.word("unit") {
                "mul" => McpatBlock::Mul,
                "fpu" => McpatBlock::Fpu,
                "flip_flop" => McpatBlock::FlipFlop,
                _ => McpatBlock::Alu,
            };
            Spec::Mcpat(McpatSpec {
                block,
                embedded: v.word("core") == "embedded",
            })
        },
    },
];

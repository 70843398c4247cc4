//! Random structured programs with divergence, loops and early exits, and their traces.

use proptest::prelude::*;
use warpwatt_simt::trace::KernelTrace;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// A step of a random program on eight words.
#[derive(Clone, Debug)]
pub enum Step {
    /// `a = b + 3 c`.
    Add([usize; 3]),
    /// The same where a bit of a word is set.
    Guarded(usize, [usize; 3]),
    /// Shows a word.
    Show(usize),
    /// Reads back what was shown last.
    Load(usize),
    /// One list of steps where a bit of a word is set, else the other.
    Branch(usize, Vec<Step>, Vec<Step>),
    /// The steps as often as the lower bits of a word say, and once.
    Loop(usize, Vec<Step>),
    /// Lanes leave the program where a bit of a word is set.
    Leave(usize),
}

/// Random steps.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let word = || 0..8usize;
    let three = || [word(), word(), word()];
    let leaf = prop_oneof![
        4 => three().prop_map(Step::Add),
        1 => (word(), three()).prop_map(|(by, three)| Step::Guarded(by, three)),
        2 => word().prop_map(Step::Show),
        1 => word().prop_map(Step::Load),
        1 => word().prop_map(Step::Leave),
    ];
    let step = leaf.prop_recursive(4, 40, 6, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            2 => (word(), list(), list()).prop_map(|(by, yes, no)| Step::Branch(by, yes, no)),
            1 => (word(), list()).prop_map(|(by, body)| Step::Loop(by, body)),
        ]
    });
    prop::collection::vec(step, 1..24)
}

/// PTX of the steps; `labels` counts those used. Loops have counters of their own.
fn write(steps: &[Step], labels: &mut usize, to: &mut String) {
    let test = |by: &usize, bit: u32| {
        format!("shr.u32 %t, %r{by}, {bit}; and.b32 %t, %t, 1; setp.ne.u32 %p, %t, 0;\n")
    };
    for step in steps {
        match step {
            Step::Add([a, b, c]) => *to += &format!("mad.lo.u32 %r{a}, %r{c}, 3, %r{b};\n"),
            Step::Guarded(by, [a, b, c]) => {
                *to += &format!("{}@%p mad.lo.u32 %r{a}, %r{c}, 3, %r{b};\n", test(by, 0))
            }
            Step::Show(a) => *to += &format!("st.global.u32 [%d], %r{a};\n"),
            Step::Load(a) => *to += &format!("ld.global.u32 %r{a}, [%d];\n"),
            Step::Leave(by) => *to += &format!("{}@%p exit;\n", test(by, 4)),
            Step::Branch(by, yes, no) => {
                *labels += 1;
                let label = *labels;
                *to += &format!("{}@%p bra $a{label};\n", test(by, 1));
                write(no, labels, to);
                *to += &format!("bra $b{label};\n$a{label}:\n");
                write(yes, labels, to);
                *to += &format!("$b{label}:\n");
            }
            Step::Loop(by, body) => {
                *labels += 1;
                let label = *labels;
                *to += &format!("and.b32 %c{label}, %r{by}, 3;\n$l{label}:\n");
                write(body, labels, to);
                *to += &format!(
                    "setp.ne.u32 %p, %c{label}, 0; sub.u32 %c{label}, %c{label}, 1;\n@%p bra $l{label};\n"
                );
            }
        }
    }
}

/// The trace of a warp that executes the steps.
pub fn traced(steps: &[Step]) -> KernelTrace {
    let mut text = String::from(
        ".version 8.0 .target sm_80 .address_size 64\n.visible .entry k(.param .u64 o) { .reg .pred %p; .reg .u32 %r<8>; .reg .u32 %c<999>; .reg .u64 %d; .reg .u32 %t;\n",
    );
    text += "ld.param.u64 %d, [o]; mov.u32 %t, %tid.x; mad.wide.u32 %d, %t, 4, %d;\n";
    (0..8).for_each(|at| text += &format!("mad.lo.u32 %r{at}, %t, {}, {at};\n", 2 * at + 1));
    write(steps, &mut 0, &mut text);
    let module = warpwatt_ptx::load(&(text + "ret; }")).unwrap();
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("o", vec![0; 128]);
    let launch = Launch {
        entry: "k",
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let execution = execute(&module, &launch, &mut memory, &Options::default()).unwrap();
    execution.trace.unwrap()
}

//! Kernels on fewer registers than they would take: the same results, with values in local memory.

use proptest::prelude::*;
use warpwatt_ptx::{Entry, Module};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};
use warpwatt_suite::{CaseRun, Kernel, RunOptions, kernels, run_case};

fn module(kernel: &Kernel) -> Module {
    warpwatt_ptx::load(kernel.ptx).unwrap()
}

/// The module with each entry on as many registers as `limit` says.
fn limited(module: &Module, limit: impl Fn(&Entry) -> u32) -> Module {
    let mut limited = module.clone();
    for entry in &mut limited.entries {
        let registers = limit(entry);
        *entry = entry.with_registers(registers).unwrap();
        assert!(entry.registers <= registers, "{}", entry.name);
    }
    limited
}

fn run(kernel: &Kernel, module: &Module) -> CaseRun {
    let (case, prepared) = kernel.prepare(Some("default")).unwrap();
    let options = RunOptions {
        record: false,
        limit: 1_000_000_000,
        ..RunOptions::default()
    };
    let run = run_case(module, &case, &prepared, options).unwrap();
    assert!(run.passed(), "{}: {:?}", kernel.name, run.mismatches);
    assert!(run.outputs_compared > 0, "{}", kernel.name);
    run
}

/// Each kernel of the suite under a tight limit, and under the tightest.
#[test]
fn every_kernel_computes_the_same_on_fewer_registers() {
    for kernel in kernels() {
        let module = module(kernel);
        let tight = limited(&module, |entry| {
            (entry.registers * 3 / 5).max(entry.least_registers())
        });
        let tightest = limited(&module, Entry::least_registers);
        run(kernel, &tight);
        run(kernel, &tightest);
        for (tight, tightest) in tight.entries.iter().zip(&tightest.entries) {
            let [some, most] = [tight, tightest].map(|entry| entry.allocation.spills);
            assert!(some.loads <= most.loads && some.stores <= most.stores);
            assert!(most.loads > 0 && most.stores > 0, "{}", tight.name);
        }
    }
}

/// A step of a random program on twelve words and six doubles.
#[derive(Clone, Debug)]
enum Step {
    /// `a = b + 3 c`.
    Word([usize; 3]),
    /// `a = b * c + d`, of 64 bits.
    Double(usize, [usize; 2], usize),
    /// The first step where bit 0 of a word is set, by a guard.
    Guarded(usize, Box<Step>),
    /// One list of steps where bit 1 of a word is set, else the other.
    Branch(usize, Vec<Step>, Vec<Step>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (word, double) = (|| 0..12usize, || 0..6usize);
    let plain = prop_oneof![
        [word(), word(), word()].prop_map(Step::Word),
        (double(), [word(), word()], double())
            .prop_map(|(to, by, plus)| Step::Double(to, by, plus)),
    ];
    let guarded = (word(), plain.clone()).prop_map(|(by, step)| Step::Guarded(by, Box::new(step)));
    let leaf = prop_oneof![3 => plain, 1 => guarded];
    let step = leaf.prop_recursive(3, 24, 6, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..6);
        (0..12usize, list(), list()).prop_map(|(by, yes, no)| Step::Branch(by, yes, no))
    });
    prop::collection::vec(step, 1..20)
}

/// PTX of the steps; `labels` counts those used.
fn write(steps: &[Step], guard: &str, labels: &mut u32, to: &mut String) {
    for step in steps {
        match step {
            Step::Word([a, b, c]) => *to += &format!("{guard}mad.lo.u32 %r{a}, %r{c}, 3, %r{b};\n"),
            Step::Double(a, [b, c], d) => {
                *to += &format!("{guard}mad.wide.u32 %d{a}, %r{b}, %r{c}, %d{d};\n")
            }
            Step::Guarded(by, step) => {
                *to += &format!("and.b32 %t, %r{by}, 1; setp.ne.u32 %p, %t, 0;\n");
                write(std::slice::from_ref(step), "@%p ", labels, to);
            }
            Step::Branch(by, yes, no) => {
                *labels += 1;
                let label = *labels;
                *to +=
                    &format!("and.b32 %t, %r{by}, 2; setp.ne.u32 %p, %t, 0;\n@%p bra $a{label};\n");
                write(no, "", labels, to);
                *to += &format!("bra $b{label};\n$a{label}:\n");
                write(yes, "", labels, to);
                *to += &format!("$b{label}:\n");
            }
        }
    }
}

/// What a thread's words and doubles are after the steps.
fn model(steps: &[Step], words: &mut [u32; 12], doubles: &mut [u64; 6]) {
    for step in steps {
        match step {
            Step::Word([a, b, c]) => words[*a] = words[*c].wrapping_mul(3).wrapping_add(words[*b]),
            Step::Double(a, [b, c], d) => {
                let product = u64::from(words[*b]) * u64::from(words[*c]);
                doubles[*a] = product.wrapping_add(doubles[*d]);
            }
            Step::Guarded(by, step) if words[*by] & 1 != 0 => {
                model(std::slice::from_ref(step), words, doubles);
            }
            Step::Guarded(..) => {}
            Step::Branch(by, yes, no) => {
                model(if words[*by] & 2 != 0 { yes } else { no }, words, doubles);
            }
        }
    }
}

const THREAD: usize = 12 * 4 + 6 * 8;

fn program(steps: &[Step]) -> Module {
    let mut text = String::from(
        ".version 8.0 .target sm_80 .address_size 64\n.visible .entry k(.param .u64 o) { .reg .pred %p; .reg .u32 %r<12>; .reg .u64 %d<8>; .reg .u32 %t;\n",
    );
    text += "ld.param.u64 %d7, [o]; mov.u32 %t, %tid.x; mad.wide.u32 %d7, %t, 96, %d7;\n";
    (0..12).for_each(|at| text += &format!("mad.lo.u32 %r{at}, %t, {}, {at};\n", 2 * at + 1));
    (0..6).for_each(|at| text += &format!("mul.wide.u32 %d{at}, %t, {at};\n"));
    write(steps, "", &mut 0, &mut text);
    (0..12).for_each(|at| text += &format!("st.global.u32 [%d7+{}], %r{at};\n", 4 * at));
    (0..6).for_each(|at| text += &format!("st.global.u64 [%d7+{}], %d{at};\n", 48 + 8 * at));
    warpwatt_ptx::load(&(text + "ret; }")).unwrap()
}

fn result(module: &Module) -> Vec<u8> {
    let mut memory = DeviceMemory::new(module);
    let address = memory.alloc("o", vec![0; 32 * THREAD]);
    let launch = Launch {
        entry: "k",
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    execute(module, &launch, &mut memory, &Options::default()).unwrap();
    memory.buffer(address).to_vec()
}

proptest! {
    /// Any program leaves under any limit, and without one, what its steps say.
    #[test]
    fn a_limit_never_changes_results(steps in steps()) {
        let mut want = Vec::new();
        for thread in 0..32u32 {
            let mut words = std::array::from_fn(|at| thread * (2 * at as u32 + 1) + at as u32);
            let mut doubles = std::array::from_fn(|at| u64::from(thread) * at as u64);
            model(&steps, &mut words, &mut doubles);
            words.iter().for_each(|word| want.extend(word.to_le_bytes()));
            doubles.iter().for_each(|double| want.extend(double.to_le_bytes()));
        }
        let module = program(&steps);
        let entry = &module.entries[0];
        prop_assert!(entry.registers >= entry.allocation.live);
        prop_assert_eq!(&result(&module), &want);
        let mut stores = u32::MAX;
        for limit in entry.least_registers()..entry.registers {
            let limited = limited(&module, |_| limit);
            prop_assert_eq!(&result(&limited), &want, "{}", limit);
            let spills = limited.entries[0].allocation.spills;
            prop_assert!(spills.stores <= stores, "a higher limit spills more");
            stores = spills.stores;
        }
    }
}

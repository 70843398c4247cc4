//! Wavefront instructions a second of functional execution, by kind of kernel, with and without recording a trace.
//!
//! `cargo bench -p warpwatt-gcn --bench functional`

use criterion::{Criterion, Throughput};
use warpwatt_gcn::{Code, Launch, Object};
use warpwatt_simt::{DeviceMemory, Execution, Options};

/// An argument: a buffer of so many bytes, or four bytes by themselves.
enum Argument {
    Buffer(usize),
    Word(u32),
}
use Argument::{Buffer, Word};

/// A compiled kernel with a launch of about a million work-items' instructions.
struct Case {
    what: &'static str,
    object: &'static [u8],
    kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    arguments: &'static [Argument],
}

const CASES: [Case; 4] = [
    Case {
        what: "integer, divergent",
        object: include_bytes!("../tests/cases/lanes/kernel.o"),
        kernel: "lanes",
        grid: [64, 1, 1],
        block: [64, 1, 1],
        arguments: &[
            Buffer(1 << 12),
            Buffer(1 << 13),
            Buffer(1 << 15),
            Buffer(1 << 15),
            Buffer(1 << 15),
            Buffer(1 << 12),
        ],
    },
    Case {
        what: "local data share and barriers",
        object: include_bytes!("../tests/cases/group_sum/kernel.o"),
        kernel: "group_sum",
        grid: [2, 64, 1],
        block: [32, 4, 1],
        arguments: &[Buffer(1 << 16), Buffer(1 << 10), Buffer(8)],
    },
    Case {
        what: "floats and gathers",
        object: include_bytes!("../tests/cases/gather_scale/kernel.o"),
        kernel: "gather_scale",
        grid: [128, 1, 1],
        block: [100, 1, 1],
        arguments: &[
            Buffer(51_200),
            Buffer(51_200),
            Buffer(51_200),
            Buffer(102_400),
            Word(0x3fc0_0000),
            Word(12_800),
        ],
    },
    Case {
        what: "global memory",
        object: include_bytes!("../../kernels/bitonic_sort/kernel.gfx600.o"),
        kernel: "bitonic_sort",
        grid: [64, 1, 1],
        block: [256, 1, 1],
        arguments: &[Buffer(1 << 17), Word(5), Word(2)],
    },
];

impl Case {
    fn run(&self, code: &Code, record: bool) -> Execution {
        let mut memory = DeviceMemory::default();
        let mut arguments = Vec::new();
        for argument in self.arguments {
            match argument {
                Buffer(bytes) => {
                    let filled = (0..*bytes).map(|at| ((at * 37) >> 3) as u8).collect();
                    arguments.extend(memory.alloc("buffer", filled).to_le_bytes());
                }
                Word(word) => arguments.extend(word.to_le_bytes()),
            }
        }
        let kernels = code.object().kernels.iter();
        let known = kernels.filter(|it| it.name == self.kernel);
        let bytes = known.map(|it| it.argument_bytes as usize).sum();
        arguments.resize(bytes, 0);
        let launch = Launch {
            kernel: self.kernel,
            grid: self.grid,
            block: self.block,
            dynamic_share: 0,
            arguments,
        };
        let options = Options {
            warp_width: 64,
            record,
            ..Options::default()
        };
        let run = code.execute(&launch, &mut memory, &options);
        run.expect("the bench's kernels run")
    }
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("wavefront instructions");
    for case in &CASES {
        let object = Object::read(case.object).expect("the bench's objects are valid");
        let code = Code::new(object);
        for record in [false, true] {
            let suffix = if record { "recorded" } else { "plain" };
            let instructions = case.run(&code, record).warp_instructions;
            group.throughput(Throughput::Elements(instructions));
            group.bench_function(format!("{}, {suffix}", case.what), |b| {
                b.iter(|| case.run(&code, record));
            });
        }
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}

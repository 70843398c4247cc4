//! Work-groups of a launch, one by one, with and without flips.

use warpwatt_gcn::{Code, Flip, Launch, Object, Replay, Upset};
use warpwatt_simt::{DeviceMemory, Options};

const OBJECT: &[u8] = include_bytes!("cases/lanes/kernel.o");
const BUFFERS: [&str; 6] = ["bytes", "halves", "longs", "words", "out", "low"];
const LIMIT: u64 = 100_000;

/// The kernel `lanes` on two work-groups of two wavefronts, and its memory with the addresses of its buffers.
fn with(test: impl FnOnce(&Code, &Launch<'_>, Memory)) {
    let code = Code::new(Object::read(OBJECT).unwrap());
    let mut device = DeviceMemory::default();
    let buffers = BUFFERS.map(|name| {
        let bytes: Vec<u8> = (0..4096_u32).map(|at| ((at * 37) >> 2) as u8).collect();
        device.alloc(name, bytes)
    });
    let mut arguments: Vec<u8> = buffers.iter().flat_map(|it| it.to_le_bytes()).collect();
    arguments.resize(code.object().kernels[0].argument_bytes as usize, 0);
    let launch = Launch {
        kernel: "lanes",
        grid: [2, 1, 1],
        block: [128, 1, 1],
        dynamic_share: 0,
        arguments,
    };
    test(&code, &launch, Memory { device, buffers });
}

#[derive(Clone)]
struct Memory {
    device: DeviceMemory,
    buffers: [u64; BUFFERS.len()],
}

impl Memory {
    fn contents(&self) -> Vec<Vec<u8>> {
        let all = self.buffers.iter();
        all.map(|address| self.device.buffer(*address).to_vec())
            .collect()
    }
}

/// Whatever their order, work-groups that share nothing leave what the launch does, and take as many instructions; a second time too.
#[test]
fn work_groups_one_by_one_are_the_launch() {
    with(|code, launch, memory| {
        let mut whole = memory.clone();
        let options = Options {
            warp_width: 64,
            ..Options::default()
        };
        let executed = code.execute(launch, &mut whole.device, &options).unwrap();
        let mut replay = Replay::new(code, launch, false).unwrap();
        assert_eq!(replay.groups(), 2);
        for order in [[0, 1], [1, 0], [0, 1]] {
            let mut alone = memory.clone();
            let counts = order.map(|it| replay.run(it, &mut alone.device, None, LIMIT).unwrap());
            assert_eq!(counts.iter().sum::<u64>(), executed.warp_instructions);
            assert_eq!(alone.contents(), whole.contents());
        }
        assert_ne!(whole.contents(), memory.contents());
    });
}

/// A flip is in the run that it is given to, and in no other.
#[test]
fn a_flip_shows_and_is_gone() {
    with(|code, launch, memory| {
        let mut replay = Replay::new(code, launch, false).unwrap();
        let mut run = |upset: Option<&Upset<'_>>| {
            let mut memory = memory.clone();
            let done = replay.run(0, &mut memory.device, upset, LIMIT);
            done.map(|count| (count, memory.contents()))
        };
        let plain = run(None).unwrap();
        // Every lane's work-item number, before anything is executed.
        let struck = Upset::Wave {
            wave: 1,
            executed: 0,
            what: Flip::Vector {
                register: 0,
                lane: 3,
                bit: 0,
            },
        };
        let flipped = run(Some(&struck)).unwrap();
        assert_ne!(flipped.1, plain.1);
        assert_eq!(run(Some(&struck)).unwrap(), flipped);
        assert_eq!(run(None).unwrap(), plain);
    });
}

/// What is on the tape is what the wavefront did in the span, and a flip differs from where it is on.
#[test]
fn a_tape_holds_the_span_that_is_watched() {
    with(|code, launch, memory| {
        let mut replay = Replay::new(code, launch, false).unwrap();
        let mut watch = |span: std::ops::Range<u64>, flip| {
            let mut memory = memory.clone();
            let watched = (0, span, flip);
            replay
                .watched(1, &mut memory.device, watched, LIMIT)
                .unwrap()
        };
        let all = watch(0..12, None);
        assert_eq!(all.effects.len(), 12);
        let later = watch(4..12, None);
        assert_eq!(later.effects[..], all.effects[4..]);
        assert_eq!(later.state, all.state);
        let flip = Flip::Vector {
            register: 0,
            lane: 0,
            bit: 2,
        };
        let struck = watch(4..12, Some(flip));
        assert!(struck != later);
    });
}

#[test]
fn instructions_are_counted_against_the_limit() {
    with(|code, launch, memory| {
        let mut replay = Replay::new(code, launch, false).unwrap();
        let count = replay
            .run(0, &mut memory.clone().device, None, LIMIT)
            .unwrap();
        let mut run = |limit| replay.run(0, &mut memory.clone().device, None, limit);
        assert_eq!(run(count).unwrap(), count);
        let stopped = run(count - 1).unwrap_err().to_string();
        assert!(stopped.contains(&(count - 1).to_string()), "{stopped}");
    });
}

//! Words and files that no compiler wrote: refused, never a panic.

use proptest::prelude::*;
use warpwatt_gcn::{Code, Form, Launch, Object, ROWS, decode};
use warpwatt_simt::{DeviceMemory, Options};

const OBJECT: &[u8] = include_bytes!("cases/calls/kernel.o");
const LINKED: &[u8] = include_bytes!("cases/group_sum/kernel.hsaco");

/// Reads, decodes and runs for a while; whatever comes of it.
fn attempt(file: &[u8]) {
    let Ok(object) = Object::read(file) else {
        return;
    };
    let names: Vec<String> = object
        .kernels
        .iter()
        .map(|kernel| kernel.name.clone())
        .collect();
    let code = Code::new(object);
    assert!(code.listing().lines().count() > 0);
    for kernel in &names {
        let bytes = code
            .object()
            .kernel(kernel)
            .map_or(0, |kernel| kernel.argument_bytes);
        let mut memory = DeviceMemory::default();
        let buffer = memory.alloc("buffer", vec![3; 4096]);
        let arguments = buffer
            .to_le_bytes()
            .into_iter()
            .cycle()
            .take(bytes as usize);
        let launch = Launch {
            kernel,
            grid: [1, 1, 1],
            block: [32, 4, 1],
            dynamic_share: 0,
            arguments: arguments.collect(),
        };
        let options = Options {
            warp_width: 64,
            limit: 3000,
            ..Options::default()
        };
        let _ = code.execute(&launch, &mut memory, &options);
    }
}

/// An object whose code is these words.
fn with_code(words: &[u32]) -> Vec<u8> {
    let mut file = LINKED.to_vec();
    let object = Object::read(LINKED).unwrap();
    let code = &object.image[object.code.start as usize..object.code.end as usize];
    let at = file
        .windows(code.len())
        .position(|window| window == code)
        .unwrap();
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take(code.len())
        .collect();
    file[at..at + bytes.len()].copy_from_slice(&bytes);
    file
}

/// A word in some format, or any word.
fn word() -> impl Strategy<Value = u32> {
    let starts = prop::sample::select(vec![
        0x0000_0000u32,
        0x4a00_0000,
        0x7c00_0000,
        0x7e00_0000,
        0x8000_0000,
        0xb000_0000,
        0xbe80_0000,
        0xbf00_0000,
        0xbf80_0000,
        0xc000_0000,
        0xd000_0000,
        0xd200_0000,
        0xd300_0000,
        0xd800_0000,
        0xe000_0000,
        0xe800_0000,
    ]);
    prop_oneof![
        any::<u32>(),
        (starts, any::<u32>()).prop_map(|(start, rest)| start | rest & 0x01ff_ffff)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_words_are_decoded_or_refused(words in prop::collection::vec(word(), 0..4)) {
        match decode(&words) {
            Ok(inst) => {
                prop_assert!(usize::from(inst.words) <= words.len().max(1));
                prop_assert!(!inst.to_string().is_empty());
            }
            Err(refused) => prop_assert!(refused.to_string().contains("bytes")),
        }
    }

    #[test]
    fn any_words_run_or_stop(words in prop::collection::vec(word(), 1..60)) {
        attempt(&with_code(&words));
    }

    #[test]
    fn damaged_objects_are_refused_or_run(
        linked in any::<bool>(), length in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut file = if linked { LINKED } else { OBJECT }.to_vec();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        attempt(&file);
        file.truncate(length.index(file.len()));
        attempt(&file);
    }
}

/// Every row of the table can be found by its opcode, and no two rows have one.
#[test]
fn the_table_is_its_own_index() {
    for row in ROWS.iter().filter(|row| row.form != Form::Vopc) {
        assert_eq!(
            warpwatt_gcn::Op::find(row.form, row.code),
            Some(row.op),
            "{}",
            row.name
        );
        assert_eq!(row.op.row().name, row.name);
    }
}

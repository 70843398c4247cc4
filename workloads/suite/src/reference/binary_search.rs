//! Where a key lies in a sorted array, narrowed down twice by the number of threads.

use super::{Inputs, Outputs};

pub(crate) fn binary_search(inputs: &Inputs<'_>) -> Outputs {
    let sorted = inputs.i32s("sorted");
    let key = inputs.constant("key").expect("a scalar of the case") as i32;
    let place = sorted.partition_point(|value| *value <= key) - 1;
    let (grid, block) = inputs.launch();
    let threads = (grid[0] * block[0]) as usize;
    let narrow = |(first, length): (usize, usize)| {
        let part = length.div_ceil(threads);
        let begin = first + (place - first) / part * part;
        (begin, part.min(first + length - begin))
    };
    let once = narrow((0, sorted.len()));
    let twice = narrow(once);
    let words = |(first, length): (usize, usize)| [first as i32, length as i32];
    Outputs::default()
        .i32s("range", &words(twice))
        .i32s("part", &words(once))
}

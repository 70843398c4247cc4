//! Longest matches of pieces of reads in a text, each at one of the two suffixes between which the piece would stand in order.

use super::mummer_tree::{common, pieces};
use super::{Inputs, Outputs};

pub(crate) fn mummer_array(inputs: &Inputs<'_>) -> Outputs {
    let text = inputs.bytes("text");
    let mut places: Vec<usize> = (0..text.len()).collect();
    places.sort_unstable_by_key(|place| &text[*place..]);
    let (mut lengths, mut positions) = (Vec::new(), Vec::new());
    for piece in pieces(inputs) {
        let rank = places.partition_point(|place| &text[*place..] < piece);
        let with = |place: &usize| (common(&text[*place..], piece), *place);
        let before = rank
            .checked_sub(1)
            .and_then(|rank| places.get(rank))
            .map(with);
        let after = places.get(rank).map(with);
        // Of equally long matches the later suffix counts.
        let (length, position) = match (before, after) {
            (Some(before), Some(after)) if before.0 > after.0 => before,
            (_, Some(after)) => after,
            (before, None) => before.unwrap_or_default(),
        };
        lengths.push(length as i32);
        positions.push(position as i32);
    }
    Outputs::default()
        .i32s("length", &lengths)
        .i32s("position", &positions)
}

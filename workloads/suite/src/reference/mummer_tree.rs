//! Longest matches of pieces of reads in a text, and the first place of the text where each stands.

use super::{Inputs, Outputs};

pub(crate) fn mummer_tree(inputs: &Inputs<'_>) -> Outputs {
    let text = inputs.bytes("text");
    let mut places: Vec<usize> = (0..text.len()).collect();
    places.sort_unstable_by_key(|place| &text[*place..]);
    let (mut lengths, mut positions) = (Vec::new(), Vec::new());
    for piece in pieces(inputs) {
        let rank = places.partition_point(|place| &text[*place..] < piece);
        let near = places[rank.saturating_sub(1)..].iter().take(2);
        let length = near
            .map(|place| common(&text[*place..], piece))
            .max()
            .unwrap_or(0);
        let found = &piece[..length];
        let from = places.partition_point(|place| &text[*place..] < found);
        let same = places[from..]
            .iter()
            .take_while(|place| text[**place..].starts_with(found));
        lengths.push(length as i32);
        positions.push(same.min().map_or(0, |place| *place as i32));
    }
    Outputs::default()
        .i32s("length", &lengths)
        .i32s("position", &positions)
}

/// What every read has from each of its positions on, as long as enough is left.
pub(super) fn pieces<'c>(inputs: &Inputs<'c>) -> impl Iterator<Item = &'c [u8]> {
    let (letters, least) = (inputs.size("letters"), inputs.size("least"));
    let reads = inputs.bytes("reads").chunks(letters);
    reads.flat_map(move |read| (0..=letters - least).map(move |start| &read[start..]))
}

/// How many letters two texts have in common from their beginning.
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(one, other)| one == other).count()
}

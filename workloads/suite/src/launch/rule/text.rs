//! Random texts of four letters, reads from them, and their indices: inputs of string matching.

use super::bits;

/// Letters of the alphabet.
const LETTERS: u32 = 4;
/// Numbers a node of a suffix tree has: four children, start and length of its edge, two unused.
pub(super) const NODE: usize = 8;

/// Letter `i` of text `seed`: the same as `mod_i32(seed, 4)`.
fn letter(seed: u64, i: u64) -> u8 {
    (bits(seed, i) % LETTERS) as u8
}

fn text(seed: u64, length: u64) -> Vec<u8> {
    (0..length).map(|i| letter(seed, i)).collect()
}

/// Letter `i` of reads of `read` letters one after the other: copied from random places of the text, one letter in `errors` drawn anew.
pub(super) fn read_letter(
    seed: u64,
    (of, length): (u64, u64),
    read: u64,
    errors: u32,
    i: u64,
) -> u8 {
    let start = u64::from(bits(seed, i / read)) % (length - read + 1);
    let wrong = bits(seed + 1, i).is_multiple_of(errors);
    match wrong {
        true => letter(seed + 2, i),
        false => letter(of, start + i % read),
    }
}

/// Places of the text in the order of the suffixes that begin there.
pub(super) fn suffix_array(seed: u64, length: u64) -> Vec<u32> {
    let text = text(seed, length);
    let mut places: Vec<u32> = (0..length as u32).collect();
    places.sort_unstable_by_key(|place| &text[*place as usize..]);
    places
}

/// The text's suffix tree, built by inserting one suffix after the other: of every edge the label is that of the first suffix that used it.
/// A suffix that ends inside of an edge has no node.
pub(super) fn suffix_tree(seed: u64, length: u64) -> Vec<[u32; NODE]> {
    let text = text(seed, length);
    let mut nodes = vec![[0; NODE]];
    for place in 0..text.len() {
        insert(&mut nodes, &text, place);
    }
    nodes
}

const START: usize = 4;
const LENGTH: usize = 5;

fn insert(nodes: &mut Vec<[u32; NODE]>, text: &[u8], mut at: usize) {
    let mut node = 0;
    while at < text.len() {
        let branch = usize::from(text[at]);
        let child = nodes[node][branch] as usize;
        if child == 0 {
            nodes[node][branch] = leaf(nodes, text, at);
            return;
        }
        let (start, edge) = (nodes[child][START] as usize, nodes[child][LENGTH] as usize);
        let pairs = text[start..start + edge].iter().zip(&text[at..]);
        let same = pairs.take_while(|(one, other)| one == other).count();
        at += same;
        if same < edge {
            if at < text.len() {
                let middle = split(nodes, text, child, same);
                nodes[node][branch] = middle;
                let branch = usize::from(text[at]);
                nodes[middle as usize][branch] = leaf(nodes, text, at);
            }
            return;
        }
        node = child;
    }
}

/// A new leaf whose edge runs from `at` to the end of the text.
fn leaf(nodes: &mut Vec<[u32; NODE]>, text: &[u8], at: usize) -> u32 {
    let length = (text.len() - at) as u32;
    nodes.push([0, 0, 0, 0, at as u32, length, 0, 0]);
    nodes.len() as u32 - 1
}

/// A new node `same` letters down the edge to `child`.
fn split(nodes: &mut Vec<[u32; NODE]>, text: &[u8], child: usize, same: usize) -> u32 {
    let start = nodes[child][START];
    nodes[child][START] += same as u32;
    nodes[child][LENGTH] -= same as u32;
    let mut middle = [0, 0, 0, 0, start, same as u32, 0, 0];
    middle[usize::from(text[start as usize + same])] = child as u32;
    nodes.push(middle);
    nodes.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters from the root down to every node are the text at its edge's start, as far back as they reach.
    #[test]
    fn every_path_of_the_tree_is_in_the_text() {
        let (seed, length) = (7, 500);
        let text = text(seed, length);
        let nodes = suffix_tree(seed, length);
        let mut open = vec![(0usize, 0usize)];
        let mut seen = 0;
        while let Some((node, depth)) = open.pop() {
            seen += 1;
            for (branch, child) in nodes[node][..4].iter().enumerate() {
                if *child != 0 {
                    let child = *child as usize;
                    let (start, edge) =
                        (nodes[child][START] as usize, nodes[child][LENGTH] as usize);
                    assert_eq!(usize::from(text[start]), branch);
                    assert!(start >= depth && start + edge <= text.len());
                    open.push((child, depth + edge));
                }
            }
        }
        assert_eq!(seen, nodes.len());
        assert!(nodes.len() > 500 && nodes.len() < 1000);
    }

    #[test]
    fn suffixes_are_in_order() {
        let text = text(3, 300);
        let array = suffix_array(3, 300);
        assert!(array.is_sorted_by_key(|place| &text[*place as usize..]));
        assert_eq!(array.iter().sum::<u32>(), 300 * 299 / 2);
    }

    #[test]
    fn reads_without_errors_are_pieces_of_the_text() {
        let text = text(5, 200);
        let reads: Vec<u8> = (0..250)
            .map(|i| read_letter(9, (5, 200), 25, u32::MAX, i))
            .collect();
        for read in reads.chunks(25) {
            assert!(text.windows(25).any(|piece| piece == read));
        }
    }
}

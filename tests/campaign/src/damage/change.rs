//! Bytes of a store that are not what was written.

use crate::random::Random;

/// Bytes of a page of the store.
const PAGE: usize = 4096;

/// The store with one change, and the change in words.
pub fn damaged(mut store: Vec<u8>, random: &mut Random) -> (Vec<u8>, String) {
    let at = random.below(store.len());
    let page = |at: usize| at / PAGE * PAGE;
    match random.below(6) {
        0 => {
            let bit = random.below(8);
            store[at] ^= 1 << bit;
            (store, format!("bit {bit} of byte {at} flipped"))
        }
        1 => {
            // A digit of a figure: what no check of pages alone would show.
            let digits: Vec<usize> = (at..store.len())
                .filter(|at| store[*at].is_ascii_digit())
                .take(1)
                .collect();
            let at = digits.first().copied().unwrap_or(at);
            store[at] = b'0' + (store[at].wrapping_sub(b'0') + 1) % 10;
            (store, format!("digit at byte {at} raised"))
        }
        2 => {
            let from = page(at);
            let to = (from + PAGE).min(store.len());
            store[from..to].fill(0);
            (store, format!("page at byte {from} zeroed"))
        }
        3 => {
            let other = page(random.below(store.len()));
            let (first, second) = (page(at).min(other), page(at).max(other));
            if first < second && second + PAGE <= store.len() {
                let (left, right) = store.split_at_mut(second);
                left[first..first + PAGE].swap_with_slice(&mut right[..PAGE]);
            }
            (
                store,
                format!("pages at bytes {first} and {second} exchanged"),
            )
        }
        4 => {
            store.truncate(at);
            (store, format!("cut off at byte {at}"))
        }
        _ => {
            let from = page(random.below(store.len()));
            let end = (from + PAGE).min(store.len());
            let copy = store[from..end].to_vec();
            let to = page(at).min(store.len() - copy.len());
            store[to..to + copy.len()].copy_from_slice(&copy);
            (store, format!("page at byte {from} copied to byte {to}"))
        }
    }
}
